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
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Literal

from kova_ls.ancestry import descends
from kova_ls.engine import git_exclude, grant_disk, grant_file, grant_judge, ledger
from kova_ls.engine.grant_file import Content, Fault, Field
from kova_ls.engine.grant_judge import resolve_root
from kova_ls.engine.grant_read import LOCAL, LOCAL_NAME, GrantReader
from kova_ls.engine.grant_set import Edit, GrantSet, Pending, Proposal, visible
from kova_ls.engine.grant_watch import USER
from kova_ls.engine.ledger import Confirmed
from kova_ls.errors import RequestFailed
from kova_ls.vocabulary import RootSource

__all__ = ["Edit", "GrantSet", "Grants", "Pending", "Proposal"]
_RULE_KINDS: tuple[Literal["allow", "deny"], ...] = ("allow", "deny")


class Grants(GrantReader):
    """Reads and changes the permission files of one user; all calls are short and block."""

    # -- changing -----------------------------------------------------------------------------

    def remember(self, workspace: str, rules: Sequence[str]) -> Path:
        """Write rules that a person approved into the local file.

        Raises: RequestFailed when a rule is refused or the file cannot be changed.
        """
        return self.add_rules(workspace, allow=rules).path

    def add_rules(self, workspace: str, *, allow: Sequence[str], deny: Sequence[str] = ()) -> Edit:
        """Add rules to the local file, all of them or none."""
        return self._edit(workspace, RootSource.LOCAL, add={"allow": allow, "deny": deny})

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
                f"'{visible(wanted.value)}' cannot be accepted. {wanted.refusal}",
            )
        key: Field = "writableRoots" if wanted.kind == "root" else wanted.kind
        layer = RootSource.USER if wanted.source == "user" else RootSource.LOCAL
        return self._edit(workspace, layer, add={key: (wanted.value,)}, leads_to=wanted.leads_to)

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
            local = workspace if source is RootSource.LOCAL else None
            if local is not None:
                content = self._local_content(local)
                layer = self._judge_local(local, content, self._confirmed(local) or Confirmed())
            else:
                content = grant_disk.read(self._user)
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
            if local is not None:
                self._ledgers.save(local, layer.seen)
            else:
                self._watch.hold = None
                self._hold.unlink(missing_ok=True)
            self._vouching.give(local or USER, layer.seen)
            self._rebase(local or USER, layer.seen)
        return pending.lines()

    def _edit(
        self,
        workspace: str | None,
        layer: RootSource,
        *,
        add: Mapping[Field, Sequence[str]] | None = None,
        remove: Mapping[Field, Sequence[str]] | None = None,
        leads_to: str | None = None,
    ) -> Edit:
        add, remove = add or {}, remove or {}
        path = self._layer_path(workspace, layer)
        added = self._approved(workspace, layer, add)
        if leads_to is not None and leads_to not in {where for _, where in added.roots}:
            raise RequestFailed(
                "invalidParams", "That folder leads elsewhere by now. List the permissions again."
            )
        removed = Confirmed(
            frozenset(remove.get("allow", ())),
            frozenset(remove.get("deny", ())),
            frozenset((text, "") for text in remove.get("writableRoots", ())),
        )
        with self._writing():
            local = workspace if layer is RootSource.LOCAL else None
            content = grant_disk.read(path) if local is None else self._local_content(local)
            if isinstance(content, Fault):
                raise RequestFailed("invalidParams", f"{content.message} It was left as it is.")
            new, gone = grant_judge.difference(content, add, remove)
            scope = local or USER
            self._vouching.take_back(scope, removed)
            self._vouching.give(scope, added)
            digest = content.digest if content is not None else ""
            if new or gone:
                raw = grant_file.edited(content, add, remove)
                if len(raw) > grant_file.MAX_BYTES:
                    raise RequestFailed("limitExceeded", f"{path} is full. Remove some entries.")
                planned = grant_file.parse(raw, path)
                if isinstance(planned, Fault):
                    raise RequestFailed("invalidParams", f"It was not written. {planned.message}")
                if local is None:
                    grant_disk.write(path, raw)
                else:
                    grant_disk.write_inside(local, LOCAL_NAME, raw)
                after = planned.digest
            else:
                after = digest
            if local is not None:
                confirmed = (self._confirmed(local) or Confirmed()).add(added).drop(removed)
                self._ledgers.save(local, confirmed)
            elif (hold := ledger.load(self._hold) or self._watch.hold) is not None:
                hold = hold.add(added).drop(removed)
                ledger.save(self._hold, hold)
                self._watch.hold = hold if self._watch.hold is not None else None
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
                        "invalidParams", f"'{visible(rule)}' was not written. {refusal}"
                    )
        roots: set[tuple[str, str]] = set()
        for root in add.get("writableRoots", ()):
            where, refusal = resolve_root(root, workspace, self._home)
            if where is None:
                raise RequestFailed(
                    "invalidParams", f"'{visible(root)}' was not written. {refusal}"
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
        if descends(os.getpid(), {pid for pid, _ in self._watch.others()}):
            raise RequestFailed(
                "notTrusted",
                "A command of the agent may not change permissions. Run this in your own terminal.",
            )
        try:
            with grant_disk.locked(self._lock):
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
        Raises: RequestFailed when it cannot be noted; then nothing may be started.
        """
        watch = self._watch
        watch.count += 1
        known = set(watch.before)
        if USER not in watch.before:
            watch.before[USER] = grant_judge.snapshot(self._read_user(workspace))
            watch.hold = ledger.load(self._hold)
        if workspace is not None and workspace not in watch.before:
            watch.before[workspace] = grant_judge.snapshot(self._read_local(workspace))
        if watch.before.keys() == known:
            return
        try:
            watch.save()
            self._ledgers.keep()
        except OSError as error:
            watch.count -= 1
            watch.before = {scope: watch.before[scope] for scope in known}
            raise RequestFailed(
                "diskFailed",
                f"The command was not started, because {self._folder} cannot be written "
                f"({error.strerror}). Free some space or mend its rights.",
            ) from error

    def hear(self) -> None:
        """Look, while commands run, whether another process of the person changed something.

        Such a process waits for this before it ends; nothing of what it says counts afterwards.
        """
        for scope in list(self._watch.before):
            self.load(scope or None)

    def command_finished(self, workspace: str | None) -> tuple[str, ...]:
        """Make inert, for good, what commands changed; return a notice for each such file."""
        del workspace
        watch = self._watch
        notices: list[str] = []
        is_safe = True
        for scope, before in list(watch.before.items()):
            try:
                if scope == USER:
                    self._hold_again()
                notice, digest = self._settle(scope, before)
            except (OSError, RequestFailed) as error:
                is_safe = False
                notices.append(_unrecorded(error))
                continue
            if notice is not None and watch.told.get(scope) != digest:
                watch.told[scope] = digest
                notices.append(notice)
        watch.count = max(0, watch.count - 1)
        if watch.count == 0 and is_safe:
            try:
                with grant_disk.locked(self._lock) if watch.before else nullcontext():
                    self._ledgers.settle(self._engines())
            except (OSError, RequestFailed) as error:
                return (*notices, _unrecorded(error))
            watch.before.clear()
            watch.told.clear()
            watch.hold = None
            watch.save()
        return tuple(notices)

    def _hold_again(self) -> None:
        """Put back what held the user's file when commands began and one of them took away."""
        held = self._watch.hold
        if held is not None and ledger.load(self._hold) != held:
            with grant_disk.locked(self._lock):
                ledger.save(self._hold, held)

    def _settle(self, scope: str, before: Confirmed) -> tuple[str | None, str]:
        """Write down that what changed since `before` is inert; return a notice and the digest."""
        path = self._user if scope == USER else str(self.local_path(scope))
        content = grant_disk.read(path) if scope == USER else self._local_content(scope)
        digest = content.digest if content is not None else ""
        if digest == before.digest:
            return None, digest
        with grant_disk.locked(self._lock):
            if scope == USER:
                hold = ledger.load(self._hold)
                limit = before if hold is None else replace(before.common(hold), digest=hold.digest)
                layer = self._judge(content, RootSource.USER, None, limit)
                if layer.pending is not None or _may_grant_later(content, limit):
                    ledger.save(self._hold, limit)
                    self._watch.hold = limit if self._watch.before else None
            else:
                confirmed = self._confirmed(scope) or Confirmed()
                if not self._watch.before:  # an engine that ended left this to be settled
                    confirmed = confirmed.common(before)
                    self._ledgers.save(scope, confirmed)
                layer = self._judge(
                    content, RootSource.LOCAL, scope, confirmed.add(Confirmed(deny=before.deny))
                )
                lost = before.deny - layer.seen.deny - confirmed.deny
                if lost:
                    self._ledgers.save(scope, confirmed.add(Confirmed(deny=lost)))
        if isinstance(content, Fault):
            return f"A command of the agent changed a permission file. {content.message}", digest
        news = layer.pending.lines() if layer.pending is not None else ()
        if not news and not _may_grant_later(content, before):
            return None, digest
        flag = " --user" if scope == USER else ""
        return (
            f"{path} changed while a command of the agent ran. Until you confirm it, this is not "
            f"in force: {'; '.join(news) or 'folders that cannot be resolved now'}. Run kova-ls permission adopt{flag}, or "
            "take it out of the file."
        ), digest

    def _settle_crashed(self) -> None:
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


def _unrecorded(error: Exception) -> str:
    return (
        f"A change of the permission files could not be recorded ({error}). It is not in force "
        "while this engine runs. Free some space or mend the rights."
    )


def _may_grant_later(content: Content | Fault | None, before: Confirmed) -> bool:
    """Tell whether a file may come to more than before without being changed again.

    A folder may be made later, or be there for another workspace; a broken file hides its denies.
    """
    if isinstance(content, Content):
        return bool({entry.value for entry in content.roots} - {text for text, _ in before.roots})
    return content is not None
