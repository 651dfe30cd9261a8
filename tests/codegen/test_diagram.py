"""The drawn state machine."""

from kova_ls.codegen.diagram import draw
from kova_ls.engine.transitions import TRANSITIONS
from kova_ls.journal.records import SessionRenamed, TurnCompleted, TurnResumed, TurnStarted
from kova_ls.vocabulary import SessionState

IDLE, RUNNING = SessionState.IDLE, SessionState.RUNNING


def test_draws_arrows_between_states_and_notes_for_what_stays() -> None:
    table = {
        IDLE: {TurnStarted: RUNNING, SessionRenamed: IDLE},
        RUNNING: {TurnCompleted: IDLE, TurnResumed: IDLE},
    }
    assert draw(table, IDLE).splitlines() == [
        "```mermaid",
        "stateDiagram-v2",
        "  [*] --> idle",
        "  idle --> running: TurnStarted",
        "  note right of idle",
        "    SessionRenamed",
        "  end note",
        "  running --> idle: TurnCompleted, TurnResumed",
        "```",
    ]


def test_every_state_of_the_engine_is_drawn() -> None:
    drawn = draw(TRANSITIONS, IDLE)
    assert all(f" {state}" in drawn for state in TRANSITIONS)
