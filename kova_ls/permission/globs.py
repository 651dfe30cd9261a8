"""Path patterns of deny rules, and the paths that words of a command name.

Invariant: matched without case and with everything below a folder: a deny rule is read widely.
"""

import re


def compile_glob(glob: str) -> re.Pattern[str]:
    """Return a pattern for relative paths (`/` joined) or, for `/x` and `~/x`, absolute ones.

    A pattern without a slash matches a name at any depth.
    """
    text = glob.removeprefix("./").rstrip("/")
    if text.startswith("//"):
        text = text[1:]
    is_anywhere = "/" not in text
    parts: list[str] = ["(?:.*/)?"] if is_anywhere else []
    at = 0
    while at < len(text):
        if text.startswith("**/", at):
            parts.append("(?:.*/)?")
            at += 3
        elif text.startswith("**", at):
            parts.append(".*")
            at += 2
        elif text[at] == "*":
            parts.append("[^/]*")
            at += 1
        elif text[at] == "?":
            parts.append("[^/]")
            at += 1
        else:
            parts.append(re.escape(text[at]))
            at += 1
    return re.compile("".join(parts) + "(?:/.*)?", re.IGNORECASE | re.DOTALL)


def glob_matches(pattern: re.Pattern[str], path: str, *, workspace: str | None, home: str) -> bool:
    """Tell whether an absolute path is named by the pattern in any of its spellings."""
    if pattern.fullmatch(path):
        return True
    if workspace and (path == workspace or path.startswith(workspace.rstrip("/") + "/")):
        if pattern.fullmatch(path[len(workspace.rstrip("/")) + 1 :]):
            return True
    if path == home or path.startswith(home.rstrip("/") + "/"):
        return pattern.fullmatch("~" + path[len(home.rstrip("/")) :]) is not None
    return False


def absolute(word: str, home: str, cwd: str) -> str:
    """Return the path a word of a command would name, without looking at the disk."""
    for short in ("~", "$HOME", "${HOME}"):
        if word == short or word.startswith(short + "/"):
            word = home + word[len(short) :]
            break
    if not word.startswith("/"):
        word = f"{cwd}/{word}"
    parts: list[str] = []
    for part in word.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
