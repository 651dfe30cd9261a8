"""The commands that mode `plan` may run: they look and change nothing.

Invariant: a segment with a redirect, an assignment or an expansion is not on the list.
"""

from typing import NamedTuple

from kova_ls.permission.shell import DIFFERS, Part, analyse, is_confirmed
from kova_ls.values import Reason


class ReadOnly(NamedTuple):
    """Programs, or `program sub` pairs, that only look."""

    names: tuple[str, ...]
    reason: str
    allowed: tuple[str, ...]
    blocked: tuple[str, ...]
    options: frozenset[str] | None = None
    """When given, the only words that may follow."""


_GIT_LISTS = frozenset(
    "-a -r -v -vv --all --list -l --show-current --remotes --merged --no-merged --contains"
    " --verbose -n --sort=-creatordate --sort=creatordate".split()
)

READ_ONLY: tuple[ReadOnly, ...] = (
    ReadOnly(
        tuple(
            "cat ls head tail wc nl od cut tr paste join comm fold column tac rev file stat du df"
            " basename dirname realpath readlink pwd cd echo true false cal id whoami groups uname"
            " nproc uptime which md5sum sha1sum sha256sum sha512sum shasum cksum strings hexdump"
            " seq cmp diff sort uniq tree date printf test [ jq yq sed tar xxd zcat fmt expand printenv"
            " whereis type ps free hostname".split()
        ),
        "prints what it is given; options that write are caught by the escape table",
        ("cat a", "ls -la", "sed -n 1,5p a", "sort a", "tar tf a.tar", "xxd a", "ps aux"),
        (
            "xxd a b",
            "yq -i . a",
            "hostname x",
            "sort -o x a",
            "sed -i s/a/b/ a",
            "tree -o x",
            "cat a > b",
            "cat $A",
            "tar xf a",
        ),
    ),
    ReadOnly(
        tuple("grep egrep fgrep zgrep rg ag".split()),
        "searches text",
        ("grep -rn x src", "rg foo"),
        ("rg --pre x y",),
    ),
    ReadOnly(
        (
            "git log",
            "git show",
            "git diff",
            "git status",
            "git blame",
            "git shortlog",
            "git rev-parse",
            "git rev-list",
            "git ls-files",
            "git ls-tree",
            "git cat-file",
            "git describe",
            "git grep",
            "git merge-base",
            "git name-rev",
            "git count-objects",
            "git check-ignore",
            "git show-ref",
            "git for-each-ref",
            "git diff-tree",
            "git whatchanged",
            "git cherry",
            "git range-diff",
            "git config",
            "git remote get-url",
        ),
        "looks at the repository",
        ("git log --oneline", "git status", "git diff HEAD~1", "git config --get a.b"),
        (
            "git config a.b c",
            "git config --global core.editor x",
            "git log --output=x",
            "git grep -Ox y",
            "git commit -m x",
            "git -c a=b log",
            "git",
        ),
    ),
    ReadOnly(
        ("git branch", "git tag", "git remote"),
        "lists; any name given would make or change something",
        ("git branch -a", "git branch", "git tag --list", "git remote -v"),
        ("git branch x", "git tag v1", "git branch -d x", "git remote add a b"),
        _GIT_LISTS,
    ),
    ReadOnly(
        (
            "git stash list",
            "git worktree list",
            "git submodule status",
            "git reflog",
            "git reflog show",
        ),
        "lists",
        ("git stash list", "git worktree list", "git reflog"),
        ("git stash", "git stash pop", "git worktree add x", "git reflog expire --all"),
        frozenset({"--porcelain", "-v"}),
    ),
)

_WORDS: dict[tuple[str, ...], frozenset[str] | None] = {
    tuple(name.split()): entry.options for entry in READ_ONLY for name in entry.names
}
_NOT_LISTED = "In mode `plan` only commands that look may run"


def blocked_reason(command: str) -> Reason | None:
    """Return why mode `plan` forbids the command line, or None."""
    analysis = analyse(command)
    if analysis.refusal is not None:
        return Reason(code="mode", text=f"{_NOT_LISTED}: {analysis.refusal.text}")
    for part in analysis.parts:
        why = _part_problem(part)
        if why:
            return Reason(code="mode", text=f"{_NOT_LISTED}: {why}")
    if not is_confirmed(command):
        return Reason(code="mode", text=f"{_NOT_LISTED}: {DIFFERS.text}")
    return None


def looks_only(part: Part) -> bool:
    """Tell whether a segment is on the list."""
    return _part_problem(part) is None


def _part_problem(part: Part) -> str | None:
    if part.guard is not None:
        return part.guard.text
    if part.has_redirect:
        return f"`{part.text}` has a redirect."
    if part.has_expansion and part.values[0] != "[":
        return f"`{part.text}` holds something that the shell expands."
    for length in (3, 2, 1):
        head = part.values[:length]
        if len(head) == length and head in _WORDS:
            options = _WORDS[head]
            if options is None or options.issuperset(part.values[length:]):
                return None
            break
    return f"`{part.text}` is not on the list of commands that only look."
