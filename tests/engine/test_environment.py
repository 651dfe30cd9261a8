import os
import subprocess

from kova_ls.engine.environment import shell_env


def test_drops_what_is_not_for_the_agent():
    env = shell_env(
        {
            "HOME": "/h",
            "PATH": "/bin:.::node_modules/.bin:/usr/bin",
            "KOVA_HOME": "/k",
            "KOVA_ANYTHING": "x",
            "ANTHROPIC_API_KEY": "s",
            "OPENAI_API_KEY": "s",
            "GEMINI_API_KEY": "s",
            "WORK_KEY": "s",
            "BASH_ENV": "/x",
            "ENV": "/x",
            "BASH_FUNC_ls%%": "() { evil; }",
            "PROMPT_COMMAND": "x",
            "SHELLOPTS": "xtrace",
            "BASHOPTS": "x",
            "PS4": "$(evil)",
            "CDPATH": "/",
            "GIT_DIR": "/elsewhere",
            "FORCE_COLOR": "1",
            "STRIPE_API_KEY": "the project's own",
        },
        api_key_envs=["WORK_KEY"],
    )
    assert env == {
        "HOME": "/h",
        "PATH": "/bin:/usr/bin",
        "STRIPE_API_KEY": "the project's own",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.bareRepository",
        "GIT_CONFIG_VALUE_0": "explicit",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "PAGER": "cat",
        "GIT_PAGER": "cat",
        "MANPAGER": "cat",
        "GIT_EDITOR": "true",
        "GIT_TERMINAL_PROMPT": "0",
    }


def test_keeps_git_settings_that_are_there():
    env = shell_env({"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "a.b", "GIT_CONFIG_VALUE_0": "c"})
    assert env["GIT_CONFIG_COUNT"] == "2"
    assert (env["GIT_CONFIG_KEY_0"], env["GIT_CONFIG_KEY_1"]) == (
        "a.b",
        "safe.bareRepository",
    )


def test_a_path_of_relative_entries_alone_falls_back():
    assert all(map(os.path.isabs, shell_env({"PATH": ".:bin"})["PATH"].split(":")))


def test_git_finds_no_bare_repository_by_chance(tmp_path):
    env = shell_env({"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"})
    command = "git init -q --bare x && cd x && git status; git log"
    shell = ["bash", "-c", command]
    done = subprocess.run(shell, cwd=tmp_path, env=env, capture_output=True, check=False)
    assert b"safe.bareRepository" in done.stderr
