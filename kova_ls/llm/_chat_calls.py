"""Put together the tool calls that chat chunks bring in pieces.

Servers number them from 0 or 1, number every call 0, or number none; they repeat id and name with
each piece, give a new id with each, or give none at all.
Invariant: a piece without a name continues a call; it never begins one beside another.
"""

from typing import Any

import orjson

from kova_ls.llm._decoding import OpenCall
from kova_ls.llm._json import parse_object


class ChatCalls:
    """The calls of one answer, in the order of their beginnings."""

    def __init__(self) -> None:
        self.calls: list[OpenCall] = []
        self._by_index: dict[Any, OpenCall] = {}

    def take(self, piece: dict[str, Any]) -> None:
        """Take one element of `tool_calls`."""
        function: dict[str, Any] = piece.get("function") or {}
        identity: str = piece.get("id") or ""
        name: str = function.get("name") or ""
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            arguments = orjson.dumps(arguments).decode()
        index = piece.get("index")
        call = self._by_index.get(index) if index is not None else self._latest(identity)
        if call is None or (name and _is_another(call, identity, arguments or "")):
            call = OpenCall()
            self.calls.append(call)
            if index is not None:
                self._by_index[index] = call
        call.id = call.id or identity
        if name and name != call.name and not call.pieces:
            call.name += name
        if extra := piece.get("extra_content"):
            call.opaque = {"extra_content": extra}
        if arguments:
            if call.pieces == ["{}"]:
                # An empty object that stood for "nothing yet".
                call.pieces.clear()
            call.pieces.append(arguments)

    def _latest(self, identity: str) -> OpenCall | None:
        """Return the call that a piece without an index continues."""
        known = [call for call in self.calls if call.id == identity] if identity else []
        return next(iter(known or self.calls[-1:]), None)


def _is_another(call: OpenCall, identity: str, arguments: str) -> bool:
    """Tell the beginning of a further call from a named piece of the same one."""
    has_other_id = bool(identity and call.id and identity != call.id)
    if not has_other_id and (identity or not call.pieces):
        return False
    begins = arguments.lstrip().startswith("{")
    if has_other_id:
        return begins or not arguments or not call.pieces or _is_whole(call)
    return begins and _is_whole(call)


def _is_whole(call: OpenCall) -> bool:
    return parse_object(call.arguments) is not None
