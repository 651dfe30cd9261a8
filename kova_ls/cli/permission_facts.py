"""What `kova-ls permission test` judges by: the facts of this machine and of one workspace.

Invariant: reads the files that an engine would read, and writes none.
"""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from kova_ls import paths
from kova_ls.cli.terminal import shown
from kova_ls.engine import grants, judge, places
from kova_ls.permission.facts import Facts, Root, Rule
from kova_ls.permission.roots import expand_root, root_problem
from kova_ls.vocabulary import ApprovalLevel, Mode, RootSource


@dataclass(frozen=True, slots=True)
class World:
    """What the command is given of the process."""

    env: Mapping[str, str]
    cwd: str
    stdin: BinaryIO
    stdout: TextIO
    stderr: TextIO


class Unusable(Exception):
    """The command line or a file it names cannot be used; the text says what to do."""


def facts_of(options: argparse.Namespace, world: World) -> tuple[Facts, Sequence[grants.Proposal]]:
    """Build the facts from the machine, as an engine would for a session in the workspace.

    Shape: with them, what the files ask for.
    """
    folder = os.path.realpath(os.path.join(world.cwd, options.workspace or "."))
    if not os.path.isdir(folder):
        raise Unusable(f"{shown(folder)} is no folder; name one with --workspace.")
    facts = replace(
        machine(world),
        mode=Mode(options.mode),
        level=ApprovalLevel(options.level),
        workspace=folder,
        plan_path=None,
        git_dirs_ok=judge.git_dir_is_own(folder),
    )
    if options.rules is not None:
        return _with_file(facts, os.path.join(world.cwd, options.rules)), ()
    found = grants.Grants(
        Path(facts.kova_home), Path(facts.data_dir), home=Path(facts.home), env=world.env
    ).load(folder)
    facts = replace(
        facts,
        roots=tuple(found.roots),
        allow=tuple(found.allow),
        deny=tuple(found.deny),
        strict_redirects=found.strict_redirects,
    )
    return facts, found.proposals


def machine(world: World) -> Facts:
    """Return the facts that do not depend on a workspace."""
    env = world.env
    return Facts(
        mode=Mode.AGENT,
        level=ApprovalLevel.WORKSPACE_WRITE,
        workspace=None,
        home=os.path.realpath(paths.user_home(env)),
        kova_home=os.path.realpath(paths.home(env)),
        data_dir=os.path.realpath(paths.data_dir(env)),
        runtime_dir=os.path.realpath(paths.runtime_dir(env)),
        path_dirs=places.path_dirs(env.get("PATH", "")),
        case_folds=places.CASE_FOLDS,
    )


def _with_file(facts: Facts, path: str) -> Facts:
    """Return the facts with the rules of one file, as a local file's."""
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{shown(path)} cannot be read ({error}); name another file.") from None
    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        data = {"allow": [line.strip() for line in text.splitlines() if line.strip()]}
    if not isinstance(data, dict):
        raise Unusable(f'{shown(path)} holds no rules; write {{"allow": ["git log *"]}}.')
    table = cast(dict[str, Any], data)
    roots: list[Root] = []
    for text in _texts(table.get("writableRoots")):
        where = os.path.realpath(expand_root(text, workspace=facts.workspace, home=facts.home))
        problem = root_problem(where, home=facts.home, case_folds=facts.case_folds)
        if problem is not None:
            raise Unusable(f"{shown(text)}: {problem}")
        roots.append(Root(where, RootSource.LOCAL))
    return replace(
        facts,
        allow=tuple(Rule(text, RootSource.LOCAL) for text in _texts(table.get("allow"))),
        deny=tuple(Rule(text, RootSource.LOCAL) for text in _texts(table.get("deny"))),
        roots=tuple(roots),
        strict_redirects=table.get("strictRedirects") is True,
    )


def _texts(value: Any) -> list[str]:
    if not isinstance(value, list):
        return []
    return [entry for entry in cast(list[Any], value) if isinstance(entry, str)]
