"""Call ripgrep, and know which files a search never shows.

Invariant: the person's own ripgrep settings have no say; version control folders and sensitive
files are never in a result.
"""

import os
import re
import shutil
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache

from kova_ls.permission.protected import secret_test
from kova_ls.tools._base import ToolContext, ToolError

TIMEOUT_S = 30.0
MAX_BYTES = 20_000_000
_COMMON = (
    "--no-config",
    "--hidden",
    "--no-require-git",
    *(f"--glob=!**/{folder}/**" for folder in (".git", ".hg", ".svn", ".jj")),
    "--glob=!**/.git",
)


@cache
def program() -> str:
    """Return where ripgrep is: beside this Python, else on PATH. Raises: ToolError."""
    name = "rg.exe" if os.name == "nt" else "rg"
    places = [sysconfig.get_path("scripts"), os.path.dirname(sys.executable)]
    with_user = os.name + "_user"
    if with_user in sysconfig.get_scheme_names():
        places.append(sysconfig.get_path("scripts", with_user))
    for folder in places:
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    found = shutil.which("rg")
    if found is None:
        raise ToolError(
            "ripgrep is missing, which comes with Kova LS: install it (pip install ripgrep), or "
            "search with grep or find in bash."
        )
    return found


async def search(
    ctx: ToolContext, options: Sequence[str], *, cwd: str, includes_ignored: bool
) -> tuple[int, bytes, bool]:
    """Run ripgrep with our common options: exit code, output, was it cut."""
    ignored = ("--no-ignore",) if includes_ignored else ()
    argv = [program(), *_COMMON, *ignored, *options]
    return await ctx.run_program(argv, cwd=cwd, timeout_s=TIMEOUT_S, max_bytes=MAX_BYTES)


async def listed(
    ctx: ToolContext, tree: str, *, includes_ignored: bool, options: Sequence[str] = ()
) -> tuple[list[str], str]:
    """Return the files below a folder, absolute, and what is known to be missing.

    Files with secrets are among them.
    """
    code, out, was_cut = await search(
        ctx,
        ["--files", "--null", *options, "--", tree],
        cwd=tree,
        includes_ignored=includes_ignored,
    )
    names = out.split(b"\0")
    # The last piece is empty, cut in the middle, or not a name but ripgrep's complaint.
    complaint = names.pop().decode("utf-8", "replace")
    if code == 2 and not names and complaint.startswith("rg: ") and "os error" not in complaint:
        raise ToolError(f"ripgrep refused: {complaint.removeprefix('rg: ').strip()}")
    paths = [os.fsdecode(name) for name in names]
    return paths, missing(code, was_cut)


def missing(code: int, was_cut: bool) -> str:
    """Return what to say of a search that did not see everything."""
    if was_cut:
        return (
            "[Incomplete: the search took too long or found too much. Narrow path or pattern; a "
            "higher offset cannot reach the rest.]"
        )
    if code == 2:
        return "[Incomplete: some folders or files could not be read.]"
    return ""


def secrets(ctx: ToolContext) -> Callable[[str], bool]:
    """Return a test of resolved paths: files with secrets, which no search shows."""
    return secret_test(ctx.resolve("~").path)


@cache
def matcher(pattern: str) -> Callable[[str], bool]:
    """Return a test of paths relative to the searched folder.

    A pattern without `/` is matched against the last part, else against the whole. Knows `*`,
    `?`, `**`, `[a-z]`, `[!a]` and nested `{a,b}`. Raises: ToolError for an unbalanced pattern.
    """
    anchored = pattern.removeprefix("./")
    is_whole = "/" in anchored
    source = _regex(anchored.removeprefix("/"))
    try:
        expression = re.compile(source + r"\Z", re.DOTALL)
    except re.error as error:
        raise ToolError(f"The glob pattern {pattern!r} is not valid: {error}.") from None
    if is_whole:
        return lambda path: expression.match(path) is not None
    return lambda path: expression.match(path.rpartition("/")[2]) is not None


def _regex(pattern: str) -> str:
    out: list[str] = []
    depth, at = 0, 0
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "*":
            if pattern.startswith("*", at):
                at += 1
                starts = at == 2 or pattern[at - 3] in "/{,"
                if starts and pattern.startswith("/", at):
                    at += 1
                    out.append("(?:[^/]+/)*")
                else:
                    out.append(".*")
            else:
                out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif char == "[" and (end := pattern.find("]", at + 1 + pattern.startswith("!", at))) > 0:
            inner = pattern[at:end].replace("\\", "\\\\").replace("[", "\\[")
            out.append(f"[^/{inner[1:]}]" if inner[0] in "!^" else f"[{inner}]")
            at = end + 1
        elif char == "{":
            depth += 1
            out.append("(?:")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        elif char == "\\" and at < len(pattern):
            out.append(re.escape(pattern[at]))
            at += 1
        else:
            out.append(re.escape(char))
    if depth:
        raise ToolError(f"The glob pattern {pattern!r} has an unclosed '{{'.")
    return "".join(out)
