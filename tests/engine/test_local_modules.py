"""Which Python modules lie in the folders where a command would run modules."""

import os

import pytest

from kova_ls.engine.local_modules import with_local_modules
from kova_ls.permission.effects import RunCommand


def found(folder, command="python -m json.tool a"):
    effect = RunCommand(command, str(folder))
    return with_local_modules(effect, str(folder), str(folder)).local_modules


@pytest.mark.parametrize(
    "name",
    [
        *("json.py", "json.pyc", "json.so", "json.cpython-311-x86_64-linux-gnu.so", "json.abi3.so"),
        *("json/__init__.py", "json/__init__.pyc", "json/__init__.abi3.so"),
    ],
)
def test_what_python_would_take_for_a_module(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("")
    assert found(tmp_path) == {"json"}


@pytest.mark.parametrize("name", ["json.txt", "json/x.py", "main.py", "json.py/x", "test.py"])
def test_what_it_would_not(tmp_path, name):
    if name == "json.py/x":
        (tmp_path / "json.d").mkdir()
        name = "json.d/x"
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("")
    assert found(tmp_path) == frozenset()


@pytest.mark.parametrize(
    "name",
    [
        *("ruff/__main__.py", "IPython/core/x.py", "IPython/x.py", "distutils/cmd.py"),
        *("ensurepip/__main__.py", "json/__main__.pyc", "pip/x/y"),
    ],
)
def test_a_folder_without_init_takes_the_place_of_what_is_missing(tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("")
    assert found(tmp_path) == {name.split("/")[0]}


@pytest.mark.parametrize("name", ["ruff/a.txt", "venv/bin/python", "site/x.py", "email/a/b.py"])
def test_other_folders_do_not(tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("")
    assert found(tmp_path) == frozenset()


def test_the_folder_of_a_new_environment_is_looked_into(tmp_path):
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "ensurepip.py").write_text("")
    assert found(tmp_path, "python -m venv .venv") == {"ensurepip"}
    assert found(tmp_path, "python -m venv other") == frozenset()


def test_all_folders_are_looked_into_and_missing_ones_hold_nothing(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "re.py").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert found(tmp_path, "cd a && python -m json.tool x") == {"re"}
    assert found(tmp_path, "cd link && python -m json.tool x") == {"re"}
    assert found(tmp_path, "cd missing && python -m json.tool x") == frozenset()
    assert found(tmp_path, "cd a && python -m pytest") == frozenset()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_may_hold_anything(tmp_path):
    (tmp_path / "a").mkdir(mode=0o111)
    assert found(tmp_path, "cd a && python -m json.tool x")
