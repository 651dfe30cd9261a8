import json
from pathlib import Path

import pytest

from tests.support.permission_test import run


def test_a_command_is_explained_segment_by_segment(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"allow": ["git log *"]}')
    code, out, _ = run(tmp_path, "test", "--rules", str(rules), "git log && rm -rf ~")
    assert code == 0
    assert out.splitlines()[0].startswith("ask: ")
    assert "rule `git log *`" in out
    assert "rm -rf ~" in out
    assert "cannot be remembered" in out
    assert list((tmp_path / "work").iterdir()) == []


def test_one_command_is_told_in_one_line_and_what_remember_writes(tmp_path: Path) -> None:
    assert run(tmp_path, "test", "make x")[1] == (
        'ask: No rule covers `make x`.\n  "Allow and remember" would write: `make *`\n'
    )
    _, out, _ = run(tmp_path, "test", "--level", "auto", "make x")
    assert out == "allow: The level is `auto`: nothing asks.\n"


def test_both_spellings_of_a_call_are_the_same(tmp_path: Path) -> None:
    plain = run(tmp_path, "test", "--json", "git log -1")
    assert plain == run(tmp_path, "test", "--json", "Bash(git log -1)")
    assert json.loads(plain[1])["rules"] == ["git log *"]


def test_the_users_file_is_in_force_and_an_unconfirmed_local_file_is_not(tmp_path: Path) -> None:
    (tmp_path / "home" / ".kova").mkdir(parents=True)
    (tmp_path / "home" / ".kova" / "permissions.json").write_text('{"allow": ["git log *"]}')
    (tmp_path / "work" / ".kova").mkdir(parents=True)
    (tmp_path / "work" / ".kova" / "permissions.local.json").write_text('{"allow": ["ls *"]}')
    assert run(tmp_path, "test", "git log")[1].startswith("allow")
    assert run(tmp_path, "test", "ls")[1].startswith("ask")


def test_mode_and_level_are_those_asked_for(tmp_path: Path) -> None:
    assert run(tmp_path, "test", "--mode", "ask", "ls")[1].startswith("blocked")
    assert run(tmp_path, "test", "--level", "auto", "rm x")[1].startswith("allow")
    assert run(tmp_path, "test", "--level", "Auto", "rm x")[0] == 2


def test_files_are_judged_too(tmp_path: Path) -> None:
    assert run(tmp_path, "test", "--tool", "write", "--path", "a.py")[1].startswith("allow")
    assert run(tmp_path, "test", "--tool", "write", "--path", "../x")[1].startswith("ask")
    assert run(tmp_path, "test", "--tool", "edit", "--path", ".git/config")[1].startswith("ask")
    two = run(tmp_path, "test", "--tool", "write", "--path", "a", "--path", "/srv/b")
    assert two[1].startswith("ask")
    assert run(tmp_path, "test", "--tool", "read", "--path", ".env")[1].startswith("ask")
    assert run(tmp_path, "test", "--tool", "WebFetch", "--url", "https://a")[1].startswith("allow")


@pytest.mark.parametrize(
    "argv",
    [["test"], ["test", "--tool", "write"], ["test", "--tool", "WebFetch"], [], ["x"],
     ["test", "--workspace", "nowhere", "ls"], ["test", "--rules", "nowhere", "ls"]],
)  # fmt: skip
def test_a_wrong_command_line_says_what_to_do(tmp_path: Path, argv: list[str]) -> None:
    assert run(tmp_path, *argv)[0] == 2


def test_a_line_of_parts_that_are_all_covered_says_so_once(tmp_path: Path) -> None:
    rules = tmp_path / "rules.json"
    rules.write_text('{"allow": ["git log *", "ls *"]}')
    _, out, _ = run(tmp_path, "test", "--rules", str(rules), "git log | ls")
    assert out == (
        "allow: The rule `git log *` covers it.\n  git log\n      rule `git log *`\n"
        "  ls\n      rule `ls *`\n"
    )


def test_a_command_without_quotes_is_told_to_have_some(tmp_path: Path) -> None:
    code, _, err = run(tmp_path, "test", "git", "log")
    assert (code, err) == (2, "Write one command line in quotes, such as 'git log && make'.\n")
