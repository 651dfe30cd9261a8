"""The three permission files, read: what each of them is good for right now.

Invariant: reading changes nothing but the ledger, and that only by forgetting.
Invariant: `load` looks at time stamps, sizes and inodes only, as long as nothing changed.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kova_ls.engine import git_exclude, grant_disk, grant_judge, ledger
from kova_ls.engine.grant_file import Content, Fault
from kova_ls.engine.grant_judge import CheckRule, Layer, Place, check_rule, resolve_root
from kova_ls.engine.grant_set import GrantSet, Proposal, as_proposals, proposal
from kova_ls.engine.grant_watch import USER, Watch
from kova_ls.engine.ledger import Confirmed
from kova_ls.engine.ledgers import Ledgers
from kova_ls.engine.vouch import Vouching
from kova_ls.errors import RequestFailed
from kova_ls.permission.facts import Rule
from kova_ls.vocabulary import RootSource

LOCAL = ".kova/permissions.local.json"
_NAME = "permissions.json"
LOCAL_NAME = "permissions.local.json"
# A file younger than this may change again without a new time stamp.
_SETTLED_NS = 50_000_000
_NOTHING = Confirmed()

_Signature = tuple[tuple[int, ...], ...]


class GrantReader:
    """Reads the permission files of one user; a file is read again only when it changed.

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
        check_rule: CheckRule = check_rule,
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
        self._vouching = Vouching(self._folder)
        self._ledgers = Ledgers(self._folder, self._vouching)
        self._ledger_paths: dict[str, tuple[str, ...]] = {}

    # -- reading ------------------------------------------------------------------------------

    def user_path(self) -> Path:
        """Return the user's own file."""
        return Path(self._user)

    def local_path(self, workspace: str) -> Path:
        """Return the file that "remember" writes."""
        return Path(workspace, ".kova", LOCAL_NAME)

    def shared_path(self, workspace: str) -> Path:
        """Return the file that can only propose."""
        return Path(workspace, ".kova", _NAME)

    def _layer_path(self, workspace: str | None, layer: RootSource) -> str:
        if layer is RootSource.USER:
            return self._user
        if layer is not RootSource.LOCAL:
            raise RequestFailed("invalidParams", "layer must be 'user' or 'local'.")
        if workspace is None:
            raise RequestFailed("noWorkspace", "The local file needs a workspace. Open a folder.")
        return str(self.local_path(workspace))

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
        newest = max((one[1] for one in signature if one), default=0)
        if self._now_ns() - newest > _SETTLED_NS and self._signature(workspace) == signature:
            self._cache[workspace] = (signature, missing, grants)
        else:
            self._cache.pop(workspace, None)
        return grants

    def _signature(self, workspace: str | None) -> _Signature:
        user = (_stat(self._user, os.stat), _stat(self._hold_path))
        if workspace is None:
            return user
        paths = self._ledger_paths.get(workspace)
        if paths is None:
            folder = os.path.join(workspace, ".kova")
            paths = (
                folder,
                os.path.join(folder, _NAME),
                os.path.join(folder, LOCAL_NAME),
                str(self._ledgers.path(workspace)),
            )
            self._ledger_paths[workspace] = paths
        local = _stat(paths[2])
        index: tuple[int, ...] = ()
        if local:
            place = self._git.find(workspace)
            index = _stat(place.index) if place is not None else ()
        shared = _stat(paths[1])
        # Only whether the folder became a link; its time changes with every file in it.
        folder = (0, int(os.path.islink(paths[0]))) if local or shared else ()
        return (*user, folder, shared, local, _stat(paths[3]), index)

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
        self._settle_crashed()
        content = grant_disk.read(self._user)
        limit = self._user_limit(content)
        return self._judge(content, RootSource.USER, workspace, limit)

    def _settle_crashed(self) -> None:
        """Make inert what changed under an engine that ended while its commands ran."""
        raise NotImplementedError

    def _user_limit(self, content: Content | Fault | None) -> Confirmed | None:
        """Return what the user's file may grant, or None when it counts as it stands."""
        digest = content.digest if content is not None else ""
        hold = ledger.load(self._hold)
        if hold is None and _is_there(self._hold_path):
            hold = Confirmed(digest="unreadable")
        # Commands that run may have put another one there.
        hold = self._watch.hold if self._watch.hold is not None else hold
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
        return self._heard(content, limit) if isinstance(content, Content) else limit

    def _heard(self, content: Content, limit: Confirmed) -> Confirmed:
        """Return the limit with what other processes of the person vouch for."""
        allow = frozenset(entry.value for entry in content.allow)
        found = [
            (entry.value, resolve_root(entry.value, None, self._home)[0]) for entry in content.roots
        ]
        roots = frozenset((text, where) for text, where in found if where is not None)
        news = Confirmed(allow=allow, roots=roots).beyond(limit)
        vouched = self._vouching.among(USER, news, self._engines()) if news else _NOTHING
        if vouched != _NOTHING and USER in self._watch.before:
            # Kept, since who vouches may end soon.
            if self._watch.hold is not None:
                self._watch.hold = self._watch.hold.add(vouched)
            self._rebase(USER, self._watch.before[USER].add(vouched))
        return limit.add(vouched)

    def _rebase(self, scope: str, seen: Confirmed) -> None:
        """Note what of a file holds, if commands run."""
        if scope in self._watch.before:
            self._watch.before[scope] = seen
            self._watch.save()

    def _engines(self) -> frozenset[int]:
        """Return the processes whose descendants are the agent's."""
        return frozenset((os.getpid(), *(pid for pid, _ in self._watch.others())))

    def _confirmed(self, workspace: str) -> Confirmed | None:
        """Return what is confirmed of the local file, and was not written by a command."""
        engines = self._engines()
        found = self._ledgers.load(workspace, engines)
        for _, before in self._watch.others():
            if found is not None and workspace in before:
                limit = before[workspace]
                news = found.beyond(limit)
                vouched = self._vouching.among(workspace, news, engines) if news else _NOTHING
                found = found.common(limit.add(vouched))
        if found is not None and workspace in self._watch.before:
            before = self._watch.before[workspace]
            if found.beyond(before):
                self._rebase(workspace, before.add(Confirmed(allow=found.allow, roots=found.roots)))
        return found

    def _read_local(self, workspace: str) -> Layer:
        content = self._local_content(workspace)
        path = self._ledgers.path(workspace)
        confirmed = self._confirmed(workspace)
        layer = self._judge_local(workspace, content, confirmed or Confirmed())
        if confirmed is None and _is_there(str(path)):
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
        content = grant_disk.read_inside(workspace, LOCAL_NAME, is_private=True)
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
        if not grant_judge.gone(content, confirmed) or not os.path.isdir(workspace):
            return
        try:
            with grant_disk.locked(self._lock):
                present = self._local_content(workspace)
                confirmed = self._confirmed(workspace) or Confirmed()
                gone = None if isinstance(present, Fault) else grant_judge.gone(present, confirmed)
                if gone is not None:
                    self._ledgers.save(workspace, confirmed.drop(gone))
                    self._vouching.take_back(workspace, gone)
        except (OSError, RequestFailed):
            # Nothing is lost: the next reading tries again.
            return

    def _read_shared(
        self, workspace: str, layers: Sequence[Layer], problems: list[str]
    ) -> list[Proposal]:
        path = str(self.shared_path(workspace))
        if os.path.realpath(path) == os.path.realpath(self._user):
            return []
        content = grant_disk.read_inside(workspace, _NAME, is_private=False)
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
                found.append(proposal("root", entry.value, "project", path, refusal, where))
        return list(dict.fromkeys(found))


def _is_there(path: str) -> bool:
    """Tell whether there may be a file; only a plain no is a no."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _stat(path: str, look: Callable[[str], os.stat_result] = os.lstat) -> tuple[int, ...]:
    try:
        found = look(path)
    except OSError:
        return ()
    # A change of rights, owner or second names shows in the ctime.
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino
