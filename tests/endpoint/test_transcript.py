"""A session's page: what records make of it, and its file."""

import os
from pathlib import Path

from inline_snapshot import snapshot

from kova_ls.endpoint.transcript import Page, summary, transcript_of
from kova_ls.journal import records as r
from kova_ls.values import (
    Approval,
    CommandBlock,
    CommandSubject,
    CompactionItem,
    DiagnosticPart,
    DiffBlock,
    Failure,
    FilePart,
    NoticeItem,
    Option,
    Position,
    Question,
    QuestionRequest,
    Range,
    Reason,
    ReasoningItem,
    ReplyItem,
    SelectionPart,
    TextPart,
    Todo,
    TodosBlock,
    ToolCallItem,
    UserMessageItem,
    Verdict,
)
from kova_ls.vocabulary import Decision, GoalStatus, ItemStatus, StopReason
from tests.support.stage import Stage, call, say

PLACE = Range(start=Position(line=1, character=0), end=Position(line=3, character=0))


def ended(item):
    return r.ItemCompleted(turn_id="t", item=item)


def tool(status, *display, error=None, title="Run `make`"):
    return ended(
        ToolCallItem(
            item_id="i",
            call_id="i",
            tool="bash",
            args={},
            title=title,
            verdict=Verdict(decision=Decision.ALLOW),
            status=status,
            display=display,
            error=error,
        )
    )


RECORDS = (
    ended(
        UserMessageItem(
            item_id="u",
            input=(
                TextPart(text="# Do it\nnow"),
                FilePart(uri="file:///w/a"),
                SelectionPart(uri="file:///w/b", range=PLACE, text="x"),
                DiagnosticPart(uri="file:///w/c", range=PLACE, message="bad"),
            ),
        )
    ),
    ended(ReasoningItem(item_id="g", status=ItemStatus.OK, text="hm")),
    ended(ReplyItem(item_id="p", status=ItemStatus.OK, text="I <i>do</i>.\n")),
    tool(ItemStatus.OK, CommandBlock(command="make", cwd_path="/w", output="ok\n```\n")),
    tool(ItemStatus.OK, DiffBlock(uri="file:///w/a", change="modify", diff="+x\n", hidden_lines=2)),
    tool(ItemStatus.ERROR, error="It\nfailed."),
    tool(ItemStatus.BLOCKED, TodosBlock(todos=(Todo(text="a", status="done"),))),
    r.ApprovalRequested(
        approval=Approval(
            approval_id="a",
            session_id="s",
            turn_id="t",
            call_id="c",
            kind="tool",
            title="Run make",
            subject=CommandSubject(command="make", cwd="file:///w"),
            reasons=(Reason(code="r", text="No rule."),),
            decisions=("deny", "once"),
            notices=("One time.",),
            requested_at=1.0,
        )
    ),
    r.ApprovalResolved(approval_id="a", turn_id="t", decision="once", resolved_by="Emacs"),
    r.QuestionRequested(
        request=QuestionRequest(
            question_id="q",
            session_id="s",
            turn_id="t",
            call_id="c",
            questions=(Question(id="1", question="Why?", options=(Option(label="So"),)),),
            requested_at=1.0,
        )
    ),
    r.QuestionResolved(question_id="q", turn_id="t", outcome="declined", resolved_by="Emacs"),
    ended(NoticeItem(item_id="n", level="warning", text="Careful.")),
    ended(CompactionItem(item_id="k", summary="…")),
    r.TurnCompleted(turn_id="t", stop_reason=StopReason.DONE),
    r.TurnCompleted(
        turn_id="t", stop_reason=StopReason.FAILED, error=Failure(code="x", message="No `key`.")
    ),
    r.TurnCompleted(turn_id="t", stop_reason=StopReason.INTERRUPTED, stopped=("make",)),
)


def test_every_record_has_its_place():
    page = Page()
    text = page.head() + "".join(map(page.add, RECORDS))
    assert text == snapshot("""\
# Kova

Written as the conversation goes on; nothing that is changed here is read.

## You

> ### Do it
> now
>
> `@file:///w/a`
>
> `file:///w/b, lines 2 to 4`
>
> `file:///w/c, line 2: bad`

## Kova

I &lt;i>do&lt;/i>.

- ✓ `` Run `make` ``

````
ok
```
````

- ✓ `` Run `make` ``

```diff
+x
```

2 lines more

- ✗ `` Run `make` ``
  `It⏎failed.`

- ⊘ `` Run `make` ``
  - done: `a`

**Kova waits** for your answer (`kova.pending`): `Run make`

```sh
make
```

- `No rule.`
- `One time.`

- answer: `once` by `Emacs`

**Kova asks** (`kova.pending`): `Why?`

- `So`

- declined by `Emacs`

- ! `Careful.`

- earlier turns were folded into a summary

- ⊘ failed: `` No `key`. ``

- ⊘ interrupted: `make`
""")


def test_what_waits_stands_on_its_line():
    page = Page()
    text = page.head()
    for record in RECORDS:
        text += page.add(record)
        for waiting in page.waiting.values():
            assert text.split("\n")[waiting.line].startswith(("**Kova waits", "**Kova asks"))
        assert len(page.waiting) == (record.tag in ("approval.requested", "question.requested"))


async def test_the_page_is_the_same_whenever_it_is_begun(tmp_path):
    script = [call("write", path="a", content="x\n"), say("Done.")]
    stage = Stage(tmp_path, script)
    session = stage.create()
    live = transcript_of(session)
    assert transcript_of(session) is live
    stage.prompt(session, "Write.")
    await stage.idle(session)
    first = Path(live.path).read_text()
    assert "Done." in first
    assert os.stat(live.path).st_mode & 0o777 == 0o600
    await stage.close()
    again = Stage(tmp_path, script).engine.get(session.id)
    assert Path(transcript_of(again).path).read_text() == first
    await again.engine.close()


async def test_a_page_that_cannot_be_written_harms_nothing(tmp_path, caplog):
    stage = Stage(tmp_path, [say("Hi."), say("Ho.")])
    session = stage.create()
    (session.folder / "transcript.md").symlink_to(tmp_path / "elsewhere")
    transcript_of(session)
    stage.prompt(session, "Say.")
    await stage.idle(session)
    assert session.state.turn_id is None
    assert not (tmp_path / "elsewhere").exists()
    assert caplog.text.count("cannot be written") == 1
    await stage.close()


def test_a_summary_is_one_line():
    assert summary("a\n\n b") == "a b"


def test_a_goal_has_its_lines_when_it_moves_and_what_began_by_itself_is_not_yours():
    page = Page()
    goal = r.Goal(goal_id="g", objective="All `green`.", status="active", by="goal")
    paused = goal.model_copy(update={"status": GoalStatus.PAUSED, "reason": "Stopped."})
    counted = goal.model_copy(update={"turns": 1})
    said = UserMessageItem(item_id="u", input=(TextPart(text="Go on."),), goal_id="g")
    lines = [page.add(r.GoalUpdated(goal=one)) for one in (goal, counted, paused)]
    assert lines == [
        "\n- goal `` All `green`. ``: active\n",
        "",
        "\n- goal `` All `green`. ``: paused: `Stopped.`\n",
    ]
    assert page.add(ended(said)) == "\n## Goal\n\n> Go on.\n"
