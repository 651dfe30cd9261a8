import json
import signal
from contextlib import ExitStack

import pytest
from inline_snapshot import snapshot

from kova_ls.cli.ask import Nobody, Person
from kova_ls.cli.client import Client
from kova_ls.cli.console import Keys, interrupts
from kova_ls.cli.turn import Left, Turn
from kova_ls.errors import DaemonUnavailable

DONE = {"stopReason": "done", "usage": {}}


def tool(status, **fields):
    return {
        "kind": "toolCall",
        "itemId": "c1",
        "callId": "c1",
        "tool": "bash",
        "args": {},
        "title": "bash: git push",
        "verdict": {"decision": "ask", "reasons": []},
        "status": status,
        **fields,
    }


@pytest.fixture
def turn(fake_engine, screen):
    """Make turns over a fake engine; `keyboard` puts a person there."""
    stack = ExitStack()

    def make(*, keyboard=False, prints_json=False, again=None, **handlers):
        seen = screen(terminal=keyboard)
        engine = fake_engine(**handlers)
        counted = stack.enter_context(interrupts())
        keys = Keys(seen.console.stdin.fileno()) if keyboard else None
        answering = (
            Person(seen.console, keys, "/w", lambda ref: "") if keys else Nobody(seen.console)
        )

        def reconnect():
            if again is None:
                raise DaemonUnavailable("It does not come back. Start it.")
            return Client(again.far)

        made = Turn(
            Client(engine.far),
            seen.console,
            "s1",
            "t1",
            answering,
            keys,
            counted,
            reconnect,
            epoch="e",
            seq=0,
            prints_json=prints_json,
        )
        return made, engine, seen

    with stack:
        yield make


def test_a_turn_is_shown_to_its_end(turn):
    made, engine, seen = turn()
    engine.event("turn.started", {"promptId": "p"})
    engine.event(
        "item.delta", {"kind": "reply", "offset": 0, "text": "Hi"}, item="r", durable=False
    )
    engine.event(
        "item.completed",
        {"item": {"kind": "reply", "itemId": "r", "status": "ok", "text": "Hi there"}},
    )
    engine.event("something.new", {})
    engine.notify("window/logMessage", {"message": "x"})
    engine.event("turn.completed", DONE, turn="another")
    engine.event("turn.completed", DONE)
    assert made.follow() == 0
    assert seen.out == "Hi there\n"


@pytest.mark.parametrize(
    ("payload", "code", "said"),
    [
        (
            {"stopReason": "failed", "error": {"code": "x", "message": "No key. Set one."}},
            1,
            "No key. Set one.\n",
        ),
        ({"stopReason": "limit"}, 1, "The turn reached its limit of steps."),
        (
            {"stopReason": "interrupted", "stopped": ["bash: sleep"]},
            130,
            "interrupted; stopped: bash: sleep\n",
        ),
        ({"stopReason": "later word"}, 1, "The turn ended: later word.\n"),
    ],
)
def test_the_end_decides_the_exit_code(turn, payload, code, said):
    made, engine, seen = turn()
    engine.event("turn.completed", payload)
    assert made.follow() == code
    assert seen.err.startswith(said)


def test_without_a_terminal_a_card_is_denied(turn, approval_json, question_json):
    def resolve(params):
        heard = {"approvalId": "a1", "turnId": "t1", "decision": "deny", "resolvedBy": "me"}
        return {"status": "resolved"}, lambda: engine.event("approval.resolved", heard)

    made, engine, _ = turn(
        approval_respond=resolve,
        question_respond=lambda _: ({}, lambda: engine.event("turn.completed", DONE)),
    )
    foreign = approval_json(approvalId="a0", turnId="t0")
    engine.event("approval.requested", {"approval": foreign}, turn="t0")
    engine.event("approval.requested", {"approval": approval_json()})
    engine.event("question.requested", {"request": question_json()})
    assert made.follow() == 3
    answers = [params for method, params in engine.heard if method.endswith("respond")]
    said = [(answer.get("approvalId"), answer.get("declined")) for answer in answers]
    assert said == [("a1", None), (None, True)]


def test_json_prints_every_event_and_asks_nobody(turn, approval_json):
    made, engine, seen = turn(
        prints_json=True,
        approval_respond=lambda _: ({}, lambda: engine.event("turn.completed", DONE)),
    )
    engine.event("item.delta", {"kind": "reply", "offset": 0, "text": "ü"}, durable=False)
    engine.event("approval.requested", {"approval": approval_json()})
    assert made.follow() == 3
    assert seen.out.isascii()
    assert [json.loads(line)["type"] for line in seen.out.splitlines()] == [
        "item.delta",
        "approval.requested",
        "turn.completed",
    ]


def test_a_person_answers_a_card_while_other_news_wait(turn, approval_json):
    def respond(params):
        return {"status": "resolved"}, lambda: engine.event("turn.completed", DONE)

    made, engine, seen = turn(keyboard=True, approval_respond=respond)
    engine.event("approval.requested", {"approval": approval_json()})
    answer = made.answering.answer

    def typed(card, feed, wait):
        def wait_typing():
            engine.event("item.completed", {"item": tool("ok")})
            seen.type("o")
            return wait()

        return answer(card, feed, wait_typing)

    made.answering = type("Typing", (), {"answer": staticmethod(typed)})()
    assert made.follow() == 0
    assert ("kova/approval/respond", {"approvalId": "a1", "decision": "once"}) in engine.heard
    assert seen.out.index("once\n") < seen.out.index("✓ bash: git push")


def test_a_card_answered_elsewhere_is_withdrawn(turn, approval_json):
    made, engine, _ = turn(keyboard=True)
    engine.event("approval.requested", {"approval": approval_json()})
    heard = {"approvalId": "a1", "turnId": "t1", "decision": "once", "resolvedBy": "kova.nvim"}
    engine.event("approval.resolved", heard)
    engine.event("turn.completed", DONE)
    assert made.follow() == 0
    assert not [method for method, _ in engine.heard if method.endswith("respond")]


def test_ctrl_c_stops_the_turn_and_says_what_stopped(turn):
    def interrupt(_params):
        stopped = {"stopReason": "interrupted", "stopped": ["bash: sleep 100"]}
        return {"stopped": ["bash: sleep 100"]}, lambda: engine.event("turn.completed", stopped)

    made, engine, seen = turn(turn_interrupt=interrupt)
    signal.raise_signal(signal.SIGINT)
    assert made.follow() == 130
    assert seen.err == snapshot(
        """\

stopping; Ctrl-C again leaves at once
interrupted; stopped: bash: sleep 100
"""
    )
    assert ("kova/turn/interrupt", {"sessionId": "s1", "expectedTurnId": "t1"}) in engine.heard


def test_ctrl_c_twice_leaves(turn):
    made, _, _ = turn(turn_interrupt=lambda _: {"stopped": []})
    signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)
    with pytest.raises(Left):
        made.follow()


def test_a_lost_engine_is_reached_again_and_nothing_is_told_twice(turn, fake_engine, snapshot_json):
    done = {"sessionId": "s1", "epoch": "e", "seq": 3, "at": 1.0, "turnId": "t1"}
    events = [
        {**done, "seq": 2, "type": "item.completed", "payload": {"item": tool("ok")}},
        {**done, "type": "turn.completed", "payload": DONE},
    ]
    attached = {
        "snapshot": snapshot_json(),
        "events": events,
        "watermark": {"epoch": "e", "seq": 3},
    }
    again = fake_engine(session_attach=lambda _: attached)
    made, engine, seen = turn(again=again)
    engine.event("turn.started", {})
    engine.event("item.completed", {"item": tool("ok")})
    engine.end()
    assert made.follow() == 0
    assert again.heard[0] == (
        "kova/session/attach",
        {"sessionId": "s1", "cursor": {"epoch": "e", "seq": 2}},
    )
    assert seen.err == "✓ bash: git push  asked\n"


def test_an_engine_that_stays_away_is_an_error(turn):
    made, engine, _ = turn()
    engine.end()
    with pytest.raises(DaemonUnavailable, match="does not come back"):
        made.follow()


def test_falling_behind_is_made_good_from_the_cursor(turn, snapshot_json):
    event = {"sessionId": "s1", "epoch": "e", "seq": 1, "at": 1.0, "turnId": "t1"}
    pages = [
        {
            "snapshot": snapshot_json(),
            "events": [{**event, "type": "turn.started", "payload": {}}],
            "watermark": {"epoch": "e", "seq": 1},
            "more": True,
        },
        {
            "snapshot": snapshot_json(),
            "events": [{**event, "seq": 2, "type": "turn.completed", "payload": DONE}],
            "watermark": {"epoch": "e", "seq": 2},
        },
    ]
    made, engine, _ = turn(session_attach=lambda _: pages.pop(0))
    engine.notify("kova/resyncRequired", {"sessionId": "s1"})
    assert made.follow() == 0
    cursors = [params["cursor"]["seq"] for _, params in engine.heard]
    assert cursors == [0, 1]


def test_panels_are_told_in_words(turn):
    made, engine, seen = turn()
    engine.notify("kova/panel/open", {"kind": "file", "uri": "file:///w/a.py", "line": 4})
    engine.notify("kova/panel/open", {"kind": "plan", "title": "Plan", "markdown": "# P\x1b"})
    engine.event("turn.completed", DONE)
    made.follow()
    assert seen.err == "open file:///w/a.py:5\nPlan\n# P<U+001B>\n"


GOAL = {"goalId": "g", "objective": "Green.", "status": "active", "by": "goal"}


def goal_of(engine, **changes):
    engine.event("goal.updated", {"goal": {**GOAL, **changes}}, turn=None)


def own_turn(engine, turn, reason="done"):
    engine.event("turn.started", {"promptId": turn, "goalId": "g"}, turn=turn)
    engine.event("turn.completed", {"stopReason": reason, "usage": {}}, turn=turn)


@pytest.mark.parametrize(
    ("status", "code"), [("complete", 0), ("blocked", 1), ("paused", 1), ("cancelled", 0)]
)
def test_the_turns_of_an_active_goal_are_followed_to_its_rest(turn, status, code):
    made, engine, seen = turn()
    goal_of(engine)
    engine.event("turn.completed", DONE)
    engine.event("turn.started", {"promptId": "p"}, turn="somebody")
    engine.event("turn.completed", DONE, turn="somebody")
    own_turn(engine, "t2")
    engine.event("turn.started", {"promptId": "t3", "goalId": "g"}, turn="t3")
    goal_of(engine, status=status, reason="That is why.")
    engine.event("turn.completed", DONE, turn="t3")
    assert made.follow() == code
    assert made.turn_id == "t3"
    assert "goal active: Green." in seen.err
    assert f"goal {status}: That is why." in seen.err


def test_a_goal_that_comes_to_rest_between_two_turns_ends_the_run(turn):
    made, engine, _ = turn()
    goal_of(engine)
    engine.event("turn.completed", DONE)
    goal_of(engine, status="paused", reason="The model is gone.")
    assert made.follow() == 1
