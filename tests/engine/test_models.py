import pytest

from kova_ls.errors import RequestFailed
from tests.support.stage import Stage, say

END = say("Done.")


@pytest.fixture
async def stage(tmp_path):
    stage = Stage(tmp_path, [END] * 9)
    yield stage
    await stage.close()


def refused(work):
    with pytest.raises(RequestFailed) as caught:
        work()
    assert caught.value.code == "modelNotConfigured"
    return caught.value.message


async def test_settings_are_read_again_when_they_changed(stage):
    assert stage.engine.models.find("", {}).api == "scripted"
    refused(lambda: stage.engine.models.find("later", {}))
    stage.script("later", [END])
    assert stage.engine.models.find("later", {}).script.endswith("later.json")
    (stage.root / "kova/config.toml").write_text("nonsense = 1")
    assert "nonsense" in refused(lambda: stage.engine.models.find("later", {}))


async def test_a_key_may_come_from_the_editor(stage):
    config = stage.root / "kova/config.toml"
    config.write_text('[models.far]\napi = "anthropic"\nmodel = "x"\napi_key_env = "A_KEY"\n')
    message = refused(lambda: stage.engine.models.find("far", {}))
    assert "A_KEY" in message
    assert stage.engine.models.find("far", {"A_KEY": "k"}).api == "anthropic"
    first = stage.engine.models.adapter("far", {"A_KEY": "k"})
    assert stage.engine.models.adapter("far", {"A_KEY": "k"}) is first
    assert stage.engine.models.adapter("far", {"A_KEY": "other"}) is not first
