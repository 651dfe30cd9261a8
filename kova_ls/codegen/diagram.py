"""Draw the session's state machine as Mermaid.

Source: `TRANSITIONS` of kova_ls/engine/transitions.py, and nothing else.
"""

from collections.abc import Mapping

from kova_ls.journal.records import Record
from kova_ls.vocabulary import SessionState


def draw(
    transitions: Mapping[SessionState, Mapping[type[Record], SessionState]], start: SessionState
) -> str:
    """Return a state diagram: one arrow per pair of states, labelled with the records.

    Records that leave the state as it is are listed in a note, to keep the arrows readable.
    """
    lines = ["```mermaid", "stateDiagram-v2", f"  [*] --> {start}"]
    for state, row in transitions.items():
        arrows: dict[SessionState, list[str]] = {}
        for record, target in row.items():
            arrows.setdefault(target, []).append(record.__name__)
        for target, names in arrows.items():
            if target is not state:
                lines.append(f"  {state} --> {target}: {', '.join(names)}")
        if staying := arrows.get(state):
            lines += [
                f"  note right of {state}",
                *(f"    {name}" for name in staying),
                "  end note",
            ]
    return "\n".join([*lines, "```"])
