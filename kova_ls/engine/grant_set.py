"""What the permission files come to: the shapes that cards, lists and gates are given.

Invariant: no IO.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kova_ls.permission.facts import Root, Rule
from kova_ls.vocabulary import RootSource

Kind = Literal["allow", "deny", "root"]


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that a file asks for and that is not in force."""

    kind: Kind
    """What sort of entry."""
    value: str
    """As written."""
    sentence: str
    """For cards and lists; control characters shown escaped."""
    source: Literal["project", "local", "user"]
    """Which file asks."""
    path: str
    """That file."""
    refusal: str | None = None
    """Why it cannot be accepted."""
    leads_to: str | None = None
    """Of a folder: where it leads."""

    @property
    def said(self) -> str:
        """The sentence, and why it cannot be granted, when it cannot."""
        if self.refusal is None:
            return self.sentence
        return f"{self.sentence} That cannot be accepted. {visible(self.refusal)}"


@dataclass(frozen=True, slots=True)
class Pending:
    """What is new in a file that counts only as far as it was confirmed; for an `adopt` card."""

    source: RootSource
    """`local`, or `user` after a command changed it."""
    path: str
    """The file."""
    digest: str
    """Of the content that was looked at; empty when the file is gone."""
    allow: tuple[str, ...] = ()
    """Rules that would come into force."""
    roots: tuple[tuple[str, str], ...] = ()
    """Folders that would come into force: as written, and where they lead."""
    lost_deny: tuple[str, ...] = ()
    """Deny rules that the file no longer has and that would go out of force."""
    loosens_redirects: bool = False
    """`strictRedirects` went away."""

    def __bool__(self) -> bool:
        return bool(self.allow or self.roots or self.lost_deny or self.loosens_redirects)

    def lines(self) -> tuple[str, ...]:
        """Return one phrase for each thing that adopting would change."""
        return (
            *(f"allow {visible(rule)}" for rule in self.allow),
            *(f"write in {visible(text)} ({visible(path)})" for text, path in self.roots),
            *(f"drop the deny rule {visible(rule)}" for rule in self.lost_deny),
            *(("drop strictRedirects",) if self.loosens_redirects else ()),
        )

    def notice(self) -> str:
        """Return one sentence that names it all, as far as that is bearable."""
        lines = self.lines()
        more = f"; and {len(lines) - 5} more" if len(lines) > 5 else ""
        flag = " --user" if self.source is RootSource.USER else ""
        return (
            f"Nobody confirmed what is new in {visible(self.path)}, so it is not in force: "
            f"{'; '.join(lines[:5])}{more}. Run kova-ls permission adopt{flag}, or take it out of "
            "the file."
        )


@dataclass(frozen=True, slots=True)
class GrantSet:
    """What the permission files say to one workspace."""

    allow: tuple[Rule, ...] = ()
    """In force."""
    deny: tuple[Rule, ...] = ()
    """In force."""
    roots: tuple[Root, ...] = ()
    """In force and resolved; the editor's are not among them."""
    strict_redirects: bool = False
    """The user's file asks for the letter."""
    proposals: tuple[Proposal, ...] = ()
    """What the project's file, and what is pending, ask for."""
    problems: tuple[str, ...] = ()
    """Broken files and refused entries, with place and what to do."""
    pending_local: Pending | None = None
    """The local file holds something that nobody confirmed."""
    pending_user: Pending | None = None
    """A command of the agent changed the user's file."""

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person who opens the workspace should know."""
        waiting = [one for one in (self.pending_local, self.pending_user) if one is not None]
        return (*self.problems, *(pending.notice() for pending in waiting))


@dataclass(frozen=True, slots=True)
class Edit:
    """What a change of a permission file came to."""

    path: Path
    """The file."""
    added: tuple[str, ...] = ()
    """Entries that were not in force before."""
    removed: tuple[str, ...] = ()
    """Entries that were taken out."""
    notices: tuple[str, ...] = ()
    """What the person should know."""


def visible(text: str) -> str:
    """Show a text that others wrote: nothing in it can move, hide or reverse what stands there."""
    return "".join(sign if sign.isprintable() else f"\\u{{{ord(sign):x}}}" for sign in text)


_ASKS = {
    "allow": "to allow {} without asking",
    "deny": "to deny {}",
    "root": "to write in the folder {}",
}


def proposal(
    kind: Kind,
    value: str,
    source: Literal["project", "local", "user"],
    path: str,
    refusal: str | None = None,
    leads_to: str | None = None,
) -> Proposal:
    """Put an entry that is not in force into a sentence."""
    what = _ASKS[kind].format(visible(value))
    if leads_to is not None and leads_to != value:
        what += f" ({visible(leads_to)})"
    who = {
        "project": "This project requests",
        "local": "The local permission file, not confirmed, requests",
        "user": "Your permission file, changed while a command ran, requests",
    }[source]
    return Proposal(kind, value, f"{who} {what}.", source, path, refusal, leads_to)


def as_proposals(pending: Pending) -> list[Proposal]:
    """Return the pending entries one by one; denies that went are on the `adopt` card only."""
    source: Literal["local", "user"] = "user" if pending.source is RootSource.USER else "local"
    return [
        *(proposal("allow", rule, source, pending.path) for rule in pending.allow),
        *(proposal("root", text, source, pending.path, None, to) for text, to in pending.roots),
    ]
