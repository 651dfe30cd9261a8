"""The facts that a call is judged by, and the verdict: the seam to the pure permission room."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kova_ls.engine.workspace import resolve
from kova_ls.permission.adjudicate import adjudicate
from kova_ls.permission.effects import Effect, RunCommand
from kova_ls.permission.facts import Call, Facts, Root, Ruling
from kova_ls.tools._base import ResolvedPath, Tool
from kova_ls.vocabulary import RootSource

if TYPE_CHECKING:
    from kova_ls.engine.session import Session


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are on this machine; resolved once."""

    home: str
    kova_home: str
    data_dir: str
    runtime_dir: str


def workspace_path(session: "Session") -> str | None:
    """Return the session's workspace as a resolved path."""
    return session.engine.path_of(session.state.workspace)


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
        return resolve(text, root=self.root, home=self.home)


def facts(session: "Session", effects: Sequence[Effect] = ()) -> Facts:
    """Collect what the gates are told, as it is now."""
    engine = session.engine
    workspace = workspace_path(session)
    grants = engine.grants.load(workspace)
    editor = session.origin
    roots: list[Root] = []
    if editor is not None and editor.trusted:
        roots.extend(Root(path, RootSource.EDITOR) for path in editor.folders if path != workspace)
    roots.extend(grants.roots)
    env = session.env
    return Facts(
        mode=session.state.mode,
        level=session.state.level,
        workspace=workspace,
        roots=tuple(roots),
        allow=grants.allow,
        deny=grants.deny,
        strict_redirects=grants.strict_redirects,
        plan_path=os.path.realpath(session.plan_path),
        home=engine.places.home,
        kova_home=engine.places.kova_home,
        data_dir=engine.places.data_dir,
        runtime_dir=engine.places.runtime_dir,
        path_dirs=engine.path_dirs(env.get("PATH", "")),
        case_folds=sys.platform in ("darwin", "win32"),
        proposals=tuple(proposal.sentence for proposal in grants.proposals),
        git_dirs_ok=not any(isinstance(effect, RunCommand) for effect in effects)
        or git_dir_is_own(workspace),
    )


def judge(session: "Session", tool: Tool, args: Any) -> tuple[Call, Ruling]:
    """Say what the gates say of a call now. Raises: ToolError for a path that cannot be."""
    effects: list[Effect] = tool.effects(args, resolver(session))
    call = Call(tool.name, tuple(effects), tool.aliases)
    return call, adjudicate(call, facts(session, effects))


def git_dir_is_own(workspace: str | None) -> bool:
    """Say whether git, run in the workspace, would use a git directory of the workspace's own.

    True also when it would find none. A folder shaped like a bare repository is not its own, nor
    a `.git` file or link that points outside of the workspace's own repository family.
    """
    if workspace is None:
        return True
    folder = Path(workspace)
    if (folder / "HEAD").is_file() and (
        (folder / "objects").is_dir() or (folder / "refs").is_dir()
    ):
        return False
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_symlink():
            return False
        if git.is_dir():
            return True
        if git.is_file():
            return _points_back(git)
    return True


def _points_back(git_file: Path) -> bool:
    """A worktree's or submodule's `.git` file is fine when its git directory points back at it."""
    try:
        text = git_file.read_text("utf-8", "replace").strip()
        if not text.startswith("gitdir:"):
            return False
        target = (git_file.parent / text[7:].strip()).resolve()
        back = target / "gitdir"
        if back.is_file():
            return Path(back.read_text("utf-8", "replace").strip()).resolve() == git_file.resolve()
        parents = [str(parent / ".git" / "modules") for parent in git_file.parent.parents]
        return any(str(target).startswith(parent + os.sep) for parent in parents)
    except OSError:
        return False
