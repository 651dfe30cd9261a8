import shlex

import pytest

from kova_ls.permission.programs import development_program, make_rule, never_reason
from kova_ls.permission.python_modules import (
    PYTHON_MODULES,
    PYTHON_WRAPPERS,
    PythonModule,
    could_replace,
    may_be_missing,
    replaced,
    runs_own_code,
)
from tests.support.permit import decide, facts, rule_on


@pytest.mark.parametrize("entry", PYTHON_MODULES, ids=lambda entry: entry.names)
def test_every_entry_keeps_what_its_examples_say(entry: PythonModule) -> None:
    assert entry.reason
    for command, rule in entry.examples:
        assert never_reason(shlex.split(command)) is None
        assert make_rule(shlex.split(command)) == rule
        assert decide(command, facts(rule)) == "allow"


@pytest.mark.parametrize(
    "command",
    [
        "python",
        "python x.py",
        "python -m",
        "python -m http.server",
        "python -m x",
        "python -m pytest.x",
        "python -m json",
        "python -m ./pytest",
        "python -mpytest",
        "python -c 1 -m pytest",
        "python -i -m pytest",
        "python -X dev -m pytest",
        "python -W ignore -m pytest",
        "python -B -m pytest",
        "python x.py -m pytest",
        "python - -m pytest",
        "python -m $X",
        "python $X -m pytest",
        "python -m pytest$X",
        "python -m p[y]test",
        "python2 -m pytest",
        "ipython -m pytest",
        "uv run -m pytest",
        "uv run python x.py",
        "uv run python -m x",
        "uv run ./python -m pytest",
        "uv run --with x python -m pytest",
        "uv run node -m pytest",
        "pnpm exec python -m pytest",
        "uv run uv run python -m pytest",
        "env python -m pytest",
    ],
)
def test_nothing_else_is_remembered_with_python(command: str) -> None:
    assert rule_on(command).rules == ()
    words = ("python", "python -m", "uv run", "uv run python", "uv run python -m", "python *")
    assert decide(command, facts(*(f"{word} *" for word in words))) == "ask"


@pytest.mark.parametrize("wrapper", sorted(PYTHON_WRAPPERS))
def test_a_wrapper_may_start_python(wrapper: str) -> None:
    words = [wrapper, "run", "python3", "-m", "pytest", "-q"]
    assert make_rule(words) == f"{wrapper} run python3 -m pytest *"
    inner = development_program(words)
    assert inner is not None
    assert (inner.at, inner.program, inner.is_module) == (4, "pytest", True)


def test_a_rule_holds_for_its_module_alone() -> None:
    given = facts("python -m pytest *", "python -m pip install *", "uv run python -m mypy *")
    assert decide("python -m pytest", given) == "allow"
    assert decide("python -m pip install -r requirements.txt 2>&1 | tail -3", given) == "ask"
    assert decide("python -m pip install -e .", given) == "allow"
    for command in (
        "python3 -m pytest",
        "./python -m pytest",
        "python -m unittest",
        "python -m pip uninstall x",
        "python -m pip $X",
        "python -m pip",
        "uv run python -m pytest",
        "python -m mypy",
    ):
        assert decide(command, given) == "ask", command


def test_options_ask_as_they_do_for_the_program_itself() -> None:
    given = facts("python -m pytest *", "python -m pip *", "uv run python -m pytest *", "pytest *")
    for options in ("-p x", "-c evil.ini", "--pdbcls=x:Y", "-o addopts=x", "$X", "*", "@args"):
        assert decide(f"pytest {options}", given) == "ask", options
        assert decide(f"python -m pytest {options}", given) == "ask", options
        assert decide(f"uv run python -m pytest {options}", given) == "ask", options
    assert decide("python -m pip install --target /x y", given) == "ask"
    assert decide("python -m pip i[n]stall y", given) == "ask"


def test_a_rule_for_python_alone_is_refused_or_free() -> None:
    for rule in ("python *", "python -m *", "python -m x *", "uv run python *"):
        assert decide("python -m pytest", facts(rule)) == "ask"


def test_a_deny_rule_for_the_program_holds_for_the_module() -> None:
    for rule in ("pip install *", "python3 -m pip *", "python *", "pip *"):
        python = "python" if rule == "python *" else "python3"
        assert decide(f"{python} -m pip install x", facts(deny=(rule,))) == "deny", rule
        assert decide(f"uv run {python} -m pip install x", facts(deny=(rule,))) == "deny", rule
    assert decide("uv run pytest -q", facts(deny=("pytest *",))) == "deny"
    assert decide("python -m pre_commit run", facts(deny=("pre-commit *",))) == "deny"
    assert decide("python -m pytest", facts("python -m pytest *", deny=("pip *",))) == "allow"


def test_modules_of_the_folder_are_told_apart() -> None:
    assert runs_own_code("json.tool")
    assert not runs_own_code("pytest")
    assert not runs_own_code("x")
    assert replaced("json.tool", frozenset({"argparse", "x"})) == "argparse"
    assert replaced("json.tool", frozenset({"json"})) == "json"
    assert replaced("json.tool", frozenset({"x", "test", "click"})) is None
    assert replaced("black", frozenset({"click"})) == "click"
    assert replaced("ruff", frozenset({"ruff"})) == "ruff"
    assert replaced("json.tool", frozenset({"_new"})) == "_new"
    for name in ("json", "click", "ruff", "pip", "argparse", "org", "_black_version", "a__mypyc"):
        assert could_replace(name)
    for name in ("main", "__init__", "__main__"):
        assert not could_replace(name)


def test_modules_that_every_python_has_are_never_missing() -> None:
    assert not may_be_missing("json")
    assert not may_be_missing("argparse")
    for name in ("click", "pytest", "test", "ensurepip", "distutils"):
        assert may_be_missing(name)
