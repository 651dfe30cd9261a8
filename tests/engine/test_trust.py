"""Which folders an editor's trust covers."""

import pytest

from kova_ls.engine.trust import trusts
from kova_ls.errors import RequestFailed
from kova_ls.vocabulary import ApprovalLevel


async def test_home_and_root_are_never_trusted(stage):
    home = stage.root / "home"
    for folder in (home.as_uri(), "file:///"):
        settings = {"title": None, "mode": None, "model": None, "editor": stage.editor}
        session = stage.engine.create(workspace_uri=folder, level=None, **settings)
        assert (session.state.trusted, session.state.level) == (False, "ask")
        with pytest.raises(RequestFailed) as caught:
            stage.engine.create(workspace_uri=folder, level=ApprovalLevel.AUTO, **settings)
        assert caught.value.code == "notTrusted"


async def test_trust_covers_what_is_open_and_below(stage):
    places, editor = stage.engine.places, stage.editor
    opened = editor.folders[0]
    assert trusts(places, editor, opened)
    assert trusts(places, editor, f"{opened}/below")
    assert not trusts(places, editor, f"{opened}-beside")
    editor.trusted = False
    assert not trusts(places, editor, opened)
