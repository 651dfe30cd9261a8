"""What `workspace/executeCommand` does: one function a command.

Each answers at once: an editor may wait for the answer with its hands tied. What needs time, or a
person, comes afterwards.
Invariant: the same checks as for our own clients: everything acts through their handlers.
"""

import os
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from kova_ls.endpoint.handlers import HANDLERS
from kova_ls.endpoint.handlers._table import may_act
from kova_ls.endpoint.handshake import dig, local_path
from kova_ls.endpoint.localize import localized
from kova_ls.endpoint.lsp_actions import changes
from kova_ls.endpoint.lsp_forms import put_form, words_form, write_private
from kova_ls.endpoint.lsp_pending import decide, open_asks, put, respond
from kova_ls.endpoint.lsp_text import code, fenced, goal_line
from kova_ls.endpoint.text_edits import offset_of
from kova_ls.engine import Session
from kova_ls.engine.workspace import file_uri
from kova_ls.errors import RequestFailed
from kova_ls.protocol import changes as pc
from kova_ls.protocol import session as ps
from kova_ls.protocol.methods import METHODS
from kova_ls.values import (
    Answer,
    DiagnosticPart,
    FilePart,
    InputPart,
    QuestionRequest,
    Range,
    SelectionPart,
    TextPart,
)
from kova_ls.vocabulary import ApprovalLevel, Mode, StartStatus, WhenBusy

if TYPE_CHECKING:
    from kova_ls.endpoint.lsp_server import LspServer

Call = Callable[["LspServer", Sequence[Any]], Awaitable[Any]]

_EXPLAIN = "Explain this. If it holds a question or a request of mine, answer that instead."
_FIX = "Fix this problem."
_HOW_TO_ASK = (
    'kova.ask takes a prompt as its first argument, such as ["What does this project do?"], or '
    '[{"prompt": …, "uri": …, "range": …}], or none to write one on a page. To ask about a '
    'selection, use the code action "Ask Kova about this".'
)


def _first(arguments: Sequence[Any]) -> Any:
    return arguments[0] if arguments else None


def _wrong(text: str) -> RequestFailed:
    return RequestFailed("invalidParams", text)


# -- asking ---------------------------------------------------------------------------------------


async def ask(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Give the current conversation a prompt; one begins where there is none.

    Without a prompt, or with `compose`, the person writes it on a page first.
    """
    given = _first(arguments)
    if given is None or dig(given, "compose") is True:
        return _compose(lsp, given)
    return _start(lsp, prompt(lsp, arguments))


def _start(lsp: "LspServer", parts: tuple[InputPart, ...]) -> dict[str, str]:
    session = current(lsp)
    watch = lsp.watch(session)
    turn_id, status = session.start(
        parts, prompt_id=None, when_busy=WhenBusy.QUEUE, editor=lsp.endpoint
    )
    if status is StartStatus.QUEUED:
        lsp.after_answer(lambda: lsp.tell("Kova is busy; your prompt comes next."))
    return {
        "sessionId": session.id,
        "turnId": turn_id,
        "status": status.value,
        "transcript": file_uri(watch.transcript.path),
    }


def _compose(lsp: "LspServer", given: Any) -> dict[str, str]:
    place = {name: dig(given, name) for name in ("uri", "range")}
    prompt(lsp, [{**place, "prompt": "…"}])  # what is wrong with the place is said now

    def send(words: str) -> None:
        _start(lsp, prompt(lsp, [{**place, "prompt": words}]))

    session = current(lsp)
    lsp.watch(session)
    about = local_path(place["uri"]) if isinstance(place["uri"], str) else None
    head = [lsp.say("# Ask Kova")]
    if about is not None:
        head += ["", lsp.say(f"About {code(about)}.")]
    form = words_form(head, send, lsp.endpoint.language)
    title = lsp.say("your prompt")
    lsp.after_answer(lambda: lsp.spawn(put_form(lsp, session, title, form), "form"))
    return {"sessionId": session.id}


def prompt(lsp: "LspServer", arguments: Sequence[Any]) -> tuple[InputPart, ...]:
    """Return the parts of a prompt. Raises: RequestFailed, ValidationError."""
    given = _first(arguments)
    words = given if isinstance(given, str) else dig(given, "prompt")
    uri, span, diagnostic = (dig(given, name) for name in ("uri", "range", "diagnostic"))
    parts: list[InputPart] = []
    if isinstance(uri, str) and diagnostic is not None:
        fields = cast(dict[str, Any], diagnostic) if isinstance(diagnostic, dict) else {}
        parts.append(DiagnosticPart.model_validate({**fields, "uri": uri}))
    elif isinstance(uri, str):
        place = None if span is None else Range.model_validate(span)
        parts.append(_selection(lsp, uri, place))
    if isinstance(words, str) and words.strip():
        return (TextPart(text=words), *parts)
    if not parts:
        raise _wrong(_HOW_TO_ASK)
    return (TextPart(text=_FIX if diagnostic is not None else _EXPLAIN), *parts)


def _selection(lsp: "LspServer", uri: str, place: Range | None) -> InputPart:
    """Return what is selected as the editor has it; a place without extent means its line."""
    path = local_path(uri)
    overlays = lsp.endpoint.overlays
    document = overlays.get(path) if path is not None and overlays is not None else None
    if document is None or place is None:
        return FilePart(uri=uri, range=place)
    text = document.text
    start = offset_of(text, place.start.line, place.start.character)
    stop = max(start, offset_of(text, place.end.line, place.end.character))
    if start == stop:
        start = text.rfind("\n", 0, start) + 1
        line_end = text.find("\n", stop)
        stop = len(text) if line_end < 0 else line_end
    return SelectionPart(uri=uri, range=place, text=text[start:stop])


def current(lsp: "LspServer") -> Session:
    """Return where prompts go, beginning a conversation where there is none."""
    plain = lsp.endpoint.plain
    if plain is not None:
        plain.settle_trust()
    session = lsp.current
    is_gone = session is not None and lsp.endpoint.engine.loaded(session.id) is not session
    if session is None or is_gone or (session.state.trusted and not lsp.endpoint.trusted):
        return begin(lsp)
    may_act(lsp.endpoint, session)
    return session


def begin(lsp: "LspServer") -> Session:
    """Begin a conversation in the editor's first folder."""
    endpoint = lsp.endpoint
    lsp.current = endpoint.engine.create(
        workspace_uri=endpoint.workspace_uri,
        title=None,
        mode=None,
        level=None,
        model=None,
        editor=endpoint,
    )
    return lsp.current


async def new_session(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Begin a new conversation; what runs in the one before goes on."""
    del arguments
    plain = lsp.endpoint.plain
    if plain is not None:
        plain.settle_trust()
    session = begin(lsp)
    lsp.watch(session)
    return {"sessionId": session.id, "level": session.state.level.value}


# -- answering ------------------------------------------------------------------------------------


async def pending(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Put what waits to the person, after this request is answered; or answer it at once."""
    wanted = _first(arguments)
    if len(arguments) > 1:
        decide(lsp, str(wanted), str(arguments[1]))
        return {"pending": len(open_asks(lsp))}
    waiting = open_asks(lsp)
    if lsp.asking is not None:
        lsp.asking.cancel()  # one at a time: what was put before is withdrawn
    if not waiting:
        lsp.after_answer(lambda: lsp.tell("Kova: nothing waits for you."))
        return {"pending": 0}
    first_id = wanted if isinstance(wanted, str) else None

    def put_all() -> None:
        lsp.asking = lsp.spawn(put(lsp, first_id), "pending")

    lsp.after_answer(put_all)
    return {"pending": len(waiting)}


async def answer(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Answer the oldest open question in the person's own words."""
    text = _first(arguments)
    if not isinstance(text, str) or not text.strip():
        raise _wrong('kova.answer needs the answer as its first argument, such as ["the second"].')
    asked = [entry for entry in open_asks(lsp) if isinstance(entry, QuestionRequest)]
    if not asked:
        raise _wrong("No question is open. What else waits is shown by kova.pending.")
    request = asked[0]
    respond(lsp, request.question_id, [Answer(id=q.id, other=text) for q in request.questions])
    return {"answered": request.question_id}


# -- the running turn, the page, the settings -----------------------------------------------------


async def stop(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Stop the running turn, and say what was stopped."""
    del arguments
    session = lsp.current
    if session is None:
        return {"stopped": []}
    may_act(lsp.endpoint, session)
    return {"stopped": [lsp.say(text) for text in await session.interrupt(None, lsp.endpoint.name)]}


async def open_page(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Show the conversation's page."""
    del arguments
    session = lsp.current
    if session is None:
        raise _wrong("There is no conversation yet. Begin one with kova.ask.")
    path = lsp.watch(session).transcript.path
    lsp.after_answer(lambda: _show(lsp, path))
    return {"uri": file_uri(path)}


def _show(lsp: "LspServer", path: str) -> None:
    lsp.spawn(lsp.show(path, takes_focus=True), "show")


async def mode(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Change whether the conversation may change things."""
    word = _word(arguments, "kova.mode", [entry.value for entry in Mode])
    return _configure(lsp, mode=word)


async def level(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Change whether the conversation must ask."""
    word = _word(arguments, "kova.level", [entry.value for entry in ApprovalLevel])
    return _configure(lsp, level=word)


_GOAL_VERBS = {"show": "get", "pause": "pause", "resume": "resume", "cancel": "cancel"}


async def goal(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Say where the goal stands; pause, resume or cancel it; limit its turns, or not."""
    given = arguments or ["show"]
    word = _word(given, "kova.goal", [*_GOAL_VERBS, "budget"])
    session = lsp.current
    if session is None:
        raise _wrong("There is no conversation yet. Begin one with kova.ask.")
    limits = {"turns": given[1]} if word == "budget" and len(given) > 1 else {}
    method = f"kova/goal/{_GOAL_VERBS.get(word, 'setBudget')}"
    params = METHODS[method].params.model_validate({"sessionId": session.id, **limits})
    result: Any = HANDLERS[method](lsp.endpoint, params)
    if word == "show":
        lsp.after_answer(lambda: lsp.tell(goal_line(result.goal)))
    return localized(result, lsp.endpoint.language).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )


def _word(arguments: Sequence[Any], command: str, words: Sequence[str]) -> str:
    word = _first(arguments)
    if word not in words:
        raise _wrong(f"{command} needs one of {', '.join(words)} as its first argument.")
    return word


def _configure(lsp: "LspServer", **setting: str) -> Any:
    session = current(lsp)
    params = ps.SessionConfigureParams.model_validate({"sessionId": session.id, **setting})
    result: Any = HANDLERS["kova/session/configure"](lsp.endpoint, params)
    return result.model_dump(mode="json", by_alias=True)


# -- review ---------------------------------------------------------------------------------------


async def list_changes(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Show a page of what is not reviewed."""
    del arguments
    session = lsp.current
    found = await changes(lsp, session.id) if session is not None else ()
    if session is None or not found:
        lsp.after_answer(lambda: lsp.tell("Kova: no change waits for review."))
        return {"changes": 0}
    how = lsp.say("Keep or revert them by the code lenses of each file.")
    lines = ["# " + lsp.say("Kova's changes"), "", how, ""]
    for change in found:
        lines += [f"## {code(local_path(change.uri) or change.uri)}", ""]
        for hunk in change.hunks:
            lines += [fenced(hunk.diff, "diff"), ""]
        if change.conflict:
            lines += [code(lsp.say(change.conflict)), ""]
    path = os.path.join(os.path.realpath(session.folder), "changes.md")
    write_private(path, "\n".join(lines))
    lsp.after_answer(lambda: _show(lsp, path))
    return {"changes": len(found), "uri": file_uri(path)}


async def keep(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Keep changes."""
    return await _decide(lsp, arguments, "keep")


async def revert(lsp: "LspServer", arguments: Sequence[Any]) -> Any:
    """Put back what was there before changes."""
    return await _decide(lsp, arguments, "revert")


async def _decide(lsp: "LspServer", arguments: Sequence[Any], decision: str) -> Any:
    given = _first(arguments)
    if given is None and lsp.current is not None:
        given = {"sessionId": lsp.current.id}
    if not isinstance(given, dict):
        raise _wrong(
            f"kova.{decision} needs what its code lens gives it, or no argument for all of the "
            "current conversation."
        )
    fields = cast(dict[str, Any], given)
    params = pc.ChangesDecideParams.model_validate({**fields, "decision": decision})
    outcome: Any = HANDLERS["kova/changes/decide"](lsp.endpoint, params)
    result: pc.ChangesDecideResult = await outcome
    refused = [lsp.say(text) for text in result.refused]
    for text in refused:
        lsp.tell(f"Kova: {text}")
    lsp.refresh_lenses()
    return {"remaining": len(result.changes), "refused": refused}


CALLS: dict[str, Call] = {
    "kova.ask": ask,
    "kova.pending": pending,
    "kova.answer": answer,
    "kova.stop": stop,
    "kova.open": open_page,
    "kova.newSession": new_session,
    "kova.mode": mode,
    "kova.level": level,
    "kova.goal": goal,
    "kova.changes": list_changes,
    "kova.keep": keep,
    "kova.revert": revert,
}
"""Command -> what it does."""
