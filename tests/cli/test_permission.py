import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kova_ls.cli import permission

Answer = dict[str, Any]


def run(
    tmp_path: Path, *argv: str, stdin: bytes = b"", env: dict[str, str] | None = None
) -> tuple[int, str, str]:
    home = tmp_path / "home"
    work = tmp_path / "work"
    home.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    given = {"HOME": str(home), "PATH": "/usr/bin", **(env or {})}
    given.setdefault("XDG_RUNTIME_DIR", str(tmp_path))
    out, err = io.StringIO(), io.StringIO()
    world = permission.World(given, str(work), io.BytesIO(stdin), out, err)
    return permission.run(list(argv), world), out.getvalue(), err.getvalue()


def batch(tmp_path: Path, *lines: Any, argv: tuple[str, ...] = ()) -> list[Answer]:
    data = b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )
    code, out, _ = run(tmp_path, "test", "--batch", *argv, stdin=data + b"\n")
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


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


def test_a_module_of_the_folder_asks_in_every_form(tmp_path: Path) -> None:
    work = tmp_path / "work"
    rules = tmp_path / "rules.json"
    rules.write_text('{"allow": ["python3 -m json.tool *"]}')
    command = "python3 -m json.tool a.json"
    line = {"id": 1, "command": command, "rules": ["python3 -m json.tool *"]}
    for verdict in ("allow", "ask"):
        one = run(tmp_path, "test", "--json", "--rules", str(rules), command)[1]
        assert json.loads(one)["verdict"] == verdict
        assert batch(tmp_path, line, argv=("--workspace", str(work)))[0]["verdict"] == verdict
        assert batch(tmp_path, line)[0]["verdict"] == "allow", "no workspace was named"
        (work / "json.py").write_text("")


@pytest.mark.parametrize(
    "argv",
    [["test"], ["test", "--tool", "write"], ["test", "--tool", "WebFetch"], [], ["x"],
     ["test", "--workspace", "nowhere", "ls"], ["test", "--rules", "nowhere", "ls"]],
)  # fmt: skip
def test_a_wrong_command_line_says_what_to_do(tmp_path: Path, argv: list[str]) -> None:
    assert run(tmp_path, *argv)[0] == 2


def test_a_batch_answers_every_line_in_order(tmp_path: Path) -> None:
    answers = batch(
        tmp_path,
        {"id": 1, "command": "git log", "rules": ["git log *"]},
        {"id": "b", "command": "git log; rm x", "rules": ["git log *"]},
        {"id": None, "command": "ls", "rules": [], "mode": "ask"},
        {"id": 4, "command": "ls > x", "rules": ["ls *"], "level": "auto"},
        {"id": 5, "command": "rm x", "rules": ["rm *"]},
        {"id": 6, "command": "rm x", "deny": ["rm *"]},
    )
    assert [answer["id"] for answer in answers] == [1, "b", None, 4, 5, 6]
    assert [answer["verdict"] for answer in answers] == [
        "allow",
        "ask",
        "blocked",
        "allow",
        "ask",
        "deny",
    ]
    assert answers[0] == {
        "id": 1,
        "verdict": "allow",
        "rememberable": True,
        "rules": ["git log *"],
        "segments": [{"text": "git log", "rule": "git log *"}],
        "reasons": [{"code": "rule", "text": "The rule `git log *` covers it."}],
    }
    assert answers[1]["segments"][1]["text"] == "rm x"
    assert answers[2]["rules"] == ["ls *"]
    assert answers[4]["problems"][0]["rule"] == "rm *"


HOSTILE: list[Any] = [
    b"not json",
    b"{",
    b"[[[[",
    b"[" * 100_000,
    b"\xff\xfe",
    b'{"id": 7, "command": "ls \\ud800"}',
    b'{"id": 7, "command": "ls \xff"}',
    b'{"id": 7, "command": "l',
    {"id": 7},
    {"id": 7, "command": 5},
    {"id": 7, "command": ["ls"]},
    {"id": 7, "command": "ls", "rules": "ls *"},
    {"id": 7, "command": "ls", "rules": [1]},
    {"id": 7, "command": "ls", "mode": "x"},
    {"id": 7, "command": "ls", "level": []},
    {"id": 7, "command": "ls\0"},
    {"id": 7, "command": "x" * 10_000_000},
    {"id": {"a": [1]}, "command": "ls"},
    {"id": 7, "command": "(" * 9000},
    {"id": 7, "command": "ls", "rules": ["\ud800", "*", "", "x" * 100_000]},
    5,
    None,
    "x",
]


@pytest.mark.parametrize("line", HOSTILE, ids=lambda line: repr(line)[:30])
def test_no_line_can_stop_a_batch(tmp_path: Path, line: Any) -> None:
    answers = batch(tmp_path, line, {"id": 8, "command": "ls", "rules": ["ls *"]})
    assert len(answers) == 2
    assert answers[0]["verdict"] in ("ask", "deny")
    assert set(answers[0]) >= {"id", "verdict", "rememberable", "rules", "segments", "reasons"}
    if isinstance(line, dict) or (isinstance(line, bytes) and b'"id": 7' in line):
        assert answers[0]["id"] in (7, {"a": [1]})
    assert answers[1]["verdict"] == "allow"


def test_a_batch_answers_while_its_input_is_still_open(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "kova_ls", "permission", "test", "--batch"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin"},
        cwd=Path(__file__).parents[2],
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        for number in range(3):
            process.stdin.write(json.dumps({"id": number, "command": "ls"}).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
        assert process.wait() == 0


def test_import_says_what_each_entry_becomes_and_writes_nothing(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"permissions": {"allow": ["Bash(git log:*)", "Bash(rm:*)"], "deny": []}}')
    code, out, _ = run(tmp_path, "import", str(settings))
    assert code == 0
    assert "`git log *`" in out
    assert "too wide" in out
    assert "Nothing was written" in out
    _, lines, _ = run(tmp_path, "import", "--json", str(settings))
    assert [json.loads(line)["rule"] for line in lines.splitlines()] == ["git log *", None]
    assert list((tmp_path / "home").iterdir()) == []
    assert run(tmp_path, "import", "nowhere")[0] == 1
    settings.write_text("{}")
    assert run(tmp_path, "import", str(settings))[0] == 1
