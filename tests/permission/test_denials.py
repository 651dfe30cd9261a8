import pytest

from kova_ls.permission.denials import covers, rough_words
from kova_ls.vocabulary import ApprovalLevel
from tests.support.permit import decide, facts


@pytest.mark.parametrize(
    "command",
    [
        "rm x",
        "/bin/rm x",
        "\\rm x",
        "r''m x",
        "ls && rm x",
        "ls | xargs rm",
        "sudo rm x",
        "env A=1 rm x",
        "bash -c 'rm x'",
        "(rm x)",
        "echo $(rm x)",
        "echo `rm x`",
        "if true; then rm x; fi",
        "r${x}m x",
        "$'\\x72m' x",
        "{rm,x}",
        "find . -exec rm {} ;",
        "rm${IFS}x",
        "ls > >(rm x)",
        "A=1 rm x",
        "! rm x",
        "timeout 5 rm x",
        "RM x",
        "rm 'x",
        "r\\\nm x",
        "/bin/r? x",
    ],
)
def test_a_deny_rule_meets_every_spelling(command: str) -> None:
    assert covers(command, ("rm",), is_prefix=True)
    for level in ApprovalLevel:
        assert decide(command, facts("ls *", deny=("rm *",), level=level)) == "deny"


@pytest.mark.parametrize(
    "command",
    ["echo rm", "ls rm", "git commit -m 'rm x'", "grep -rn 'rm -rf' docs", "rmdir x", "cat a.rm"],
)
def test_a_word_that_is_no_program_is_not_denied(command: str) -> None:
    assert not covers(command, ("rm",), is_prefix=True)


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git -C ../x push -f",
        "git --no-pager push",
        "git -c a=b push",
        "git p''ush",
        "cd x && git push origin main",
        "sh -c 'git push'",
        "/usr/bin/git push",
    ],
)
def test_options_before_the_sub_command_do_not_hide_it(command: str) -> None:
    assert decide(command, facts(deny=("git push *",))) == "deny"
    assert decide("git log push", facts("git log *", deny=("git push *",))) == "allow"


def test_an_exact_deny_rule_denies_its_words() -> None:
    given = facts("npm *", deny=("npm publish",))
    assert decide("npm publish", given) == "deny"
    assert decide("ls; npm publish", given) == "deny"
    assert decide("npm publish --dry-run", given) == "allow"


def test_a_reading_denied_for_files_is_denied_for_words_of_commands() -> None:
    given = facts("cat *", "git *", deny=("Read(secrets/**)",))
    assert decide("cat secrets/a", given) == "deny"
    assert decide("cat ./x/../secrets/a", given) == "deny"
    assert decide("cat --file=secrets/a", given) == "deny"
    assert decide("cat other", given) == "allow"


def test_rough_words_are_bounded() -> None:
    assert len(rough_words("a " * 100_000)) < 20_000
    assert "rm" in rough_words("x;'r'\"m\" -rf")


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git push --force *", "git push origin main --force"),
        ("git push --force *", "sudo git push origin --force=x"),
        ("rm -rf *", "rm -r -f x"),
        ("rm -rf *", "rm -vfr x"),
        ("rm -rf *", "sudo rm -fr x"),
        ("git push *", "G=git; $G push"),
        ("git push *", "git ${X:-push}"),
        ("rm *", "X=rm; $X y"),
        ("rm *", "alias x='rm'"),
        ("Read(.env)", "cat .e*"),
        ("Read(.env)", "cat .en?"),
        ("Read(.env)", "cat .{env,x}"),
        ("Read(secrets/**)", "ls secrets"),
        ("Read(secrets/**)", "cd secrets && cat a"),
        ("Read(secrets/**)", "cat sec*/a"),
        ("Write(src/**)", "echo a > src/x"),
        ("Write(src/**)", "cat a>>'src/x'"),
        ("Write(src/**)", "ls | tee -a src/x"),
        ("Write(src/**)", "sed -i s/a/b/ src/x"),
        ("Write(src/**)", "dd if=a of=src/x"),
        ("Write(src/**)", "mv a src/b"),
        ("Write(src/**)", "bash -c 'rm src/x'"),
    ],
)
def test_a_deny_rule_is_read_widely(rule: str, command: str) -> None:
    assert decide(command, facts(deny=(rule,), level=ApprovalLevel.AUTO)) == "deny"


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git push --force *", "git push origin"),
        ("rm -rf *", "rm -r x"),
        ("rm -rf *", "rm --rf x"),
        ("git push *", "G=git; $G pull"),
        ("git push *", "git -C"),
        ("git push *", "git"),
        ("Read(.env)", "cat *"),
        ("Read(.env)", "cat src/{a,b}"),
        ("Write(src/**)", "cat src/x"),
        ("Write(src/**)", "sed -n 1p src/x > out"),
        ("Write(src/**)", "sudo cat src/x"),
    ],
)
def test_a_deny_rule_leaves_the_rest(rule: str, command: str) -> None:
    assert decide(command, facts(deny=(rule,), level=ApprovalLevel.AUTO)) == "allow"
