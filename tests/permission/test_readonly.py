import pytest

from kova_ls.permission.readonly import READ_ONLY, ReadOnly, blocked_reason


@pytest.mark.parametrize("entry", READ_ONLY, ids=lambda entry: entry.reason)
def test_every_entry_keeps_what_its_examples_say(entry: ReadOnly) -> None:
    assert entry.allowed
    assert entry.blocked
    for command in entry.allowed:
        assert blocked_reason(command) is None, command
    for command in entry.blocked:
        assert blocked_reason(command) is not None, command


@pytest.mark.parametrize(
    "command",
    [
        *(
            "ls > f",
            "ls 2>&1",
            "ls >/dev/null",
            "ls $X",
            "ls *",
            "ls {a,b}",
            "ls ~",
            "A=1 ls",
            "CI=1 ls",
        ),
        *("ls $(rm x)", "ls `x`", "ls && rm x", "ls | tee f", "npm test", "python3 x.py", "ls 'x"),
        *(
            "git commit -m x",
            "git checkout x",
            "git branch x",
            "git stash",
            "git -C x log",
            "touch x",
        ),
        *(
            "sed -i s/a/b/ f",
            "sort -o a b",
            "find . -delete",
            "make",
            "./ls",
            "export A=1",
            "[ -v a ]",
        ),
    ],
)
def test_whatever_may_change_something_is_blocked(command: str) -> None:
    reason = blocked_reason(command)
    assert reason is not None
    assert reason.code == "mode"


@pytest.mark.parametrize(
    "command",
    ["ls -la src", "cd src && ls", "cat a | head -5 | wc -l", "git log; git status", "[ -f a ]"],
)
def test_looking_is_allowed(command: str) -> None:
    assert blocked_reason(command) is None
