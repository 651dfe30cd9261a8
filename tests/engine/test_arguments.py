"""What the model wrote, as a tool and its arguments, or as what is wrong with it."""

from inline_snapshot import snapshot

from tests.support.play import play
from tests.support.stage import call, say

CALLS = ("call", "turn")
END = say("Done.")


def test_an_unknown_tool_is_told_what_there_is():
    transcript = play([call("format_disk", all=True), END], only=CALLS)
    assert "call 'format_disk' blocked ['notRun'] waiting" in transcript
    assert "There is no tool 'format_disk'. Available: bash, " in transcript
    assert "plan_exit" not in transcript


def test_bad_arguments_are_named():
    assert play([call("read", path=7, speed="fast"), END], only=CALLS) == snapshot("""\
turn t1 from tester
  call 'read' blocked ['notRun'] waiting
  call error: 'The arguments of read do not fit: path: Input should be a valid string; speed: Extra inputs are not permitted.'
turn t1 done
""")


def test_arguments_that_are_no_object_are_named():
    step = {"calls": [{"name": "read", "arguments": {}}]}
    assert play([step, END], only=CALLS) == snapshot("""\
turn t1 from tester
  call 'read' blocked ['notRun'] waiting
  call error: 'The arguments of read do not fit: path: Field required.'
turn t1 done
""")
