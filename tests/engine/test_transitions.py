"""What the table leaves out."""

import pytest

from kova_ls.engine.machine import State, fold
from kova_ls.engine.transitions import TRANSITIONS
from kova_ls.errors import IllegalTransition
from kova_ls.vocabulary import SessionState


@pytest.mark.parametrize("state", list(SessionState))
def test_what_the_table_does_not_list_is_refused(state):
    now = State(session_id="s", status=state, turn_id="t1")
    kinds = {kind for row in TRANSITIONS.values() for kind in row}
    for kind in kinds - TRANSITIONS[state].keys():
        with pytest.raises(IllegalTransition, match="not while"):
            fold(now, kind.model_construct())
