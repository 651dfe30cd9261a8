"""Secrets reach the model only after a yes, and never by themselves."""

import json

import pytest

from kova_ls.values import Position, Range, SelectionPart, TextPart
from tests.support.play import play
from tests.support.stage import Stage, call, say

END = say("Done.")


@pytest.mark.parametrize(
    ("level", "card"),
    [("ask", True), ("workspace-write", True), ("auto-edit", True), ("auto", False)],
)
@pytest.mark.parametrize("path", [".env", "sub/.env.local", "link", "id_rsa", "key.pem"])
def test_a_sensitive_file_is_read_after_a_yes_only(level, card, path):
    def files(stage, _session):
        for name in (".env", "sub/.env.local", "id_rsa", "key.pem"):
            stage.put(name, "SECRET\n")
        (stage.workspace / "link").symlink_to(".env")

    transcript = play(
        [call("read", path=path), END],
        before=files,
        level=level,
        answers=["deny"],
        only=("card", "call ok", "call blocked"),
    )
    assert ("card tool" in transcript) is card
    assert ("SECRET" in transcript) is not card


def test_an_example_of_a_sensitive_file_is_read():
    transcript = play([call("read", path=".env.example"), END], files={".env.example": "A=\n"})
    assert "card" not in transcript


async def told(tmp_path, prepare, *, parts=None, settings=""):
    """Return what the model is sent first, and the notices."""
    stage = Stage(tmp_path, [END], settings=settings)
    prepare(stage)
    session = stage.create(level="workspace-write")
    turn = []
    from kova_ls.engine import turn as module

    original = module.system_prompt

    def keep(**given):
        turn.append(given["instructions"])
        return original(**given)

    module.system_prompt = keep
    try:
        text = (TextPart(text="Go."),)
        session.start(
            parts(stage) if parts else text,
            prompt_id=None,
            when_busy="reject",
            editor=stage.editor,
        )
        await stage.idle(session)
    finally:
        module.system_prompt = original
    items, _ = session.items(None, 100)
    await stage.close()
    return turn[0], items


async def test_an_instruction_file_is_given_to_the_model(tmp_path):
    found, _ = await told(tmp_path, lambda stage: stage.put("AGENTS.md", "Be kind."))
    assert found == (("AGENTS.md", "Be kind."),)


def linked(stage):
    stage.put("secret.txt", "SECRET")
    (stage.workspace / "AGENTS.md").symlink_to("secret.txt")


def linked_outside(stage):
    (stage.root / "home/secret.txt").write_text("SECRET")
    (stage.workspace / "AGENTS.md").symlink_to(stage.root / "home/secret.txt")


def denied(stage):
    stage.put("AGENTS.md", "SECRET")
    (stage.root / "kova/permissions.json").write_text(json.dumps({"deny": ["Read(AGENTS.md)"]}))


def folder(stage):
    stage.put("AGENTS.md/x", "SECRET")


@pytest.mark.parametrize("prepare", [linked, linked_outside, denied, folder])
async def test_an_instruction_file_that_would_ask_is_not_loaded(tmp_path, prepare):
    found, _ = await told(tmp_path, prepare)
    assert found == ()


async def test_a_sensitive_instruction_file_is_not_loaded(tmp_path):
    found, _ = await told(
        tmp_path,
        lambda stage: stage.put(".env", "SECRET"),
        settings='instruction_files = [".env", "../x", "sub/../.env"]',
    )
    assert found == ()


def selection(name):
    def parts(stage):
        spot = Position(line=0, character=0)
        uri = (stage.workspace / name).resolve().as_uri()
        return (
            SelectionPart(uri=uri, range=Range(start=spot, end=spot), text="SECRET"),
            TextPart(text="Go."),
        )

    return parts


async def test_a_selection_in_a_sensitive_file_is_left_out_and_told(tmp_path):
    _, items = await told(
        tmp_path, lambda stage: stage.put(".env", "SECRET"), parts=selection(".env")
    )
    said = next(item for item in items if item.kind == "userMessage")
    assert [part.type for part in said.input] == ["text"]
    notice = next(item for item in items if item.kind == "notice")
    assert "Mention the file itself" in notice.text


async def test_a_selection_in_a_plain_file_is_given(tmp_path):
    _, items = await told(
        tmp_path, lambda stage: stage.put("a.py", "SECRET"), parts=selection("a.py")
    )
    said = next(item for item in items if item.kind == "userMessage")
    assert [part.type for part in said.input] == ["selection", "text"]
