import json
import os

import pytest
from inline_snapshot import snapshot

from kova_ls import __version__
from kova_ls.cli import doctor
from kova_ls.cli.doctor import Finding, finding_lines
from kova_ls.cli.terminal import Style


@pytest.fixture
def examined(screen, fake_engine, tmp_path):
    """Run doctor in an environment and return its exit code and findings by name."""

    def make(*, env=None, toml=None, ollama=None, engine=None, cwd=None):
        home = tmp_path / "h" / ".kova"
        home.mkdir(parents=True, exist_ok=True)
        if toml is not None:
            (home / "config.toml").write_text(toml)
        seen = screen(env=env, cwd=cwd)

        def find(_env):
            return engine.far if engine else None

        code = doctor.main(["--json"], seen.console, find, lambda: ollama)
        found = json.loads(seen.out)
        assert found["ok"] == (code == 0)
        return code, [Finding(**finding) for finding in found["findings"]]

    return make


def of(findings, name):
    return [(finding.state, finding.text) for finding in findings if finding.name == name]


def test_without_a_model_it_says_how_to_get_one(examined):
    code, findings = examined()
    assert code == 1
    (model,) = [finding for finding in findings if finding.name == "model"]
    assert (model.state, model.text) == ("wrong", "no model is configured, and none was found")
    assert "ANTHROPIC_API_KEY" in model.advice
    assert of(findings, "ollama") == [("note", "not running here")]
    assert of(findings, "engine") == [("note", "not running; it starts when needed")]


def test_a_key_is_found_and_never_shown(examined, screen):
    secret = "sk-not-to-be-seen"
    code, findings = examined(env={"ANTHROPIC_API_KEY": secret})
    assert code == 0
    assert of(findings, "model")[0][0] == "ok"
    assert secret not in json.dumps([finding.text + finding.advice for finding in findings])


def test_it_says_where_a_model_is_asked_and_no_password_in_the_address(examined):
    env = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://me:word@127.0.0.1:8080/v1"}
    _, findings = examined(env=env | {"OPENAI_MODEL": "m"})
    assert of(findings, "model") == [("ok", "openai: m, 127.0.0.1:8080 (default)")]


def test_a_missing_key_of_the_default_model_is_wrong(examined):
    toml = (
        'default_model = "work"\n[models.work]\napi = "openai-chat"\nmodel = "m"\n'
        'api_key_env = "WORK_KEY"\n[models.other]\napi = "gemini"\napi_key_env = "G"\n'
    )
    code, findings = examined(toml=toml)
    assert code == 1
    assert of(findings, "model") == [
        ("wrong", "work: m (default): WORK_KEY is not set"),
        ("note", "other: gemini: G is not set"),
    ]
    assert examined(env={"WORK_KEY": "k"})[0] == 0


def test_a_broken_config_names_the_place(examined):
    code, findings = examined(toml="default_model = 7\n")
    assert code == 1
    ((state, text),) = of(findings, "config.toml")
    assert state == "wrong"
    assert "default_model" in text


def test_a_script_that_is_not_there_is_wrong(examined, tmp_path):
    toml = '[models.s]\napi = "scripted"\nscript = "gone.json"\n'
    assert of(examined(toml=toml)[1], "model") == [
        ("wrong", f"s: scripted (default): there is no {tmp_path / 'h/.kova/gone.json'}")
    ]


def test_a_local_ollama_is_a_model(examined):
    code, findings = examined(ollama=("qwen3", "llama"))
    assert code == 0
    assert of(findings, "ollama") == [("ok", "runs, 2 models: qwen3, llama")]
    assert of(examined(ollama=())[1], "ollama") == [("note", "runs, without a model")]


def test_folders_of_others_rights_are_wrong(examined, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o777)
    (tmp_path / "run").write_text("no folder")
    code, findings = examined(env={"OPENAI_API_KEY": "k"})
    assert code == 1
    assert of(findings, "data") == [("wrong", f"{data} can be written by others")]
    assert of(findings, "runtime") == [("wrong", f"{tmp_path / 'run'} is no folder")]


def test_the_runtime_folder_is_for_the_user_alone(examined, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run").chmod(0o750)
    _, findings = examined(env={"OPENAI_API_KEY": "k"})
    assert of(findings, "runtime") == [("wrong", f"{tmp_path / 'run'} can be entered by others")]


def test_an_address_without_a_key_is_no_model_yet(examined):
    code, findings = examined(env={"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    assert code == 1
    (model,) = [finding for finding in findings if finding.name == "model"]
    assert (model.state, model.text) == ("wrong", "no model is configured, and none was found")
    assert (
        model.advice == "export OPENAI_API_KEY=… beside OPENAI_BASE_URL; any word if it takes none"
    )


def test_a_broken_permission_file_is_named(examined, tmp_path):
    (tmp_path / ".kova").mkdir()
    (tmp_path / ".kova" / "permissions.local.json").write_text("{")
    code, findings = examined(env={"OPENAI_API_KEY": "k"}, cwd=tmp_path)
    assert code == 1
    assert "permissions.local.json" in of(findings, "permissions")[0][1]


@pytest.mark.parametrize(("version", "state"), [(__version__, "ok"), ("0.0.0-old", "wrong")])
def test_the_running_engine_must_be_of_this_version(examined, fake_engine, version, state):
    status = {"pid": 7, "version": version, "startedAt": 0.0, "uptimeS": 1.0}
    engine = fake_engine(engine_status=lambda _: status)
    _, findings = examined(env={"OPENAI_API_KEY": "k"}, engine=engine)
    assert of(findings, "engine") == [(state, f"runs, pid 7, version {version}")]


def test_no_git_is_only_a_note(examined, tmp_path):
    code, findings = examined(env={"OPENAI_API_KEY": "k", "PATH": str(tmp_path)})
    assert (code, of(findings, "git")) == (0, [("note", "not found")])


def test_it_writes_nothing(examined, tmp_path):
    examined(env={"OPENAI_API_KEY": "k"})
    assert sorted(os.listdir(tmp_path)) == ["h"]
    assert os.listdir(tmp_path / "h" / ".kova") == []


def test_findings_are_drawn_with_their_next_step():
    finding = Finding("model", "wrong", "none\x07", "get one")
    plain, signs = Style(False, False), Style(False, True)
    assert finding_lines(finding, plain) + finding_lines(finding, signs) == snapshot(
        [
            "NO  model        none<U+0007>",
            "                 -> get one",
            "✗ model        none<U+0007>",
            "               → get one",
        ]
    )


def test_the_whole_ends_with_a_sentence(screen):
    seen = screen(env={"OPENAI_API_KEY": "k"})
    assert doctor.main([], seen.console, lambda _env: None, lambda: None) == 0
    assert seen.out.endswith(
        '\nAll is well here. `kova-ls run "Hello"` shows whether the model answers.\n'
    )
