"""Pages on which a person writes what no choice can say; saving one sends it.

A form is an ordinary file in the session's folder: the one thing every editor can edit and save.
Invariant: a form is sent once; a save that holds nothing, too much, or no mark any more, sends
nothing and says so, and the next save is looked at again.
"""

import asyncio
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import TYPE_CHECKING

from kova_ls.endpoint.lsp_text import code, one_line, plain
from kova_ls.engine import Session
from kova_ls.errors import RequestFailed
from kova_ls.l10n import Language, say
from kova_ls.values import Answer, Question, QuestionRequest

if TYPE_CHECKING:
    from kova_ls.endpoint.lsp_server import LspServer

MARK = "Write below this line; saving the page sends it."
_EVERY_S = 0.25
_MOST_BYTES = 1 << 20
_TICKED = re.compile(r"[-*] \[[xX]\] ")


@dataclass(frozen=True, slots=True)
class Form:
    """A page that waits for its save."""

    text: str
    """As it was written."""
    send: Callable[[str], None]
    """Takes the saved page. Whatever it raises is told, and the form stays."""
    mark: str = MARK
    """The line below which the person writes."""


def write_private(path: str, text: str) -> None:
    """Write a page of a session's folder. Raises: OSError."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(text.encode("utf-8", "replace"))


async def put_form(lsp: "LspServer", session: Session, title: str, form: Form) -> None:
    """Write a form and show it, with the cursor where the first words go."""
    folder = os.path.realpath(session.folder)
    path = os.path.join(folder, f"write-{token_hex(4)}.md")
    try:
        write_private(path, form.text)
        before = os.stat(path)
    except OSError as error:
        lsp.tell(f"Kova: no page can be written: {error.strerror or error}. Make room, try again.")
        return
    lsp.spawn(_watch(lsp, path, before, form), f"form {path}")
    line = form.text[: form.text.index(form.mark)].count("\n") + 2
    where = f"Kova: {title}: write in {path} and save it."
    await lsp.show(path, takes_focus=True, line=line, otherwise=where)


async def _watch(lsp: "LspServer", path: str, before: os.stat_result, form: Form) -> None:
    """Send the form once it was saved.

    The disk is watched, not the editor's messages: Kate 22 and others start another server for a
    file outside of the folder, or none for Markdown.
    """
    seen = taken = _stamp(before)
    while True:
        await asyncio.sleep(_EVERY_S)
        try:
            now = _stamp(os.stat(path))
        except OSError:
            continue  # between the two halves of an atomic save, or thrown away
        is_settled, seen = now == seen, now
        if now == taken or not is_settled:
            continue
        taken = now
        try:
            form.send(_page(path))
        except FileNotFoundError:
            continue
        except Exception as error:  # noqa: BLE001 - whatever it is, the next save may mend it
            lsp.tell_failure(error)
        else:
            lsp.tell("Kova: sent. The page may be closed.")
            return


def _page(path: str) -> str:
    try:
        with open(path, "rb") as file:
            found = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        text = f"{path} cannot be read: {error.strerror or error}. Mend its rights, save it again."
        raise RequestFailed("invalidParams", text) from None
    if len(found) > _MOST_BYTES:
        text = "The page is larger than 1 MiB and was not sent. Shorten it, then save."
        raise RequestFailed("invalidParams", text)
    return found.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _stamp(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_mtime_ns, found.st_size, found.st_ino


def words_form(
    head: Sequence[str],
    send: Callable[[str], None],
    language: Language = Language.ENGLISH,
    most_chars: int = _MOST_BYTES,
) -> Form:
    """Return a form for one text."""
    mark = say(MARK, language)

    def take(page: str) -> None:
        words = _words(page.split("\n"), mark)
        if len(words) > most_chars:
            text = (
                f"{len(words):,} characters are more than {most_chars:,}. Shorten them, then save."
            )
            raise RequestFailed("invalidParams", text)
        send(words)

    return Form("\n".join([*head, "", mark, "", ""]), take, mark)


def questions_form(
    request: QuestionRequest,
    send: Callable[[Sequence[Answer]], None],
    language: Language = Language.ENGLISH,
) -> Form:
    """Return a form for all questions of a request: boxes to tick, and room for words."""
    mark = say(MARK, language)
    heads = [
        f"## {number}. {one_line(question.question, 600)}"
        for number, question in enumerate(request.questions, 1)
    ]
    how = say("Tick with an x, `- [x]`, or write; saving the page sends it.", language)
    lines = [f"# {say('Kova asks', language)}", "", how, ""]
    for head, question in zip(heads, request.questions, strict=True):
        lines += [head, ""]
        lines += [_box(question, index) for index in range(len(question.options))]
        lines += ["", mark, "", ""]

    def take(page: str) -> None:
        found = page.split("\n")
        starts = [_place(found, head) for head in heads]
        stops = [*starts[1:], len(found)]
        send(
            [
                _answer(question, found[start + 1 : stop], mark)
                for question, start, stop in zip(request.questions, starts, stops, strict=True)
            ]
        )

    return Form("\n".join(lines), take, mark)


def _box(question: Question, index: int) -> str:
    option = question.options[index]
    more = f": {one_line(option.description, 200)}" if option.description else ""
    return f"- [ ] {index + 1}. {code(option.label)}{more}"


def _answer(question: Question, lines: list[str], mark_line: str) -> Answer:
    mark = _place(lines, mark_line)
    ticked = {line[6:] for line in lines[:mark] if _TICKED.match(line)}
    selected = [
        option.label
        for index, option in enumerate(question.options)
        if _box(question, index)[6:] in ticked
    ]
    words = "\n".join(lines[mark + 1 :]).strip()
    if len(ticked) != len(selected):
        raise RequestFailed(
            "invalidParams", "An option's words were changed. Tick it as it was written."
        )
    if len(selected) > 1 and not question.multi_select:
        raise RequestFailed(
            "invalidParams", f"Only one may be ticked: {one_line(question.question)}"
        )
    if not selected and not words:
        raise RequestFailed("invalidParams", f"Not answered yet: {one_line(question.question)}")
    return Answer(id=question.id, selected=tuple(selected), other=words or None)


def _words(lines: list[str], mark: str) -> str:
    words = "\n".join(lines[_place(lines, mark) + 1 :]).strip()
    if not words:
        raise RequestFailed(
            "invalidParams", "Nothing is written yet. Write below the line, then save."
        )
    return words


def _place(lines: list[str], line: str) -> int:
    try:
        return lines.index(line)
    except ValueError:
        text = f"The page has lost this line, put it back: {plain(line)}"
        raise RequestFailed("invalidParams", text) from None
