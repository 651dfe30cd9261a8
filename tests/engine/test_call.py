"""One call from the model's words to its result, as people and the model see it."""

import os

from inline_snapshot import snapshot

from kova_ls.vocabulary import ApprovalLevel, Mode
from tests.support.play import play
from tests.support.stage import call, say

CALLS = ("call", "card", "answer", "command", "rules", "modify", "create", "notice", "turn")
END = say("Done.")


def test_reading_needs_no_card():
    assert play(
        [call("read", path="a.txt"), END], files={"a.txt": "one\ntwo\n"}, only=CALLS
    ) == snapshot("""\
turn t1 from tester
  call 'Read a.txt' allow ['reading'] running
  call ok: '1\\tone\\n2\\ttwo\\n[2 lines, the whole file; line ends LF.]'
turn t1 done
""")


def test_an_edit_inside_the_workspace_runs_at_its_level():
    seen = []
    assert play(
        [call("edit", path="a.txt", old_string="one", new_string="1"), END],
        files={"a.txt": "one\ntwo\n"},
        after=lambda stage, _: seen.append((stage.workspace / "a.txt").read_text()),
        only=CALLS,
    ) == snapshot("""\
turn t1 from tester
  call 'Edit a.txt' allow ['inside', 'reading'] running
  call ok: 'Replaced 1 match in a.txt (line 1).'
turn t1 done
""")
    assert seen == ["1\ntwo\n"]


def test_an_edit_at_level_ask_shows_its_diff_first():
    assert play(
        [call("edit", path="a.txt", old_string="one", new_string="1"), END],
        files={"a.txt": "one\n"},
        level="ask",
        answers=["once"],
        only=CALLS,
    ) == snapshot("""\
turn t1 from tester
  call 'Edit a.txt' ask ['level'] waiting
  card tool 'Edit a.txt' deny/once ['level']
    modify <ws>/a.txt '--- a/a.txt\\n+++ b/a.txt\\n@@ -1 +1 @@\\n-one\\n+1\\n'
  answer once by tester
  call running
  call ok: 'Replaced 1 match in a.txt (line 1).'
turn t1 done
""")


def test_a_command_runs_once_after_a_yes():
    assert play(
        [call("bash", command="touch made && echo ok"), call("bash", command="touch made"), END],
        answers=["once", ("deny", "once was enough")],
        only=CALLS,
    ) == snapshot("""\
turn t1 from tester
  call '$ touch made && echo ok' ask ['no_rule', 'no_rule'] waiting
  card tool '$ touch made && echo ok' deny/once/remember ['no_rule', 'no_rule']
    command 'touch made && echo ok'
    rules ['touch *', 'echo *']
  answer once by tester
  call running
  call ok: 'ok\\n[exit code 0]'
  call '$ touch made' ask ['no_rule'] waiting
  card tool '$ touch made' deny/once/remember ['no_rule']
    command 'touch made'
    rules ['touch *']
  answer deny by tester feedback 'once was enough'
  call blocked: 'Blocked: The person said no to this call: once was enough'
turn t1 done
""")


def test_remember_writes_the_rule_and_asks_no_more():
    rules = []

    def look(stage, _session):
        workspace = os.path.realpath(stage.workspace)
        rules.extend(rule.text for rule in stage.engine.grants.load(workspace).allow)

    assert play(
        [call("bash", command="make -v"), call("bash", command="make -v -s"), END],
        answers=["remember"],
        after=look,
        only=("call 'running'", "call '", "card", "answer", "rules", "turn"),
    ) == snapshot("""\
turn t1 from tester
  call '$ make -v' ask ['no_rule'] waiting
  card tool '$ make -v' deny/once/remember ['no_rule']
    rules ['make *']
  answer remember by tester
  call '$ make -v -s' allow ['rule'] running
turn t1 done
""")
    assert rules == ["make *"]


def test_mode_ask_blocks_what_changes_things():
    model = [call("write", path="a.txt", content="x"), call("bash", command="ls"), END]
    assert play(model, mode="ask", only=CALLS) == snapshot("""\
turn t1 from tester
  call 'Write a.txt' blocked ['mode'] waiting
  call blocked: 'Blocked: The session is in mode `ask`, which changes nothing; a person can switch the mode.'
  call '$ ls' blocked ['mode', 'no_rule'] waiting
  call blocked: 'Blocked: Mode `ask` runs no commands; a person can switch the mode. No rule covers `ls`.'
turn t1 done
""")


def test_mode_plan_blocks_all_writes_but_the_plan():
    assert play(
        [call("edit", path="a.txt", old_string="a", new_string="b"), END],
        files={"a.txt": "a"},
        mode="plan",
        only=CALLS,
    ) == snapshot("""\
turn t1 from tester
  call 'Edit a.txt' blocked ['mode'] waiting
  call blocked: "Blocked: In mode `plan` only the session's plan file may be written; leave it with plan_exit."
turn t1 done
""")


def test_a_fault_of_a_tool_is_a_result(monkeypatch):
    from kova_ls.engine import call as module

    def fault(*_args, **_named):
        raise ZeroDivisionError("the secret of the fault")

    monkeypatch.setattr(module.CallContext, "run_program", fault)
    transcript = play([call("grep", pattern="x"), END], files={"a": "x"}, only=CALLS)
    assert "secret" not in transcript
    assert "The tool failed by a fault of its own (incident " in transcript
    assert "turn t1 done" in transcript


def test_a_level_that_allows_the_open_card_lets_the_call_go_on():
    assert play(
        [call("edit", path="a.txt", old_string="a", new_string="b"), END],
        files={"a.txt": "a"},
        level="ask",
        answers=[
            lambda _, session: session.configure("tester", level=ApprovalLevel.WORKSPACE_WRITE)
        ],
        only=CALLS,
    ) == snapshot("""\
turn t1 from tester
  call 'Edit a.txt' ask ['level'] waiting
  card tool 'Edit a.txt' deny/once ['level']
    modify <ws>/a.txt '--- a/a.txt\\n+++ b/a.txt\\n@@ -1 +1 @@\\n-a\\n\\\\ No newline at end of file\\n+b\\n\\\\ No newline at end of file\\n'
  answer allowed by level
  call running
  call ok: 'Replaced 1 match in a.txt (line 1).'
turn t1 done
""")


def test_a_mode_that_blocks_the_open_card_ends_the_call():
    assert play(
        [call("bash", command="make"), END],
        answers=[lambda _, session: session.configure("tester", mode=Mode.ASK)],
        only=CALLS,
    ) == snapshot("""\
turn t1 from tester
  call '$ make' ask ['no_rule'] waiting
  card tool '$ make' deny/once/remember ['no_rule']
    command 'make'
    rules ['make *']
  answer blocked by mode
  call blocked: 'Blocked: Mode `ask` runs no commands; a person can switch the mode. No rule covers `make`.'
turn t1 done
""")


def test_a_change_of_settings_that_settles_nothing_leaves_the_card():
    assert play(
        [call("bash", command="make"), END],
        answers=[lambda _, session: session.configure("tester", level=ApprovalLevel.AUTO_EDIT)],
        only=CALLS,
    ) == snapshot("""\
turn t1 from tester
  call '$ make' ask ['no_rule'] waiting
  card tool '$ make' deny/once/remember ['no_rule']
    command 'make'
    rules ['make *']
""")


def test_a_file_that_moved_under_the_card_is_shown_again():
    def change_and_say_yes(stage, session):
        stage.put("a.txt", "one more\n")
        stage.respond(session, session.state.approvals[0].approval_id, "once")

    assert play(
        [call("edit", path="a.txt", old_string="one", new_string="1"), END],
        files={"a.txt": "one\n"},
        level="ask",
        answers=[change_and_say_yes, "once"],
        only=CALLS,
    ) == snapshot("""\
turn t1 from tester
  call 'Edit a.txt' ask ['level'] waiting
  card tool 'Edit a.txt' deny/once ['level']
    modify <ws>/a.txt '--- a/a.txt\\n+++ b/a.txt\\n@@ -1 +1 @@\\n-one\\n+1\\n'
  answer once by tester
  card tool 'Edit a.txt' deny/once ['level']
    modify <ws>/a.txt '--- a/a.txt\\n+++ b/a.txt\\n@@ -1 +1 @@\\n-one more\\n+1 more\\n'
    notice 'What this call would change is not what was approved: review again.'
  answer once by tester
  call running
  call ok: 'Replaced 1 match in a.txt (line 1).'
turn t1 done
""")


def test_the_calls_of_a_reply_run_in_order():
    step = {
        "calls": [
            {"name": "write", "arguments": {"path": "a.txt", "content": "new\n"}},
            {"name": "read", "arguments": {"path": "a.txt"}},
        ]
    }
    assert play([step, END], only=CALLS) == snapshot("""\
turn t1 from tester
  call 'Write a.txt' allow ['inside'] running
  call ok: 'Created a.txt (+1 -0 lines).'
  call 'Read a.txt' allow ['reading'] running
  call ok: '1\\tnew\\n[1 line, the whole file; line ends LF.]'
turn t1 done
""")


def test_an_alias_is_the_tool():
    assert play([call("Read", path="a.txt"), END], files={"a.txt": "x\n"}, only=CALLS) == snapshot("""\
turn t1 from tester
  call 'Read a.txt' allow ['reading'] running
  call ok: '1\\tx\\n[1 line, the whole file; line ends LF.]'
turn t1 done
""")


def test_a_call_without_an_editor_that_shows_files_says_so():
    assert play(
        [call("open_plugin_panel", kind="markdown", title="T", markdown="x"), END], only=CALLS
    ) == snapshot("""\
turn t1 from tester
  call 'Open panel T' allow ['harmless'] running
  call error: "tester has no panel of kind 'markdown' (it has: none)."
turn t1 done
""")


def planned(*answers):
    def write_plan(_stage, session):
        with open(session.plan_path, "w", encoding="utf-8") as file:
            file.write("# Plan\n1. Do it.\n")

    options = [{"label": "Fast", "description": "q"}, {"label": "Safe", "description": "s"}]
    return play(
        [call("plan_exit", options=options), END],
        mode="plan",
        before=write_plan,
        answers=answers,
        only=("call", "card", "plan", "answer", "configured", "turn"),
    )


def test_a_plan_is_approved():
    assert planned("approve / Safe") == snapshot("""\
turn t1 from tester
  call 'Present the plan' allow ['harmless'] waiting
  card plan 'Approve the plan?' reject/rejectAndExit/revise/approve []
    plan '# Plan\\n1. Do it.' ['Fast', 'Safe']
  answer approve by tester option 'Safe'
  call running
configured agent workspace-write script by plan_exit
  call ok: 'The plan is approved; the mode is agent. Carry it out. Chosen approach: Safe.'
turn t1 done
""")


def test_a_plan_is_rejected():
    assert planned("reject") == snapshot("""\
turn t1 from tester
  call 'Present the plan' allow ['harmless'] waiting
  card plan 'Approve the plan?' reject/rejectAndExit/revise/approve []
    plan '# Plan\\n1. Do it.' ['Fast', 'Safe']
  answer reject by tester
  call running
  call ok: 'The plan is rejected; the mode stays plan. Ask what is wanted instead.'
turn t1 done
""")


def test_a_plan_is_rejected_and_the_turn_leaves_the_mode():
    assert planned("rejectAndExit") == snapshot("""\
turn t1 from tester
  call 'Present the plan' allow ['harmless'] waiting
  card plan 'Approve the plan?' reject/rejectAndExit/revise/approve []
    plan '# Plan\\n1. Do it.' ['Fast', 'Safe']
  answer rejectAndExit by tester
  call running
configured agent workspace-write script by plan_exit
  call ok: 'The plan is rejected; the mode is agent. Do not carry it out; stop here.'
turn t1 done
""")


def test_a_plan_is_to_be_revised():
    assert planned(("revise", "Add tests.")) == snapshot("""\
turn t1 from tester
  call 'Present the plan' allow ['harmless'] waiting
  card plan 'Approve the plan?' reject/rejectAndExit/revise/approve []
    plan '# Plan\\n1. Do it.' ['Fast', 'Safe']
  answer revise by tester feedback 'Add tests.'
  call running
  call ok: 'Revise the plan in <root>/data/sessions/<session>/plan.md, then call plan_exit again.\\nThe person says: Add tests.'
turn t1 done
""")


def test_the_same_write_asks_every_time_at_level_ask():
    step = call("write", path="a.txt", content="x")
    transcript = play([step, step, END], level="ask", answers=["once", "once"], only=CALLS)
    assert transcript.count("card tool 'Write a.txt' deny/once ['level']") == 2
    assert transcript.count("call ok") == 2


def test_just_this_once_leaves_nothing_on_the_disk():
    found = []

    def look(stage, _session):
        places = [stage.root / "kova", stage.root / "home", stage.workspace]
        found.append(
            {
                str(path): path.read_bytes()
                for place in places
                for path in place.rglob("*")
                if path.is_file()
            }
        )

    step = call("bash", command="true made")
    transcript = play(
        [step, step, END],
        before=look,
        answers=["once", look],
        only=CALLS,
    )
    assert transcript.count("card tool") == 2
    assert found[0] == found[1]
    assert found[0]
