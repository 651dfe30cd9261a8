import pytest

from kova_ls.cli.arguments import Parser, UsageFault


def test_a_wrong_command_line_is_a_fault_that_says_what_to_do(screen):
    with pytest.raises(UsageFault, match=r"unrecognized arguments: --no. Run `kova-ls x --help`"):
        Parser(screen().console, "x", "Does x.").parse_args(["--no"])


def test_help_goes_to_the_console(screen):
    seen = screen()
    with pytest.raises(SystemExit) as end:
        Parser(seen.console, "x", "Does x.").parse_args(["--help"])
    assert end.value.code == 0
    assert seen.out.startswith("usage: kova-ls x")
