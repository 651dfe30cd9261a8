"""What the engine asks of an editor."""

import inspect

from kova_ls.endpoint.server import EditorEndpoint
from kova_ls.engine import editor
from kova_ls.engine.editor import Editor
from tests.support.stage import PretendedEditor

METHODS = [
    name
    for name, value in vars(Editor).items()
    if inspect.isfunction(value) and not name.startswith("_")
]


def test_the_endpoint_and_the_pretended_editor_have_all_of_it():
    for name in METHODS:
        wanted = inspect.signature(getattr(Editor, name))
        for kind in (EditorEndpoint, PretendedEditor):
            given = inspect.signature(getattr(kind, name))
            assert list(given.parameters) == list(wanted.parameters), (kind, name)
            assert inspect.iscoroutinefunction(getattr(kind, name)) == (
                inspect.iscoroutinefunction(getattr(Editor, name))
            )


def test_nothing_here_names_a_wire():
    words = inspect.getsource(editor).lower()
    assert not any(word in words for word in ("pygls", "lsprotocol", "json", "request_id"))
