"""What the person says: their words, and the files and pictures that come with them.

Read at once, so that words and files are recorded together.
Invariant: what an editor adds by itself never comes from a file with secrets or a denied one.
"""

import mimetypes
import os
import stat
from base64 import b64encode
from secrets import token_hex
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kova_ls.engine.disk import decode
from kova_ls.engine.goals import reminder
from kova_ls.engine.grant_set import visible
from kova_ls.engine.judge import may_read_unasked, resolver
from kova_ls.engine.notices import notice
from kova_ls.engine.overlays import SharedOverlays
from kova_ls.journal import records as r
from kova_ls.tools._base import ResolvedPath, ToolError
from kova_ls.values import (
    DiagnosticPart,
    FilePart,
    ImagePart,
    InputPart,
    NoticeItem,
    SelectionPart,
    UserMessageItem,
)

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

_MAX_MENTION_BYTES = 1_000_000
_MAX_IMAGE_BYTES = 5_000_000


def say(
    session: "Session",
    input: tuple[InputPart, ...],
    *,
    prompt_id: str | None = None,
    client: str | None = None,
    steered: bool = False,
) -> None:
    """Put the person's words, and what they mention, into the transcript."""
    state = session.state
    withheld = [part for part in input if _is_withheld(session, part)]
    shown = tuple(part for part in input if part not in withheld)
    item = UserMessageItem(
        item_id=token_hex(8),
        input=shown,
        steered=steered,
        client=client,
        prompt_id=prompt_id,
        goal_id=None if steered else state.turn_goal_id,
    )
    session.record(r.ItemStarted(turn_id=state.turn_id, step_id=state.step_id, item=item))
    say_to_its_end(session, item)
    for part in withheld:
        notice(
            session,
            "warning",
            f"The {part.type} of {visible(getattr(part, 'uri', ''))} was left out: the file may hold "
            "secrets, or a rule denies it. Mention the file itself to show it to the model.",
        )


def say_to_its_end(session: "Session", item: UserMessageItem | NoticeItem) -> None:
    """End an item that is whole from its start; an engine may have stopped in between."""
    state = session.state
    context: tuple[str, ...] = ()
    pictures: list[ImagePart] = []
    if isinstance(item, UserMessageItem):
        context = tuple(mention(session, part) for part in item.input if isinstance(part, FilePart))
        for part in item.input:
            if isinstance(part, ImagePart) and part.uri and not part.data:
                found = picture(session, part)
                if isinstance(found, str):
                    context += (found,)
                else:
                    pictures.append(found)
        if item.goal_id is not None:
            context += (reminder(state.goal),)
        if state.reverted:
            names = ", ".join(state.reverted)
            context += (f"<note>The person put back changes of yours in: {names}.</note>",)
    session.record(
        r.ItemCompleted(
            turn_id=state.turn_id,
            step_id=state.step_id,
            item=item,
            context=context,
            images=tuple(pictures),
        )
    )


def _is_withheld(session: "Session", part: InputPart) -> bool:
    """Say whether the editor added it by itself from a file that nobody named."""
    if not isinstance(part, SelectionPart | DiagnosticPart):
        return False
    try:
        path = resolver(session)(part.uri)
    except ToolError:
        return False
    return not may_read_unasked(session, path.path, path.asked)


def picture(session: "Session", part: ImagePart) -> ImagePart | str:
    """Return a named image file with its bytes, or the note that says why it is not there."""
    uri = part.uri or ""
    try:
        data = _read(resolver(session)(uri), _MAX_IMAGE_BYTES, "send a smaller one")
    except ToolError as error:
        return f'<image uri="{uri}" error="{error}"/>'
    kind = mimetypes.guess_type(urlsplit(uri).path)[0] or part.mime_type
    return ImagePart(uri=uri, data=b64encode(data).decode("ascii"), mime_type=kind)


def mention(session: "Session", part: FilePart) -> str:
    """Return what the context gets for an @-mention; a failure is said, never raised."""
    try:
        text, unsaved = _read_mention(session, resolver(session)(part.uri))
    except ToolError as error:
        return f'<file uri="{part.uri}" error="{error}"/>'
    if part.range is not None:
        lines = text.split("\n")
        text = "\n".join(lines[part.range.start.line : part.range.end.line + 1])
    seen = ' seen="in the editor, not saved"' if unsaved else ""
    return f'<file uri="{part.uri}"{seen}>\n{text}\n</file>'


def _read_mention(session: "Session", path: ResolvedPath) -> tuple[str, bool]:
    """Return a file's text, and whether it is unsaved text of an editor. Raises: ToolError."""
    document = SharedOverlays(session.origin, session.engine.editors).get(path.path)
    if document is not None and (document.is_dirty or not os.path.lexists(path.path)):
        return document.text, True
    return decode(_read(path, _MAX_MENTION_BYTES, "read parts of it"), path.asked).text, False


def _read(path: ResolvedPath, limit_bytes: int, instead: str) -> bytes:
    try:
        info = os.stat(path.path)
        if not stat.S_ISREG(info.st_mode):
            raise ToolError("not a regular file")
        if info.st_size > limit_bytes:
            raise ToolError(f"larger than {limit_bytes:,} bytes; {instead}")
        with open(path.path, "rb") as file:
            return file.read(limit_bytes)
    except OSError as error:
        raise ToolError(error.strerror or str(error)) from error
