"""One permission file's content judged: what is in force, what waits, what is refused.

Invariant: an entry that grants is in force only when `limit` is None or holds it.
Invariant: a deny rule that passes is in force at once; one that `limit` holds stays in force.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from kova_ls.engine import grant_file
from kova_ls.engine.grant_file import Content, Entry, Fault, Field
from kova_ls.engine.grant_set import Pending, visible
from kova_ls.engine.ledger import Confirmed
from kova_ls.permission.facts import Root, Rule
from kova_ls.permission.roots import root_problem
from kova_ls.vocabulary import RootSource

CheckRule = Callable[[str, RootSource, Literal["allow", "deny"]], "str | None"]
"""Says why a rule is refused in a file of that layer, or None."""
_NOTHING = Content("", b"")


def check_rule(text: str, source: RootSource, kind: Literal["allow", "deny"]) -> str | None:
    """Return why the permission room refuses a rule, ending with what to do; None when it holds."""
    from kova_ls.permission.rules import Refused, parse_entry

    entry = parse_entry(text, source, kind)
    return entry.problem if isinstance(entry, Refused) else None


def free_pass(text: str, source: RootSource) -> str | None:
    """Return the warning that belongs to an allow rule for what is otherwise never remembered."""
    from kova_ls.permission.rules import CommandEntry, parse_entry

    entry = parse_entry(text, source, "allow")
    if not isinstance(entry, CommandEntry) or not entry.is_free_pass:
        return None
    return (
        f"'{visible(text)}' is a permanent free pass: it allows a program that runs or destroys "
        "anything. Remove the rule when it is no longer needed."
    )


@dataclass(frozen=True, slots=True)
class Place:
    """Which file it is, and by what its entries are judged."""

    source: RootSource
    """`user` or `local`."""
    path: str
    """The file, for messages."""
    workspace: str | None
    """What relative roots are relative to."""
    home: str
    """Resolved home folder."""
    check: CheckRule
    """Judges the text of a rule."""


@dataclass(slots=True)
class Layer:
    """What one file says, judged."""

    allow: list[Rule] = field(default_factory=list[Rule])
    deny: list[Rule] = field(default_factory=list[Rule])
    roots: list[Root] = field(default_factory=list[Root])
    strict: bool = False
    problems: list[str] = field(default_factory=list[str])
    pending: Pending | None = None
    missing: list[str] = field(default_factory=list[str])
    seen: Confirmed = field(default_factory=Confirmed)
    """Everything in the file that passed, confirmed or not."""


def judge(
    content: Content | Fault | None,
    place: Place,
    limit: Confirmed | None,
    last_deny: Sequence[Rule] = (),
) -> Layer:
    """Say what of a file is in force.

    `limit` names the entries that may grant, and the denies that hold anyway; None means that the
    file counts as it stands. `last_deny` is what a file denied before it broke.
    """
    layer = Layer()
    new_allow: list[str] = []
    new_roots: list[tuple[str, str]] = []
    seen_allow: set[str] = set()
    seen_deny: set[str] = set()
    seen_roots: set[tuple[str, str]] = set()
    if isinstance(content, Content):
        layer.problems += content.problems
        for entry in _unique(content.allow):
            refusal = place.check(entry.value, place.source, "allow")
            if refusal is not None:
                layer.problems.append(_refused(place.path, entry, "allow", refusal))
                continue
            seen_allow.add(entry.value)
            if limit is None or entry.value in limit.allow:
                layer.allow.append(Rule(entry.value, place.source))
            else:
                new_allow.append(entry.value)
        for entry in _unique(content.deny):
            refusal = place.check(entry.value, place.source, "deny")
            if refusal is not None:
                layer.problems.append(_refused(place.path, entry, "deny", refusal))
                continue
            seen_deny.add(entry.value)
            layer.deny.append(Rule(entry.value, place.source))
        for entry in _unique(content.roots):
            where, refusal = resolve_root(entry.value, place.workspace, place.home)
            if where is None:
                layer.problems.append(_refused(place.path, entry, "writableRoots", refusal or ""))
                spelled = _spelled(entry.value, place.workspace, place.home)
                if not os.path.isdir(spelled):
                    layer.missing.append(spelled)
                continue
            root = (entry.value, where)
            seen_roots.add(root)
            if limit is None or root in limit.roots:
                layer.roots.append(Root(where, place.source))
            else:
                new_roots.append(root)
        layer.strict = content.strict_redirects
    elif isinstance(content, Fault):
        layer.problems.append(content.message)
        # What was denied before the file broke stays denied.
        layer.deny += last_deny
    lost = sorted(limit.deny - seen_deny) if limit is not None else []
    held = {rule.text for rule in layer.deny}
    layer.deny += [Rule(text, place.source) for text in lost if text not in held]
    digest = content.digest if content is not None else ""
    layer.seen = Confirmed(
        frozenset(seen_allow), frozenset(seen_deny), frozenset(seen_roots), layer.strict, digest
    )
    loosens = limit is not None and limit.strict_redirects and not layer.strict
    layer.strict = layer.strict or loosens
    if not isinstance(content, Fault):
        pending = Pending(
            place.source,
            place.path,
            digest,
            tuple(new_allow),
            tuple(new_roots),
            tuple(lost),
            loosens,
        )
        layer.pending = pending or None
    return layer


def _spelled(text: str, workspace: str | None, home: str) -> str:
    if text == "~" or text.startswith("~/"):
        text = home + text[1:]
    return text if os.path.isabs(text) or workspace is None else os.path.join(workspace, text)


def resolve_root(text: str, workspace: str | None, home: str) -> tuple[str | None, str | None]:
    """Return where a root leads, or why it is refused."""
    if not text.strip() or "\0" in text:
        return None, "It names no folder; write a path."
    if text.startswith("~") and text != "~" and not text.startswith("~/"):
        return None, "Only ~/ is known; write another user's folder in full."
    spelled = _spelled(text, workspace, home)
    if not os.path.isabs(spelled):
        return None, "A relative folder needs a workspace; write it in full."
    try:
        where = os.path.realpath(spelled, strict=True)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "not a path"
        return None, f"It cannot be resolved ({why}); name an existing folder."
    if not os.path.isdir(where):
        return None, "It is no folder; name an existing folder."
    problem = root_problem(where, home=home)
    return (where, None) if problem is None else (None, problem)


def _unique(entries: Sequence[Entry]) -> list[Entry]:
    return list({entry.value: entry for entry in reversed(entries)}.values())[::-1]


def gone(content: Content | None, confirmed: Confirmed) -> Confirmed | None:
    """Return the confirmed grants that a file no longer has."""
    present = content or _NOTHING
    allow = confirmed.allow - {entry.value for entry in present.allow}
    texts = {entry.value for entry in present.roots}
    roots = frozenset(root for root in confirmed.roots if root[0] not in texts)
    return Confirmed(allow=allow, roots=roots) if allow or roots else None


def snapshot(layer: Layer) -> Confirmed:
    """Return what is in force of a file now, with its digest."""
    allow = {rule.text for rule in layer.allow}
    roots = {root.path for root in layer.roots}
    return Confirmed(
        allow=frozenset(allow),
        deny=frozenset(rule.text for rule in layer.deny),
        roots=frozenset(root for root in layer.seen.roots if root[1] in roots),
        strict_redirects=layer.strict,
        digest=layer.seen.digest,
    )


def difference(
    content: Content | None,
    add: Mapping[Field, Sequence[str]],
    remove: Mapping[Field, Sequence[str]],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return which entries a change really adds and takes out."""
    new: list[str] = []
    taken: list[str] = []
    for name in grant_file.FIELDS:
        present = {entry.value for entry in (content or _NOTHING).entries(name)}
        new += [value for value in dict.fromkeys(add.get(name, ())) if value not in present]
        taken += [value for value in dict.fromkeys(remove.get(name, ())) if value in present]
    return tuple(new), tuple(taken)


def _refused(path: str, entry: Entry, name: str, refusal: str) -> str:
    return (
        f"{path}:{entry.line_no}:{entry.column_no}: '{visible(entry.value)}' in {name!r} counts "
        f"for nothing. {refusal}"
    )
