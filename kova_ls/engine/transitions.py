"""The legal order of a session's records, as a table. Pure."""

from kova_ls.journal import records as r
from kova_ls.vocabulary import SessionState

_IDLE, _RUNNING, _WAITING = SessionState.IDLE, SessionState.RUNNING, SessionState.WAITING

TRANSITIONS: dict[SessionState, dict[type[r.Record], SessionState]] = {
    _IDLE: {
        r.SessionConfigured: _IDLE,
        r.SessionRenamed: _IDLE,
        r.SessionArchived: _IDLE,
        r.QueueUpdated: _IDLE,
        r.RootsChanged: _IDLE,
        r.ChangesUpdated: _IDLE,
        r.GoalUpdated: _IDLE,
        r.TurnStarted: _RUNNING,
    },
    _RUNNING: {
        r.SessionConfigured: _RUNNING,
        r.SessionRenamed: _RUNNING,
        r.SessionArchived: _RUNNING,
        r.QueueUpdated: _RUNNING,
        r.RootsChanged: _RUNNING,
        r.ChangesUpdated: _RUNNING,
        r.GoalUpdated: _RUNNING,
        r.StepStarted: _RUNNING,
        r.ModelReplied: _RUNNING,
        r.ItemStarted: _RUNNING,
        r.ItemUpdated: _RUNNING,
        r.ItemCompleted: _RUNNING,
        r.ApprovalRequested: _RUNNING,
        r.ApprovalResolved: _RUNNING,
        r.QuestionRequested: _RUNNING,
        r.QuestionResolved: _RUNNING,
        r.TurnSuspended: _WAITING,
        r.TurnResumed: _RUNNING,
        r.StepCompleted: _RUNNING,
        r.TurnCompleted: _IDLE,
    },
    _WAITING: {
        r.SessionConfigured: _WAITING,
        r.SessionRenamed: _WAITING,
        r.SessionArchived: _WAITING,
        r.QueueUpdated: _WAITING,
        r.RootsChanged: _WAITING,
        r.ChangesUpdated: _WAITING,
        r.GoalUpdated: _WAITING,
        r.ItemStarted: _WAITING,
        r.ItemCompleted: _WAITING,
        r.ApprovalRequested: _WAITING,
        r.ApprovalResolved: _WAITING,
        r.QuestionResolved: _WAITING,
        r.TurnResumed: _RUNNING,
    },
}
"""State -> record -> next state; what is not listed is illegal. The first record of a journal is
`SessionCreated`, and only that."""
