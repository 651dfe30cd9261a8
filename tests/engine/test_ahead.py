import pytest

from kova_ls.engine import ahead
from kova_ls.vocabulary import Mode


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(ahead, "_FIRST_PAGE_S", 0)


async def test_what_a_first_turn_needs_is_there_before_it(stage, monkeypatch):
    found = []
    monkeypatch.setattr(ahead, "import_module", found.append)
    monkeypatch.setattr(ahead, "load", found.append)
    await ahead.load_ahead(stage.engine)
    assert found == [*ahead._ROOMS, "scripted"]
    assert stage.engine._specs.keys() == {Mode.AGENT}


async def test_settings_that_cannot_be_read_are_for_the_turn_to_say(stage):
    (stage.engine.kova_home / "config.toml").write_text("default_model = [")
    await ahead.load_ahead(stage.engine)
