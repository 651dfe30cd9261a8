"""What the person says, and what comes with it."""

import base64
import os

import pytest

from kova_ls.engine.prompt import Conversation
from kova_ls.engine.said import mention, picture, say
from kova_ls.engine.workspace import file_uri
from kova_ls.journal import records as r
from kova_ls.llm._base import ImageContent, UserMessage
from kova_ls.values import FilePart, ImagePart, TextPart
from tests.support.stage import Stage
from tests.support.stage import say as answer

PNG = b"\x89PNG\r\n\x1a\nnot really"


@pytest.fixture
async def stage(tmp_path):
    stage = Stage(tmp_path, [answer("Done.")], files={"a.txt": "disk\n"})
    yield stage
    await stage.close()


async def test_a_mention_is_what_the_editor_has(stage):
    session = stage.create()
    part = FilePart(uri=file_uri(str(stage.workspace / "a.txt")))
    assert "disk" in mention(session, part)
    session.origin = stage.editor
    stage.editor.opened.open(stage.workspace / "a.txt", "mine\n")
    assert mention(session, part) == (
        f'<file uri="{part.uri}" seen="in the editor, not saved">\nmine\n\n</file>'
    )


async def test_a_mention_of_a_document_that_is_older_than_the_disk_is_the_file(stage):
    session = stage.create()
    session.origin = stage.editor
    stage.editor.opened.open(stage.workspace / "a.txt", "older\n", is_dirty=False)
    part = FilePart(uri=file_uri(str(stage.workspace / "a.txt")))
    assert mention(session, part) == f'<file uri="{part.uri}">\ndisk\n\n</file>'
    (stage.workspace / "a.txt").unlink()
    assert "older" in mention(session, part)


@pytest.mark.parametrize("name", ["missing.txt", "folder", "pipe", "large.bin"])
async def test_a_mention_that_cannot_be_read_says_so(stage, name):
    session = stage.create()
    (stage.workspace / "folder").mkdir()
    os.mkfifo(stage.workspace / "pipe")
    (stage.workspace / "large.bin").write_bytes(b"x" * 1_000_001)
    assert ' error="' in mention(session, FilePart(uri=file_uri(str(stage.workspace / name))))


async def test_a_named_picture_comes_with_its_bytes(stage):
    session = stage.create()
    place = stage.workspace / "shot 1.png"
    place.write_bytes(PNG)
    found = picture(session, ImagePart(uri=file_uri(str(place)), mime_type="image/jpeg"))
    assert isinstance(found, ImagePart)
    assert (base64.b64decode(found.data or ""), found.mime_type) == (PNG, "image/png")


async def test_a_picture_that_is_too_large_is_told_to_the_model(stage):
    session = stage.create()
    place = stage.workspace / "shot.png"
    place.write_bytes(b"x" * 5_000_001)
    assert "smaller" in str(picture(session, ImagePart(uri=file_uri(str(place)))))


async def test_the_model_sees_the_picture_as_it_was_when_it_was_named(stage):
    session = stage.create()
    place = stage.workspace / "shot.png"
    place.write_bytes(PNG)
    session.record(r.TurnStarted(turn_id="t", prompt_id="p"))
    say(session, (TextPart(text="Look."), ImagePart(uri=file_uri(str(place)))))
    place.unlink()
    records = [stored.record for stored in session.journal.read(1, session.journal.seq)]
    messages = Conversation().add_all(records)
    (message,) = [m for m in messages if isinstance(m, UserMessage)]
    pictures = [part for part in message.content if isinstance(part, ImageContent)]
    assert [base64.b64decode(part.data) for part in pictures] == [PNG]
    session.record(r.TurnCompleted(turn_id="t", stop_reason="done"))
