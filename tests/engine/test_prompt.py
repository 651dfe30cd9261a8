"""From records to messages."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from kova_ls.engine.prompt import (
    INTERRUPTED_NOTE,
    Conversation,
    system_prompt,
    user_message,
)
from kova_ls.journal import records as r
from kova_ls.journal.store import Journal
from kova_ls.llm._base import (
    AssistantMessage,
    ImageContent,
    ModelCall,
    TextContent,
    ToolOutput,
    ToolOutputs,
    UserMessage,
)
from kova_ls.values import (
    DiagnosticPart,
    FilePart,
    ImagePart,
    Position,
    Range,
    ReplyItem,
    SelectionPart,
    TextPart,
    ToolCallItem,
    UserMessageItem,
    Verdict,
)
from kova_ls.vocabulary import Decision, ItemStatus, Mode, StopReason

PLACE = Range(start=Position(line=2, character=0), end=Position(line=4, character=1))
CALL = r.CallRequest(call_id="c1", provider_id="p1", tool="read", arguments='{"path":"a"}')
OTHER = r.CallRequest(call_id="c2", provider_id="p2", tool="read", arguments="{}")


def said(text, **more):
    item = UserMessageItem(item_id="u", input=(TextPart(text=text),), **more)
    return r.ItemCompleted(item=item)


def ran(call_id, result, status=ItemStatus.OK):
    item = ToolCallItem(
        item_id=call_id,
        call_id=call_id,
        tool="read",
        args={},
        title="Read",
        verdict=Verdict(decision=Decision.ALLOW),
        status=status,
    )
    return r.ItemCompleted(item=item, result=result)


STEP = (
    r.StepStarted(turn_id="t", step_id="s", number=1, model="m"),
    r.ItemCompleted(item=ReplyItem(item_id="r", status=ItemStatus.OK, text="Looking.")),
    r.ModelReplied(turn_id="t", step_id="s", calls=(CALL, OTHER), opaque=({"k": 1},), api="x"),
)
END = r.StepCompleted(turn_id="t", step_id="s")


def user(text):
    return UserMessage((TextContent(text),))


def test_a_step_is_an_answer_and_its_outputs_in_order_of_the_calls():
    messages = Conversation().add_all([said("Go."), *STEP, ran("c2", "two"), ran("c1", "one"), END])
    assert messages == [
        user("Go."),
        AssistantMessage(
            text="Looking.",
            calls=(
                ModelCall("p1", "read", '{"path":"a"}', None),
                ModelCall("p2", "read", "{}", None),
            ),
            opaque=({"k": 1},),
            api="x",
        ),
        ToolOutputs(
            (ToolOutput("p1", "read", "one", False), ToolOutput("p2", "read", "two", False))
        ),
    ]


def test_every_call_has_an_output_even_when_it_was_not_run():
    messages = Conversation().add_all([*STEP, ran("c1", "failed", ItemStatus.ERROR), END])
    assert isinstance(messages[-1], ToolOutputs)
    assert [(o.text, o.is_error) for o in messages[-1].outputs] == [
        ("failed", True),
        ("Not run: the turn was stopped.", True),
    ]


def test_what_is_said_during_a_step_comes_after_it():
    messages = Conversation().add_all(
        [*STEP, said("Wait.", steered=True), ran("c1", ""), ran("c2", ""), END]
    )
    assert messages[-1] == user("Wait.")


def test_a_step_that_said_nothing_leaves_no_message():
    assert Conversation().add_all([STEP[0], END]) == []


def test_an_answer_that_a_stopped_engine_left_is_not_the_last_word():
    start, reply, _ = STEP
    assert Conversation().add_all([said("Go."), start, reply, END]) == [user("Go.")]
    stopped = reply.item.model_copy(update={"status": ItemStatus.CANCELLED})
    left = Conversation().add_all([said("Go."), start, r.ItemCompleted(item=stopped), END])
    assert left[-1] == AssistantMessage(text="Looking.")


def test_an_interrupted_turn_is_told_to_the_model():
    stopped = r.TurnCompleted(turn_id="t", stop_reason=StopReason.INTERRUPTED, stopped=("it",))
    assert Conversation().add_all([stopped]) == [user(INTERRUPTED_NOTE)]


def test_all_kinds_of_input_reach_the_model():
    item = UserMessageItem(
        item_id="u",
        input=(
            TextPart(text="Look."),
            FilePart(uri="file:///a"),
            SelectionPart(uri="file:///a", range=PLACE, text="x = 1"),
            DiagnosticPart(uri="file:///a", range=PLACE, message="bad", source="lint"),
            ImagePart(data="aGk=", mime_type="image/png"),
        ),
    )
    message = user_message(item, ("<file>y</file>",))
    assert message.content[1:] == (ImageContent("aGk=", "image/png"),)
    text = message.content[0].text
    assert text.split("\n\n") == [
        "Look.",
        "@file:///a",
        '<selection uri="file:///a" lines="3-5">\nx = 1\n</selection>',
        '<diagnostic uri="file:///a" line="3" source="lint">bad</diagnostic>',
        "<file>y</file>",
    ]


def golden():
    place = Path(__file__).parents[1] / "golden/journals/v1/journal.jsonl"
    return (stored.record for stored in Journal.peek(place))


@given(st.integers(0, 500))
def test_messages_are_only_ever_added_at_the_end(cut):
    records = list(golden())
    conversation = Conversation()
    first = [m for record in records[:cut] for m in conversation.add(record)]
    rest = [m for record in records[cut:] for m in conversation.add(record)]
    assert first + rest == Conversation().add_all(records)


def prompt(**more):
    settings = {"workspace": "/w", "platform": "linux", "mode": Mode.AGENT, "plan_path": "/p.md"}
    return system_prompt(**{**settings, **more})


def test_the_system_prompt_says_where_and_how():
    assert "Workspace: /w" in prompt()
    assert "no folder is open" in prompt(workspace=None)
    assert "/p.md" in prompt(mode=Mode.PLAN)
    assert "/p.md" not in prompt()
    assert prompt(mode=Mode.ASK) != prompt()
    assert prompt() == prompt()


def test_instructions_stand_with_their_file():
    text = prompt(instructions=[("AGENTS.md", "Use {tabs}.\n")])
    assert text.endswith('<instructions file="AGENTS.md">\nUse {tabs}.\n</instructions>')
