"""Review on the wire."""

import pytest
from pydantic import ValidationError

from kova_ls.protocol.changes import Change, ChangesDecideParams, Hunk


def test_all_is_meant_when_nothing_is_named() -> None:
    params = ChangesDecideParams.model_validate({"sessionId": "s", "decision": "keep"})
    assert (params.change_ids, params.hunk_ids, params.turn_id) == ((), (), None)


def test_only_keep_and_revert_are_decisions() -> None:
    with pytest.raises(ValidationError, match="'keep' or 'revert'"):
        ChangesDecideParams.model_validate({"sessionId": "s", "decision": "delete"})


def test_a_hunk_travels_whole() -> None:
    hunk = Hunk(
        hunk_id="h",
        start_line=3,
        line_count=0,
        old_start_line=3,
        old_line_count=2,
        diff="@@ -4,2 +4,0 @@\n-a\n-b\n",
    )
    change = Change(change_id="c", uri="file:///a", change="modify", turn_ids=("t",), hunks=(hunk,))
    wire = change.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert wire["hunks"][0]["oldLineCount"] == 2
    assert "conflict" not in wire
    assert Change.model_validate(wire) == change
