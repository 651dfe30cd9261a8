"""Requests about permissions: explain, list, change."""

import hashlib
from typing import TYPE_CHECKING

from pydantic import ValidationError

from kova_ls.endpoint.handlers._table import acting, handles, session_of
from kova_ls.engine.grant_judge import free_pass
from kova_ls.engine.grant_set import Edit, Proposal
from kova_ls.engine.judge import facts, judge
from kova_ls.engine.places import workspace_path
from kova_ls.engine.trust import may_trust
from kova_ls.engine.workspace import file_uri
from kova_ls.errors import RequestFailed
from kova_ls.journal import records as r
from kova_ls.permission.facts import Rule
from kova_ls.protocol import permission as pp
from kova_ls.protocol._base import WireModel
from kova_ls.tools import by_name
from kova_ls.tools._base import ToolError
from kova_ls.vocabulary import RootSource

if TYPE_CHECKING:
    from kova_ls.endpoint.server import EditorEndpoint


@handles("kova/permission/explain")
def permission_explain(endpoint: "EditorEndpoint", params: pp.PermissionExplainParams) -> WireModel:
    """Say what verdict a call would get; nothing runs."""
    session = session_of(endpoint, params.session_id)
    tool = by_name(params.tool)
    if tool is None:
        raise RequestFailed("invalidParams", f"tool: there is no tool {params.tool!r}.")
    try:
        _, ruling = judge(session, tool, tool.args_of(params.tool).model_validate(params.input))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(["input", *map(str, first["loc"])])
        raise RequestFailed("invalidParams", f"{where}: {first['msg']}.") from error
    except (ValueError, ToolError) as error:
        raise RequestFailed("invalidParams", f"input: {error}") from error
    return pp.PermissionExplainResult(
        decision=ruling.decision,
        reasons=ruling.reasons,
        segments=ruling.segments,
        rules=ruling.rules,
        notices=ruling.notices,
    )


@handles("kova/permission/list")
def permission_list(endpoint: "EditorEndpoint", params: pp.PermissionListParams) -> WireModel:
    """List rules and roots with their files."""
    session = session_of(endpoint, params.session_id)
    workspace = workspace_path(session)
    grants = endpoint.engine.grants
    granted = grants.load(workspace)
    files = {RootSource.USER: file_uri(str(grants.user_path()))}
    if workspace is not None:
        files[RootSource.LOCAL] = file_uri(str(grants.local_path(workspace)))

    def entries(rules: tuple[Rule, ...], *, is_allowing: bool) -> tuple[pp.RuleEntry, ...]:
        return tuple(
            pp.RuleEntry(
                rule=rule.text,
                source=rule.source,
                path=files.get(rule.source, ""),
                is_free_pass=is_allowing and free_pass(rule.text, rule.source) is not None,
            )
            for rule in rules
        )

    return pp.PermissionListResult(
        allow=entries(granted.allow, is_allowing=True),
        deny=entries(granted.deny, is_allowing=False),
        roots=tuple(
            r.RootEntry(uri=file_uri(root.path), source=root.source)
            for root in facts(session).roots
        ),
        proposed=tuple(
            pp.ProposalEntry(
                proposal_id=_proposal_id(proposal),
                kind=proposal.kind,
                value=proposal.value,
                source=proposal.source,
                sentence=proposal.sentence,
                refusal=proposal.refusal,
            )
            for proposal in granted.proposals
        ),
        pending=tuple(
            pp.PendingEntry(
                layer="user" if pending.source is RootSource.USER else "local",
                path=file_uri(pending.path),
                digest=pending.digest,
                lines=pending.lines(),
            )
            for pending in (granted.pending_local, granted.pending_user)
            if pending is not None
        ),
        problems=granted.problems,
    )


def _proposal_id(proposal: Proposal) -> str:
    text = f"{proposal.source}|{proposal.kind}|{proposal.value}|{proposal.leads_to}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _deciding(endpoint: "EditorEndpoint", session_id: str) -> str:
    """Return the workspace whose permissions a trusted editor may change. Raises: RequestFailed."""
    session = acting(endpoint, session_id)
    workspace = workspace_path(session)
    if workspace is None:
        raise RequestFailed("noWorkspace", "The session has no workspace.")
    if not (endpoint.trusted and may_trust(endpoint.engine.places, workspace)):
        raise RequestFailed(
            "notTrusted", "Permissions are changed from an editor that trusts the folder."
        )
    return workspace


def _changed(endpoint: "EditorEndpoint", edit: Edit, *warnings: str) -> WireModel:
    endpoint.engine.recheck()
    return pp.PermissionChangeResult(
        changed=(*edit.added, *edit.removed),
        path=file_uri(str(edit.path)),
        notices=(*edit.notices, *warnings),
    )


@handles("kova/permission/addRule")
def permission_add_rule(endpoint: "EditorEndpoint", params: pp.RuleParams) -> WireModel:
    """Add a rule."""
    workspace = _deciding(endpoint, params.session_id)
    layer = RootSource(params.layer)
    edit = endpoint.engine.grants.add_rule(workspace, layer, params.rule, params.kind)
    warning = free_pass(params.rule, layer) if params.kind == "allow" else None
    return _changed(endpoint, edit, *([warning] if warning else []))


@handles("kova/permission/removeRule")
def permission_remove_rule(endpoint: "EditorEndpoint", params: pp.RuleParams) -> WireModel:
    """Take a rule out."""
    workspace = _deciding(endpoint, params.session_id)
    layer = RootSource(params.layer)
    edit = endpoint.engine.grants.remove_rule(workspace, layer, params.rule, params.kind)
    return _changed(endpoint, edit)


@handles("kova/permission/addRoot")
def permission_add_root(endpoint: "EditorEndpoint", params: pp.RootParams) -> WireModel:
    """Add a writable folder."""
    workspace = _deciding(endpoint, params.session_id)
    edit = endpoint.engine.grants.add_root(workspace, RootSource(params.layer), params.root)
    return _changed(endpoint, edit)


@handles("kova/permission/removeRoot")
def permission_remove_root(endpoint: "EditorEndpoint", params: pp.RootParams) -> WireModel:
    """Take a writable folder out."""
    workspace = _deciding(endpoint, params.session_id)
    edit = endpoint.engine.grants.remove_root(workspace, RootSource(params.layer), params.root)
    return _changed(endpoint, edit)


@handles("kova/permission/accept")
def permission_accept(endpoint: "EditorEndpoint", params: pp.AcceptParams) -> WireModel:
    """Accept one proposed item."""
    workspace = _deciding(endpoint, params.session_id)
    grants = endpoint.engine.grants
    for proposal in grants.load(workspace).proposals:
        if _proposal_id(proposal) == params.proposal_id:
            return _changed(endpoint, grants.accept(workspace, proposal))
    raise RequestFailed(
        "invalidParams", "proposalId: that is no longer proposed. List the permissions again."
    )


@handles("kova/permission/adopt")
def permission_adopt(endpoint: "EditorEndpoint", params: pp.AdoptParams) -> WireModel:
    """Confirm what a permission file holds."""
    workspace = _deciding(endpoint, params.session_id)
    grants = endpoint.engine.grants
    layer = RootSource(params.layer)
    path = grants.user_path() if layer is RootSource.USER else grants.local_path(workspace)
    granted = grants.load(workspace)
    shown = granted.pending_user if layer is RootSource.USER else granted.pending_local
    if params.digest is not None and params.digest != (shown.digest if shown else ""):
        raise RequestFailed(
            "invalidParams", f"digest: {path} changed since it was shown. List it again."
        )
    return _changed(endpoint, Edit(path, added=grants.adopt(workspace, layer, shown)))
