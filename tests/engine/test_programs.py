import json
import os

import pytest

from kova_ls.engine.programs import Programs
from kova_ls.permission.effects import RunCommand, WritePath
from kova_ls.permission.facts import Rule
from kova_ls.vocabulary import RootSource


def rules(*texts):
    return tuple(Rule(text, RootSource.LOCAL) for text in texts)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path.resolve() / "w"
    (path / "sub").mkdir(parents=True)
    (path / "build.sh").write_text("echo 1\n")
    return path


@pytest.fixture
def programs(tmp_path):
    return Programs(tmp_path / "adopted")


def wrote(path):
    return [WritePath(str(path), str(path))]


def runs(command, cwd):
    return [RunCommand(command, str(cwd))]


BUILD = rules("./build.sh *", "git log *")


def test_a_program_that_a_tool_changed_is_known_by_every_spelling(programs, folder):
    programs.wrote(wrote(folder / "build.sh"), BUILD)
    os.symlink(folder / "build.sh", folder / "sub/b")
    for command, cwd in (
        ("./build.sh all", folder),
        ("git log && ./build.sh", folder),
        ("../build.sh", folder / "sub"),
        (f"{folder}/build.sh", "/"),
        ("sub/../build.sh", folder),
        ("./b", folder / "sub"),
    ):
        assert programs.changed_in(runs(command, cwd)), command
    assert programs.changed_in(runs("git log", folder)) == ()
    assert programs.changed_in(runs("./other.sh", folder)) == ()


def test_a_rule_holds_in_every_folder_so_each_program_it_may_mean_is_noted(programs, folder):
    programs.wrote(wrote(folder / "sub/build.sh"), BUILD)
    assert programs.changed_in(runs("./build.sh", folder / "sub"))
    assert programs.changed_in(runs("./build.sh", folder)) == ()


def test_what_no_rule_names_is_not_noted(programs, folder):
    programs.wrote(wrote(folder / "build.sh"), rules("make *"))
    assert programs.changed_in(runs("./build.sh", folder)) == ()


def test_a_program_that_a_command_changed_is_noted(programs, folder):
    before = programs.stamps(str(folder), BUILD)
    (folder / "build.sh").write_text("rm -rf /\n")
    programs.compare(before)
    assert programs.changed_in(runs("./build.sh", folder)) == ("./build.sh",)


def test_a_program_that_a_command_replaced_by_a_link_is_noted(programs, folder):
    (folder / "evil.sh").write_text("echo 1\n")
    before = programs.stamps(str(folder), BUILD)
    (folder / "build.sh").unlink()
    (folder / "build.sh").symlink_to("evil.sh")
    programs.compare(before)
    assert programs.changed_in(runs("./build.sh", folder))


def test_a_program_that_a_command_made_is_noted(programs, folder):
    before = programs.stamps(str(folder), rules("./later.sh"))
    (folder / "later.sh").write_text("x")
    programs.compare(before)
    assert programs.changed_in(runs("./later.sh", folder))


def test_a_command_that_changes_nothing_notes_nothing(programs, folder):
    programs.compare(programs.stamps(str(folder), BUILD))
    assert programs.changed_in(runs("./build.sh", folder)) == ()


def test_approval_forgets_and_a_restart_does_not(programs, folder, tmp_path):
    programs.wrote(wrote(folder / "build.sh"), BUILD)
    again = Programs(tmp_path / "adopted")
    assert again.changed_in(runs("./build.sh", folder))
    again.approve(runs("./build.sh x", folder))
    assert again.changed_in(runs("./build.sh", folder)) == ()
    assert Programs(tmp_path / "adopted").changed_in(runs("./build.sh", folder)) == ()


@pytest.mark.parametrize("raw", [b"{", b"{}", b"\xff", b"[" * 100_000])
def test_a_list_that_cannot_be_read_makes_every_program_ask(tmp_path, folder, raw):
    (tmp_path / "adopted").mkdir()
    (tmp_path / "adopted/changed-programs.json").write_bytes(raw)
    assert Programs(tmp_path / "adopted").changed_in(runs("./build.sh", folder))


def test_an_unknown_list_is_not_overwritten_by_one_approval(tmp_path, folder):
    (tmp_path / "adopted").mkdir()
    path = tmp_path / "adopted/changed-programs.json"
    path.write_text("{")
    programs = Programs(tmp_path / "adopted")
    programs.approve(runs("./build.sh", folder))
    assert path.read_text() == "{"


def test_a_rule_in_a_tools_words_names_its_program(programs, folder):
    programs.wrote(wrote(folder / "build.sh"), rules("Bash(./build.sh *)"))
    assert programs.changed_in(runs("./build.sh", folder))
    assert json.loads(programs._path.read_text()) == [str(folder / "build.sh")]


def test_a_command_that_removes_the_list_removes_nothing(programs, folder, tmp_path):
    programs.wrote(wrote(folder / "build.sh"), BUILD)
    before = programs.stamps(str(folder), BUILD)
    programs._path.unlink()
    programs.compare(before)
    assert Programs(tmp_path / "adopted").changed_in(runs("./build.sh", folder))
