"""What config.toml may say."""

import socket
import threading

import pytest

from kova_ls import config
from kova_ls.config import ModelSettings, Settings, discover, load, read, with_discovered
from kova_ls.errors import SettingsError


def written(tmp_path, text):
    (tmp_path / "config.toml").write_text(text)
    return tmp_path


def test_a_missing_file_is_an_empty_one(tmp_path):
    assert read(tmp_path) == Settings()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = ", "cannot be read"),
        ("colour = 1", "colour"),
        ("max_steps = 0", "max_steps"),
        ("idle_exit_s = -1", "idle_exit_s"),
        ('dirty_documents = "maybe"', "dirty_documents"),
        ("[models.a]\nmodel = 'x'", "models.a.api"),
        ("[models.a]\napi = 'telepathy'", "models.a.api"),
        ("[models.a]\napi = 'gemini'\napi_key = 'secret-1'", "models.a.api_key"),
    ],
)
def test_a_mistake_is_named_without_its_value(tmp_path, text, says):
    with pytest.raises(SettingsError) as caught:
        read(written(tmp_path, text))
    assert says in caught.value.message
    assert str(tmp_path / "config.toml") in caught.value.message
    assert "secret-1" not in caught.value.message


def test_a_file_that_is_no_text_is_said(tmp_path):
    (tmp_path / "config.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="Mend or remove it"):
        read(tmp_path)


def test_keys_of_the_environment_bring_their_models():
    env = {"GEMINI_API_KEY": "g", "ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}
    found = discover(env, ("small", "large"))
    assert list(found) == ["anthropic", "openai", "gemini", "ollama", "ollama/large"]
    assert found["openai"].api == "openai-responses"
    assert "a" not in found["anthropic"].model_dump().values()


def test_another_address_of_openai_speaks_chat():
    env = {"OPENAI_API_KEY": "o", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1", "OPENAI_MODEL": "m"}
    model = discover(env)["openai"]
    assert (model.api, model.base_url, model.model) == ("openai-chat", env["OPENAI_BASE_URL"], "m")


def test_an_empty_variable_is_none():
    assert discover({"ANTHROPIC_API_KEY": ""}) == {}
    assert config.api_key(ModelSettings(api="gemini", api_key_env="K"), {"K": ""}) is None
    assert config.api_key(ModelSettings(api="gemini", api_key_env="K"), {"K": "k"}) == "k"
    assert config.api_key(ModelSettings(api="scripted"), {}) is None


def test_the_users_file_wins_over_what_is_found(tmp_path):
    text = "[models.anthropic]\napi = 'scripted'\n[models.mine]\napi = 'scripted'\n"
    settings = load(written(tmp_path, text), {"ANTHROPIC_API_KEY": "a", "GEMINI_API_KEY": "g"})
    assert settings.models["anthropic"].api == "scripted"
    assert settings.default_model == "anthropic"
    assert list(settings.models) == ["anthropic", "mine", "gemini"]


def test_without_any_model_there_is_no_default():
    assert with_discovered(Settings(), {}).default_model is None


def test_a_default_that_names_no_model_is_said(tmp_path):
    text = "default_model = 'other'\n[models.mine]\napi = 'scripted'\n"
    with pytest.raises(SettingsError, match=r"'other', which is not configured \(known: mine\)"):
        load(written(tmp_path, text), {})


def test_no_ollama_is_no_model():
    assert config.ollama_models(1) is None


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b'{"models": [{"name": "qwen3"}, {"name": "llama"}]}', ("qwen3", "llama")),
        (b'{"models": []}', ()),
        (b'{"models": 5}', None),
        (b"hello", None),
    ],
)
def test_a_local_ollama_is_asked_for_its_models(body, found):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n" + body)

        thread = threading.Thread(target=answer)
        thread.start()
        assert config.ollama_models(server.getsockname()[1]) == found
        thread.join()


def test_a_script_stands_beside_the_file_that_names_it(tmp_path):
    (tmp_path / "config.toml").write_text(
        '[models.a]\napi = "scripted"\nscript = "s.json"\n'
        '[models.b]\napi = "scripted"\nscript = "/abs/s.json"\n'
    )
    models = config.read(tmp_path).models
    assert (models["a"].script, models["b"].script) == (str(tmp_path / "s.json"), "/abs/s.json")
