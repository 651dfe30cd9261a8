import json
from pathlib import Path
from typing import Any

import pytest

from kova_ls.config import ModelSettings
from kova_ls.llm._base import (
    AssistantMessage,
    ImageContent,
    Message,
    ModelCall,
    TextContent,
    ToolOutput,
    ToolOutputs,
    UserMessage,
)
from kova_ls.llm.scripted import ScriptedAdapter, open_adapter
from kova_ls.vocabulary import Outcome
from tests.llm.wire import call

HI = UserMessage((TextContent("hi there"), ImageContent("aGk=", "image/png")))


def scripted(folder: Path, *steps: dict[str, Any]) -> ScriptedAdapter:
    path = folder / "script.json"
    path.write_text(json.dumps({"steps": list(steps)}))
    return open_adapter(ModelSettings(api="scripted", script=str(path), context_window=50), None)


READ = {"name": "read", "arguments": {"path": "a"}}


async def test_a_step_says_text_reasoning_and_calls(tmp_path: Path):
    adapter = scripted(
        tmp_path, {"reasoning": "hm", "text": ["I ", "", "look."], "calls": [READ, {"name": "x"}]}
    )
    made = await call(adapter, [HI])
    assert made.deltas == [("reasoning", "hm"), ("text", "I "), ("text", "look.")]
    assert made.reply
    assert made.reply.calls == (
        ModelCall("call_1_1", "read", '{"path":"a"}'),
        ModelCall("call_1_2", "x", "{}"),
    )
    assert (made.reply.text, made.reply.outcome) == ("I look.", Outcome.COMPLETE)
    assert made.reply.usage.context_window == 50
    assert made.reply.usage.context_tokens > 0


async def test_the_step_follows_from_the_conversation(tmp_path: Path):
    adapter = scripted(tmp_path, {"text": "one"}, {"text": "two"})
    conversation: list[Message] = [HI]
    texts: list[str] = []
    for _ in range(3):
        made = await call(adapter, conversation)
        assert made.reply
        texts.append(made.reply.text)
        conversation += [AssistantMessage(made.reply.text), HI]
    assert texts == ["one", "two", "The script has nothing more to say."]
    again = await call(adapter, conversation[:1])
    assert again.reply
    assert again.reply.text == "one"


async def test_what_a_step_expects_must_have_been_said_since_the_last_answer(tmp_path: Path):
    adapter = scripted(
        tmp_path, {"text": "a", "expect": ["hi there"]}, {"text": "b", "expect": ['al"pha']}
    )
    outputs = ToolOutputs((ToolOutput("call_1_1", "read", 'al"pha'),))
    assert (await call(adapter, [HI])).reply
    assert (await call(adapter, [HI, AssistantMessage("a"), outputs])).reply
    made = await call(adapter, [UserMessage((TextContent('al"pha'),)), AssistantMessage("a"), HI])
    assert made.failure
    assert made.failure.message.startswith("Step 2 of the script expects 'al\"pha'")


async def test_a_step_may_fail_before_or_after_its_text(tmp_path: Path):
    error = {"code": "overloaded", "message": "Later.", "retryable": True, "status": 529}
    adapter = scripted(tmp_path, {"error": error}, {"text": "half", "error": error})
    made = await call(adapter, [HI])
    assert made.failure
    assert (made.failure.code, made.failure.retryable, made.failure.status) == (
        "overloaded",
        True,
        529,
    )
    made = await call(adapter, [AssistantMessage("x")])
    assert made.reply
    assert (made.reply.text, made.reply.outcome) == ("half", Outcome.ERROR)


async def test_retries_are_reported(tmp_path: Path):
    made = await call(scripted(tmp_path, {"text": "a", "retries": 2, "delay_ms": 1}), [HI])
    assert [number for number, _, _ in made.retries] == [1, 2]


async def test_a_call_may_be_cut_off(tmp_path: Path):
    cut = {"name": "read", "arguments": '{"pa'}
    made = await call(scripted(tmp_path, {"calls": [READ], "cut_off": [cut]}), [HI])
    assert made.reply
    assert [one.id for one in made.reply.incomplete_calls] == ["call_1_2"]
    assert made.reply.outcome is Outcome.LENGTH


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "wrong at the file"),
        ('{"steps":[{"calls":[{"nam":"x"}]}]}', "wrong at steps.0.calls.0"),
        (None, "cannot be read"),
    ],
)
async def test_a_wrong_script_is_told(tmp_path: Path, text: str | None, said: str):
    path = tmp_path / "script.json"
    if text is not None:
        path.write_text(text)
    made = await call(open_adapter(ModelSettings(api="scripted", script=str(path)), None), [HI])
    assert made.failure
    assert said in made.failure.message


async def test_a_missing_script_is_told():
    made = await call(open_adapter(ModelSettings(api="scripted"), None), [HI])
    assert made.failure
    assert "Set `script`" in made.failure.message
