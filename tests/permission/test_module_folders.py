import pytest

from kova_ls.permission.effects import RunCommand
from kova_ls.permission.module_folders import module_folders
from tests.support.permit import WORKSPACE, decide, facts, rule_on

HERE = WORKSPACE


@pytest.mark.parametrize(
    ("command", "folders"),
    [
        ("python3 -m json.tool a", (HERE,)),
        ("cat a | python3 -m json.tool", (HERE,)),
        ("cd /x && python3 -m py_compile a.py", (HERE, "/x")),
        ("cd src; cd ../b; python -m ruff check", (HERE, f"{HERE}/src", "/home/u/b", f"{HERE}/b")),
        ("cd ~/x && python -m black .", (HERE, "/home/u/x")),
        ('cd "$HOME/x" && python -m black .', (HERE, "/home/u/x")),
        ("cd && python -m pip list", (HERE, "/home/u")),
        ("python -m pip list && cd /x", (HERE,)),
        ("cd a/b && uv run python -m pip list", (HERE, f"{HERE}/a/b", f"{HERE}/a")),
        ("cd /x && python3 -m pytest", ()),
        ("cd /x && ls -m json.tool", ()),
        ("python3 json.tool", ()),
        ("cd $X && python3 -m json.tool a", ()),
    ],
)
def test_the_folders_where_modules_run(command: str, folders: tuple[str, ...]) -> None:
    assert set(module_folders(command, HERE, "/home/u", HERE)) == set(folders)


@pytest.mark.parametrize(
    "before",
    [
        *(
            "cd $X",
            "cd -",
            "cd '~/x'",
            "cd a*",
            "cd -P x",
            "cd a b",
            "pushd x",
            "popd",
            "cd ~other",
        ),
        *("git checkout x", "git pull -q", "gh repo clone a/b", 'cd "$X"', "cd $HOME/$X"),
    ],
)
def test_a_folder_that_cannot_be_told_asks(before: str) -> None:
    first = before.split(" ", maxsplit=1)[0]
    given = facts(f"{first} *", "python -m json.tool *", "python -m pytest *")
    ruling = rule_on(f"{before} && python -m json.tool a", given)
    assert ruling.decision.value == "ask"
    assert ruling.reasons[0].code == "local_module"
    assert ruling.rules == ()
    assert decide(f"{before} && python -m pytest", given) == "allow"


def test_what_only_looks_is_no_obstacle() -> None:
    given = facts("cd *", "git log *", "ls *", "echo *", "python3 -m py_compile *")
    command = "cd /x/y && git log -1 && ls && python3 -m py_compile a.py && echo OK"
    assert decide(command, given) == "allow"


def test_a_module_of_the_folder_asks() -> None:
    given = facts("python -m json.tool *", "python -m pytest *", "python -m black *")
    local = frozenset({"argparse", "click", "pytest"})
    for command, decision in (
        ("python -m json.tool a", "ask"),
        ("python -m pytest", "allow"),
        ("python -m black .", "ask"),
    ):
        effect = RunCommand(command, WORKSPACE, local)
        assert decide(effect, given) == decision
        assert bool(rule_on(effect, given).rules) == (decision == "allow")
    assert decide(RunCommand("python -m json.tool a", WORKSPACE, frozenset({"click"})), given) == (
        "allow"
    )
