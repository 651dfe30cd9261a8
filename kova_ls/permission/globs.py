"""Path patterns of deny rules, and the paths that words of a command name.

Invariant: matched without case and with everything below a folder: a deny rule is read widely.
"""

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase


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
        if text[at:] == "/**":
            break  # What is below the folder is named anyhow, and the folder stands for it.
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


_WILD = re.compile(r"[*?]|\[[^\]]*\]?")


def may_expand_to(path: str, glob: str, *, workspace: str | None, home: str) -> bool:
    """Tell whether a path that holds patterns of the shell may become one that a rule names.

    A part that is nothing but a pattern (`*`) names whatever there is and does not count.
    """
    mine = path.lower().strip("/").split("/")
    text = glob.lower().removeprefix("./").rstrip("/")
    if "/" not in text:
        return any(_overlap(part, text) for part in mine)
    if text.startswith("~/"):
        text = home.lower() + text[1:]
    elif not text.startswith("/"):
        text = f"{(workspace or '').lower()}/{text}"
    return _parts_overlap(mine, [part for part in text.split("/") if part])


def _parts_overlap(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    places = {0}
    for part in mine:
        for place in sorted(places):
            if place < len(theirs) and theirs[place] == "**":
                places.add(place + 1)
        if len(theirs) in places:
            return True
        places = {
            place + (theirs[place] != "**")
            for place in places
            if theirs[place] == "**" or _overlap(part, theirs[place])
        }
    return any(all(part == "**" for part in theirs[place:]) for place in places)


def _overlap(mine: str, theirs: str) -> bool:
    """Tell whether one name may fit both patterns; errs towards yes."""
    pieces, other = _WILD.split(mine), _WILD.split(theirs)
    if len(pieces) == 1:
        return fnmatchcase(mine, theirs)
    if not any(pieces) or (theirs[:1] == "." and mine[:1] not in (".", "[")):
        return False
    if len(other) == 1:
        return len(mine) < 256 and fnmatchcase(theirs, mine)
    return (pieces[0].startswith(other[0]) or other[0].startswith(pieces[0])) and (
        pieces[-1].endswith(other[-1]) or other[-1].endswith(pieces[-1])
    )


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


_BRACES = re.compile(r"\{([^{}]*)\}")


def unbraced(value: str) -> tuple[str, ...]:
    """Return the words that brace expansion makes of a word, as far as they are few."""
    found = [value]
    for _ in range(4):
        if not any("{" in word for word in found):
            break
        more: list[str] = []
        for word in found:
            match = _BRACES.search(word)
            if match is None:
                more.append(word)
            else:
                more += [
                    word[: match.start()] + choice + word[match.end() :]
                    for choice in match[1].split(",")
                ]
        found = more[:256]
    return tuple(found)
