"""The facts that a call is judged by, and the verdict: the seam to the pure permission room."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kova_ls.engine.grant_set import GrantSet, Proposal, visible
from kova_ls.engine.places import CASE_FOLDS, path_dirs, workspace_path
from kova_ls.engine.programs import Programs
from kova_ls.engine.unattended import level_now
from kova_ls.engine.workspace import file_uri, resolve
from kova_ls.journal.records import RootEntry
from kova_ls.permission.effects import Effect, ReadPath, RunCommand, WritePath
from kova_ls.permission.facts import Call, Facts, Root, Rule, Ruling
from kova_ls.tools._base import ResolvedPath, Tool, ToolError
from kova_ls.values import Reason, Segment
from kova_ls.vocabulary import ApprovalLevel, Decision, Mode, RootSource

if TYPE_CHECKING:
    from kova_ls.engine.session import Session


def resolver(session: "Session") -> "Resolver":
    """Return the path resolution of the session's calls."""
    return Resolver(workspace_path(session), session.engine.places.home)


@dataclass(frozen=True, slots=True)
class Resolver:
    """Callable of the `Resolve` shape."""

    root: str | None
    home: str

    def __call__(self, text: str) -> ResolvedPath:
        """Resolve a path that the model named. Raises: ToolError."""
        try:
            return resolve(text, root=self.root, home=self.home)
        except ValueError as error:  # a URI that is none, or a NUL within one
            raise ToolError(f"{text[:200]!r} names no file ({error}); correct it.") from None


def facts(session: "Session", effects: Sequence[Effect] = ()) -> Facts:
    """Collect what the gates are told, as it is now."""
    return _facts(session, session.engine.grants.load(workspace_path(session)), effects)


def _facts(session: "Session", grants: GrantSet, effects: Sequence[Effect]) -> Facts:
    engine = session.engine
    workspace = workspace_path(session)
    editor = session.origin
    roots: list[Root] = []
    if editor is not None and editor.trusted:
        roots.extend(Root(path, RootSource.EDITOR) for path in editor.folders if path != workspace)
    roots.extend(grants.roots)
    env = session.env
    return Facts(
        mode=session.state.mode,
        level=level_now(session),
        workspace=workspace,
        roots=tuple(roots),
        allow=grants.allow,
        deny=grants.deny,
        strict_redirects=grants.strict_redirects,
        plan_path=session.plan_path,
        home=engine.places.home,
        kova_home=engine.places.kova_home,
        data_dir=engine.places.data_dir,
        runtime_dir=engine.places.runtime_dir,
        path_dirs=path_dirs(env.get("PATH", "")),
        case_folds=CASE_FOLDS,
        git_dirs_ok=not any(isinstance(effect, RunCommand) for effect in effects)
        or git_dir_is_own(workspace),
    )


def roots_of(session: "Session") -> tuple[RootEntry, ...]:
    """Return the folders outside the workspace that count as inside now."""
    return tuple(
        RootEntry(uri=file_uri(root.path), source=root.source) for root in facts(session).roots
    )


def judge(session: "Session", tool: Tool, args: Any) -> tuple[Call, Ruling]:
    """Say what the gates say of a call now. Raises: ToolError for a path that cannot be."""
    effects: list[Effect] = [
        seen_on_disk(effect, home=session.engine.places.home, workspace=workspace_path(session))
        for effect in tool.effects(args, resolver(session))
    ]
    call = Call(tool.name, tuple(effects), tool.aliases)
    engine = session.engine
    engine.commands.settle()
    grants = engine.grants.load(workspace_path(session))
    known = _facts(session, grants, effects)
    return call, rule_on(call, known, grants.proposals, engine.programs)


def seen_on_disk(effect: Effect, *, home: str, workspace: str | None) -> Effect:
    """Return the effect with what its paths and folders hold now."""
    if isinstance(effect, WritePath):
        return replace(effect, is_git_dir=is_in_git_dir(effect.path))
    if isinstance(effect, RunCommand):
        # Imported as late as the gates.
        from kova_ls.engine.local_modules import with_local_modules
        from kova_ls.permission.module_folders import git_folders

        folders = git_folders(effect.command, effect.cwd, home)
        if folders is None or not all(git_dir_is_own(folder, workspace) for folder in folders):
            effect = replace(effect, git_dirs_ok=False)
        return with_local_modules(effect, home, workspace)
    return effect


def rule_on(call: Call, known: Facts, wishes: Sequence[Proposal], programs: Programs) -> Ruling:
    """Return the verdict as every door shows it: the gates, changed programs, fitting proposals."""
    ruling = _adjudicate(call, known)
    if ruling.decision is Decision.ALLOW and known.level is not ApprovalLevel.AUTO:
        ruling = _with_changed(ruling, programs.changed_in(call.effects))
    if ruling.decision is Decision.ASK:
        notices = (*ruling.notices, *_relevant(call, known, ruling, wishes))
        ruling = replace(ruling, notices=notices)
    return ruling


def _adjudicate(call: Call, known: Facts) -> Ruling:
    # Imported at the first call: a session's first page needs the facts, not the gates.
    from kova_ls.permission.adjudicate import adjudicate

    return adjudicate(call, known)


def may_read_unasked(session: "Session", path: str, asked: str) -> bool:
    """Say whether a file may be put before the model without anyone naming it.

    The mode and level do not matter: what asks or is denied at the usual level never is.
    """
    known = replace(facts(session), mode=Mode.AGENT, level=ApprovalLevel.WORKSPACE_WRITE)
    call = Call("read", (ReadPath(path, asked),), ("Read",))
    return _adjudicate(call, known).decision is Decision.ALLOW


def _relevant(
    call: Call, known: Facts, ruling: Ruling, wishes: Sequence[Proposal]
) -> tuple[str, ...]:
    """Return the sentences of the proposals that fit a part of this call, accepted or not."""
    if known.level is ApprovalLevel.ASK:
        # There no rule applies, but who is asked may know who else wants it.
        known = replace(known, level=ApprovalLevel.WORKSPACE_WRITE)
        ruling = _adjudicate(call, known)
    found = _changing(call, known, _judged(ruling), wishes)
    return tuple(dict.fromkeys(wish.said for wish in found))


def _changing(
    call: Call, known: Facts, judged: "_Judged", wishes: Sequence[Proposal]
) -> Sequence[Proposal]:
    # By halves: a project may ask for thousands of things.
    if not wishes or _accepted(call, known, wishes) == judged:
        return ()
    if len(wishes) == 1:
        return wishes
    half = len(wishes) // 2
    return [
        *_changing(call, known, judged, wishes[:half]),
        *_changing(call, known, judged, wishes[half:]),
    ]


_Judged = tuple[Decision, tuple[Reason, ...], tuple[Segment, ...]]


def _judged(ruling: Ruling) -> _Judged:
    return ruling.decision, ruling.reasons, ruling.segments


def _accepted(call: Call, known: Facts, wishes: Sequence[Proposal]) -> _Judged:
    roots = [Root(wish.leads_to, RootSource.LOCAL) for wish in wishes if wish.leads_to is not None]
    then = replace(
        known,
        allow=(*known.allow, *(_rule(wish) for wish in wishes if wish.kind == "allow")),
        deny=(*known.deny, *(_rule(wish) for wish in wishes if wish.kind == "deny")),
        roots=(*known.roots, *roots),
    )
    return _judged(_adjudicate(call, then))


def _rule(wish: Proposal) -> Rule:
    # What no local file may say can still fit, and is shown with its refusal.
    return Rule(wish.value, RootSource.LOCAL if wish.refusal is None else RootSource.USER)


def _with_changed(ruling: Ruling, programs: Sequence[str]) -> Ruling:
    """Let a command ask whose program the agent changed after the rule for it was given."""
    if not programs:
        return ruling
    why = Reason(
        code="changed_program",
        text=f"The agent changed {', '.join(map(visible, programs))} after the rule for it was "
        "given. Look at it; remembering the rule again makes it hold for what the file is now.",
    )
    return replace(ruling, decision=Decision.ASK, reasons=(why,))


def is_in_git_dir(path: str) -> bool:
    """Say whether a path lies in a folder that git would take for a git directory, by its shape.

    What is put there (`hooks/`, `config`) runs when someone uses git in that folder. The file that
    gives a folder the shape counts as well: what was put there before it would run then.
    """
    place = Path(path)
    return any(
        _is_git_shaped(folder)
        or (folder.name in ("objects", "refs") and (folder.parent / "HEAD").is_file())
        for folder in place.parents
    ) or (
        place.name == "HEAD"
        and ((place.parent / "objects").is_dir() or (place.parent / "refs").is_dir())
    )


def _is_git_shaped(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (
        (folder / "objects").is_dir() or (folder / "refs").is_dir()
    )


def git_dir_is_own(place: str | None, within: str | None = None) -> bool:
    """Say whether git, run in a folder, would use a git directory of that folder's own.

    `within` is the workspace, where the folder is not. True also when git would find none. A folder shaped like a bare repository is not its own, nor
    a `.git` file or link that points outside of the workspace's own repository family.
    """
    if place is None:
        return True
    folder = Path(place)
    if _is_git_shaped(folder):
        return False
    for parent in (folder, *folder.parents):
        git = parent / ".git"
        if git.is_symlink():
            return False
        if git.is_dir():
            return True
        if git.is_file():
            return _points_back(git, Path(within or place))
    return True


def _points_back(git_file: Path, workspace: Path) -> bool:
    """A worktree's or submodule's `.git` file is fine when its git directory points back at it.

    In the workspace it must lie in a folder `.git`, which no tool of the agent writes.
    """
    try:
        text = git_file.read_text("utf-8", "replace").strip()
        if not text.startswith("gitdir:"):
            return False
        target = (git_file.parent / text[7:].strip()).resolve()
        back = target / "gitdir"
        if back.is_file():
            if ".git" not in target.parts and target.is_relative_to(workspace.resolve()):
                return False
            return Path(back.read_text("utf-8", "replace").strip()).resolve() == git_file.resolve()
        parents = [str(parent / ".git" / "modules") for parent in git_file.parent.parents]
        return any(str(target).startswith(parent + os.sep) for parent in parents)
    except OSError:
        return False
