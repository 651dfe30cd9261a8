import os

import pytest

from kova_ls.errors import RequestFailed
from kova_ls.values import Usage
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


async def test_an_adapter_lives_as_long_as_its_settings_and_is_closed_in_the_end(
    stage, monkeypatch
):
    closed = []

    async def close(adapter):
        closed.append(adapter)

    monkeypatch.setattr("kova_ls.llm.anthropic.AnthropicAdapter.close", close)
    config = stage.root / "kova/config.toml"
    config.write_text(text := '[models.far]\napi = "anthropic"\nmodel = "x"\n')
    first = stage.engine.models.adapter("far", {})
    config.write_text(text + "[models.other]\napi = 'gemini'\n")
    assert stage.engine.models.adapter("far", {}) is first
    config.write_text(text.replace("x", "y"))
    second = stage.engine.models.adapter("far", {})
    assert second is not first
    await stage.engine.models.close()
    assert closed == [first, second]


async def test_a_call_of_a_priced_model_has_a_cost(stage):
    config = stage.root / "kova/config.toml"
    config.write_text(
        '[models.far]\napi = "openai-chat"\nbase_url = "http://127.0.0.1:9/v1"\n'
        "context_window = 9\n[models.far.price]\ninput = 2\noutput = 10\n"
    )
    call = Usage(input_tokens=1_000_000, output_tokens=100_000)
    told = stage.engine.models.account("far", {}, call)
    assert (told.cost, told.context_window) == (3, 9)
    assert stage.engine.models.account("gone", {}, call) == call
    config.write_text('[models.far]\napi = "openai-chat"\n[models.far.price]\ninput = -2\n')
    assert "models.far.price" in refused(lambda: stage.engine.models.find("far", {}))


async def test_what_a_command_changed_in_the_settings_is_not_read(stage):
    models = stage.engine.models
    config = stage.root / "kova/config.toml"
    models.command_started()
    config.write_text(config.read_text() + "\n[models.evil]\napi = 'scripted'\nscript = 'x'\n")
    refused(lambda: models.find("evil", {}))
    (notice,) = models.command_finished()
    assert "changed while a command of the agent ran" in notice
    refused(lambda: models.find("evil", {}))
    # Another command launders nothing, and is told nothing again.
    models.command_started()
    assert models.command_finished() == ()
    refused(lambda: models.find("evil", {}))
    config.write_text(config.read_text())
    assert models.find("evil", {}).api == "scripted"


async def test_a_pipe_in_the_place_of_the_settings_is_named(stage):
    config = stage.root / "kova/config.toml"
    config.unlink()
    os.mkfifo(config)
    assert "no ordinary file" in refused(lambda: stage.engine.models.find("", {}))
