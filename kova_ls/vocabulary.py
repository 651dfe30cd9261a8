"""The closed sets of words that every room shares.

Invariant: a word is never reused for another meaning; the wire and the journal store these strings.
"""

from enum import StrEnum


class Mode(StrEnum):
    """Whether a session may change things."""

    AGENT = "agent"
    PLAN = "plan"
    ASK = "ask"
    GOAL = "goal"


class ApprovalLevel(StrEnum):
    """Whether a session must ask before it acts. `cycle` follows the declared order."""

    ASK = "ask"
    WORKSPACE_WRITE = "workspace-write"
    AUTO_EDIT = "auto-edit"
    AUTO = "auto"

    def next(self) -> "ApprovalLevel":
        """Return the level that Shift+Tab selects after this one."""
        order = list(ApprovalLevel)
        return order[(order.index(self) + 1) % len(order)]


class Decision(StrEnum):
    """What a gate says of a call, mildest first; the strictest of all gates wins."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    BLOCKED = "blocked"

    @property
    def severity(self) -> int:
        """Rank for comparing: a higher number wins."""
        return _SEVERITY[self]


_SEVERITY = {Decision.ALLOW: 0, Decision.ASK: 1, Decision.DENY: 2, Decision.BLOCKED: 3}


class SessionState(StrEnum):
    """What a session is doing."""

    IDLE = "idle"
    RUNNING = "running"
    WAITING = "waiting"


class WhenBusy(StrEnum):
    """What to do with a prompt while a turn runs."""

    REJECT = "reject"
    QUEUE = "queue"
    STEER = "steer"


class StartStatus(StrEnum):
    """What became of a prompt."""

    STARTED = "started"
    QUEUED = "queued"
    STEERED = "steered"


class StopReason(StrEnum):
    """Why a turn ended."""

    DONE = "done"
    INTERRUPTED = "interrupted"
    LIMIT = "limit"
    FAILED = "failed"


class ItemStatus(StrEnum):
    """How far an item has come. The last six are ends."""

    WAITING = "waiting"
    RUNNING = "running"
    OK = "ok"
    ERROR = "error"
    BLOCKED = "blocked"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_end(self) -> bool:
        """True when nothing more happens to the item."""
        return self not in (ItemStatus.WAITING, ItemStatus.RUNNING)


class Outcome(StrEnum):
    """What a model's answer amounted to."""

    COMPLETE = "complete"
    LENGTH = "length"
    REFUSED = "refused"
    ERROR = "error"
    TRUNCATED = "truncated"
    HTTP_ERROR = "http_error"


class GoalStatus(StrEnum):
    """Where a goal stands. Only an active one makes turns begin by themselves; the last two end it."""

    ACTIVE = "active"
    PAUSED = "paused"
    BLOCKED = "blocked"
    COMPLETE = "complete"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """True when nothing more happens to the goal."""
        return self in (GoalStatus.COMPLETE, GoalStatus.CANCELLED)


class ToolKind(StrEnum):
    """What sort of tool it is; the session mode cuts the list sent to the model by it."""

    READ = "read"
    WEB = "web"
    INTERACT = "interact"
    PLAN_EXIT = "plan_exit"
    WRITE = "write"
    SHELL = "shell"
    DELEGATE = "delegate"
    GOAL = "goal"
    OTHER = "other"


class Detail(StrEnum):
    """How much of a session's events an editor wants."""

    TURNS = "turns"
    ITEMS = "items"
    DELTAS = "deltas"


class RootSource(StrEnum):
    """Where a writable root comes from."""

    EDITOR = "editor"
    USER = "user"
    LOCAL = "local"


class InterruptScope(StrEnum):
    """What an interrupt stops."""

    TURN = "turn"
    TURN_AND_TASKS = "turnAndTasks"
