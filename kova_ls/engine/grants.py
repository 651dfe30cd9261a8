"""The three permission files: what is in force, what is only asked for, and how they change.

The user's file counts as it stands. The project's shared file only proposes. An entry of the
workspace's local file counts when it is in the ledger of confirmed entries (`ledger.py`): the rule
writer put it there, or the person adopted it. Entries, not whole files, are confirmed: so a rule
may be remembered in a file that somebody else began, and what they wrote stays inert.

Invariant: what tightens holds at once, what loosens waits: a deny rule counts without being
confirmed, and one that was in force goes on although the file lost it.
Invariant: an entry that appeared in a file while a command of the agent ran counts for nothing
until it is adopted; neither a restart nor the end of the engine revives it.
Invariant: no file is overwritten that could not be read.
"""

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kova_ls.engine import git_exclude, grant_file, grant_judge, ledger
from kova_ls.engine.grant_file import Content, Fault, Field
from kova_ls.engine.grant_judge import CheckRule, Layer, Place, resolve_root
from kova_ls.engine.grant_set import (
    Edit,
    GrantSet,
    Pending,
    Proposal,
    as_proposals,
    proposal,
    visible,
)
from kova_ls.engine.grant_watch import USER, Watch, descends_from
from kova_ls.engine.ledger import Confirmed
from kova_ls.errors import RequestFailed
from kova_ls.permission.facts import Rule
from kova_ls.vocabulary import RootSource

LOCAL = ".kova/permissions.local.json"
_NAME = "permissions.json"
_LOCAL_NAME = "permissions.local.json"
# A file younger than this may change again without a new time stamp.
_SETTLED_NS = 50_000_000

_Signature = tuple[tuple[int, ...], ...]


def accept_any_rule(text: str, source: RootSource, kind: Literal["allow", "deny"]) -> str | None:
    """Refuse only what cannot be a rule at all."""
    del source, kind
    return None if text.strip() else "it is empty"


class Grants:
    """Reads and changes the permission files of one user; all calls are short and block.

    Shape: `kova_home` holds the user's file; `data_dir` is private to the user; `home` is the home
    folder (by default the one that holds `kova_home`); `check_rule` judges the text of a rule;
    `env` is what git is run with.
    """

    def __init__(
        self,
        kova_home: Path,
        data_dir: Path,
        *,
        home: Path | None = None,
        check_rule: CheckRule = accept_any_rule,
        env: Mapping[str, str] | None = None,
        now_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._user = str(kova_home / _NAME)
        self._home = os.path.realpath(home if home is not None else kova_home.parent)
        self._folder = data_dir / "adopted"
        self._lock = self._folder / "lock"
        self._hold = self._folder / "user.json"
        self._hold_path = str(self._hold)
        self._check = check_rule
        self._env = os.environ if env is None else env
        self._now_ns = now_ns
        self._git = git_exclude.Finder()
        self._cache: dict[str | None, tuple[_Signature, tuple[str, ...], GrantSet]] = {}
        self._tracked: dict[str, tuple[tuple[int, ...], str | None]] = {}
        self._last_deny: dict[str, tuple[Rule, ...]] = {}
        self._exclude_notice: dict[str, str] = {}
        self._watch = Watch(self._folder)
        self._is_settled = False
        self._ledger_paths: dict[str, tuple[str, ...]] = {}

    # -- reading ------------------------------------------------------------------------------

    def user_path(self) -> Path:
        """Return the user's own file."""
        return Path(self._user)

    def local_path(self, workspace: str) -> Path:
        """Return the file that "remember" writes."""
        return Path(workspace, ".kova", _LOCAL_NAME)

    def shared_path(self, workspace: str) -> Path:
        """Return the file that can only propose."""
        return Path(workspace, ".kova", _NAME)

    def load(self, workspace: str | None) -> GrantSet:
        """Return what is in force now; files are read again only when they changed."""
        signature = self._signature(workspace)
        cached = self._cache.get(workspace)
        if (
            cached is not None
            and cached[0] == signature
            and not (cached[1] and any(map(os.path.isdir, cached[1])))
        ):
            return cached[2]
        grants, missing = self._read(workspace)
        # Pruning may have written; the files are as old as their last change says.
        signature = self._signature(workspace)
        newest = max((max(one[0], one[1]) for one in signature if one), default=0)
        if self._now_ns() - newest > _SETTLED_NS:
            self._cache[workspace] = (signature, missing, grants)
        else:
            self._cache.pop(workspace, None)
        return grants

    def _signature(self, workspace: str | None) -> _Signature:
        user = (_stat(self._user), _stat(self._hold_path))
        if workspace is None:
            return user
        paths = self._ledger_paths.get(workspace)
        if paths is None:
            folder = os.path.join(workspace, ".kova")
            paths = (
                folder,
                os.path.join(folder, _NAME),
                os.path.join(folder, _LOCAL_NAME),
                str(ledger.workspace_path(self._folder, workspace)),
            )
            self._ledger_paths[workspace] = paths
        local = _stat(paths[2])
        index: tuple[int, ...] = ()
        if local:
            place = self._git.find(workspace)
            index = _stat(place.index) if place is not None else ()
        # Of the folder only what it is: its time changes with every file in it.
        folder_stat = _stat(paths[0])
        return (*user, (0, 0, *folder_stat[3:]), _stat(paths[1]), local, _stat(paths[3]), index)

    def _read(self, workspace: str | None) -> tuple[GrantSet, tuple[str, ...]]:
        layers = [self._read_user(workspace)]
        proposals: list[Proposal] = []
        problems: list[str] = []
        if workspace is not None:
            layers.append(self._read_local(workspace))
            proposals += self._read_shared(workspace, layers, problems)
            if workspace in self._exclude_notice:
                problems.append(self._exclude_notice[workspace])
        for layer in layers:
            if layer.pending is not None:
                proposals += as_proposals(layer.pending)
        user, local = layers[0], layers[1] if len(layers) > 1 else Layer()
        grants = GrantSet(
            allow=(*user.allow, *local.allow),
            deny=(*user.deny, *local.deny),
            roots=(*user.roots, *local.roots),
            strict_redirects=user.strict,
            proposals=tuple(proposals),
            problems=(*user.problems, *local.problems, *problems),
            pending_local=local.pending,
            pending_user=user.pending,
        )
        return grants, (*user.missing, *local.missing)

    def _read_user(self, workspace: str | None) -> Layer:
        if not self._is_settled:
            self._settle_crashed()
        content = grant_file.read(self._user)
        limit = self._user_limit(content)
        return self._judge(content, RootSource.USER, workspace, limit)

    def _user_limit(self, content: Content | Fault | None) -> Confirmed | None:
        """Return what the user's file may grant, or None when it counts as it stands."""
        digest = content.digest if content is not None else ""
        hold = ledger.load(self._hold)
        if hold is None and self._hold.exists():
            hold = Confirmed(digest="unreadable")
        if hold is not None and hold.digest == digest:
            hold = None
        limits = [hold] if hold is not None else []
        snapshots = [self._watch.before, *(before for _, before in self._watch.others())]
        limits += [one[USER] for one in snapshots if USER in one and one[USER].digest != digest]
        if not limits:
            return None
        limit = limits[0]
        for other in limits[1:]:
            limit = limit.common(other)
        return limit

    def _read_local(self, workspace: str) -> Layer:
        content = self._local_content(workspace)
        path = ledger.workspace_path(self._folder, workspace)
        confirmed = ledger.load(path)
        layer = self._judge_local(workspace, content, confirmed or Confirmed())
        if confirmed is None and path.exists():
            layer.problems.append(
                f"{path}: cannot be read, so nothing of {self.local_path(workspace)} is confirmed. "
                "Remove it, then run kova-ls permission adopt."
            )
        elif confirmed is not None and not isinstance(content, Fault):
            self._prune(workspace, content, confirmed)
        return layer

    def _judge_local(
        self, workspace: str, content: Content | Fault | None, confirmed: Confirmed
    ) -> Layer:
        before = self._watch.before.get(workspace, Confirmed())
        limit = confirmed.add(Confirmed(deny=before.deny))
        return self._judge(content, RootSource.LOCAL, workspace, limit)

    def _judge(
        self,
        content: Content | Fault | None,
        source: RootSource,
        workspace: str | None,
        limit: Confirmed | None,
    ) -> Layer:
        path = self._layer_path(workspace, source)
        place = Place(source, path, workspace, self._home, self._check)
        layer = grant_judge.judge(content, place, limit, self._last_deny.get(path, ()))
        if not isinstance(content, Fault):
            self._last_deny[path] = tuple(layer.deny)
        return layer

    def _local_content(self, workspace: str) -> Content | Fault | None:
        content = grant_file.read_inside(workspace, _LOCAL_NAME, is_private=True)
        if content is None:
            return None
        reason = self._tracked_reason(workspace)
        if reason is None:
            return content
        return Fault(
            f"{self.local_path(workspace)}: {reason}; nothing in it is in force. "
            f"Run git rm --cached {LOCAL}.",
            content.digest,
        )

    def _tracked_reason(self, workspace: str) -> str | None:
        place = self._git.find(workspace)
        if place is None:
            return None
        index = _stat(place.index)
        known = self._tracked.get(workspace)
        if known is not None and known[0] == index:
            return known[1]
        reason = git_exclude.tracked(workspace, LOCAL, place, self._env)
        if not index or self._now_ns() - max(index[:2]) > _SETTLED_NS:
            self._tracked[workspace] = (index, reason)
        return reason

    def _prune(self, workspace: str, content: Content | None, confirmed: Confirmed) -> None:
        """Forget entries that the file no longer has: putting them back needs a new yes."""
        if not grant_judge.gone(content, confirmed):
            return
        path = ledger.workspace_path(self._folder, workspace)
        try:
            with grant_file.locked(self._lock):
                present = self._local_content(workspace)
                confirmed = ledger.load(path) or Confirmed()
                gone = None if isinstance(present, Fault) else grant_judge.gone(present, confirmed)
                if gone is not None:
                    ledger.save(path, confirmed.drop(gone), workspace=workspace)
        except (OSError, RequestFailed):
            # Nothing is lost: the next reading tries again.
            return

    def _read_shared(
        self, workspace: str, layers: Sequence[Layer], problems: list[str]
    ) -> list[Proposal]:
        path = str(self.shared_path(workspace))
        if os.path.realpath(path) == os.path.realpath(self._user):
            return []
        content = grant_file.read_inside(workspace, _NAME, is_private=False)
        if isinstance(content, Fault):
            problems.append(content.message)
        if not isinstance(content, Content):
            return []
        problems += content.problems
        allow = {rule.text for layer in layers for rule in layer.allow}
        deny = {rule.text for layer in layers for rule in layer.deny}
        roots = {root.path for layer in layers for root in layer.roots}
        found: list[Proposal] = []
        for entry in content.allow:
            if entry.value not in allow:
                refusal = self._check(entry.value, RootSource.LOCAL, "allow")
                found.append(proposal("allow", entry.value, "project", path, refusal))
        for entry in content.deny:
            if entry.value not in deny:
                refusal = self._check(entry.value, RootSource.LOCAL, "deny")
                found.append(proposal("deny", entry.value, "project", path, refusal))
        for entry in content.roots:
            where, refusal = resolve_root(entry.value, workspace, self._home)
            if where is None or where not in roots:
                found.append(proposal("root", entry.value, "project", path, refusal))
        return list(dict.fromkeys(found))

    # -- changing -----------------------------------------------------------------------------

    def remember(self, workspace: str, rules: Sequence[str]) -> Path:
        """Write rules that a person approved into the local file.

        Raises: RequestFailed when a rule is refused or the file cannot be changed.
        """
        return self._edit(workspace, RootSource.LOCAL, add={"allow": tuple(rules)}).path

    def add_rule(
        self,
        workspace: str | None,
        layer: RootSource,
        rule: str,
        kind: Literal["allow", "deny"] = "allow",
    ) -> Edit:
        """Add a rule to the user's or the local file."""
        return self._edit(workspace, layer, add={kind: (rule,)})

    def remove_rule(
        self,
        workspace: str | None,
        layer: RootSource,
        rule: str,
        kind: Literal["allow", "deny"] = "allow",
    ) -> Edit:
        """Take a rule out, also one that holds although the file lost it."""
        return self._edit(workspace, layer, remove={kind: (rule,)})

    def add_root(self, workspace: str | None, layer: RootSource, root: str) -> Edit:
        """Add a writable folder to the user's or the local file."""
        return self._edit(workspace, layer, add={"writableRoots": (root,)})

    def remove_root(self, workspace: str | None, layer: RootSource, root: str) -> Edit:
        """Take a writable folder out."""
        return self._edit(workspace, layer, remove={"writableRoots": (root,)})

    def accept(self, workspace: str, wanted: Proposal) -> Edit:
        """Write one proposed entry into the local file (of the user's file: confirm it there)."""
        if wanted not in self.load(workspace).proposals:
            raise RequestFailed(
                "invalidParams", "That is no longer proposed. List the permissions again."
            )
        if wanted.refusal is not None:
            raise RequestFailed(
                "invalidParams",
                f"{visible(wanted.value)} cannot be accepted: {wanted.refusal}.",
            )
        key: Field = "writableRoots" if wanted.kind == "root" else wanted.kind
        layer = RootSource.USER if wanted.source == "user" else RootSource.LOCAL
        return self._edit(workspace, layer, add={key: (wanted.value,)})

    def adopt(
        self,
        workspace: str | None,
        source: RootSource = RootSource.LOCAL,
        shown: Pending | None = None,
    ) -> tuple[str, ...]:
        """Confirm what is pending in a file; return a phrase for each thing that changed.

        `shown` is what the person looked at: when the file says something else by now, nothing
        is confirmed.
        Raises: RequestFailed when it changed meanwhile or cannot be recorded.
        """
        layer_path = self._layer_path(workspace, source)
        with self._writing():
            if source is RootSource.LOCAL and workspace is not None:
                path = ledger.workspace_path(self._folder, workspace)
                content = self._local_content(workspace)
                layer = self._judge_local(workspace, content, ledger.load(path) or Confirmed())
            else:
                path, content = None, grant_file.read(self._user)
                layer = self._judge(content, source, workspace, self._user_limit(content))
            if isinstance(content, Fault):
                raise RequestFailed("invalidParams", content.message)
            pending = layer.pending
            if shown is not None and shown != pending:
                raise RequestFailed(
                    "invalidParams", f"{layer_path} changed since it was shown. Review it again."
                )
            if pending is None:
                return ()
            if path is not None and workspace is not None:
                ledger.save(path, layer.seen, workspace=workspace)
            else:
                self._hold.unlink(missing_ok=True)
            self._rebase(USER if path is None else workspace or "", layer.seen)
        return pending.lines()

    def _layer_path(self, workspace: str | None, layer: RootSource) -> str:
        if layer is RootSource.USER:
            return self._user
        if layer is not RootSource.LOCAL:
            raise RequestFailed("invalidParams", "layer must be 'user' or 'local'.")
        if workspace is None:
            raise RequestFailed("noWorkspace", "The local file needs a workspace. Open a folder.")
        return str(self.local_path(workspace))

    def _edit(
        self,
        workspace: str | None,
        layer: RootSource,
        *,
        add: Mapping[Field, Sequence[str]] | None = None,
        remove: Mapping[Field, Sequence[str]] | None = None,
    ) -> Edit:
        add, remove = add or {}, remove or {}
        path = self._layer_path(workspace, layer)
        added = self._approved(workspace, layer, add)
        removed = Confirmed(
            frozenset(remove.get("allow", ())),
            frozenset(remove.get("deny", ())),
            frozenset((text, "") for text in remove.get("writableRoots", ())),
        )
        with self._writing():
            local = workspace if layer is RootSource.LOCAL else None
            content = grant_file.read(path) if local is None else self._local_content(local)
            if isinstance(content, Fault):
                raise RequestFailed("invalidParams", f"{content.message} It was left as it is.")
            new, gone = grant_judge.difference(content, add, remove)
            digest = content.digest if content is not None else ""
            if new or gone:
                raw = grant_file.edited(content, add, remove)
                if len(raw) > grant_file.MAX_BYTES:
                    raise RequestFailed("limitExceeded", f"{path} is full. Remove some entries.")
                if local is None:
                    grant_file.write(path, raw)
                else:
                    grant_file.write_inside(local, _LOCAL_NAME, raw)
                after = grant_file.parse(raw, path).digest
            else:
                after = digest
            if local is not None:
                ledger_path = ledger.workspace_path(self._folder, local)
                confirmed = (ledger.load(ledger_path) or Confirmed()).add(added).drop(removed)
                ledger.save(ledger_path, confirmed, workspace=local)
            elif (hold := ledger.load(self._hold)) is not None:
                ledger.save(self._hold, hold.add(added).drop(removed))
            scope = USER if local is None else local
            before = self._watch.before.get(scope)
            if before is not None:
                digest = after if before.digest == digest else before.digest
                self._rebase(scope, replace(before.add(added).drop(removed), digest=digest))
            notices = self._exclude(local) if local is not None and add else ()
        return Edit(Path(path), new, gone, notices)

    def _approved(
        self, workspace: str | None, layer: RootSource, add: Mapping[Field, Sequence[str]]
    ) -> Confirmed:
        """Return the entries to add as confirmed ones.

        Raises: RequestFailed for the first that is refused.
        """
        for kind in _RULE_KINDS:
            for rule in add.get(kind, ()):
                refusal = self._check(rule, layer, kind)
                if refusal is not None:
                    raise RequestFailed(
                        "invalidParams", f"{visible(rule)!r} was not written: {refusal}."
                    )
        roots: set[tuple[str, str]] = set()
        for root in add.get("writableRoots", ()):
            where, refusal = resolve_root(root, workspace, self._home)
            if where is None:
                raise RequestFailed(
                    "invalidParams", f"{visible(root)!r} was not written: {refusal}."
                )
            roots.add((root, where))
        return Confirmed(
            frozenset(add.get("allow", ())), frozenset(add.get("deny", ())), frozenset(roots)
        )

    def _exclude(self, workspace: str) -> tuple[str, ...]:
        place = self._git.find(workspace)
        notice = git_exclude.exclude(workspace, LOCAL, place) if place is not None else None
        self._exclude_notice.pop(workspace, None)
        if notice is None:
            return ()
        self._exclude_notice[workspace] = notice
        return (notice,)

    @contextmanager
    def _writing(self) -> Generator[None]:
        """Keep other writers out, and the agent's own commands.

        Raises: RequestFailed for whatever goes wrong with the disk.
        """
        if any(descends_from(pid) for pid, _ in self._watch.others()):
            raise RequestFailed(
                "notTrusted",
                "A command of the agent may not change permissions. Run this in your own terminal.",
            )
        try:
            with grant_file.locked(self._lock):
                yield
        except OSError as error:
            raise RequestFailed(
                "diskFailed",
                f"{error.filename or self._folder} cannot be written ({error.strerror}). "
                "Mend its rights or free some space.",
            ) from error
        finally:
            self._cache.clear()

    # -- while commands run -------------------------------------------------------------------

    def command_started(self, workspace: str | None) -> None:
        """Note what the files say before a command or background task of the agent starts.

        Order: once before each start, matched by one `command_finished` after its end.
        """
        watch = self._watch
        watch.count += 1
        known = len(watch.before)
        if USER not in watch.before:
            watch.before[USER] = grant_judge.snapshot(self._read_user(workspace))
        if workspace is not None and workspace not in watch.before:
            watch.before[workspace] = grant_judge.snapshot(self._read_local(workspace))
        if len(watch.before) != known:
            watch.save()

    def command_finished(self, workspace: str | None) -> tuple[str, ...]:
        """Make inert, for good, what commands changed; return a notice for each such file."""
        del workspace
        watch = self._watch
        notices: list[str] = []
        is_safe = True
        for scope, before in list(watch.before.items()):
            try:
                notice, digest = self._settle(scope, before)
            except (OSError, RequestFailed) as error:
                is_safe = False
                notices.append(
                    f"A change of the permission files could not be recorded ({error}). It is not "
                    "in force while this engine runs. Free some space or mend the rights."
                )
                continue
            if notice is not None and watch.told.get(scope) != digest:
                watch.told[scope] = digest
                notices.append(notice)
        watch.count = max(0, watch.count - 1)
        if watch.count == 0 and is_safe:
            watch.before.clear()
            watch.told.clear()
            watch.save()
        return tuple(notices)

    def _settle(self, scope: str, before: Confirmed) -> tuple[str | None, str]:
        """Write down that what changed since `before` is inert; return a notice and the digest."""
        path = self._user if scope == USER else str(self.local_path(scope))
        content = grant_file.read(path) if scope == USER else self._local_content(scope)
        digest = content.digest if content is not None else ""
        if digest == before.digest:
            return None, digest
        with grant_file.locked(self._lock):
            if scope == USER:
                hold = ledger.load(self._hold)
                limit = before if hold is None else replace(before.common(hold), digest=hold.digest)
                layer = self._judge(content, RootSource.USER, None, limit)
                if layer.pending is not None or isinstance(content, Fault):
                    ledger.save(self._hold, limit)
            else:
                ledger_path = ledger.workspace_path(self._folder, scope)
                confirmed = ledger.load(ledger_path) or Confirmed()
                layer = self._judge(
                    content, RootSource.LOCAL, scope, confirmed.add(Confirmed(deny=before.deny))
                )
                lost = before.deny - layer.seen.deny - confirmed.deny
                if lost:
                    ledger.save(ledger_path, confirmed.add(Confirmed(deny=lost)), workspace=scope)
        if isinstance(content, Fault):
            return f"A command of the agent changed a permission file. {content.message}", digest
        if layer.pending is None:
            return None, digest
        return (
            f"{path} changed while a command of the agent ran. Until you confirm it, this is not "
            f"in force: {'; '.join(layer.pending.lines())}. Run kova-ls permission adopt, or "
            "take it out of the file."
        ), digest

    def _settle_crashed(self) -> None:
        """Make inert what changed under an engine that ended while its commands ran."""
        self._is_settled = True
        for path, snapshot in self._watch.crashed():
            try:
                for scope, before in snapshot.items():
                    self._settle(scope, before)
                path.unlink(missing_ok=True)
            except (OSError, RequestFailed):
                # It stays, and counts like that of an engine that still runs.
                for scope, before in snapshot.items():
                    known = self._watch.before.get(scope)
                    self._watch.before[scope] = before if known is None else before.common(known)

    def _rebase(self, scope: str, seen: Confirmed) -> None:
        if scope in self._watch.before:
            self._watch.before[scope] = seen
            self._watch.save()


_RULE_KINDS: tuple[Literal["allow", "deny"], ...] = ("allow", "deny")


def _stat(path: str) -> tuple[int, ...]:
    try:
        found = os.lstat(path)
    except OSError:
        return ()
    return (
        found.st_mtime_ns,
        found.st_ctime_ns,
        found.st_size,
        found.st_ino,
        found.st_mode,
        found.st_uid,
        found.st_nlink,
    )
