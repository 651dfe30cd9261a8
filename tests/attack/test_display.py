"""What others wrote, on cards: as it is, or saying what is left out and where it can be read."""

import orjson
import pytest

from kova_ls.cli.card import approval_lines
from kova_ls.cli.terminal import Style
from kova_ls.endpoint.project import MAX_PAYLOAD_BYTES, payload_of
from kova_ls.journal import records as r
from tests.support.stage import Stage, call, say

PLAIN = Style(colour=False, signs=True)
HOSTILE = {
    "newlines": "echo one\n\n\ntouch hidden",
    "ansi": "echo \x1b[2K\x1b[1A\x1b]0;title\x07 ok",
    "carriage return": "rm -rf .\rls",
    "backspace": "rm\x08\x08ls",
    "bidi": "echo \u202e\u2066gpj.exe\u2069\u202c",
    "zero width": "l\u200bs\u200d \ufeff\u2060\u00ad",
    "odd spaces": "ls\u00a0\u2003\u3000-la",
    "tags": "ls \U000e0061\U000e0062",
    "nul": "echo a\0b",
    "combining": "e\u0301cho " + "\u0300" * 50,
}


async def card_of(tmp_path, step, *, files=None, level="workspace-write"):
    """Play until the card; returns the stage, the card, and what travels."""
    stage = Stage(tmp_path, [step, say("Done.")], files=files)
    session = stage.create(level=level)
    stage.prompt(session, "Go.")
    await stage.waiting(session)
    record = next(one for one in stage.records() if isinstance(one, r.ApprovalRequested))
    raw = payload_of(record)
    assert len(raw) <= MAX_PAYLOAD_BYTES
    return stage, record.approval, orjson.loads(raw)["approval"]


def whole(stage, card, ref):
    session_id, _, name = ref.partition("/")
    assert session_id == card.session_id
    folder = stage.engine.get(session_id).folder
    return (folder / "outputs" / name).read_text("utf-8", "surrogatepass")


@pytest.mark.parametrize("command", HOSTILE.values(), ids=HOSTILE)
async def test_a_hostile_command_travels_as_it_is_and_is_spelled_out(tmp_path, command):
    stage, card, sent = await card_of(tmp_path, call("bash", command=command))
    shown = command.encode("utf-8", "replace").decode()
    assert sent["subject"]["command"] in (command, shown)
    assert sent["subject"].get("hiddenChars", 0) == 0
    lines = approval_lines(card, PLAIN, "")
    for line in lines:
        assert line.isprintable(), line
    drawn = "\n".join(lines)
    for char in command:
        if not char.isprintable() and char not in "\n\t":
            assert f"<U+{ord(char):04X}>" in drawn
    # Each line of the command is a line of the card.
    marks = [line.split()[1] for line in lines if line[2:3] in ("$", ">")]
    assert marks == ["$", *[">"] * command.count("\n")]
    await stage.close()


async def test_a_command_of_20000_characters_is_whole(tmp_path):
    command = "echo " + "x" * 20_000 + "; touch hidden"
    stage, card, sent = await card_of(tmp_path, call("bash", command=command))
    assert sent["subject"]["command"] == command
    assert sent["subject"].get("hiddenChars", 0) == 0
    drawn = "".join(line[2:] for line in approval_lines(card, PLAIN, ""))
    assert "touch hidden" in drawn
    assert len(sent["title"]) < 300
    await stage.close()


@pytest.mark.parametrize("sign", ["x", "\x1b", "\u202e", "😀"])
async def test_a_command_without_end_says_what_is_hidden_and_where_it_is(tmp_path, sign):
    command = "echo " + sign * 300_000 + "; touch hidden"
    stage, card, sent = await card_of(tmp_path, call("bash", command=command))
    subject = sent["subject"]
    assert command.startswith(subject["command"])
    assert len(subject["command"]) + subject["hiddenChars"] == len(command)
    assert whole(stage, card, subject["outputRef"]) == command
    drawn = "\n".join(approval_lines(card, PLAIN, ""))
    assert f"{subject['hiddenChars']:,} more characters not shown" in drawn
    await stage.close()


async def test_a_diff_of_5_mb_says_what_is_hidden_and_where_it_is(tmp_path):
    old = "".join(f"line {n} {'x' * 40}\n" for n in range(50_000))
    new = old.replace("line", "LINE")
    stage, card, sent = await card_of(
        tmp_path, call("write", path="big.txt", content=new), files={"big.txt": old}, level="ask"
    )
    (file,) = sent["subject"]["files"]
    assert file["diff"].endswith("\n")
    text = whole(stage, card, file["outputRef"])
    assert len(text) > 5_000_000
    assert text.startswith(file["diff"])
    assert text.count("\n") == file["diff"].count("\n") + file["hiddenLines"]
    shown = [line for line in approval_lines(card, PLAIN, "") if line[2:3] in ("+", "-")]
    drawn = "\n".join(approval_lines(card, PLAIN, ""))
    assert f"({text.count(chr(10)) - 2 - 1 - len(shown)} more lines not shown here)" in drawn
    await stage.close()


async def test_a_line_of_5_mb_is_hidden_as_a_whole(tmp_path):
    stage, card, sent = await card_of(
        tmp_path, call("write", path="big.txt", content="x" * 5_000_000), level="ask"
    )
    (file,) = sent["subject"]["files"]
    assert file["hiddenLines"] == whole(stage, card, file["outputRef"]).count("\n") - file[
        "diff"
    ].count("\n")
    assert "more lines not shown here" in "\n".join(approval_lines(card, PLAIN, ""))
    await stage.close()


async def test_a_file_name_with_a_newline_is_one_name(tmp_path):
    name = "a\n$ rm -rf ~\u202e\x1b[1m.txt"
    stage, card, sent = await card_of(tmp_path, call("write", path=name, content="x"), level="ask")
    (file,) = sent["subject"]["files"]
    assert file["uri"].isascii()
    assert "%0A" in file["uri"]
    lines = approval_lines(card, PLAIN, str(stage.workspace.resolve()))
    assert all(line.isprintable() for line in lines)
    assert any("a⏎$ rm -rf ~<U+202E><U+001B>[1m.txt" in line for line in lines)
    assert not any(line[2:].startswith("$") for line in lines)
    await stage.close()


async def test_a_hostile_diff_shows_its_signs(tmp_path):
    stage, card, sent = await card_of(
        tmp_path,
        call("write", path="a.py", content="if admin\u202e: # \u2066\x1b[8m\r\nrun()\n"),
        level="ask",
    )
    assert "\u202e" in sent["subject"]["files"][0]["diff"]
    drawn = "\n".join(approval_lines(card, PLAIN, ""))
    assert "admin<U+202E>: # <U+2066><U+001B>[8m" in drawn
    assert "\x1b" not in drawn
    await stage.close()


async def test_hidden_parts_are_part_of_what_is_approved(tmp_path):
    old = "".join(f"line {n}\n" for n in range(5_000))
    new = old.upper()
    stage = Stage(
        tmp_path,
        [call("write", path="big.txt", content=new), say("Done.")],
        files={"big.txt": old},
    )
    session = stage.create(level="ask")
    stage.prompt(session, "Go.")
    card_id = await stage.waiting(session)
    await stage.kill_engine()
    # The answer is recorded, and the engine is killed before it acts; then a hidden line changes.
    engine = stage.start_engine()
    session = engine.recover()[0]
    stage.listen(session)
    assert await stage.waiting(session) == card_id
    stage.respond(session, card_id, "once")
    await stage.kill_engine()
    stage.put("big.txt", old.replace("line 4999", "line 4999, mine"))
    engine = stage.start_engine()
    session = engine.recover()[0]
    stage.listen(session)
    again = await stage.waiting(session)
    assert again != card_id
    assert "mine" in (stage.workspace / "big.txt").read_text()
    await stage.close()
