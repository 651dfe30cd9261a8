"""The engine itself: what it is doing, and its end."""

from kova_ls.protocol._base import WireModel
from kova_ls.vocabulary import SessionState


class AttachedEditor(WireModel):
    """An editor that is connected now."""

    name: str
    """As it said in the handshake."""
    version: str = ""
    """Of the client."""
    id: str = ""
    """Of its window."""
    trusted: bool = False
    """It said that the person trusts the folder."""
    sessions: tuple[str, ...] = ()
    """Ids of the sessions it follows."""


class LoadedSession(WireModel):
    """A session that the engine holds in memory."""

    session_id: str
    """Opaque id."""
    title: str
    """Shown in lists."""
    state: SessionState
    """What it is doing."""
    workspace: str | None = None
    """`file:` URI."""


class EngineStatusResult(WireModel):
    """What the engine is doing."""

    pid: int
    """Of the engine's process."""
    version: str
    """Of the program."""
    started_at: float
    """Unix seconds."""
    uptime_s: float
    """Since then."""
    editors: tuple[AttachedEditor, ...] = ()
    """Connected now, the asking one included."""
    sessions: tuple[LoadedSession, ...] = ()
    """In memory; the others are on disk only."""
    home_path: str | None = None
    """The folder of config.toml."""


class EngineStopParams(WireModel):
    """End the engine."""

    force: bool = False
    """Also when turns run; they are interrupted first."""


class EngineStopResult(WireModel):
    """Whether it ends."""

    stopping: bool
    """False when turns run and `force` was not given."""
    running: tuple[str, ...] = ()
    """Titles of the sessions whose turn runs or waits."""
