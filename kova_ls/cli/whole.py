"""What a card shows in part, and the whole of it.

Invariant: what was not shown whole is not allowed from here.
"""

from collections.abc import Callable

from kova_ls.cli.card import DIFF_LINES, diff_lines, path_of
from kova_ls.cli.client import Client
from kova_ls.cli.terminal import Style, shown_lines
from kova_ls.values import Approval, CommandSubject, EditSubject

ALLOWING = frozenset({"once", "remember", "approve"})
VIEW_KEY = "v"
ReadWhole = Callable[[str], str]
"""Reads what stands behind an outputRef."""


def is_shown_in_part(approval: Approval) -> bool:
    """Say whether the card leaves out a part of what it would allow."""
    match approval.subject:
        case CommandSubject() as command:
            return command.hidden_chars > 0
        case EditSubject() as edit:
            return any(
                file.hidden_lines > 0 or file.diff.count("\n") > DIFF_LINES for file in edit.files
            )
        case _:
            return False


def whole_lines(approval: Approval, read: ReadWhole, style: Style, folder: str) -> list[str]:
    """Return all of what the card would allow. Raises: Refused when it cannot be read."""
    match approval.subject:
        case CommandSubject() as command:
            ref = command.output_ref
            text = read(ref) if command.hidden_chars and ref else command.command
            return shown_lines(text)
        case EditSubject() as edit:
            lines: list[str] = []
            for file in edit.files:
                diff = read(file.output_ref) if file.output_ref else file.diff
                lines.append(style.bold(f"{file.change} {path_of(file.uri, folder)}"))
                lines += diff_lines(diff, style, most=None)
            return lines
        case _:
            return []


def output_reader(client: Client) -> ReadWhole:
    """Return a reader that asks the engine, page by page."""

    def read(ref: str) -> str:
        text, offset, total = "", 0, 1
        while offset < total:
            page = client.request("kova/output/read", {"outputRef": ref, "offset": offset})
            text += page["text"]
            total = page["totalBytes"]
            if page["nextOffset"] <= offset:
                break
            offset = page["nextOffset"]
        return text

    return read
