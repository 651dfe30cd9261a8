"""From records and deltas to what editors are told.

Invariant: no private field travels; no message is larger than 256 KiB, and what is cut says so.
"""

from typing import Any, cast
from weakref import WeakKeyDictionary

import orjson

from kova_ls.endpoint.framing import notification
from kova_ls.endpoint.localize import localized
from kova_ls.engine import Session
from kova_ls.journal import records as r
from kova_ls.journal.store import Stored
from kova_ls.journal.stream import Delta
from kova_ls.l10n import Language
from kova_ls.protocol.event import ENVELOPE_FIELDS, Event
from kova_ls.values import Value
from kova_ls.vocabulary import Detail

MAX_PAYLOAD_BYTES = 200_000
"""Leaves room for the envelope within 256 KiB."""

_EXCLUDED: dict[type[r.Record], set[str]] = {}


def payload_of(record: r.Record) -> bytes:
    """Return a record's payload as JSON."""
    kind = type(record)
    excluded = _EXCLUDED.get(kind)
    if excluded is None:
        excluded = _EXCLUDED[kind] = {*ENVELOPE_FIELDS, *kind.private_fields}
    return bounded(record, excluded)


def bounded(
    value: Value, excluded: set[str] | None = None, limit: int = MAX_PAYLOAD_BYTES
) -> bytes:
    """Return JSON of a wire value, with long texts, then long lists, cut until it fits."""
    body = value.model_dump_json(by_alias=True, exclude_none=True, exclude=excluded).encode()
    if len(body) <= limit:
        return body
    raw = value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=excluded)
    for longest in (50_000, 5_000, 500):
        before, body = len(body), orjson.dumps(_cut(raw, longest))
        if len(body) <= limit:
            return body
        if len(body) > before * 0.9:
            break  # it is many values, not long texts
    return orjson.dumps(_within(_cut(raw, 50), [limit - _SLACK_BYTES]))


def _cut(value: Any, longest: int) -> Any:
    if isinstance(value, str):
        if len(value) <= longest:
            return value
        return f"{value[:longest]}… [{len(value) - longest:,} characters more]"
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        return {key: _cut(child, longest) for key, child in fields.items()}
    if isinstance(value, list):
        return [_cut(child, longest) for child in cast(list[Any], value)]
    return value


_MODEL_FIELDS = 40
"""No shape of ours has more fields: an object with more of them is someone's free JSON."""

_SLACK_BYTES = 20_000
"""For what stands around the value that used up the room."""


def _within(value: Any, room: list[int]) -> Any:
    """Keep lists and free objects as far as there is room, and say how many entries are left out.

    Shape: `room` has one number, the bytes left; what is kept is taken off it.
    """
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        kept: dict[str, Any] = {}
        for key, child in fields.items():
            if room[0] <= 0 and len(fields) > _MODEL_FIELDS:
                kept["…"] = f"{len(fields) - len(kept):,} more"
                break
            key = _cut(key, 200)
            room[0] -= len(orjson.dumps(key)) + 2
            kept[key] = _within(child, room)
        return kept
    if isinstance(value, list):
        entries = cast(list[Any], value)
        some: list[Any] = []
        for entry in entries:
            if room[0] <= 0:
                if not isinstance(entry, dict | list):
                    some.append(f"… {len(entries) - len(some):,} more")
                break
            room[0] -= 1
            some.append(_within(entry, room))
        return some
    room[0] -= len(orjson.dumps(value)) + 1
    return value


def ids_of(record: r.Record) -> tuple[str | None, str | None, str | None]:
    """Return turn, step and item of a record, as far as it has them."""
    fields = vars(record)
    item = fields.get("item")
    item_id = item.item_id if item is not None else fields.get("item_id")
    turn_id = fields.get("turn_id")
    if turn_id is None:
        inner = fields.get("approval") or fields.get("request")
        turn_id = inner.turn_id if inner is not None else None
    return turn_id, fields.get("step_id"), item_id


class Projector:
    """Encodes a session's facts once for all editors that follow it."""

    def __init__(self, session_id: str, epoch: str) -> None:
        self._head = b'{"sessionId":"%s","epoch":"%s",' % (session_id.encode(), epoch.encode())
        self._last: tuple[Stored | Delta, Detail, Language, bytes] | None = None

    def frame(
        self, fact: Stored | Delta, detail: Detail, language: Language = Language.ENGLISH
    ) -> bytes:
        """Return the notification of a fact; the latest is kept for the next editor."""
        last = self._last
        if last is not None and last[0] is fact and last[1] is detail and last[2] is language:
            return last[3]
        if isinstance(fact, Stored):
            body = self._stored(fact, detail, language)
        else:
            body = self._delta(fact)
        framed = notification("kova/event", body)
        self._last = (fact, detail, language, framed)
        return framed

    def _stored(self, stored: Stored, detail: Detail, language: Language) -> bytes:
        record = localized(stored.record, language)
        turn_id, step_id, item_id = ids_of(record)
        ids = b"".join(
            b'"%s":"%s",' % (name, value.encode())
            for name, value in ((b"turnId", turn_id), (b"stepId", step_id), (b"itemId", item_id))
            if value
        )
        payload = without_body(record) if detail is Detail.TURNS else payload_of(record)
        return b'%s"seq":%d,"at":%.6f,%s"type":"%s","payload":%s}' % (
            self._head,
            stored.seq,
            stored.at,
            ids,
            record.tag.encode(),
            payload,
        )

    def _delta(self, delta: Delta) -> bytes:
        step = b'"stepId":"%s",' % delta.step_id.encode() if delta.step_id else b""
        return (
            b'%s"volatile":true,"at":%.6f,"turnId":"%s",%s"itemId":"%s","type":"item.delta",'
            b'"payload":{"kind":"%s","offset":%d,"text":%s}}'
        ) % (
            self._head,
            delta.at,
            delta.turn_id.encode(),
            step,
            delta.item_id.encode(),
            delta.kind.encode(),
            delta.offset,
            _text(delta.text),
        )

    def event(self, stored: Stored, detail: Detail, language: Language = Language.ENGLISH) -> Event:
        """Return a stored fact as a model, for pages of events."""
        return Event.model_validate(orjson.loads(self._stored(stored, detail, language)))


def without_body(record: r.Record) -> bytes:
    """Return the payload at detail `turns`: items are named, their bodies left out."""
    if isinstance(record, r.ItemStarted | r.ItemCompleted):
        item: dict[str, Any] = {"kind": record.item.kind, "itemId": record.item.item_id}
        status = getattr(record.item, "status", None)
        if status is not None:
            item["status"] = status
        return orjson.dumps({"item": item})
    return payload_of(record)


def _text(text: str) -> bytes:
    try:
        return orjson.dumps(text)
    except TypeError:  # a lone surrogate, which UTF-8 cannot hold
        return orjson.dumps(text.encode("utf-8", "replace").decode())


_PROJECTORS: WeakKeyDictionary[Session, Projector] = WeakKeyDictionary()


def projector_of(session: Session) -> Projector:
    """Return the session's projector, shared by all editors that follow it."""
    found = _PROJECTORS.get(session)
    if found is None:
        found = _PROJECTORS[session] = Projector(session.id, session.state.epoch)
    return found
