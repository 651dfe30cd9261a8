"""What the engine asks of an editor about its documents."""

import pytest
from pydantic import ValidationError

from kova_ls.protocol.editor import DiagnosticsParams, DocumentState, EditGuard, EditOutcome


def test_a_state_may_leave_out_what_is_usual() -> None:
    state = DocumentState.model_validate(
        {"uri": "file:///a", "version": 3, "dirty": True, "textHash": "ab"}
    )
    assert (state.encoding, state.eol, state.bom, state.readonly) == ("utf-8", "\n", False, False)


def test_a_state_must_say_whether_it_is_dirty() -> None:
    with pytest.raises(ValidationError, match="dirty"):
        DocumentState.model_validate({"uri": "file:///a", "version": 3, "textHash": "ab"})


def test_no_uris_mean_all_open_documents() -> None:
    assert DiagnosticsParams() == DiagnosticsParams(uris=(), settle_ms=1_000)


def test_guard_and_outcome_are_camel_case() -> None:
    guard = EditGuard(text_hash="a", new_text_hash="b").model_dump(by_alias=True)
    assert guard == {"textHash": "a", "newTextHash": "b"}
    outcome = EditOutcome.model_validate({"version": 4, "textHash": "b"})
    assert outcome.reason is None
