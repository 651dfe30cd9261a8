import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from kova_ls.engine import Session
from kova_ls.engine.changes import FileReview, decide, look
from kova_ls.journal import records as r
from kova_ls.vocabulary import ApprovalLevel
from tests.support.stage import Stage, call, say

OLD = "one\ntwo\nthree\n"


async def turn(stage: Stage, *steps: dict[str, Any]) -> Session:
    """A session whose agent did this, and ran commands unasked."""
    stage.script("script", [*steps, say("Done.")])
    session = stage.create()
    session.configure("tester", level=ApprovalLevel.AUTO)
    stage.prompt(session, "Go.")
    await stage.idle(session)
    return session


async def reviews(stage: Stage, session: Session) -> list[FileReview]:
    return await look(session, stage.overlays)


async def put_back(stage: Stage, session: Session) -> list[str]:
    return await decide(session, stage.overlays, "revert", "tester", lambda *_: True)


def bash(line: str) -> dict[str, Any]:
    return call("bash", command=line)


def read(path: str) -> dict[str, Any]:
    return call("read", path=path)


async def test_a_file_that_was_read_goes_back_after_a_command_changed_it(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    session = await turn(stage, read("a.txt"), bash("sed -i s/two/2/ a.txt"))
    assert path.read_text() == "one\n2\nthree\n"
    [review] = await reviews(stage, session)
    assert [(hunk.diff, hunk.is_tangled) for hunk in review.hunks] == [
        ("@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n", False)
    ]
    assert review.record.turn_ids == (review.record.turn_id,)
    assert await put_back(stage, session) == []
    assert path.read_text() == OLD
    assert session.state.changes == {}


async def test_a_formatter_after_an_edit_belongs_to_the_same_change(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    edit = call("edit", path="a.txt", old_string="two\n", new_string="2\n")
    session = await turn(stage, edit, bash("sed -i s/2/22/ a.txt"))
    [review] = await reviews(stage, session)
    [hunk] = review.hunks
    assert not hunk.is_tangled
    assert "-two\n+22\n" in hunk.diff
    assert await put_back(stage, session) == []
    assert path.read_text() == OLD


async def test_a_change_that_a_command_took_back_is_none(stage: Stage) -> None:
    stage.put("a.txt", OLD)
    edit = call("edit", path="a.txt", old_string="two\n", new_string="2\n")
    session = await turn(stage, edit, bash("sed -i s/2/two/ a.txt"))
    assert session.state.changes == {}


async def test_what_a_person_wrote_before_the_command_stays_theirs(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    edit = call("edit", path="a.txt", old_string="three\n", new_string="3\n")
    session = await turn(stage, edit, say("Well?"), bash("sed -i s/3/33/ a.txt"))
    path.write_text("mine\n" + path.read_text())
    stage.prompt(session, "Go on.")
    await stage.idle(session)
    assert path.read_text() == "mine\none\ntwo\n33\n"
    assert await put_back(stage, session) == []
    assert path.read_text() == "mine\n" + OLD


async def test_an_open_document_is_known_and_an_unsaved_one_is_the_persons(stage: Stage) -> None:
    for name in ("clean.txt", "dirty.txt"):
        path = stage.put(name, OLD)
        stage.editor.opened.open(path, OLD, is_dirty=name == "dirty.txt")
    session = await turn(stage, bash("sed -i s/two/2/ clean.txt dirty.txt"))
    assert [Path(review.record.uri).name for review in await reviews(stage, session)] == [
        "clean.txt"
    ]


async def test_nothing_is_kept_of_a_file_with_secrets(stage: Stage) -> None:
    path = stage.put(".env", "TOKEN=abc\n")
    stage.editor.opened.open(path, path.read_text())
    session = await turn(stage, bash("sed -i s/abc/def/ .env"))
    assert path.read_text() == "TOKEN=def\n"
    assert session.state.changes == {}
    assert not (session.folder / "blobs").exists()


async def test_a_file_that_was_deleted_comes_back(stage: Stage) -> None:
    path = stage.put("sub/a.txt", OLD)
    session = await turn(stage, read("sub/a.txt"), bash("rm -r sub"))
    [review] = await reviews(stage, session)
    assert review.record.change == "delete"
    assert [hunk.diff for hunk in review.hunks] == ["@@ -1,3 +0,0 @@\n-one\n-two\n-three\n"]
    assert await put_back(stage, session) == []
    assert path.read_text() == OLD
    assert session.state.changes == {}
    last = [x for x in stage.records() if isinstance(x, r.ChangesUpdated)][-1]
    assert (last.change, last.is_open) == ("create", False)


async def test_a_deleted_file_that_is_there_again_stays(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    session = await turn(stage, read("a.txt"), bash("rm a.txt"))
    path.write_text("mine\n")
    [refused] = await put_back(stage, session)
    assert refused == "a.txt was deleted by the agent and is there again."
    assert path.read_text() == "mine\n"
    assert await decide(session, stage.overlays, "keep", "tester", lambda *_: True) == []
    assert session.state.changes == {}


async def test_a_deleted_file_that_is_written_anew_is_a_modified_one(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    session = await turn(
        stage, read("a.txt"), bash("rm a.txt"), call("write", path="a.txt", content="new\n")
    )
    [review] = await reviews(stage, session)
    assert review.record.change == "modify"
    assert await put_back(stage, session) == []
    assert path.read_text() == OLD


async def test_a_created_file_that_a_command_deleted_is_no_change(stage: Stage) -> None:
    session = await turn(stage, call("write", path="new.txt", content="n\n"), bash("rm new.txt"))
    assert session.state.changes == {}


async def test_a_stopped_command_is_recorded_too(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    stage.script(
        "script", [read("a.txt"), bash("sed -i s/two/2/ a.txt; touch done; sleep 600"), say("No.")]
    )
    session = stage.create()
    session.configure("tester", level=ApprovalLevel.AUTO)
    stage.prompt(session, "Go.")
    while not (stage.workspace / "done").exists():
        await asyncio.sleep(0)
    await session.interrupt(None)
    await stage.idle(session)
    assert len(await reviews(stage, session)) == 1
    assert await put_back(stage, session) == []
    assert path.read_text() == OLD


async def test_what_a_command_made_binary_is_left_out(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    session = await turn(stage, read("a.txt"), bash("printf 'a\\0b' > a.txt"))
    assert session.state.changes == {}
    assert path.read_bytes() == b"a\0b"


async def test_a_deleted_file_comes_back_with_its_permissions(stage: Stage) -> None:
    path = stage.put("run.sh", OLD)
    path.chmod(0o750)
    session = await turn(stage, read("run.sh"), bash("rm run.sh"))
    assert await put_back(stage, session) == []
    assert path.stat().st_mode & 0o777 == 0o750


async def test_a_file_that_a_command_deleted_and_another_brought_back_is_no_change(
    stage: Stage,
) -> None:
    path = stage.put("a.txt", OLD)
    session = await turn(
        stage, read("a.txt"), bash("cp a.txt b.txt; rm a.txt"), bash("mv b.txt a.txt")
    )
    assert path.read_text() == OLD
    assert session.state.changes == {}


async def test_a_file_that_a_command_deleted_and_another_wrote_is_a_modified_one(
    stage: Stage,
) -> None:
    path = stage.put("a.txt", OLD)
    session = await turn(stage, read("a.txt"), bash("rm a.txt"), bash("printf new > a.txt"))
    [review] = await reviews(stage, session)
    assert review.record.change == "modify"
    assert await put_back(stage, session) == []
    assert path.read_text() == OLD


async def test_what_a_person_saved_while_a_command_ran_is_not_put_back(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    stage.editor.opened.open(path, OLD, is_dirty=False)
    stage.script(
        "script", [read("a.txt"), bash("touch on; until test -e off; do :; done"), say("")]
    )
    session = stage.create()
    session.configure("tester", level=ApprovalLevel.AUTO)
    stage.prompt(session, "Go.")
    while not (stage.workspace / "on").exists():
        await asyncio.sleep(0)
    mine = "mine\n" + OLD
    path.write_text(mine)
    known = stage.editor.opened.documents[str(path.resolve())]
    stage.editor.opened.documents[known.path] = replace(known, text=mine, version=3, typed=1)
    (stage.workspace / "off").touch()
    await stage.idle(session)
    assert session.state.changes == {}
    assert path.read_text() == mine


async def test_line_ends_alone_are_nothing_to_put_back(stage: Stage) -> None:
    path = stage.put("a.txt", OLD)
    session = await turn(stage, read("a.txt"), bash("sed -i 's/$/\\r/' a.txt"))
    assert path.read_bytes() == OLD.replace("\n", "\r\n").encode()
    assert session.state.changes == {}


async def test_no_folder_is_made_behind_a_link_that_came_since(stage: Stage) -> None:
    path = stage.put("sub/deep/a.txt", OLD)
    session = await turn(
        stage, read("sub/deep/a.txt"), bash("rm -r sub; mkdir other; ln -s other sub")
    )
    [refused] = await put_back(stage, session)
    assert "a link" in refused
    assert not path.parent.exists()
