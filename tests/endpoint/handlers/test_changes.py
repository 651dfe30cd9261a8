"""Review over the wire, with an editor that has the files open."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from kova_ls.engine.workspace import file_uri
from tests.support.paper_editor import Paper, PaperEditor
from tests.support.stage import Stage, call, say
from tests.support.wire import Wire

OLD = "".join(f"line {n}\n" for n in range(1, 10))


class Told:
    """Text sync over the wire, in the place of the engine's own documents."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def opened(self, document: dict[str, Any]) -> None:
        self._wire.notify("textDocument/didOpen", {"textDocument": document})

    def changed(self, uri: str, version: int, changes: list[dict[str, Any]]) -> None:
        document = {"uri": uri, "version": version}
        params = {"textDocument": document, "contentChanges": changes}
        self._wire.notify("textDocument/didChange", params)

    def saved(self, uri: str, text: str | None) -> None:
        del text
        self._wire.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def dirtied(self, uri: str, *, is_dirty: bool) -> None:
        params = {"uri": uri, "version": 1, "dirty": is_dirty}
        self._wire.notify("kova/editor/documentChanged", params)


class Desk:
    """A wire, and an editor that answers what the engine asks over it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.wire = Wire(stage)
        self.editor = PaperEditor()
        self.editor.documents = Told(self.wire)  # type: ignore[assignment]
        self._answered: set[Any] = set()

    async def serve(self) -> None:
        while True:
            for message in self.wire.messages:
                if "method" not in message or "id" not in message:
                    continue
                if message["id"] in self._answered:
                    continue
                self._answered.add(message["id"])
                result = await self.editor.ask(message["method"], message["params"], timeout_s=1)
                self.wire.send({"jsonrpc": "2.0", "id": message["id"], "result": result})
            await asyncio.sleep(0.001)

    async def turn(self, session: str, *steps: dict[str, Any]) -> None:
        self.stage.script("script", [*steps, say("Done.")])
        await self.wire.start(session)
        await self.wire.event("turn.completed")

    def open(self, name: str, text: str) -> Paper:
        return self.editor.open(self.stage.put(name, text))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    stage = Stage(tmp_path)
    desk = Desk(stage)
    await desk.wire.result(
        "initialize",
        {
            "capabilities": {"workspace": {"applyEdit": True}},
            "workspaceFolders": [
                {"uri": file_uri(os.path.realpath(stage.workspace)), "name": "ws"}
            ],
            "initializationOptions": {
                "kova": {
                    "versions": [1],
                    "client": {"id": "w", "name": "paper"},
                    "trusted": True,
                    "capabilities": {"documents": {}, "diagnostics": {}},
                }
            },
        },
    )
    serving = asyncio.ensure_future(desk.serve())
    yield desk
    serving.cancel()
    await asyncio.wait([serving])
    await stage.close()


def edit(old: str, new: str) -> dict[str, Any]:
    return call("edit", path="a.txt", old_string=old, new_string=new)


async def test_an_open_document_is_edited_listed_and_put_back_in_its_editor(desk: Desk) -> None:
    paper = desk.open("a.txt", OLD)
    session = await desk.wire.create()
    await desk.turn(session, edit("line 2\n", "B\n"), edit("line 8\n", "H\nh\n"))
    assert paper.text == OLD.replace("line 2\n", "B\n").replace("line 8\n", "H\nh\n")
    assert Path(paper.path).read_text() == paper.text
    assert not paper.is_dirty
    assert desk.editor.asked.count("workspace/applyEdit") == 2

    [change] = (await desk.wire.result("kova/changes/list", {"sessionId": session}))["changes"]
    assert (change["uri"], change["change"]) == (file_uri(paper.path), "modify")
    assert (change["addedLines"], change["removedLines"]) == (3, 2)
    first, second = change["hunks"]
    assert (first["startLine"], first["lineCount"], first["oldLineCount"]) == (1, 1, 1)
    assert (second["startLine"], second["lineCount"], second["oldStartLine"]) == (7, 2, 7)

    decided = await desk.wire.result(
        "kova/changes/decide",
        {"sessionId": session, "decision": "revert", "hunkIds": [second["hunkId"]]},
    )
    assert [h["hunkId"] for h in decided["changes"][0]["hunks"]] == [first["hunkId"]]
    assert decided["refused"] == []
    assert paper.text == OLD.replace("line 2\n", "B\n")
    decided = await desk.wire.result(
        "kova/changes/decide",
        {"sessionId": session, "decision": "keep", "changeIds": [change["changeId"]]},
    )
    assert decided["changes"] == []


async def test_events_tell_what_happened_and_hold_no_names_of_kept_texts(desk: Desk) -> None:
    desk.open("a.txt", OLD)
    session = await desk.wire.create()
    await desk.turn(session, edit("line 2\n", "B\n"))
    event = await desk.wire.event("changes.updated")
    assert event["turnId"] == event["payload"]["turnIds"][0]
    assert event["payload"]["addedLines"] == 1
    assert not {"base", "written"} & event["payload"].keys()
    await desk.wire.result("kova/changes/decide", {"sessionId": session, "decision": "keep"})
    event = await desk.wire.event("changes.updated", 2)
    assert (event["payload"]["decision"], event["payload"]["by"]) == ("keep", "paper")
    assert event["payload"]["isOpen"] is False


async def test_turns_are_chosen_and_what_is_gone_is_said(desk: Desk) -> None:
    desk.open("a.txt", OLD)
    session = await desk.wire.create()
    await desk.turn(session, edit("line 2\n", "B\n"))
    asked = {"sessionId": session, "turnId": "another"}
    assert (await desk.wire.result("kova/changes/list", asked))["changes"] == []
    decided = await desk.wire.result("kova/changes/decide", {**asked, "decision": "revert"})
    assert len(decided["changes"]) == 1
    decided = await desk.wire.result(
        "kova/changes/decide", {"sessionId": session, "decision": "keep", "hunkIds": ["no"]}
    )
    assert "list the changes again" in decided["refused"][0]
    assert len(decided["changes"]) == 1


async def test_an_untrusted_editor_may_look_and_not_decide(desk: Desk) -> None:
    desk.open("a.txt", OLD)
    session = await desk.wire.create()
    await desk.turn(session, edit("line 2\n", "B\n"))
    other = Wire(desk.stage, desk.wire.hub)
    await other.initialize(trusted=False)
    assert len((await other.result("kova/changes/list", {"sessionId": session}))["changes"]) == 1
    error = await other.error("kova/changes/decide", {"sessionId": session, "decision": "keep"})
    assert error["data"]["code"] == "notTrusted"


async def test_errors_in_the_edited_file_are_told_to_the_model(desk: Desk) -> None:
    paper = desk.open("a.txt", OLD)
    place = {"line": 1, "character": 0}
    entry = {"range": {"start": place, "end": place}, "severity": 1, "message": "bad"}
    desk.editor.diagnostics = {
        "documents": [{"uri": file_uri(paper.path), "diagnostics": [entry, entry]}],
        "settled": True,
    }
    session = await desk.wire.create()
    await desk.turn(session, edit("line 2\n", "B\n"), call("diagnostics", path="a.txt"))
    loaded = desk.stage.engine.get(session)
    results = [
        stored.record.result
        for stored in loaded.journal.read(1, loaded.journal.seq)
        if getattr(stored.record, "result", None)
    ]
    assert "[The editor reports 2 errors in this file: see diagnostics.]" in results[0]
    assert results[1] == "a.txt:2: error: bad\na.txt:2: error: bad"


async def test_the_agent_waits_for_the_person_and_computes_anew(desk: Desk) -> None:
    paper = desk.open("a.txt", OLD)
    session = await desk.wire.create()
    desk.editor.meanwhile = [
        lambda: None,
        lambda: desk.editor.type(paper.path, 0, 0, "typed\n"),
    ]
    await desk.turn(session, edit("line 2\n", "B\n"))
    assert paper.text == "typed\n" + OLD.replace("line 2\n", "B\n")
    [change] = (await desk.wire.result("kova/changes/list", {"sessionId": session}))["changes"]
    assert len(change["hunks"]) == 1


async def test_an_editor_that_vanishes_in_the_middle_leaves_the_disk(desk: Desk) -> None:
    paper = desk.open("a.txt", OLD)
    session = await desk.wire.create()
    other = Wire(desk.stage, desk.wire.hub)
    await other.initialize()
    await other.result("kova/session/attach", {"sessionId": session})
    desk.editor.meanwhile = [desk.wire.leave]
    desk.stage.script("script", [edit("line 2\n", "B\n"), say("Done.")])
    await desk.wire.start(session)
    await other.event("turn.completed")
    assert Path(paper.path).read_text() == OLD.replace("line 2\n", "B\n")
    assert paper.text == OLD
    assert len((await other.result("kova/changes/list", {"sessionId": session}))["changes"]) == 1


async def test_a_long_hunk_is_cut_and_says_so(desk: Desk) -> None:
    session = await desk.wire.create()
    await desk.turn(session, call("write", path="long.txt", content="x\n" * 1_000))
    [change] = (await desk.wire.result("kova/changes/list", {"sessionId": session}))["changes"]
    assert change["addedLines"] == 1_000
    assert change["hunks"][0]["diff"].endswith("+x\n\\ 601 lines more\n")


async def test_folders_that_come_are_told_to_the_running_session(desk: Desk) -> None:
    outside = desk.stage.root / "outside"
    outside.mkdir()
    session = await desk.wire.create()
    desk.stage.script("script", [call("bash", command="touch a"), say("Done.")])
    await desk.wire.start(session)
    await desk.wire.event("approval.requested")
    folder = {"uri": file_uri(os.path.realpath(outside)), "name": "o"}
    for event in ({"added": [folder], "removed": []}, {"added": [], "removed": [folder]}):
        desk.wire.notify("workspace/didChangeWorkspaceFolders", {"event": event})
    first = await desk.wire.event("roots.changed")
    assert first["payload"]["roots"] == [{"uri": folder["uri"], "source": "editor"}]
    assert (await desk.wire.event("roots.changed", 2))["payload"]["roots"] == []
