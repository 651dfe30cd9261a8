"""The messages of a request as a JSON array, of which only what is new is put together.

A conversation grows by a few messages a step; joining all of them anew would cost more with each.
Invariant: the result depends on what is given alone; what was joined before only makes it quick.
"""

from array import array
from collections.abc import Sequence


class GrowingArray:
    """Encoded elements between commas, kept for the next time."""

    def __init__(self) -> None:
        self._elements: list[bytes] = []
        self._joined = bytearray()
        """All of them; empty ones are left out."""
        self._ends = array("Q")
        """Of each element in what is joined."""

    def enclosed(self, head: bytes, elements: Sequence[bytes], tail: bytes) -> bytes:
        """Return head, the elements between commas, and tail; empty elements are left out."""
        self._keep(self._n_same(elements))
        for element in elements[len(self._elements) :]:
            if element:
                if self._joined:
                    self._joined += b","
                self._joined += element
            self._elements.append(element)
            self._ends.append(len(self._joined))
        return b"".join((head, self._joined, tail))

    def _n_same(self, elements: Sequence[bytes]) -> int:
        """Return how many of the first elements are those of the last time."""
        known = self._elements
        if elements[: len(known)] == known:
            return len(known)
        pairs = enumerate(zip(known, elements, strict=False))
        return next((at for at, (old, new) in pairs if old != new), min(len(known), len(elements)))

    def _keep(self, n: int) -> None:
        if n < len(self._elements):
            del self._joined[self._ends[n - 1] if n else 0 :]
            del self._elements[n:]
            del self._ends[n:]
