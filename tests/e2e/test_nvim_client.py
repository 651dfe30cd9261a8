"""The Neovim client against a server that the test plays: what no real engine sends on purpose."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_engine import EPOCH, FakeEngine, Refusal
from tests.support.nvim import Nvim, open_nvim
from tests.support.nvim_client import EMPTY, begin, call, editor, reply, sha, transcript, user

pytestmark = pytest.mark.e2e


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / ".git").mkdir(parents=True)
    (folder / "main.py").write_text("print('hi')\nx = 1\n")
    return folder


# -- transcript -------------------------------------------------------------------------------


async def test_the_stream_is_shown_once_and_tool_calls_fold(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        engine.item(reply("a1"), ended=False)
        engine.delta("a1", 0, "One ")
        engine.delta("a1", 4, "two\nth")
        engine.delta("a1", 2, "e two\nth")
        engine.delta("a1", 10, "ree")
        await nvim.wait("three")
        engine.item(reply("a1", "One two\nthree", "ok"))
        engine.item(call("c1", "Run make", "running"), ended=False)
        engine.delta("c1", 0, "compiling\n", kind="toolCall")
        await nvim.wait("compiling")
        output = {"type": "command", "command": "make", "cwdPath": "/", "exitCode": 0}
        engine.item(call("c1", "Run make", "ok", display=[output | {"output": "compiling\nok"}]))
        engine.item(call("c2", "Run rm", "blocked", error="The mode forbids it."))
        engine.item(reply("a2", "Done.", "ok"))
        await nvim.wait("Done.")
        assert await transcript(nvim) == [
            "❯ hello",
            "",
            "One two",
            "three",
            "",
            "✓ Run make",
            "```console",
            "$ make",
            "compiling",
            "ok",
            "```",
            "⊘ Run rm",
            "The mode forbids it.",
            "",
            "Done.",
        ]
        assert "compiling" not in nvim.grid.text
        await nvim.input("<Esc><C-w>k")
        await nvim.input(":call search('Run make')<CR><CR>")
        await nvim.wait("compiling")


async def test_a_gap_in_the_deltas_is_mended_by_the_whole(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        engine.item(reply("a1"), ended=False)
        engine.delta("a1", 0, "One ")
        engine.delta("a1", 8, "three")
        await nvim.wait("One …three")
        engine.item(reply("a1", "One two three", "ok"))
        await nvim.wait("One two three")


async def test_a_missed_event_means_attach_from_the_cursor(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        cursor = engine.seq
        engine.seq += 1
        missed = {"sessionId": "s1", "epoch": EPOCH, "at": 0.0, "type": "item.completed"}
        missed |= {"seq": engine.seq, "payload": {"item": reply("a1", "missed", "ok")}}

        def attach(params: dict[str, Any]) -> Any:
            assert params["cursor"] == {"epoch": EPOCH, "seq": cursor}
            watermark = {"epoch": EPOCH, "seq": engine.seq}
            snapshot = engine.snapshot | {"watermark": watermark, "state": "running"}
            return {"snapshot": snapshot, "events": [missed, last], "watermark": watermark}

        engine.answers["kova/session/attach"] = attach
        last = engine.event("item.completed", {"item": reply("a2", "heard", "ok")})
        await nvim.wait("heard")
        assert await transcript(nvim) == ["❯ hello", "", "missed", "", "heard"]


async def test_an_event_counts_once(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        settings = {"mode": "agent", "model": "demo", "by": "another"}
        old = engine.event("session.configured", settings | {"level": "ask"})
        engine.event("session.configured", settings | {"level": "auto"})
        await nvim.wait("agent · auto ·")
        engine.notify("kova/event", old)
        engine.item(reply("a1", "go on", "ok"))
        await nvim.wait("go on")
        assert "agent · auto ·" in nvim.grid.text
        assert engine.count("kova/session/attach") == 0


async def test_a_lost_connection_is_opened_again_and_nothing_is_doubled(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        engine.item(reply("a1", "before", "ok"))
        await nvim.wait("before")
        watermark = {"epoch": EPOCH, "seq": engine.seq}
        card = {
            "approvalId": "p1",
            "sessionId": "s1",
            "turnId": "t1",
            "callId": "c1",
            "kind": "tool",
            "title": "Run make",
            "subject": {"type": "other", "summary": "still open"},
            "decisions": ["deny", "once"],
        }
        engine.set_snapshot(state="waiting", approvals=[card])
        engine.drop()
        cursor = (await engine.wait_for("kova/session/attach"))["cursor"]
        assert cursor == watermark
        await nvim.wait("still open")
        engine.item(reply("a2", "after", "ok"))
        await nvim.wait_lua("require('kova.transcript').stats().blocks == 3")
        assert await transcript(nvim) == ["❯ hello", "", "before", "", "after"]
        assert engine.connections == 2


async def test_ten_thousand_lines_stay_fast(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        items = [
            reply(f"a{i}", "\n".join(f"line {i} {n}" for n in range(100)), "ok") for i in range(100)
        ]
        engine.set_snapshot(items=items)
        await nvim.command("Kova")
        await nvim.wait(EMPTY)
        await nvim.lua("require('kova.session').attach('s1')")
        await nvim.wait("line 99 99")
        engine.item(reply("z"), ended=False)
        await nvim.lua(
            """
            local set_lines = vim.api.nvim_buf_set_lines
            widest = 0
            vim.api.nvim_buf_set_lines = function(buf, first, last, strict, lines)
              widest = math.max(widest, #lines, last - first)
              return set_lines(buf, first, last, strict, lines)
            end
            """
        )
        for n in range(500):
            engine.delta("z", n * 10, f"word {n:04d}\n")
        await nvim.wait("word 0499")
        stats = await nvim.lua("return require('kova.transcript').stats()")
        assert stats["lines"] > 10_000
        assert not stats["treesitter"]
        assert await nvim.lua("return widest") < 10


async def test_older_items_are_read_at_the_top(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        engine.set_snapshot(items=[reply("a9", "newest", "ok")], itemsBefore=7)
        engine.answers["kova/session/read"] = lambda params: {
            "items": [reply("a2", "second", "ok"), user("u1", "first")]
        }
        await nvim.command("Kova")
        await nvim.wait(EMPTY)
        await nvim.lua("require('kova.session').attach('s1')")
        await nvim.wait("newest")
        await nvim.input("<Esc><C-w>kgg")
        assert (await engine.wait_for("kova/session/read"))["before"] == 7
        await nvim.wait("❯ first")
        assert await transcript(nvim) == ["❯ first", "", "second", "", "newest"]


# -- cards ------------------------------------------------------------------------------------

ONE_CARD = {"title": "Run make", "decisions": ["deny", "once", "remember"], "rules": ["make"]}


async def test_a_card_does_not_take_the_keys_of_someone_who_types(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace, settings="card = { arm_ms = 0 }") as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("and then ")
        engine.approve("p1", **ONE_CARD)
        await nvim.wait("<C-g> answers")
        await nvim.input("do or not")
        await nvim.wait("and then do or not")
        assert nvim.grid.mode == "insert"
        assert engine.count("kova/approval/respond") == 0
        await nvim.input("<C-g>")
        await nvim.wait_lua(
            "require('kova.card_window').is_armed() and vim.api.nvim_get_mode().mode == 'n'"
        )
        await nvim.input("o")
        answer = await engine.wait_for("kova/approval/respond")
        assert answer == {"approvalId": "p1", "decision": "once"}
        await nvim.wait("answering")
        engine.resolve("p1", "once")
        await nvim.wait("╭", absent=True)
        await nvim.input("!")
        await nvim.wait("and then do or not!")


async def test_a_card_takes_no_key_before_its_time(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace, settings="card = { arm_ms = 1000000 }") as (
        nvim,
        engine,
    ):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        engine.approve("p1", **ONE_CARD)
        await nvim.wait("o allow once")
        await nvim.input("odr")
        await nvim.input(":echo 'typed'<CR>")
        await nvim.wait("typed")
        assert engine.count("kova/approval/respond") == 0
        assert not await nvim.lua("return require('kova.card_window').is_armed()")


async def test_a_word_is_no_answer_by_its_second_letter(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        engine.approve("p1", **ONE_CARD)
        await nvim.wait("o allow once")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("no")
        await nvim.input(":echo 'typed'<CR>")
        await nvim.wait("typed")
        assert engine.count("kova/approval/respond") == 0
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("o")
        assert (await engine.wait_for("kova/approval/respond"))["decision"] == "once"


async def test_the_least_room_still_shows_the_state_and_the_level(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace, width=60) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.wait("● running · workspace-wr")
        await nvim.wait("<C-s> queues")
        await nvim.input("<Esc>")
        await nvim.wait("<CR> queues")
        assert not [line for line in nvim.grid.lines if line.endswith(("steer", ","))]


async def test_a_card_is_armed_after_its_pause(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        engine.approve("p1", **ONE_CARD)
        await nvim.wait("o allow once")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        waited = await nvim.lua("return require('kova.card_window').armed_after")
        assert waited >= 300
        await nvim.input("d")
        assert (await engine.wait_for("kova/approval/respond"))["decision"] == "deny"


async def test_a_card_beside_someone_else_s_window_only_says_so(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>q")
        await nvim.wait("Kova  A test", absent=True)
        engine.approve("p1", **ONE_CARD)
        await nvim.wait("Kova waits: Run make  (:Kova card)")
        assert "╭" not in nvim.grid.text
        await nvim.command("Kova card")
        await nvim.wait("o allow once")


async def test_cards_come_one_at_a_time_and_go_when_the_engine_says_so(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        engine.approve("p1", title="First", callId="c1")
        engine.approve("p2", title="Second", callId="c2")
        await nvim.wait("First (1 of 2)")
        engine.resolve("p1", "superseded", by="engine")
        engine.approve("p3", title="First anew", callId="c1")
        await nvim.wait("First anew (1 of 2)")
        engine.resolve("p3", "deny", by="another editor")
        await nvim.wait("Second")
        await nvim.wait("deny by another editor")
        assert "of 2)" not in nvim.grid.text


HOSTILE = "echo safe\u202ehsr\u200b\x1b[8m\nrm -rf ~\r# \u2066x"


async def test_hostile_text_is_made_visible(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace, width=140) as (nvim, engine):
        await begin(nvim, engine)
        subject = {"type": "command", "command": HOSTILE, "cwd": workspace.as_uri()}
        segments = [{"text": "echo 100% safe\nreally", "reason": "unknown \u202eprogram"}]
        engine.approve("p1", title="Run\necho \u202esafe", subject=subject | {"segments": segments})
        await nvim.wait("⏎ rm -rf ~⟨U+000D⟩# ⟨U+2066⟩x")
        await nvim.wait("$ echo safe⟨U+202E⟩hsr⟨U+200B⟩⟨U+001B⟩[8m")
        await nvim.wait("Run⏎echo ⟨U+202E⟩safe")
        await nvim.wait("⏎ really")
        engine.item(reply("a1", "see \u202eevil\x07 %#Error# 👩\u200d💻", "ok"))
        await nvim.wait_lua(
            "vim.api.nvim_buf_get_lines(require('kova.transcript').buffer(), -2, -1, false)[1]"
            " == 'see ⟨U+202E⟩evil⟨U+0007⟩ %#Error# 👩\u200d💻'"
        )


async def test_yes_waits_until_the_hidden_lines_were_opened(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        diff = "@@ -1 +1 @@\n-a\n+b\n"
        pieces = {0: diff, len(diff): "+hidden truth\n"}
        engine.answers["kova/output/read"] = lambda params: {
            "text": pieces[params["offset"]],
            "offset": params["offset"],
            "nextOffset": params["offset"] + len(pieces[params["offset"]]),
            "totalBytes": sum(map(len, pieces.values())),
        }
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        change = {"uri": (workspace / "main.py").as_uri(), "change": "modify", "diff": diff}
        change |= {"hiddenLines": 240, "outputRef": "o1"}
        engine.approve("p1", title="Edit main.py", subject={"type": "edit", "files": [change]})
        await nvim.wait("240 more lines are not shown here: e opens them")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("o")
        await nvim.wait("first open what is hidden")
        assert engine.count("kova/approval/respond") == 0
        await nvim.input("e")
        await nvim.wait("+hidden truth")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("o")
        assert (await engine.wait_for("kova/approval/respond"))["decision"] == "once"


async def test_yes_waits_until_the_whole_command_was_opened(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        whole = "echo shown; rm -r everything"
        engine.answers["kova/output/read"] = lambda params: {
            "text": whole,
            "offset": 0,
            "nextOffset": len(whole),
            "totalBytes": len(whole),
        }
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        subject = {
            "type": "command",
            "command": "echo shown",
            "cwd": workspace.as_uri(),
            "hiddenChars": 18,
            "outputRef": "o1",
        }
        engine.approve("p1", title="$ echo shown", subject=subject)
        await nvim.wait("18 more characters are not shown here: e opens them")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("o")
        await nvim.wait("first open what is hidden")
        assert engine.count("kova/approval/respond") == 0
        await nvim.input("e")
        await nvim.wait("rm -r everything")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("o")
        assert (await engine.wait_for("kova/approval/respond"))["decision"] == "once"


async def test_a_long_card_says_how_much_is_below(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        diff = "".join(f"+line {n}\n" for n in range(100))
        change = {"uri": (workspace / "new.py").as_uri(), "change": "create", "diff": diff}
        title = "Write " + "long/" * 30 + "new.py"
        engine.approve("p1", title=title, subject={"type": "edit", "files": [change]})
        await nvim.wait("of 101 ▼")
        await nvim.input("G")
        await nvim.wait("line 99")
        await nvim.wait("▼", absent=True)


async def test_a_plan_card_offers_its_own_answers(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        options = [{"label": "Fast", "description": "less safe"}, {"label": "Safe"}]
        subject = {"type": "plan", "markdown": "# Plan\n1. look", "options": options}
        decisions = ["approve", "reject", "rejectAndExit", "revise"]
        engine.approve("p1", kind="plan", title="The plan", subject=subject, decisions=decisions)
        await nvim.wait("○ 2  Safe")
        await nvim.wait("v revise…")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("2")
        await nvim.wait("◉ 2  Safe")
        await nvim.input("v")
        await nvim.wait("What should be different?")
        await nvim.input("add tests<CR>")
        answer = await engine.wait_for("kova/approval/respond")
        assert answer["decision"] == "revise"
        assert answer["feedback"] == "add tests"
        assert answer["option"] == "Safe"


async def test_a_refused_answer_leaves_the_card(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):

        def refuse(params: dict[str, Any]) -> Any:
            raise Refusal("That is not one of the answers.")

        engine.answers["kova/approval/respond"] = refuse
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        engine.approve("p1", **ONE_CARD)
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("f")
        await nvim.wait("Why not?")
        await nvim.input("no<CR>")
        await nvim.wait("That is not one of the answers.")
        await nvim.wait("o allow once")


async def test_questions_are_answered_page_by_page(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        first = {"id": "q1", "question": "Which one?", "options": [{"label": "A"}, {"label": "B"}]}
        second = {"id": "q2", "question": "Which ones?", "multiSelect": True}
        second |= {"options": [{"label": "X", "description": "the x"}, {"label": "Y"}]}
        third = {"id": "q3", "question": "Anything else?", "options": []}
        request = {"questionId": "k1", "sessionId": "s1", "turnId": "t1", "callId": "c1"}
        request |= {"questions": [first, second, third]}
        engine.event("question.requested", {"request": request})
        await nvim.wait("Which one?")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("j<CR>")
        await nvim.wait("question 2 of 3")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("1")
        await nvim.input("2")
        await nvim.wait("[x] 2  Y")
        await nvim.input("<CR>")
        await nvim.wait("Anything else?")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("i")
        await nvim.wait("Your answer:")
        await nvim.input("be kind<CR>")
        answer = await engine.wait_for("kova/question/respond")
        assert answer == {
            "questionId": "k1",
            "answers": [
                {"id": "q1", "selected": ["B"]},
                {"id": "q2", "selected": ["X", "Y"]},
                {"id": "q3", "selected": [], "other": "be kind"},
            ],
        }


# -- prompt -----------------------------------------------------------------------------------


async def test_a_prompt_that_is_not_taken_stays(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):

        def refuse(params: dict[str, Any]) -> Any:
            raise Refusal("No model is configured." + 30 * " Set a key." + " That is all.")

        engine.answers["kova/turn/start"] = refuse
        await nvim.command("Kova")
        await nvim.wait(EMPTY)
        await nvim.input("precious words<C-s>")
        first = await engine.wait_for("kova/turn/start")
        await nvim.wait("not sent; it stays here")
        await nvim.wait("No model is configured.")
        await nvim.wait("That is all.")
        await nvim.wait("precious words")
        del engine.answers["kova/turn/start"]
        await nvim.input("<Esc><CR>")
        second = await engine.wait_for("kova/turn/start", 2)
        assert first["promptId"] == second["promptId"]
        await nvim.wait("precious words", absent=True)
        await nvim.input("<Up>")
        await nvim.wait("precious words")
        await nvim.input("<Down>")
        await nvim.wait("precious words", absent=True)


async def test_mentions_are_completed_and_sent_as_files(tmp_path: Path, workspace: Path) -> None:
    (workspace / "my notes.md").write_text("n")
    async with editor(tmp_path, workspace) as (nvim, engine):
        await nvim.command("Kova")
        await nvim.wait(EMPTY)
        await nvim.input("look at @mai")
        await nvim.wait("main.py file")
        await nvim.input("<C-y>:1-2, mail me@host, @nothing and @no")
        await nvim.wait("my notes.md")
        await nvim.input("<C-y><C-s>")
        sent = (await engine.wait_for("kova/turn/start"))["input"]
        text = 'look at @main.py:1-2, mail me@host, @nothing and @"my notes.md"'
        ends = {"start": {"line": 0, "character": 0}, "end": {"line": 2, "character": 0}}
        assert sent[0] == {"type": "text", "text": text}
        assert sorted(sent[1:], key=lambda part: part["uri"]) == [
            {"type": "file", "uri": (workspace / "main.py").as_uri(), "range": ends},
            {"type": "file", "uri": (workspace / "my notes.md").as_uri()},
        ]


async def test_a_visual_selection_is_sent_with_utf16_positions(
    tmp_path: Path, workspace: Path
) -> None:
    (workspace / "main.py").write_text("a😀bcd\nsecond\n")
    async with editor(tmp_path, workspace) as (nvim, engine):
        await nvim.input("0llvjl")
        await nvim.input(":Kova why is that<CR>")
        sent = (await engine.wait_for("kova/turn/start"))["input"]
        assert sent == [
            {"type": "text", "text": "why is that"},
            {
                "type": "selection",
                "uri": (workspace / "main.py").as_uri(),
                "range": {
                    "start": {"line": 0, "character": 3},
                    "end": {"line": 1, "character": sent[1]["range"]["end"]["character"]},
                },
                "text": "bcd\n" + "second"[: sent[1]["range"]["end"]["character"]],
            },
        ]
        await nvim.input("<C-w>h")
        await nvim.input("Vj:Kova<CR>")
        await nvim.wait("⧉ main.py:1-3")
        await nvim.command("Kova detach")
        await nvim.wait("⧉ main.py", absent=True)


async def test_the_level_cycles_before_and_after_the_first_prompt(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await nvim.command("Kova")
        await nvim.wait("new · agent · workspace-write")
        await nvim.input("<S-Tab>")
        await nvim.wait("new · agent · auto-edit")
        await begin_here(nvim, engine)
        assert (await engine.wait_for("kova/session/create"))["level"] == "auto-edit"
        settings = {"mode": "agent", "level": "auto", "model": "demo"}
        engine.answers["kova/session/cycleLevel"] = lambda params: settings
        await nvim.input("<S-Tab>")
        await nvim.wait("agent · auto ·")
        engine.event("session.configured", settings | {"mode": "plan", "by": "another"})
        await nvim.wait("plan · auto ·")


async def begin_here(nvim: Nvim, engine: FakeEngine) -> None:
    engine.set_snapshot(level="auto-edit")
    await nvim.input("hello<C-s>")
    await engine.wait_for("kova/turn/start")


async def test_stop_says_what_it_stopped(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace, width=160) as (nvim, engine):
        await begin(nvim, engine)
        engine.answers["kova/turn/interrupt"] = lambda params: {
            "stopped": ["bash: sleep 100"],
            "stillRunning": ["task 3"],
        }
        await nvim.input("<C-c>")
        await nvim.wait("stopped bash: sleep 100; still running: task 3")
        payload = {"stopReason": "interrupted", "stopped": ["bash: sleep 100"]}
        engine.event("turn.completed", payload, turnId="t1")
        await nvim.wait("⚠ Stopped: bash: sleep 100")
        await nvim.wait("✓ idle")


async def test_a_busy_session_queues_and_steers(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        engine.answers["kova/turn/start"] = lambda params: {"turnId": "t2", "status": "queued"}
        await nvim.input("later<C-s>")
        assert (await engine.wait_for("kova/turn/start", 2))["whenBusy"] == "queue"
        engine.event("queue.updated", {"queue": [{"promptId": "x", "turnId": "t2", "input": []}]})
        await nvim.wait("1 queued")
        await nvim.input("now<M-CR>")
        assert (await engine.wait_for("kova/turn/start", 3))["whenBusy"] == "steer"


async def test_a_prompt_that_waits_is_taken_back_into_the_prompt(
    tmp_path: Path, workspace: Path
) -> None:
    main = {"type": "file", "uri": (workspace / "main.py").resolve().as_uri()}
    lines = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
    range_of_main = main | {"range": lines}
    parts = [{"type": "text", "text": "look at @main.py\ntwice"}, main, range_of_main]
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        engine.answers["kova/turn/withdraw"] = lambda params: {"input": parts}
        other = {"promptId": "o", "turnId": "t3", "input": [], "client": "VS Code"}
        own = {"promptId": "x", "turnId": "t2", "input": parts, "client": "kova.nvim"}
        engine.event("queue.updated", {"queue": [own, other]})
        await nvim.wait("2 queued")
        await nvim.input("<Up>")
        assert (await engine.wait_for("kova/turn/withdraw"))["promptId"] == "x"
        await nvim.wait("look at @main.py")
        assert await nvim.lua("return require('kova.prompt').text()") == parts[0]["text"]
        assert len(await nvim.lua("return require('kova.prompt').attached()")) == 1
        engine.event("queue.updated", {"queue": [other]})
        await nvim.wait("1 queued")
        await nvim.command("Kova unqueue")
        said = await nvim.lua("return vim.fn.execute('messages')")
        assert "no prompt from here waits" in said


# -- around it --------------------------------------------------------------------------------


async def test_a_folder_is_asked_about_once_and_untrusted_until_answered(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace, trusted=None) as (nvim, engine):
        await nvim.command("Kova")
        await nvim.wait("Do you trust the files in this folder?")
        first = await engine.wait_for("initialize")
        assert first["initializationOptions"]["kova"]["trusted"] is False
        await nvim.input("<C-g>")
        await nvim.wait_lua("require('kova.card_window').is_armed()")
        await nvim.input("t")
        second = await engine.wait_for("initialize", 2)
        assert second["initializationOptions"]["kova"]["trusted"] is True
        await nvim.wait("agent · workspace-write")
        store = tmp_path / "h" / "state" / "nvim" / "kova" / "trust.json"
        assert json.loads(store.read_text()) == {"folders": {str(workspace.resolve()): True}}


async def test_the_handshake_says_what_the_client_can_do(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await nvim.command("Kova")
        params = await engine.wait_for("initialize")
        kova = params["initializationOptions"]["kova"]
        assert kova["versions"] == [1]
        assert kova["client"]["name"] == "kova.nvim"
        assert kova["capabilities"] == {
            "events": {"maxLatencyMs": 40},
            "approvals": {},
            "questions": {},
            "panels": {"kinds": ["loop", "plan", "markdown", "diff", "file"]},
            "documents": {},
            "diagnostics": {},
        }
        assert params["workspaceFolders"] == [{"uri": workspace.as_uri(), "name": "ws"}]
        opened = await engine.wait_for("textDocument/didOpen")
        assert opened["textDocument"]["uri"] == (workspace / "main.py").as_uri()


async def test_a_server_of_another_version_is_named(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):

        def refuse(params: dict[str, Any]) -> Any:
            raise Refusal("The server speaks version 2, the editor version 1; update the editor.")

        engine.answers["initialize"] = refuse
        await nvim.command("Kova")
        await nvim.wait("Kova is not connected")
        await nvim.wait("The server speaks version 2")
        await nvim.wait("✗ not connected")


async def test_a_missing_server_is_a_designed_state(tmp_path: Path, workspace: Path) -> None:
    setup = "{ cmd = { 'no-such-kova-ls' } }"
    async with open_nvim(tmp_path / "h", cwd=workspace, setup=setup) as nvim:
        await nvim.command("Kova")
        await nvim.wait("no-such-kova-ls was not found")
        await nvim.wait(":checkhealth kova  says what is wrong")
        await nvim.input("words<C-s>")
        await nvim.wait("not sent; it stays here")
        await nvim.wait("words")


def insertion(uri: str, line: int, new_text: str, of: str) -> dict[str, Any]:
    place = {"line": line, "character": 0}
    edits = [{"range": {"start": place, "end": place}, "newText": new_text}]
    change = {"textDocument": {"uri": uri, "version": 0}, "edits": edits}
    guard = {"textHash": sha(of), "newTextHash": ""}
    return {"edit": {"documentChanges": [change]}, "kova": guard}


async def test_an_edit_of_the_text_as_it_is_applies_saves_and_undoes_in_one_step(
    tmp_path: Path, workspace: Path
) -> None:
    uri, old = (workspace / "main.py").as_uri(), "print('hi')\nx = 1\n"
    new = "# one\n# two\n" + old
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await engine.wait_for("textDocument/didOpen")
        state = await engine.ask("kova/editor/state", {"uris": [uri, "file:///not/open"]})
        assert [document["uri"] for document in state["documents"]] == [uri]
        assert state["documents"][0]["textHash"] == sha(old)
        assert state["documents"][0]["dirty"] is False
        answer = await engine.ask("workspace/applyEdit", insertion(uri, 0, "# one\n# two\n", old))
        assert answer["applied"] is True
        assert answer["kova"]["textHash"] == sha(new)
        await engine.wait_for("textDocument/didChange")
        assert (await engine.wait_for("kova/editor/documentChanged"))["dirty"] is True
        assert await engine.ask("kova/editor/save", {"uris": [uri]}) == {
            "saved": [uri],
            "failed": [],
        }
        assert (workspace / "main.py").read_text() == new
        await nvim.input("<Esc><C-w>hu")
        await nvim.wait_lua(
            "table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true)) == \"print('hi')x = 1\""
        )


async def test_an_edit_of_another_text_is_refused(tmp_path: Path, workspace: Path) -> None:
    uri = (workspace / "main.py").as_uri()
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        answer = await engine.ask("workspace/applyEdit", insertion(uri, 0, "# one\n", "other"))
        assert answer["applied"] is False
        assert answer["kova"]["reason"] == "stale"
        assert "# one" not in nvim.grid.text
        (workspace / "main.py").write_text("changed on disk\n")
        text = "print('hi')\nx = 1\n"
        answer = await engine.ask("workspace/applyEdit", insertion(uri, 0, "# one\n", text))
        assert answer["applied"] is True
        conflict = await engine.ask("kova/editor/save", {"uris": [uri]})
        assert conflict == {"saved": [], "failed": [uri]}
        assert (workspace / "main.py").read_text() == "changed on disk\n"
        kept = await engine.ask("kova/editor/reload", {"uris": [uri]})
        assert kept == {"reloaded": [], "dirty": [uri]}


async def test_a_clean_buffer_is_read_anew_and_diagnostics_are_told(
    tmp_path: Path, workspace: Path
) -> None:
    uri = (workspace / "main.py").as_uri()
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        (workspace / "main.py").write_text("y = '😀' + z\n")
        answer = await engine.ask("kova/editor/reload", {"uris": [uri]})
        assert answer == {"reloaded": [uri], "dirty": []}
        await nvim.wait("+ z")
        await nvim.lua(
            """
            local buf = vim.fn.bufnr('main.py')
            vim.diagnostic.set(vim.api.nvim_create_namespace('t'), buf,
              { { lnum = 0, col = 13, end_col = 14, message = 'no z', severity = 1, source = 't' } })
            """
        )
        told = await engine.ask("kova/editor/diagnostics", {"uris": [uri], "settleMs": 20})
        assert told["settled"] is True
        ends = {"start": {"line": 0, "character": 11}, "end": {"line": 0, "character": 12}}
        assert told["documents"][0]["diagnostics"] == [
            {"range": ends, "severity": 1, "message": "no z", "source": "t"}
        ]


async def test_documents_and_panels_open_beside_with_the_focus_kept(
    tmp_path: Path, workspace: Path
) -> None:
    (workspace / "other.py").write_text("one\ntwo\nthree = 3\n")
    async with editor(tmp_path, workspace, height=40) as (nvim, engine):
        await begin(nvim, engine)
        place = {"line": 2, "character": 0}
        params = {"uri": (workspace / "other.py").as_uri(), "takeFocus": True}
        shown = await engine.ask(
            "window/showDocument", params | {"selection": {"start": place, "end": place}}
        )
        assert shown == {"success": True}
        await nvim.wait("three = 3")
        missing = await engine.ask("window/showDocument", {"uri": "file:///no/such/file"})
        assert missing == {"success": False}
        panel = {"panelId": "x", "kind": "markdown", "title": "Notes", "markdown": "# Read\nme"}
        engine.notify("kova/panel/open", panel | {"preserveFocus": False})
        await nvim.wait("# Read")
        await nvim.input("typing on")
        await nvim.wait("typing on")
        assert nvim.grid.mode == "insert"


LOOP = {
    "turnId": "t1",
    "stoppedBecause": "The model was done.",
    "steps": [
        {
            "stepId": "p1",
            "number": 1,
            "model": "demo",
            "intent": "Look at the file",
            "startedAt": 0,
            "durationMs": 1234,
            "firstTokenMs": 200,
            "usage": {"inputTokens": 12345, "outputTokens": 67, "cachedTokens": 12000},
            "calls": [
                {
                    "callId": "c1",
                    "tool": "read",
                    "title": "Read a|b",
                    "verdict": {"decision": "allow", "reasons": [{"code": "x", "text": "inside"}]},
                    "status": "ok",
                    "durationMs": 3,
                }
            ],
        }
    ],
}


async def test_the_loop_view_is_a_table(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        engine.answers["kova/loop/read"] = lambda params: LOOP
        await begin(nvim, engine)
        await nvim.command("Kova loop")
        await nvim.wait("Look at the file")
        lines = await nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        assert lines == [
            "# Inside the turn",
            "",
            "The model was done.",
            "",
            "| step | trying to        | tokens                     | first  | whole | calls |",
            "| ---- | ---------------- | -------------------------- | ------ | ----- | ----- |",
            "| 1    | Look at the file | 12k in, 12k cached, 67 out | 200 ms | 1.2 s | 1     |",
            "",
            "## Step 1: Look at the file",
            "",
            "| call      | verdict | status | time | why    |",
            "| --------- | ------- | ------ | ---- | ------ |",
            "| Read a\\|b | allow   | ok     | 3 ms | inside |",
        ]


async def test_conversations_are_chosen_renamed_and_deleted(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        entry = {"mode": "agent", "level": "ask", "model": "demo", "state": "idle", "updatedAt": 0}
        engine.answers["kova/session/list"] = lambda params: {
            "sessions": [
                entry | {"sessionId": "s0", "title": "Other"},
                entry | {"sessionId": "s1", "title": "Mine"},
            ]
        }
        engine.set_snapshot(title="Mine", items=[user("u1", "what was said")])
        await nvim.command("Kova")
        await nvim.wait("2 earlier conversations")
        await nvim.input("<Esc>:Kova sessions<CR>")
        await nvim.wait("2:   Mine")
        await nvim.input("2<CR>")
        await nvim.wait("❯ what was said")
        assert (await engine.wait_for("kova/session/attach")) == {"sessionId": "s1"}
        await nvim.command("Kova rename Better")
        assert (await engine.wait_for("kova/session/rename"))["title"] == "Better"
        engine.event("session.renamed", {"title": "Better", "by": "kova.nvim"})
        await nvim.wait("Kova  Better")
        await nvim.input("<Esc>:Kova delete<CR>")
        await nvim.wait("Delete Better?")
        await nvim.input("2<CR>")
        await engine.wait_for("kova/session/delete")
        await nvim.wait("A new conversation")


async def test_what_was_left_for_review_is_said_after_a_restart(
    tmp_path: Path, workspace: Path
) -> None:
    hunk = {"hunkId": "h", "startLine": 0, "lineCount": 1, "diff": "@@ -1 +1 @@\n-a\n+b"}
    change = {
        "changeId": "c",
        "turnId": "t",
        "uri": (workspace / "not_open.py").as_uri(),
        "change": "modify",
        "hunks": [hunk, hunk | {"hunkId": "i"}],
    }
    entry = {"mode": "agent", "level": "ask", "model": "demo", "state": "idle", "updatedAt": 0}
    async with editor(tmp_path, workspace) as (nvim, engine):
        engine.answers["kova/session/list"] = lambda params: {
            "sessions": [entry | {"sessionId": f"s{n}", "title": f"Number {n}"} for n in (0, 1)]
        }
        engine.answers["kova/changes/list"] = lambda params: {
            "changes": [change] if params["sessionId"] == "s1" else []
        }
        await nvim.command("Kova")
        await nvim.wait(":Kova changes  2 changes in 1 file not")
        assert engine.count("kova/session/attach") == 0
    (tmp_path / "b").mkdir()
    with_last = "resume = 'last'"
    async with editor(tmp_path / "b", workspace, settings=with_last) as (nvim, engine):
        engine.set_snapshot(title="Number 1", items=[user("u1", "what was said")])
        engine.answers["kova/session/list"] = lambda params: {
            "sessions": [entry | {"sessionId": "s1", "title": "Number 1"}]
        }
        engine.answers["kova/changes/list"] = lambda params: {"changes": [change]}
        await nvim.command("Kova")
        said = "2 changes in 1 file not reviewed yet; :Kova changes lists them"
        await nvim.wait_lua(f"vim.fn.execute('messages'):find({said!r}, 1, true) ~= nil")


async def test_a_code_block_is_copied_and_put_into_a_file_in_one_step(
    tmp_path: Path, workspace: Path
) -> None:
    text = "First:\n\n```py\none = 1\n```\nand\n\n~~~~\n```\ntwo\n~~~\n~~~~\n"
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        engine.item(reply("a1", text, "ok"))
        await nvim.input("<Esc>")
        await nvim.command("Kova yank a")
        assert await nvim.lua("return vim.fn.getreg('a')") == "```\ntwo\n~~~\n"
        await nvim.input("<C-w>k")
        await nvim.lua("vim.fn.search('one = 1', 'bw')")
        await nvim.input('"bgy')
        await nvim.wait("one line in register b")
        assert await nvim.lua("return vim.fn.getreg('b')") == "one = 1\n"
        await nvim.input("gp")
        own = "table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr('main.py'), 0, -1, true), '|')"
        await nvim.wait_lua(f"{own} == \"print('hi')|one = 1|x = 1\"")
        await nvim.input("<C-w>hu")
        await nvim.wait_lua(f"{own} == \"print('hi')|x = 1\"")
        await nvim.command("setlocal nomodifiable")
        await nvim.command("Kova insert")
        await nvim.wait("there is no window of a file to put it into")


async def test_files_pictures_and_diagnostics_are_attached_shown_and_removed(
    tmp_path: Path, workspace: Path
) -> None:
    (workspace / "a.PNG").write_bytes(b"\x89PNG")
    report = """
    vim.diagnostic.set(vim.api.nvim_create_namespace('t'), vim.fn.bufnr('main.py'), {
      { lnum = 0, col = 0, message = 'first', severity = 1 },
      { lnum = 1, col = 0, message = 'second', severity = 2 },
    })
    """
    async with editor(tmp_path, workspace, width=160) as (nvim, engine):
        await nvim.lua(report)
        await nvim.command("2Kova diagnostics")
        await nvim.wait("! main.py:2 second")
        await nvim.command("Kova attach a.PNG")
        await nvim.wait("▣ a.PNG")
        await nvim.command("Kova attach main.py")
        await nvim.wait("@main.py")
        names = await nvim.lua("return require('kova.commands').complete('', 'Kova detach ')")
        assert names == ["! main.py:2 second", "@main.py", "▣ a.PNG"]
        await nvim.command("Kova detach @main.py")
        await nvim.command("Kova attach nothing.py")
        await nvim.wait("nothing.py does not exist")
        await nvim.input("look<C-s>")
        sent = (await engine.wait_for("kova/turn/start"))["input"]
        assert [part["type"] for part in sent] == ["text", "diagnostic", "image"]
        assert sent[1]["message"] == "second"
        assert sent[2]["uri"] == (workspace / "a.PNG").as_uri()


async def test_who_looks_elsewhere_is_told_that_the_turn_ended(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await nvim.lua("said = {} vim.notify = function(line) table.insert(said, line) end")
        await begin(nvim, engine)
        engine.event("turn.completed", {"stopReason": "done"})
        await nvim.wait_lua("require('kova.session').current.state == 'idle'")
        assert await nvim.lua("return said") == []
        await nvim.command("Kova close")
        engine.event("turn.started", turnId="t2")
        engine.event("turn.completed", {"stopReason": "done"})
        await nvim.wait_lua("vim.deep_equal(said, { 'Kova done: A test' })")
        await nvim.command("Kova open")
        await nvim.command("doautocmd FocusLost")
        error = {"code": "overloaded", "message": "Come back later."}
        engine.event("turn.completed", {"stopReason": "failed", "error": error})
        await nvim.wait_lua("said[2] == 'Kova failed: Come back later.'")


async def test_of_a_goal_that_goes_on_nobody_is_told_at_each_turn(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.command("Kova close")
        await nvim.lua("""
        told = {}
        require('kova.text').say = function(line) table.insert(told, line) end
        """)
        goal = {"goalId": "g1", "objective": "Tidy up", "by": "goal"}
        engine.event("goal.updated", {"goal": {**goal, "status": "active"}})
        engine.event("turn.completed", {"stopReason": "done"})
        engine.event("goal.updated", {"goal": {**goal, "status": "complete"}})
        await nvim.wait_lua(
            "#told > 0 and require('kova.session').current.goal.status == 'complete'"
        )
        assert await nvim.lua("return told") == ["Kova: goal complete: Tidy up, turns begun: 0"]


async def test_usage_and_the_end_of_a_turn_come_with_what_the_engine_says(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace, settings="resume = 'last'", width=140) as (nvim, engine):
        entry = {"sessionId": "s1", "title": "A test", "state": "idle", "updatedAt": 0}
        engine.answers["kova/session/list"] = lambda _: {"sessions": [entry]}
        ended = {"turnId": "t0", "stopReason": "interrupted", "stopped": ["make -j"]}
        engine.set_snapshot(items=[user("u1", "build it")], ended=ended)
        await nvim.command("Kova")
        await nvim.wait("❯ build it")
        await nvim.wait("⚠ Stopped: make -j")
        engine.event("turn.started", turnId="t1")
        known = {"contextTokens": 50000, "contextWindow": 100000, "cost": 0.0421}
        engine.event("model.replied", {"total": known})
        await nvim.wait("50% of 100k · $0.042")
        engine.event("model.replied", {"total": {"contextTokens": 60000, "contextWindow": 100000}})
        await nvim.wait("60% of 100k")
        assert "$0" not in nvim.grid.text


async def test_a_folded_call_says_why_it_was_allowed(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        reasons = [{"code": "r", "text": "reads inside the workspace"}]
        engine.item(call("c1", "ls", "ok", verdict={"decision": "allow", "reasons": reasons}))
        await nvim.wait("✓ ls")
        assert "allow: reads inside the workspace" in await transcript(nvim)
        assert "allow: reads" not in nvim.grid.text


async def test_wrong_settings_are_named(tmp_path: Path, workspace: Path) -> None:
    setup = "{ layout = { width = 'wide' }, colour = 1 }"
    async with open_nvim(tmp_path / "h", cwd=workspace, setup=setup) as nvim:
        problems = await nvim.lua("return require('kova.config').problems")
        assert problems == [
            "colour is not a setting; see :help kova-settings",
            "layout.width must be a number",
        ]


async def test_nothing_is_loaded_before_the_first_use(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, _):
        loaded = "return vim.tbl_filter(function(m) return m:find('^kova') end, vim.tbl_keys(package.loaded))"
        assert sorted(await nvim.lua(loaded)) == ["kova", "kova.config"]
        assert await nvim.lua("return require('kova').statusline()") == ""


async def test_the_end_of_a_paragraph_taller_than_the_window_is_followed(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        engine.item(reply("a1"), ended=False)
        engine.delta("a1", 0, "word " * 600)
        engine.delta("a1", 3_000, "finis")
        await nvim.wait("finis")


async def test_health_is_reported(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace, height=50) as (nvim, engine):
        await begin(nvim, engine)
        await nvim.input("<Esc>")
        await nvim.command("checkhealth kova")
        await nvim.wait("connected, protocol 1, workspace")
        await nvim.wait(":helptags ")
        await nvim.wait("conversation: model demo, mode agent, level workspace-write")


async def test_the_help_file_has_every_tag(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace) as (nvim, _):
        help_text = (await nvim.lua("return vim.api.nvim_get_runtime_file('doc/kova.txt', false)"))[
            0
        ]
        text = Path(help_text).read_text()
        commands = await nvim.lua("return vim.tbl_keys(require('kova.commands').commands)")
        assert [c for c in commands if f"*:Kova-{c}*" not in text] == []
        settings = await nvim.lua("return vim.tbl_keys(require('kova.config').defaults)")
        assert [s for s in settings if f"*kova-setting-{s}*" not in text] == []
        plugs = await nvim.lua(
            """
            local names = {}
            for _, mode in ipairs({ 'n', 'x' }) do
              for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
                table.insert(names, map.lhs:match('^<Plug>%(kova%-.*%)$'))
              end
            end
            return names
            """
        )
        assert len(plugs) >= 14
        assert [p for p in plugs if f"*{p}*" not in text] == []


async def test_the_server_is_told_the_language(tmp_path: Path, workspace: Path) -> None:
    async with editor(tmp_path, workspace, settings="locale = 'zh-cn'") as (nvim, engine):
        await nvim.command("Kova")
        assert (await engine.wait_for("initialize"))["locale"] == "zh-cn"


async def test_without_the_setting_the_language_is_that_of_neovims_messages(
    tmp_path: Path, workspace: Path
) -> None:
    async with editor(tmp_path, workspace) as (nvim, engine):
        await nvim.command("Kova")
        told = (await engine.wait_for("initialize"))["locale"]
        assert told == await nvim.lua("return vim.v.lang")


async def test_the_goal_is_in_the_bar_and_is_paused_by_a_command(
    tmp_path: Path, workspace: Path
) -> None:
    goal = {"goalId": "g1", "objective": "All green.", "status": "active", "by": "goal"}
    async with editor(tmp_path, workspace) as (nvim, engine):
        await begin(nvim, engine)
        engine.event("goal.updated", {"goal": goal | {"turns": 2}})
        await nvim.wait("goal 2")
        engine.event("goal.updated", {"goal": goal | {"turns": 2, "budget": {"turns": 9}}})
        await nvim.wait("goal 2/9")
        assert "goal 2/9" in await nvim.lua("return require('kova.status').statusline()")
        engine.item(user("u2", "Go on towards the goal.") | {"goalId": "g1"})
        await nvim.wait("begun by itself")
        paused = goal | {"status": "paused", "reason": "The turn was stopped.", "turns": 2}
        engine.answers["kova/goal/pause"] = lambda _: {"goal": paused}
        await nvim.command("Kova goal pause")
        assert await engine.wait_for("kova/goal/pause") == {"sessionId": "s1"}
        engine.event("goal.updated", {"goal": paused})
        await nvim.wait("goal paused")
        engine.answers["kova/goal/setBudget"] = lambda _: {"goal": paused}
        await nvim.command("Kova goal budget 12")
        assert (await engine.wait_for("kova/goal/setBudget"))["turns"] == 12
        engine.event("goal.updated", {"goal": goal | {"status": "cancelled"}})
        await nvim.lua(
            "vim.wait(20000, function()"
            " return not require('kova.status').statusline():find('goal') end)"
        )
        assert "goal" not in await nvim.lua("return require('kova.status').statusline()")
        assert await nvim.lua("return require('kova.commands').complete('p', 'Kova goal p')") == [
            "pause"
        ]
