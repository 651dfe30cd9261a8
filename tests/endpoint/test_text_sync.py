import pytest

from kova_ls.endpoint import text_sync


class Heard:
    """Takes every call, and says which came."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        return lambda *given, **named: self.calls.append((name, *given, *named.values()))


DOCUMENT = {"uri": "file:///a", "version": 2}


@pytest.mark.parametrize(
    ("method", "params", "heard"),
    [
        ("textDocument/didOpen", {"textDocument": DOCUMENT}, ("opened", DOCUMENT)),
        (
            "textDocument/didChange",
            {"textDocument": DOCUMENT, "contentChanges": []},
            ("changed", "file:///a", 2, []),
        ),
        (
            "textDocument/didSave",
            {"textDocument": DOCUMENT, "text": "x"},
            ("saved", "file:///a", "x"),
        ),
        ("textDocument/didClose", {"textDocument": DOCUMENT}, ("closed", "file:///a")),
        (
            "kova/editor/documentChanged",
            {"uri": "file:///a", "dirty": True},
            ("dirtied", "file:///a", True),
        ),
    ],
)
def test_each_notification_reaches_the_documents(method, params, heard):
    documents = Heard()
    text_sync.take(documents, method, params)
    assert documents.calls == [heard]


def test_others_are_passed_over():
    documents = Heard()
    text_sync.take(documents, "x/y", {})
    assert documents.calls == []
