import os

from inline_snapshot import snapshot

from kova_ls.permission.effects import RunCommand
from kova_ls.tools._base import CommandResult
from kova_ls.tools.bash import TOOL


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "command": {"description": "Run by bash -c.", "type": "string"},
                "cwd": {"type": "string", "description": "Folder; default the workspace."},
                "timeout": {
                    "default": 60000,
                    "description": "Milliseconds, at most 300000.",
                    "minimum": 1,
                    "type": "integer",
                },
                "description": {"type": "string", "description": "What it is for, in a few words."},
            },
            "required": ["command"],
            "type": "object",
        }
    )


def test_tells_the_model_that_streams_are_merged():
    assert "stdout and stderr in one" in TOOL.description


async def test_both_streams_and_the_exit_code(desk):
    result = await desk.call(TOOL, command="echo out; echo err >&2; exit 3")
    assert result.text == "out\nerr\n[exit code 3]"
    assert result.is_error
    [block] = result.display
    assert (block.command, block.exit_code, block.output) == snapshot(
        (
            "echo out; echo err >&2; exit 3",
            3,
            """\
out
err
""",
        )
    )


async def test_success_without_output(desk):
    result = await desk.call(TOOL, command="true")
    assert (result.text, result.is_error) == ("(no output)\n[exit code 0]", False)


async def test_output_is_shown_while_it_runs(desk):
    args, ctx = desk.context(TOOL, {"command": "echo one"})
    await TOOL.run(args, ctx)
    assert ctx.emitted == ["one\n"]


async def test_runs_in_the_folder_named(desk):
    (desk.root / "sub").mkdir()
    args, ctx = desk.context(TOOL, {"command": "pwd", "cwd": "sub"})
    folder = os.path.join(os.path.realpath(desk.root), "sub")
    assert TOOL.effects(args, ctx.resolve) == [RunCommand("pwd", folder)]
    assert (await TOOL.run(args, ctx)).text.startswith(folder + "\n")


async def test_a_missing_folder_is_an_error(desk):
    result = await desk.call(TOOL, command="pwd", cwd="nowhere")
    assert result.is_error
    assert "does not exist" in result.text


async def test_stdin_is_empty(desk):
    assert (await desk.call(TOOL, command="cat; read x; echo $?")).text.startswith("1\n")


async def test_the_end_of_time_is_stated(desk):
    result = await desk.call(TOOL, command="echo before; sleep 100", timeout=200)
    assert result.is_error
    assert result.text == snapshot("""\
before
[Stopped after 0.2 s with everything it had started. Raise timeout (at most 300000 ms), or run it in parts.]\
""")
    assert result.display[0].exit_code is None


async def test_longer_than_five_minutes_is_cut_to_it(desk):
    args, ctx = desk.context(TOOL, {"command": "true", "timeout": 900_000})
    asked = []

    async def run_command(_command, *, cwd, timeout_s, preview_bytes=0):
        asked.append((cwd, timeout_s))
        return CommandResult(None, "", 0, None, None, timed_out=False, duration_s=0.0)

    ctx.run_command = run_command
    assert "Stopped before its end." in (await TOOL.run(args, ctx)).text
    assert asked[0][1] == 300.0


async def test_large_output_is_kept_in_a_file_that_read_can_show(desk):
    result = await desk.call(TOOL, command="seq 1 50000")
    assert result.text.startswith("1\n2\n")
    assert "bytes left out here" in result.text
    assert f"[The whole output is in {desk.saved}/output-1: use read or grep on it.]" in result.text
    assert result.output_ref == "out-1"
    assert (desk.saved / "output-1").read_text().endswith("\n50000\n")
    assert result.display[0].hidden_bytes > 0


async def test_colours_and_overwritten_lines_are_not_for_the_model(desk):
    result = await desk.call(TOOL, command=r"printf '\e[31mred\e[0m\n10%%\r100%%\r\nx\r\n'")
    assert result.text == "red\n100%\nx\n[exit code 0]"


async def test_a_signal_is_named(desk):
    assert "Ended by signal 9." in (await desk.call(TOOL, command="kill -9 $$")).text


def test_title_is_the_first_line():
    args = TOOL.args.model_validate({"command": "echo a\necho b"})
    assert TOOL.title(args) == "$ echo a …"
