import pytest
from inline_snapshot import snapshot

from kova_ls.cli.terminal import Style
from kova_ls.cli.transcript import Feed, tool_details, tool_line
from kova_ls.l10n import Language
from kova_ls.values import ToolCallItem

STYLE = Style(colour=False, signs=True, width_columns=70)


def call(**fields):
    return ToolCallItem.model_validate(
        {
            "item_id": "c1",
            "call_id": "c1",
            "tool": "bash",
            "args": {},
            "title": "bash: npm test",
            "verdict": {
                "decision": "allow",
                "reasons": [{"code": "x", "text": "a rule allows it"}],
            },
            "status": "ok",
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, "✓ bash: npm test  allowed: a rule allows it"),
        (
            {
                "display": [
                    {
                        "type": "command",
                        "command": "npm test",
                        "cwd_path": "/w",
                        "exit_code": 2,
                        "output": "ran\n2 failed\x07\n\n",
                    }
                ]
            },
            "✓ bash: npm test  exit 2, 2 failed<U+0007>  allowed: a rule allows it",
        ),
        (
            {
                "tool": "edit",
                "title": "src/a.py",
                "display": [
                    {
                        "type": "diff",
                        "uri": "file:///a",
                        "change": "modify",
                        "diff": "@@\n+x\n-y\n+z",
                    }
                ],
            },
            "✓ src/a.py  +2 -1  allowed: a rule allows it",
        ),
        (
            {"status": "blocked", "error": "plan mode changes nothing"},
            "⊘ bash: npm test\n  plan mode changes nothing",
        ),
        (
            {"status": "error", "error": "no such file\nat all"},
            "✗ bash: npm test\n  no such file⏎at all",
        ),
        ({"verdict": {"decision": "ask"}}, "✓ bash: npm test  asked"),
        ({"title": "bash: " + "x" * 99}, "✓ bash: " + "x" * 61 + "…"),
        ({"title": "bash: \x1b[2J"}, "✓ bash: <U+001B>[2J  allowed: a rule allows it"),
    ],
)
def test_a_tool_call_is_one_line(fields, line):
    assert tool_line(call(**fields), STYLE) == line


def test_why_a_call_went_through_is_told_in_the_persons_language():
    style = Style(colour=False, signs=True, width_columns=70, language=Language.CHINESE)
    verdict = {"decision": "allow", "reasons": [{"code": "x", "text": "查看不会更改任何内容。"}]}
    line = tool_line(call(tool="read", title="读取 a.py", verdict=verdict), style)
    assert line == "✓ 读取 a.py  已允许：查看不会更改任何内容。"


def test_a_task_list_is_shown_below_its_call():
    todos = [{"text": "read", "status": "done"}, {"text": "write", "status": "in_progress"}]
    item = call(tool="TodoList", display=[{"type": "todos", "todos": todos}])
    assert tool_details(item, STYLE) == ["  ☑ read", "  ▸ write"]


def reply(text, status="ok", kind="reply"):
    from kova_ls.values import ReasoningItem, ReplyItem

    shape = ReplyItem if kind == "reply" else ReasoningItem
    return shape.model_validate({"item_id": "r1", "status": status, "text": text})


def test_the_answer_alone_goes_to_a_piped_stdout(screen):
    seen = screen()
    feed = Feed(seen.console)
    feed.delta("reasoning", "r0", 0, "hm")
    feed.delta("reply", "r1", 0, "Hel")
    feed.delta("reply", "r1", 3, "lo")
    feed.completed(reply("Hello"))
    feed.completed(call())
    feed.running("never shown")
    assert seen.out == "Hello\n"
    assert seen.err == "✓ bash: npm test  allowed: a rule allows it\n"


def test_lost_and_repeated_deltas_cost_nothing(screen):
    seen = screen()
    feed = Feed(seen.console)
    feed.delta("reply", "r1", 0, "one ")
    feed.delta("reply", "r1", 0, "one ")
    feed.delta("reply", "r1", 8, "lost before")
    feed.delta("reply", "r1", 2, "e two ")
    feed.completed(reply("one two three"))
    assert seen.out == "one two three\n"


def test_a_terminal_sees_everything_in_order(screen):
    seen = screen(terminal=True, env={"NO_COLOR": "", "TERM": "xterm"})
    feed = Feed(seen.console)
    feed.running("waiting for the model")
    feed.delta("reasoning", "r0", 0, "hm\x1b[2J")
    feed.delta("reply", "r1", 0, "Hi\n")
    feed.completed(reply("Hi\n"))
    feed.running("npm test")
    feed.completed(call())
    assert seen.out == snapshot(
        "\x1b[2m… waiting for the model\x1b[0m\r\x1b[K\x1b[2mhm<U+001B>[2J\x1b[0m\nHi\n\x1b[2m… npm test\x1b[0m\r\x1b[K\x1b[32m✓\x1b[0m bash: npm test  \x1b[2mallowed: a rule allows it\x1b[0m\n"
    )


def test_notices_and_foldings_are_told(screen):
    from kova_ls.values import CompactionItem, NoticeItem

    seen = screen()
    feed = Feed(seen.console)
    feed.completed(NoticeItem(item_id="n", level="warning", text="careful"))
    feed.completed(CompactionItem(item_id="n", summary="s"))
    assert seen.err == "careful\nearlier turns were folded into a summary\n"
