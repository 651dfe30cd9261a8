"""Tell whether a path is inside a folder, and which folders may be roots.

Invariant: compares resolved text only; a path that is not absolute and clean is inside nothing.
"""

import unicodedata
from collections.abc import Iterable

from kova_ls.permission.facts import Facts, Root


def folded(path: str, *, case_folds: bool) -> str:
    """Return the form in which two spellings of one path compare equal."""
    if not case_folds:
        return path
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def is_clean(path: str) -> bool:
    """Tell whether the path is absolute without `.`, `..`, doubled slashes or NUL."""
    if not path.startswith("/") or "\0" in path:
        return False
    if "//" in path or "/." in path:
        parts = path[1:].rstrip("/").split("/") if path != "/" else []
        return all(part not in ("", ".", "..") for part in parts)
    return True


def is_inside(path: str, folder: str, *, case_folds: bool = False) -> bool:
    """Tell whether a resolved path is the folder or below it."""
    if not is_clean(path) or not is_clean(folder):
        return False
    path, folder = folded(path, case_folds=case_folds), folded(folder, case_folds=case_folds)
    folder = folder.rstrip("/")
    return path == folder or path.startswith(folder + "/")


def find_root(path: str, facts: Facts) -> str | None:
    """Return the folder that makes the path count as inside the workspace, or None."""
    if facts.workspace is not None and is_inside(
        path, facts.workspace, case_folds=facts.case_folds
    ):
        return facts.workspace
    for root in facts.roots:
        if is_inside(path, root.path, case_folds=facts.case_folds):
            return root.path
    return None


def expand_root(text: str, *, workspace: str | None, home: str) -> str:
    """Return a written root as an absolute path, links not yet followed.

    Shape: the empty string when it is relative and there is no workspace.
    """
    if text == "~" or text.startswith("~/"):
        base, text = home, text[2:]
    elif text.startswith("/"):
        base = ""
    elif workspace is None:
        return ""
    else:
        base = workspace
    parts: list[str] = []
    for part in f"{base}/{text}".split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def root_problem(path: str, *, home: str, case_folds: bool = False) -> str | None:
    """Return why a resolved folder may not be a root, ending with what to do; None when it may."""
    if not is_clean(path):
        return "The root is not a folder that can be found; name an existing folder."
    if path == "/":
        return "The whole machine cannot be a root; name the folder that is needed."
    if is_inside(home, path, case_folds=case_folds):
        return "The home folder cannot be a root; name a folder inside it."
    return None


def paths_of(roots: Iterable[Root]) -> tuple[str, ...]:
    """Return the folders of the roots, in order."""
    return tuple(root.path for root in roots)
