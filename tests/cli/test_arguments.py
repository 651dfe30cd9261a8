import pytest

from kova_ls.cli.arguments import Parser, Plain, UsageFault, sentence
from kova_ls.l10n import Language, say

ZH = Language.CHINESE


def test_a_wrong_command_line_is_a_fault_that_says_what_to_do(screen):
    with pytest.raises(UsageFault, match=r"unrecognized arguments: --no. Run `kova-ls x --help`"):
        Parser(screen().console, "x", "Does x.").parse_args(["--no"])


def test_help_goes_to_the_console(screen):
    seen = screen()
    with pytest.raises(SystemExit) as end:
        Parser(seen.console, "x", "Does x.").parse_args(["--help"])
    assert end.value.code == 0
    assert seen.out.startswith("usage: kova-ls x")


def test_help_and_faults_are_in_the_persons_language(capsys):
    parser = Plain("kova-ls x", sentence("end the engine", ZH), language=ZH)
    parser.add_argument("file", help="the file")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    with pytest.raises(SystemExit):
        parser.parse_args(["--help"])
    shown = capsys.readouterr().out
    assert shown.startswith("用法：kova-ls x [-h] [--json] file\n\n结束引擎。\n")
    for word in ("位置参数:", "选项:", "显示此帮助并结束", "以 JSON 打印"):
        assert word in shown
    with pytest.raises(UsageFault) as fault:
        parser.parse_args(["a", "--no"])
    assert say(fault.value.message, ZH) == (
        "kova-ls x：无法识别的参数：--no。请运行 `kova-ls x --help`。"
    )


def test_a_summary_becomes_a_sentence():
    assert sentence("end the engine", Language.ENGLISH) == "End the engine."
