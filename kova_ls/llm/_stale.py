"""Remember the messages whose reasoning a server refused.

Signed or encrypted reasoning is bound to the model, the account and sometimes the conversation it
came from; after a change of model the whole session would be refused for it. What is refused once
goes without from then on, what the new model thinks itself goes back as ever.
"""

from collections.abc import Callable, Sequence


class StaleReasoning:
    """Which encoded messages are sent without their reasoning."""

    def __init__(self, mark: bytes, bare: Callable[[bytes], bytes]) -> None:
        """`mark` stands in every message that holds reasoning; `bare` takes it out."""
        self._mark = mark
        self._bare = bare
        self._refused: set[bytes] = set()
        self._sent: Sequence[bytes] = ()

    def sent(self, messages: Sequence[bytes]) -> Sequence[bytes]:
        """Return the messages as they are to be sent."""
        self._sent = messages
        if not self._refused:
            return messages
        return [self._bare(one) if one in self._refused else one for one in messages]

    def refuse(self) -> bool:
        """Take note that what was sent last is refused; False when nothing of it is left."""
        found = {one for one in self._sent if self._mark in one} - self._refused
        self._refused |= found
        return bool(found)
