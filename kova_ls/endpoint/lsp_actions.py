"""Code actions and code lenses of an editor without a Kova client.

Invariant: an action carries what it needs in its command's arguments; nothing is kept for it here.
"""

from typing import TYPE_CHECKING, Any

from lsprotocol import types

from kova_ls.endpoint.handlers import HANDLERS
from kova_ls.endpoint.handshake import local_path
from kova_ls.endpoint.lsp import ASK_KIND
from kova_ls.endpoint.lsp_pending import direct_choices
from kova_ls.endpoint.lsp_text import one_line
from kova_ls.endpoint.transcript import Waiting
from kova_ls.protocol import changes as pc

if TYPE_CHECKING:
    from kova_ls.endpoint.lsp_server import LspServer


def code_actions(
    lsp: "LspServer", params: types.CodeActionParams
) -> list[types.CodeAction | types.Command]:
    """Return what can be done at a place; commands alone for editors before LSP 3.8.

    Some editors run a server's commands only from here, so what waits and what runs is here too.
    """
    actions = [_fix(lsp, params.text_document.uri, found) for found in params.context.diagnostics]
    actions += _ask(lsp, params)
    for watch in lsp.watches.values():
        for waiting in watch.transcript.waiting():
            title = lsp.say(f"Answer Kova: {_title(lsp, waiting, 60)}")
            actions.append(_action(title, "kova.pending", [waiting.id]))
    actions += [
        _action(title, "kova.pending", list(arguments)) for title, arguments in direct_choices(lsp)
    ]
    if lsp.current is not None:
        actions.append(_action(lsp.say("Show Kova's conversation"), "kova.open", []))
        if lsp.current.state.turn_id is not None:
            actions.append(_action(lsp.say("Stop Kova"), "kova.stop", []))
    only = params.context.only
    if only is not None:
        actions = [action for action in actions if _is_wanted(action, only)]
    if lsp.endpoint.said.takes_action_literals:
        return list(actions)
    return [action.command for action in actions if action.command is not None]


def _action(title: str, command: str, arguments: list[Any]) -> types.CodeAction:
    does = types.Command(title=title, command=command, arguments=arguments)
    return types.CodeAction(title=title, kind=ASK_KIND, command=does)


def _is_wanted(action: types.CodeAction, only: Any) -> bool:
    kind = str(getattr(action.kind, "value", action.kind))
    wanted = [str(getattr(entry, "value", entry)) for entry in only]
    return any(not want or kind == want or kind.startswith(want + ".") for want in wanted)


def _ask(lsp: "LspServer", params: types.CodeActionParams) -> list[types.CodeAction]:
    is_point = params.range.start == params.range.end
    title = "Ask Kova about this line" if is_point else "Ask Kova about this"
    argument = {"uri": params.text_document.uri, "range": _range(params.range)}
    compose = {**argument, "compose": True}
    return [
        _action(lsp.say(title), "kova.ask", [argument]),
        _action(lsp.say("Write to Kova about this …"), "kova.ask", [compose]),
    ]


def _fix(lsp: "LspServer", uri: str, found: types.Diagnostic) -> types.CodeAction:
    title = lsp.say(f"Fix with Kova: {one_line(found.message, 60)}")
    diagnostic: dict[str, Any] = {"message": found.message, "range": _range(found.range)}
    if found.severity is not None:
        diagnostic["severity"] = int(found.severity)
    if found.source is not None:
        diagnostic["source"] = found.source
    argument = {"uri": uri, "diagnostic": diagnostic}
    command = types.Command(title=title, command="kova.ask", arguments=[argument])
    return types.CodeAction(
        title=title, kind=types.CodeActionKind.QuickFix, diagnostics=[found], command=command
    )


def _title(lsp: "LspServer", waiting: Waiting, most_chars: int) -> str:
    """Return what waits in a line: a card's head is ours, a question is the model's."""
    title = lsp.say(waiting.title) if waiting.is_card else waiting.title
    return one_line(title, most_chars)


def _range(found: types.Range) -> dict[str, Any]:
    return {
        "start": {"line": found.start.line, "character": found.start.character},
        "end": {"line": found.end.line, "character": found.end.character},
    }


async def lenses(lsp: "LspServer", uri: str) -> list[types.CodeLens]:
    """Return what waits, on a session's page, and what may be reviewed, on a changed file."""
    path = local_path(uri)
    for watch in lsp.watches.values():
        if path == watch.transcript.path:
            return [
                _lens(
                    waiting.line,
                    lsp.say(f"Answer: {_title(lsp, waiting, 80)}"),
                    "kova.pending",
                    [waiting.id],
                )
                for waiting in watch.transcript.waiting()
            ]
    found: list[types.CodeLens] = []
    for session_id, watch in list(lsp.watches.items()):
        touched = {local_path(change.uri) for change in watch.session.state.changes.values()}
        for change in await changes(lsp, session_id) if path in touched else ():
            if local_path(change.uri) != path:
                continue
            for hunk in change.hunks:
                argument = {"sessionId": session_id, "hunkIds": [hunk.hunk_id]}
                title = lsp.say(f"Keep Kova's change (+{hunk.line_count} -{hunk.old_line_count})")
                found.append(_lens(hunk.start_line, title, "kova.keep", [argument]))
                found.append(_lens(hunk.start_line, lsp.say("Revert"), "kova.revert", [argument]))
    return found


async def changes(lsp: "LspServer", session_id: str) -> tuple[pc.Change, ...]:
    """Return what of a session is not reviewed."""
    params = pc.ChangesListParams(session_id=session_id)
    outcome: Any = HANDLERS["kova/changes/list"](lsp.endpoint, params)
    result: pc.ChangesListResult = await outcome
    return result.changes


def _lens(line: int, title: str, command: str, arguments: list[Any]) -> types.CodeLens:
    place = types.Position(line=line, character=0)
    return types.CodeLens(
        range=types.Range(start=place, end=place),
        command=types.Command(title=title, command=command, arguments=arguments),
    )
