import io

import pytest

from kova_ls import __version__, cli


def test_every_command_has_help(screen):
    for name in set(cli.COMMANDS) - {"model", "permission"}:
        seen = screen()
        assert cli.main([name, "--help"], seen.console) == 0
        assert seen.out.startswith(f"usage: kova-ls {name}")


@pytest.mark.parametrize("argv", [["--help"], ["help"], []])
def test_the_overview_names_every_command(screen, argv):
    seen = screen()
    assert cli.main(argv, seen.console) == 0
    assert all(f"  {name} " in seen.out for name in cli.COMMANDS)


def test_version(screen):
    seen = screen()
    assert cli.main(["--version"], seen.console) == 0
    assert seen.out == f"kova-ls {__version__}\n"


def test_an_unknown_command_is_wrong_usage(screen):
    seen = screen()
    assert cli.main(["dance\x07"], seen.console) == 2
    assert seen.err == "There is no command 'dance<U+0007>'. `kova-ls --help` lists them.\n"


def test_a_wrong_option_is_wrong_usage(screen):
    seen = screen()
    assert cli.main(["status", "--colour"], seen.console) == 2
    assert "unrecognized arguments" in seen.err


def test_a_closed_pipe_ends_quietly(screen):
    class Closed(io.StringIO):
        def write(self, _text):
            raise BrokenPipeError

    seen = screen()
    object.__setattr__(seen.console, "stdout", Closed())
    assert cli.main(["--version"], seen.console) == 141
    assert seen.err == ""


@pytest.mark.parametrize(
    "env",
    [
        {"LANG": "zh_CN.UTF-8"},
        {"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "de_DE.UTF-8"},
        {"LC_ALL": "zh_CN.UTF-8", "LC_MESSAGES": "C", "LANG": "C"},
    ],
)
def test_the_environment_chooses_the_language(screen, env):
    seen = screen(env=env)
    assert cli.main(["dance"], seen.console) == 2
    assert seen.err == "没有命令 'dance'。`kova-ls --help` 会列出所有命令。\n"
    assert cli.main([], seen.console) == 0
    assert seen.out.startswith("用法：kova-ls")
    assert "结束引擎" in seen.out


def test_help_is_said_in_the_language_too(screen):
    seen = screen(env={"LANG": "zh_CN.UTF-8"})
    assert cli.main(["status", "--help"], seen.console) == 0
    assert "说明引擎是否在运行" in seen.out
    assert "以 JSON 打印" in seen.out


@pytest.mark.parametrize("env", [{"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, {"LANG": "zh_TW.UTF-8"}])
def test_any_other_language_is_english(screen, env):
    seen = screen(env=env)
    cli.main(["dance"], seen.console)
    assert seen.err.startswith("There is no command")
