"""What an editor says of itself."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.endpoint import handshake
from kova_ls.endpoint.handshake import introduction, local_path

KOVA = {
    "versions": [1, 2],
    "client": {"id": "w", "name": "kova.nvim", "version": "0.1"},
    "trusted": True,
    "capabilities": {"events": {"maxLatencyMs": 40}, "panels": {"kinds": ["plan", "diff"]}},
}
NAMES = ["initializationOptions", "kova", "versions", "client", "trusted", "capabilities", "uri"]
NAMES += ["events", "maxLatencyMs", "panels", "kinds", "workspaceFolders", "rootUri", "clientInfo"]
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("file://["),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner),
)


def test_all_of_it_is_read(tmp_path):
    said = introduction(
        {
            "clientInfo": {"name": "Neovim", "version": "9"},
            "capabilities": {"window": {"showDocument": {"support": True}}},
            "workspaceFolders": [{"uri": tmp_path.as_uri(), "name": "x"}, {"uri": "git:a"}],
            "initializationOptions": {"kova": KOVA},
        }
    )
    assert (said.id, said.name, said.version) == ("w", "kova.nvim", "0.1")
    assert (said.trusted, said.refusal) == (True, None)
    assert said.panel_kinds == {"plan", "diff"}
    assert said.max_latency_s == 0.04
    assert said.shows_documents
    assert said.folder_uris == (tmp_path.as_uri(),)


def test_a_plain_client_is_welcome_and_trusts_nothing():
    said = introduction({"clientInfo": {"name": "Emacs"}, "rootUri": "file:///tmp"})
    assert (said.name, said.trusted, said.refusal) == ("Emacs", False, None)
    assert said.folder_uris == ("file:///tmp",)


@pytest.mark.parametrize("versions", [None, [], [2], ["1"], [{}], "1", [[1]]])
def test_without_a_common_version_both_sides_are_named(versions):
    said = introduction({"initializationOptions": {"kova": {"versions": versions}}})
    assert said.refusal is not None
    assert "speaks [1]" in said.refusal
    assert repr(versions) in said.refusal


@given(ANYTHING)
def test_whatever_the_params_hold_reading_them_does_not_fail(params):
    said = introduction(params)
    assert 0.0 <= said.max_latency_s <= 1.0


@pytest.mark.parametrize("trusted", [1, "true", None, [True]])
def test_only_true_is_trust(trusted):
    kova = {**KOVA, "trusted": trusted}
    assert not introduction({"initializationOptions": {"kova": kova}}).trusted


def test_a_path_is_resolved(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    uri = (tmp_path / "link" / "a%20b").as_uri().replace("%2520", "%20")
    assert local_path(uri) == os.path.join(os.path.realpath(tmp_path / "real"), "a b")


@pytest.mark.parametrize("uri", ["untitled:a", "git:/x", "file://[", "file:///a%00b", ""])
def test_what_is_no_local_file_has_no_path(uri):
    assert local_path(uri) is None


def test_the_answer_offers_all_modes_and_levels():
    kova = handshake.answer("me")["capabilities"]["experimental"]["kova"]
    assert kova["modes"] == ["agent", "plan", "ask", "goal"]
    assert kova["levels"] == ["ask", "workspace-write", "auto-edit", "auto"]
    assert (kova["version"], kova["serverId"], len(kova["schemaHash"]) > 8) == (1, "me", True)


def test_what_it_can_do_with_documents_is_told_by_objects():
    said = introduction(
        {
            "capabilities": {"workspace": {"applyEdit": True}},
            "initializationOptions": {
                "kova": {"versions": [1], "capabilities": {"documents": {}, "diagnostics": {}}}
            },
        }
    )
    assert said.applies_edits
    assert said.knows_documents
    assert said.tells_diagnostics
    said = introduction(
        {"initializationOptions": {"kova": {"versions": [1], "capabilities": {"documents": True}}}}
    )
    assert not said.applies_edits
    assert not said.knows_documents
    assert not said.tells_diagnostics
