import asyncio
import os
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kova_ls.engine import Session
from kova_ls.engine.blobs import load
from kova_ls.engine.changes import FileReview, ReviewHunk, decide, look, wrote
from kova_ls.engine.workspace import Files
from kova_ls.journal import records as r
from kova_ls.tools._base import TextFile
from tests.support.stage import Stage, call, say

OLD = "".join(f"line {n}\n" for n in range(1, 13))


_SAID: dict[str, list[dict[str, Any]]] = {}
"""What the agent of each session was made to do so far."""


async def turn(stage: Stage, session: Session, *steps: dict[str, Any]) -> None:
    """One turn in which the agent does this."""
    said = _SAID.setdefault(session.id, [])
    said += [*steps, say("Done.")]
    stage.script("script", said)
    stage.engine.models._adapters.clear()
    stage.prompt(session, "Go.")
    await stage.idle(session)


def edit(old: str, new: str, path: str = "a.txt") -> dict[str, Any]:
    return call("edit", path=path, old_string=old, new_string=new)


async def reviews(stage: Stage, session: Session) -> list[FileReview]:
    return await look(session, stage.overlays)


async def hunks(stage: Stage, session: Session) -> list[tuple[str, str, bool]]:
    """What each hunk was, what it is at present, and whether someone else changed it."""
    return [
        (
            "".join(review.before[slice(*hunk.region.ours)]),
            "".join(review.present[slice(*hunk.region.theirs)]),
            hunk.is_tangled,
        )
        for review in await reviews(stage, session)
        for hunk in review.hunks
    ]


async def decided(
    stage: Stage,
    session: Session,
    decision: Literal["keep", "revert"],
    number: int | None = None,
) -> list[str]:
    """Decide all, or the hunk with this number; returns what was refused."""
    ids = [hunk.id for review in await reviews(stage, session) for hunk in review.hunks]

    def is_meant(_: FileReview, hunk: ReviewHunk | None) -> bool:
        return number is None or (hunk is not None and hunk.id == ids[number])

    return await decide(session, stage.overlays, decision, "tester", is_meant)


class TestRecording:
    async def test_what_is_written_is_recorded_with_both_texts(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "LINE 2\nmore\n"))
        [change] = [x for x in stage.records() if isinstance(x, r.ChangesUpdated)]
        assert (change.change, change.added_lines, change.removed_lines) == ("modify", 2, 1)
        assert change.turn_ids == (change.turn_id,)
        assert load(session.folder, change.base) == OLD
        assert load(session.folder, change.written) == path.read_text()

    async def test_turns_add_up_per_file(self, stage: Stage) -> None:
        stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"), edit("line 9\n", "I\n"))
        await turn(stage, session, edit("line 5\n", "E\n"))
        [review] = await reviews(stage, session)
        assert len(review.record.turn_ids) == 2
        assert [hunk[:2] for hunk in await hunks(stage, session)] == [
            ("line 2\n", "B\n"),
            ("line 5\n", "E\n"),
            ("line 9\n", "I\n"),
        ]
        assert await look(session, stage.overlays, "another turn") == []

    async def test_what_the_agent_took_back_itself_is_no_change(self, stage: Stage) -> None:
        stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"), edit("B\n", "line 2\n"))
        assert session.state.changes == {}

    async def test_the_plan_is_no_change_of_a_file(self, stage: Stage) -> None:
        session = stage.create()
        await wrote(session, session.plan_path, None, "plan")
        assert session.state.changes == {}

    async def test_they_outlive_the_engine(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"))
        ids = [h.id for review in await reviews(stage, session) for h in review.hunks]
        await stage.engine.close()
        session = stage.start_engine().get(session.id)
        assert [h.id for review in await reviews(stage, session) for h in review.hunks] == ids
        assert await decided(stage, session, "revert") == []
        assert path.read_text() == OLD
        await stage.engine.close()
        assert stage.start_engine().get(session.id).state.changes == {}


class TestReverting:
    async def test_one_hunk_goes_back_and_the_others_stay(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"), edit("line 9\n", "I\nJ\n"))
        last = [h.id for review in await reviews(stage, session) for h in review.hunks][1]
        assert await decided(stage, session, "revert", 0) == []
        assert path.read_text() == OLD.replace("line 9\n", "I\nJ\n")
        assert [h.id for review in await reviews(stage, session) for h in review.hunks] == [last]
        change = session.state.changes[next(iter(session.state.changes))]
        assert (change.decision, change.by, change.turn_id) == ("revert", "tester", None)
        assert (change.added_lines, change.removed_lines) == (2, 1)

    async def test_a_persons_edits_nearby_stay(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 5\n", "E\n"))
        path.write_text(path.read_text().replace("line 4\n", "mine\n").replace("line 8\n", ""))
        assert await hunks(stage, session) == [("line 5\n", "E\n", False)]
        assert await decided(stage, session, "revert") == []
        assert path.read_text() == OLD.replace("line 4\n", "mine\n").replace("line 8\n", "")
        assert session.state.changes == {}

    async def test_a_persons_edit_inside_is_refused_with_the_place(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 5\nline 6\n", "E\nF\n"), edit("line 9\n", "I\n"))
        path.write_text(path.read_text().replace("F\n", "mine\n"))
        assert [tangled for *_, tangled in await hunks(stage, session)] == [True, False]
        [refused] = await decided(stage, session, "revert")
        assert (
            refused == "a.txt, lines 5-6: changed since by someone else, so it was left as it is."
        )
        assert path.read_text() == OLD.replace("line 5\nline 6\n", "E\nmine\n")
        assert await decided(stage, session, "keep") == []
        assert session.state.changes == {}

    async def test_what_the_agent_writes_later_does_not_swallow_a_persons_edit(
        self, stage: Stage
    ) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"))
        path.write_text(path.read_text().replace("line 7\n", "mine\n"))
        await turn(stage, session, edit("line 11\n", "K\n"))
        assert [hunk[1] for hunk in await hunks(stage, session)] == ["B\n", "K\n"]
        assert await decided(stage, session, "revert") == []
        assert path.read_text() == OLD.replace("line 7\n", "mine\n")

    async def test_a_created_file_is_deleted(self, stage: Stage) -> None:
        session = stage.create()
        await turn(stage, session, call("write", path="new.txt", content="n\n"))
        assert await hunks(stage, session) == [("", "n\n", False)]
        assert await decided(stage, session, "revert") == []
        assert not (stage.workspace / "new.txt").exists()
        assert session.state.changes == {}
        last = [x for x in stage.records() if isinstance(x, r.ChangesUpdated)][-1]
        assert (last.change, last.is_open) == ("delete", False)

    async def test_a_created_file_that_a_person_changed_stays(self, stage: Stage) -> None:
        session = stage.create()
        await turn(stage, session, call("write", path="new.txt", content="n\n"))
        (stage.workspace / "new.txt").write_text("n\nmine\n")
        [refused] = await decided(stage, session, "revert")
        assert "delete it yourself" in refused
        assert (stage.workspace / "new.txt").read_text() == "n\nmine\n"
        await turn(stage, session, edit("n\n", "N\n", "new.txt"))
        assert await decided(stage, session, "revert") == []
        assert (stage.workspace / "new.txt").read_text() == "mine\n"

    async def test_a_created_file_with_unsaved_changes_stays(self, stage: Stage) -> None:
        session = stage.create()
        await turn(stage, session, call("write", path="new.txt", content="n\n"))
        stage.editor.opened.open(stage.workspace / "new.txt", "n\n", is_dirty=True)
        [refused] = await decided(stage, session, "revert")
        assert "unsaved changes in the editor" in refused
        assert (stage.workspace / "new.txt").exists()

    async def test_a_file_that_is_gone_cannot_go_back(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"))
        path.unlink()
        [review] = await reviews(stage, session)
        assert review.conflict is not None
        assert "does not exist" in review.conflict
        assert await decided(stage, session, "revert") == [review.conflict]
        assert await decided(stage, session, "keep") == []
        assert session.state.changes == {}

    async def test_a_link_in_the_place_of_the_file_is_not_followed(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"))
        other = stage.put("other.txt", path.read_text())
        path.unlink()
        path.symlink_to(other)
        assert len(await decided(stage, session, "revert")) == 1
        assert "B\n" in other.read_text()

    async def test_an_open_document_goes_back_in_its_editor(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        stage.editor.opened.open(path, f"{OLD}unsaved\n")
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"))
        name = os.path.realpath(path)
        assert "B\n" in stage.editor.opened.documents[name].text
        assert await decided(stage, session, "revert") == []
        assert stage.editor.opened.documents[name].text == f"{OLD}unsaved\n"
        assert path.read_text() == OLD

    async def test_what_is_typed_while_a_hunk_goes_back_stays(
        self, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"))
        reads = 0

        async def read_and_type(files: Files, path: str, **_: Any) -> TextFile:
            nonlocal reads
            reads += 1
            if reads == 3:  # of the hunks to be named, of those to put back, before writing
                text = Path(path).read_text()
                Path(path).write_text(f"{text}typed\n")
            return await read_text(files, path)

        read_text = Files.read_text
        monkeypatch.setattr(Files, "read_text", read_and_type)
        assert await decided(stage, session, "revert") == []
        assert reads > 3
        assert path.read_text() == f"{OLD}typed\n"

    async def test_another_editors_line_ends_make_no_change(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"))
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert await hunks(stage, session) == [("line 2\r\n", "B\r\n", False)]
        assert await decided(stage, session, "revert") == []
        assert path.read_bytes() == OLD.replace("\n", "\r\n").encode()


async def test_the_model_is_told_once_of_what_was_put_back(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    session = stage.create()
    await turn(stage, session, edit("line 2\n", "B\n"), edit("line 9\n", "I\n"))
    await decided(stage, session, "revert", 0)
    await decided(stage, session, "revert", 0)
    await turn(stage, session)
    await turn(stage, session)
    told = [
        record.context
        for record in stage.records()
        if isinstance(record, r.ItemCompleted) and record.item.kind == "userMessage"
    ]
    uri = path.resolve().as_uri()
    assert told == [
        (),
        (f"<note>The person put back changes of yours in: {uri}.</note>",),
        (),
    ]


class TestKeeping:
    async def test_a_kept_hunk_is_no_longer_offered(self, stage: Stage) -> None:
        path = stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"), edit("line 9\n", "I\n"))
        assert await decided(stage, session, "keep", 0) == []
        assert await hunks(stage, session) == [("line 9\n", "I\n", False)]
        assert await decided(stage, session, "revert") == []
        assert path.read_text() == OLD.replace("line 2\n", "B\n")

    async def test_the_same_hunk_twice_has_two_ids(self, stage: Stage) -> None:
        path = stage.put("a.txt", "x\nsame\ny\nsame\nz\n")
        session = stage.create()
        await turn(stage, session, call("write", path="a.txt", content="x\nS\ny\nS\nz\n"))
        ids = [h.id for review in await reviews(stage, session) for h in review.hunks]
        assert len(set(ids)) == 2
        assert await decided(stage, session, "revert", 1) == []
        assert path.read_text() == "x\nS\ny\nsame\nz\n"

    async def test_a_hunk_is_shown_with_what_stands_around_it(self, stage: Stage) -> None:
        stage.put("a.txt", OLD)
        session = stage.create()
        await turn(stage, session, edit("line 2\n", "B\n"))
        [review] = await reviews(stage, session)
        assert review.hunks[0].diff == (
            "@@ -1,5 +1,5 @@\n line 1\n-line 2\n+B\n line 3\n line 4\n line 5\n"
        )


# -- any edits of both ------------------------------------------------------------------------------

LINES = [f"{n}\n" for n in range(8)]
AGENT = st.tuples(st.just("agent"), st.integers(0, 8), st.integers(0, 3), st.integers(0, 2))
PERSON = st.tuples(st.just("person"), st.integers(0, 8), st.integers(0, 2), st.integers(0, 2))
REVIEW = st.tuples(st.sampled_from(["keep", "revert"]), st.integers(0, 3), st.just(0), st.just(0))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(acts=st.lists(AGENT | PERSON | REVIEW, max_size=8))
def test_what_a_person_wrote_is_never_put_back(
    tmp_path_factory: pytest.TempPathFactory, acts: list[Any]
) -> None:
    asyncio.run(_acts(tmp_path_factory.mktemp("review"), acts))


async def _acts(root: Path, acts: list[Any]) -> None:
    stage = Stage(root)
    path = stage.put("a.txt", "".join(LINES))
    name = os.path.realpath(path)
    session = stage.create()
    theirs: set[str] = set()
    number = 0
    try:
        for who, at, gone, new in acts:
            lines = path.read_text().splitlines(keepends=True)
            if who in ("keep", "revert"):
                found = [h for review in await reviews(stage, session) for h in review.hunks]
                if found:
                    await decided(stage, session, who, at % len(found))
            else:
                number += 1
                words = [f"{who} {number}.{n}\n" for n in range(new)]
                before = "".join(lines)
                lines[at : at + gone] = words
                path.write_text("".join(lines))
                theirs &= set(lines)
                if who == "agent":
                    await wrote(session, name, before, "".join(lines))
                else:
                    theirs |= set(words)
            text = path.read_text().splitlines(keepends=True)
            assert theirs <= set(text)
        await decided(stage, session, "revert")
        assert theirs <= set(path.read_text().splitlines(keepends=True))
    finally:
        await stage.close()
