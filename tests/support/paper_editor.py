"""A model of an LSP editor: documents with versions, text sync that may lag, its own habits.

It holds its text as UTF-16, as editors do, and applies edits to it by position.
"""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from kova_ls.endpoint.documents import Documents
from kova_ls.engine.workspace import file_uri

Habit = Literal["strict", "skips", "refuses", "silent", "gone", "half", "blind"]
"""`strict`: refuses what is not for its text. `skips`: leaves an old version out and says that it
applied it. `half`: applies the first edit only. `blind`: never checks versions."""


def sha(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass
class Paper:
    """One document."""

    path: str
    text: str
    version: int = 1
    is_dirty: bool = False
    readonly: bool = False
    told: str = ""
    """The text that text sync has told."""

    def place(self, offset: int) -> dict[str, int]:
        before = self.text[:offset]
        line = before[before.rfind("\n") + 1 :]
        return {
            "line": before.count("\n"),
            "character": len(line.encode("utf-16-le", "surrogatepass")) // 2,
        }

    def offset(self, place: dict[str, int]) -> int:
        lines = self.text.split("\n")
        number = min(place["line"], len(lines) - 1)
        units = lines[number].encode("utf-16-le", "surrogatepass")
        within = units[: 2 * place["character"]].decode("utf-16-le", "surrogatepass")
        return sum(len(line) + 1 for line in lines[:number]) + len(within)


@dataclass
class PaperEditor:
    """An editor that `Documents` can ask."""

    habit: Habit = "strict"
    is_ours: bool = True
    lags: bool = False
    """Changes are told only when `sync` is called or an edit is answered."""
    formatter: Callable[[str], str] = lambda text: text
    papers: dict[str, Paper] = field(default_factory=dict[str, Paper])
    asked: list[str] = field(default_factory=list[str])
    edits: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    meanwhile: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])
    """What the person does before each next request is answered."""
    is_typing: bool = False
    refuses_to_save: bool = False
    diagnostics: dict[str, Any] = field(default_factory=lambda: {"documents": [], "settled": True})
    documents: Documents = field(init=False)
    seconds: float = 0.0

    def __post_init__(self) -> None:
        self.documents = Documents(
            self.ask, applies_edits=True, knows_documents=self.is_ours, clock=lambda: self.seconds
        )

    # -- what the person does -----------------------------------------------------------------

    def open(self, path: Path | str, text: str | None = None, *, version: int = 1) -> Paper:
        """Open a file, or a new document with a text."""
        name = os.path.realpath(path)
        shown = Path(name).read_bytes().decode("utf-8", "replace") if text is None else text
        paper = self.papers[name] = Paper(name, shown, version, told=shown)
        paper.is_dirty = text is not None and not (
            Path(name).exists() and Path(name).read_bytes().decode("utf-8", "replace") == text
        )
        self.documents.opened({"uri": file_uri(name), "version": version, "text": shown})
        return paper

    def type(self, path: Path | str, start: int, stop: int, text: str) -> None:
        """Change a document as its person."""
        paper = self.papers[os.path.realpath(path)]
        self._change(paper, start, stop, text)
        if not self.lags:
            self.sync(paper)

    def rest(self) -> None:
        """Let the person not type for a while."""
        self.seconds += 10

    def sync(self, paper: Paper) -> None:
        """Tell what was not told yet, as one whole change."""
        if paper.told != paper.text:
            paper.told = paper.text
            uri = file_uri(paper.path)
            self.documents.changed(uri, paper.version, [{"text": paper.text}])
            if self.is_ours:
                self.documents.dirtied(uri, is_dirty=paper.is_dirty)

    def close(self, path: Path | str) -> None:
        name = os.path.realpath(path)
        del self.papers[name]
        self.documents.closed(file_uri(name))

    def _change(self, paper: Paper, start: int, stop: int, text: str) -> None:
        paper.text = paper.text[:start] + text + paper.text[stop:]
        paper.version += 1
        paper.is_dirty = True

    # -- what it is asked ---------------------------------------------------------------------

    async def ask(self, method: str, params: dict[str, Any], *, timeout_s: float) -> Any:
        self.asked.append(method)
        if self.meanwhile:
            self.meanwhile.pop(0)()
        if self.habit == "silent":
            raise TimeoutError
        if self.habit == "gone":
            raise ConnectionError("the editor is gone")
        match method:
            case "workspace/applyEdit":
                return self._apply(params)
            case "kova/editor/state":
                return {"documents": [self._state(paper) for paper in self._of(params)]}
            case "kova/editor/save":
                return self._save(params)
            case "kova/editor/reload":
                return self._reload(params)
            case _:
                return self.diagnostics

    def _of(self, params: dict[str, Any]) -> list[Paper]:
        return [p for p in self.papers.values() if file_uri(p.path) in params["uris"]]

    def _state(self, paper: Paper) -> dict[str, Any]:
        return {
            "uri": file_uri(paper.path),
            "version": paper.version,
            "dirty": paper.is_dirty,
            "readonly": paper.readonly,
            "textHash": sha(paper.text),
            "isTyping": self.is_typing,
        }

    def _apply(self, params: dict[str, Any]) -> Any:
        self.edits.append(params)
        [change] = params["edit"]["documentChanges"]
        named = change["textDocument"]
        paper = next(p for p in self.papers.values() if file_uri(p.path) == named["uri"])
        guard = params.get("kova")
        is_stale = named["version"] != paper.version
        if self.is_ours:
            assert guard is not None
            is_stale = is_stale or guard["textHash"] != sha(paper.text)
        if self.habit == "refuses":
            return self._answer(paper, "readonly")
        if is_stale and self.habit != "blind":
            return {"applied": True} if self.habit == "skips" else self._answer(paper, "stale")
        wanted = change["edits"][:1] if self.habit == "half" else change["edits"]
        places = [
            (paper.offset(e["range"]["start"]), paper.offset(e["range"]["end"]), e["newText"])
            for e in wanted
        ]
        for start, stop, text in sorted(places, reverse=True):
            self._change(paper, start, stop, text)
        if self.is_ours or not self.lags:
            self.sync(paper)
        return self._answer(paper, None)

    def _answer(self, paper: Paper, reason: str | None) -> dict[str, Any]:
        if not self.is_ours:
            return {"applied": reason is None}
        outcome = {"version": paper.version, "textHash": sha(paper.text)}
        return {
            "applied": reason is None,
            "kova": outcome | ({"reason": reason} if reason else {}),
        }

    def _save(self, params: dict[str, Any]) -> dict[str, Any]:
        papers = self._of(params)
        uris = [file_uri(paper.path) for paper in papers]
        if self.refuses_to_save:
            return {"saved": [], "failed": uris}
        for paper in papers:
            formatted = self.formatter(paper.text)
            if formatted != paper.text:
                self._change(paper, 0, len(paper.text), formatted)
                self.sync(paper)
            Path(paper.path).write_bytes(paper.text.encode())
            paper.is_dirty = False
            self.documents.saved(file_uri(paper.path), None)
        return {"saved": uris}

    def _reload(self, params: dict[str, Any]) -> dict[str, Any]:
        papers = self._of(params)
        clean = [paper for paper in papers if not paper.is_dirty]
        for paper in clean:
            self._change(paper, 0, len(paper.text), Path(paper.path).read_text("utf-8"))
            paper.is_dirty = False
            self.sync(paper)
        return {
            "reloaded": [file_uri(paper.path) for paper in clean],
            "dirty": [file_uri(paper.path) for paper in papers if paper.is_dirty],
        }
