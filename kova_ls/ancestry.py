"""Which process started which.

Invariant: where the system does not tell (all but Linux), nothing is said of anybody.
"""

from collections.abc import Container

_MOST_REMOVES = 256


def descends(pid: int, others: Container[int]) -> bool | None:
    """Tell whether a process was started by one of the others, at whatever remove.

    None where that cannot be said: it may be gone, and have left what it held to a child of its own.
    """
    for _ in range(_MOST_REMOVES):
        if pid <= 1:
            return False
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                # The second field is the name in parentheses and may hold anything.
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return None
        if pid in others:
            return True
    return None
