import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.permission_test import batch, run


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
