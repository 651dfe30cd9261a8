"""A catalogue of templates: from a finished English text to the same text in another language.

An entry pairs a template with its translation. `{0}` in a template stands for any text, `{0!r}`
for a quoted one, `{0:,}` (or another number format) for a number. In the translation `{0}` puts
the text there as it is, `{0:say}` says it in the language too if it is one of ours, `{0:list}` does
so with each of several, `{0:known}` lets the entry hold only if it is one, and `{0:drop}` leaves it
out: an English plural's ending.
Invariant: saying a text never fails; what no entry knows comes back as it is, and so does what
stands in a hole that is not marked.
Invariant: the work for one text is bounded, whatever others wrote into its holes.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from operator import attrgetter
from pathlib import Path

LONGEST_CHARS = 2_000
"""Longer texts are somebody's content, not ours."""
_HOLE = re.compile(r"\{(\d+)(![rsa])?(?::([^{}]*))?\}")
_QUOTED = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\[[^\[\]]*\]|\d+|None|True|False", re.DOTALL
)
"""What `repr` makes of a text, a list or a plain value."""
_NUMBER = re.compile(r"\d[\d,.]*(?:e[+-]?\d+)?")
_MOST_TRIES = 16
_MOST_SENTENCES = 8
_DEEPEST = 4
_SENTENCE_END = re.compile(r"(?<=[.!?:]) (?=\S)")
_EDGE_CHARS = 3
"""Of a template's beginning or end, by which it is found."""
_BETWEEN = "; "


@dataclass(frozen=True, slots=True)
class Template:
    """One entry, ready to be compared."""

    literals: tuple[str, ...]
    """What stands before, between and behind the holes: one more than there are holes."""
    kinds: tuple[str, ...]
    """Of each hole: `any`, `quoted` or `number`."""
    parts: tuple[tuple[str, int], ...]
    """Of the translation: a literal, then a hole's number, or -1 for none."""
    marks: tuple[tuple[int, str], ...]
    """Holes in which texts of ours stand, and how: `say`, `list` or `known`."""
    weight: tuple[bool, int, int]
    """How much of a text it settles, its beginning above all: the heaviest that fits is meant."""

    def fits(self, text: str) -> Iterator[tuple[str, ...]]:
        """Yield what may stand in the holes if `text` was made from this."""
        if not text.startswith(self.literals[0]) or not text.endswith(self.literals[-1]):
            return
        stop = len(text) - len(self.literals[-1])
        if stop < len(self.literals[0]):
            return
        tries = [_MOST_TRIES]
        yield from self._holes(text, len(self.literals[0]), stop, 0, (), tries)

    def _holes(
        self,
        text: str,
        at: int,
        stop: int,
        number: int,
        found: tuple[str, ...],
        tries: list[int],
    ) -> Iterator[tuple[str, ...]]:
        kind, is_last = self.kinds[number], number == len(self.kinds) - 1
        after = self.literals[number + 1]
        if kind == "any" and is_last:
            yield (*found, text[at:stop])
            return
        if kind == "any":
            end = text.find(after, at, stop)
        else:
            match = (_QUOTED if kind == "quoted" else _NUMBER).match(text, at, stop)
            end = match.end() if match else -1
            while kind == "number" and end > at + 1 and text[end - 1] in ",." and after[:1] in ",.":
                end -= 1  # the sentence's, not the number's
        while end >= 0 and tries[0] > 0:
            tries[0] -= 1
            if is_last:
                if end == stop:
                    yield (*found, text[at:end])
            elif text.startswith(after, end) and end + len(after) <= stop:
                yield from self._holes(
                    text, end + len(after), stop, number + 1, (*found, text[at:end]), tries
                )
            end = text.find(after, end + 1, stop) if kind == "any" and after else -1


def compiled(english: str, translated: str) -> Template:
    """Make an entry comparable."""
    literals = [""]
    kinds: list[str] = []
    numbers: list[int] = []
    at = 0
    for hole in _HOLE.finditer(english):
        literals[-1] += english[at : hole.start()]
        at = hole.end()
        kinds.append("quoted" if hole[2] == "!r" else "number" if hole[3] else "any")
        numbers.append(int(hole[1]))
        literals.append("")
    literals[-1] += english[at:]
    parts: list[tuple[str, int]] = []
    marks: list[tuple[int, str]] = []
    at = 0
    for hole in _HOLE.finditer(translated):
        place = numbers.index(int(hole[1]))
        mark = hole[3] or ""
        literal = translated[at : hole.start()]
        at = hole.end()
        parts.append((literal, -1 if mark == "drop" else place))
        if mark and mark != "drop":
            marks.append((place, mark))
    parts.append((translated[at:], -1))
    weight = (len(literals[0]) >= _EDGE_CHARS, sum(map(len, literals)), -len(kinds))
    return Template(tuple(literals), tuple(kinds), tuple(parts), tuple(marks), weight)


class Catalogue:
    """All entries of one language."""

    def __init__(self, entries: Mapping[str, str]) -> None:
        self.entries = entries
        """Template -> translation, as they were read."""
        self._whole: dict[str, str] = {}
        self._by_edge: dict[tuple[bool, str], list[Template]] = defaultdict(list)
        """Whether it is the beginning, and the signs there."""
        for english, translated in entries.items():
            if not _HOLE.search(english):
                self._whole[english] = translated
                continue
            template = compiled(english, translated)
            head, tail = template.literals[0][:_EDGE_CHARS], template.literals[-1][-_EDGE_CHARS:]
            is_headed = len(head) == _EDGE_CHARS
            edge = head if is_headed else tail if len(tail) == _EDGE_CHARS else ""
            self._by_edge[is_headed, edge].append(template)
        self._lookup = lru_cache(maxsize=1_024)(self._find)

    def say(self, text: str) -> str:
        """Return the text in this language, or as it is."""
        if len(text) > LONGEST_CHARS:
            return text
        found = self._lookup(text, 0)
        return text if found is None else found

    def knows(self, text: str) -> bool:
        """Say whether a text is one of ours."""
        return len(text) <= LONGEST_CHARS and self._lookup(text, 0) is not None

    def _find(self, text: str, depth: int) -> str | None:
        if depth > _DEEPEST:
            return None
        whole = self._whole.get(text)
        if whole is not None:
            return whole
        candidates = [
            *self._by_edge.get((True, text[:_EDGE_CHARS]), ()),
            *self._by_edge.get((False, text[-_EDGE_CHARS:]), ()),
            *self._by_edge.get((False, ""), ()),
        ]
        for template in sorted(candidates, key=attrgetter("weight"), reverse=True):
            said = self._filled(template, text, depth)
            if said is not None:
                return said
        return self._sentences(text, depth)

    def _filled(self, template: Template, text: str, depth: int) -> str | None:
        for holes in template.fits(text):
            said = list(holes)
            for number, mark in template.marks:
                if mark == "list":
                    parts = holes[number].split(_BETWEEN)
                    said[number] = _BETWEEN.join(self._lookup(p, depth + 1) or p for p in parts)
                    continue
                found = self._lookup(holes[number], depth + 1)
                if found is None and mark == "known":
                    break
                said[number] = holes[number] if found is None else found
            else:
                return "".join(text + (said[n] if n >= 0 else "") for text, n in template.parts)
        return None

    def _sentences(self, text: str, depth: int) -> str | None:
        """Say one sentence of ours after another; None when one of them is not ours."""
        for gap in islice(_SENTENCE_END.finditer(text), _MOST_SENTENCES):
            first = self._lookup(text[: gap.start()], depth + 1)
            if first is not None:
                rest = self._lookup(text[gap.end() :], depth + 1)
                if rest is not None:
                    return first + rest
        return None


def load(name: str) -> Catalogue:
    """Read a language's catalogue; it comes with the package."""
    return Catalogue(json.loads(Path(__file__).with_name(f"{name}.json").read_bytes()))
