"""From one prompt to its end."""

import asyncio
import re

from inline_snapshot import snapshot

from kova_ls.engine.process_group import processes
from kova_ls.values import FilePart, Position, Range, SelectionPart, TextPart
from kova_ls.vocabulary import StartStatus, WhenBusy
from tests.support.play import play
from tests.support.stage import Stage, call, say

END = say("Done.")


async def interrupt(_stage, session):
    await session.interrupt(None)


def test_a_turn_is_a_line_of_records():
    assert play([say("Hello.")], prompts=["Say hello.\nPlease."]) == snapshot("""\
turn t1 from tester
renamed 'Say hello.' by engine
  user 'Say hello.\\nPlease.'
  step 1 script
  reply ok 'Hello.'
  step end end
turn t1 done
""")


def test_the_title_is_made_from_the_first_prompt():
    long = "word " * 30
    assert play([END, END], prompts=[long, "Second."], only=("renamed",)) == snapshot(
        "renamed 'word word word word word word word word word word word word…' by engine\n"
    )


def test_reasoning_stands_before_the_reply():
    assert play([say("So.", reasoning=["Hm", "m."])], only=("reply", "reasoning")) == snapshot("""\
  reasoning ok 'Hmm.'
  reply ok 'So.'
""")


def test_an_interrupt_while_the_model_speaks_keeps_what_was_said():
    slow = say(["Once ", "upon ", "a time"], delay_ms=200)
    seen = []

    async def stop(stage, session):
        await stage.until(lambda: any(getattr(f, "text", "") for f in stage.facts))
        seen.append(await session.interrupt(None))

    assert play([slow], on={"step 1": stop}) == snapshot("""\
turn t1 from tester
renamed 'Go.' by engine
  user 'Go.'
  step 1 script
  reply cancelled 'Once '
  step end interrupted
turn t1 interrupted stopped ["the model's answer"]
""")
    assert seen == [("the model's answer",)]


async def test_an_interrupt_ends_the_command_and_all_it_started(tmp_path):
    command = "sleep 300 & echo group $$; sleep 300"
    stage = Stage(tmp_path, [call("bash", command=command), END])
    session = stage.create(level="ask")
    stage.prompt(session, "Go.")

    def printed():
        return "".join(getattr(fact, "text", "") for fact in stage.facts)

    stage.respond(session, await stage.waiting(session), "once")
    await stage.until(lambda: "group" in printed())
    group = int(re.search(r"group (\d+)", printed())[1])
    stopped = await session.interrupt(None)
    assert not any(is_alive and of == group for _, _, of, is_alive in processes())
    assert stopped[0].startswith(f"{command} (process {group}")
    ended = [r for r in stage.records() if r.type == "item.completed"][-1]
    assert ended.item.status == "cancelled"
    assert f"group {group}" in ended.result
    assert session.state.status == "idle"
    await stage.close()


def test_an_interrupt_closes_the_open_card():
    assert play([call("bash", command="make"), END], answers=[interrupt]) == snapshot("""\
turn t1 from tester
renamed 'Go.' by engine
  user 'Go.'
  step 1 script
  call '$ make' ask ['no_rule'] waiting
  card tool '$ make' deny/once/remember ['no_rule']
    command 'make'
    rules ['make *']
  suspended
  answer cancelled by interrupt
  resumed
  call cancelled: 'Stopped by the person.'
  step end interrupted
turn t1 interrupted stopped ['approval of $ make']
""")


def test_an_interrupt_closes_open_questions():
    options = [{"label": "A", "description": ""}, {"label": "B", "description": ""}]
    asking = call("Question", questions=[{"question": "Why?", "options": options}])
    assert play(
        [asking, END], answers=[interrupt], only=("call", "asks", "answer", "turn")
    ) == snapshot("""\
turn t1 from tester
  call 'Ask: Why?' allow ['harmless'] waiting
  asks ['Why?']
  answer cancelled [] by interrupt
  call cancelled: 'Stopped by the person.'
turn t1 interrupted stopped ['question: Why?']
""")


async def test_an_interrupt_before_the_turn_began_ends_it(tmp_path):
    stage = Stage(tmp_path, [END])
    session = stage.create()
    turn_id, _ = stage.prompt(session, "Go.")
    session.turn.cancel()
    await session.interrupt(turn_id)
    assert session.state.status == "idle"
    assert stage.records()[-1].type == "turn.completed"
    await stage.close()


async def test_an_edit_that_the_editor_makes_after_an_interrupt_is_to_be_reviewed(tmp_path):
    stage = Stage(tmp_path, [call("edit", path="a.txt", old_string="one", new_string="two"), END])
    path = stage.put("a.txt", "one\n")
    opened = stage.editor.opened
    opened.open(path, "one\n", is_dirty=False)
    asked, goes_on, make = asyncio.Event(), asyncio.Event(), opened.replace

    async def slow(document, text):
        asked.set()
        await goes_on.wait()
        return await make(document, text)

    opened.replace = slow
    session = stage.create()
    stage.prompt(session, "Go.")
    await asked.wait()
    assert await session.interrupt(None) == ("Edit a.txt",)
    goes_on.set()
    await stage.until(lambda: stage.records()[-1].type == "changes.updated")
    assert session.state.status == "idle"
    assert path.read_text() == "one\n"
    await stage.close()


async def test_two_interrupts_end_one_turn_once(tmp_path):
    stage = Stage(tmp_path, [call("bash", command="make"), END])
    session = stage.create()
    stage.prompt(session, "Go.")
    await stage.waiting(session)
    await asyncio.gather(session.interrupt(None), session.interrupt(None))
    assert [r.type for r in stage.records()].count("turn.completed") == 1
    assert session.state.status == "idle"
    await stage.close()


def test_the_model_failing_ends_the_turn_with_its_words():
    error = {"code": "overloaded", "message": "Come back later.", "retryable": True}
    assert play([{"error": error}]) == snapshot("""\
turn t1 from tester
renamed 'Go.' by engine
  user 'Go.'
  step 1 script
  step end failed: overloaded
turn t1 failed: overloaded: Come back later.
""")


def test_a_model_failing_in_the_middle_keeps_what_was_said():
    error = {"code": "brokenStream", "message": "The line broke. Send it again."}
    assert play([{"text": "Half", "error": error}], only=("reply", "step", "turn")) == snapshot("""\
turn t1 from tester
  step 1 script
  reply error 'Half'
  step end end: brokenStream
turn t1 failed: brokenStream: The line broke. Send it again.
""")


def test_a_call_that_was_cut_off_is_not_run():
    step = {"text": "I write", "cut_off": [{"name": "write", "arguments": '{"path": "a'}]}
    assert play([step]) == snapshot("""\
turn t1 from tester
renamed 'Go.' by engine
  user 'Go.'
  step 1 script
  reply ok 'I write'
  call 'write' blocked ['notRun'] waiting
  call error: 'The arguments of write are no whole JSON object, and it was not run. Send the call again, with valid JSON.'
  step end length
turn t1 limit: limitExceeded: The answer reached the model's output limit in the middle of a tool call, which was not run. Ask it to go on, or raise max_output_tokens.
""")


def test_retries_are_told():
    assert play([say("Done.", retries=2)], only=("notice", "reply", "turn")) == snapshot("""\
turn t1 from tester
  notice warning 'The script plays an overloaded model. Wait. Trying again in 0 s (1).'
  notice warning 'The script plays an overloaded model. Wait. Trying again in 0 s (2).'
  reply ok 'Done.'
turn t1 done
""")


def test_the_limit_of_steps_ends_the_turn():
    reading = call("read", path="a.txt")
    assert play(
        [reading, reading, reading, END],
        files={"a.txt": "x\n"},
        settings="max_steps = 2",
        only=("step", "turn"),
    ) == snapshot("""\
turn t1 from tester
  step 1 script
  step end end
  step 2 script
  step end end
turn t1 limit: limitExceeded: The turn reached 2 steps. Send a prompt to go on, or raise max_steps.
""")


def test_mentions_bring_their_text_unsaved_changes_included():
    def edit(stage, _session):
        stage.editor.opened.open(stage.workspace / "open.txt", "unsaved\n")

    lines = Range(start=Position(line=1, character=0), end=Position(line=1, character=3))
    prompt = (
        TextPart(text="Look."),
        FilePart(uri="file://{ws}/a.txt"),
        FilePart(uri="file://{ws}/a.txt", range=lines),
        FilePart(uri="file://{ws}/open%2Etxt"),
        FilePart(uri="file://{ws}/missing.txt"),
        SelectionPart(uri="file://{ws}/a.txt", range=lines, text="two"),
    )
    expect = ["two", "unsaved"]
    assert play(
        [say("Seen.", expect=expect)],
        files={"a.txt": "one\ntwo\n", "open.txt": "saved\n"},
        prompts=[prompt],
        before=edit,
        only=("user", "context", "reply", "turn"),
    ) == snapshot("""\
turn t1 from tester
  user 'Look. file file file file selection'
  context '<file uri="<ws>/a.txt">\\none\\ntwo\\n\\n</file>'
  context '<file uri="<ws>/a.txt">\\ntwo\\n</file>'
  context '<file uri="<ws>/open%2Etxt" seen="in the editor, not saved">\\nunsaved\\n\\n</file>'
  context '<file uri="<ws>/missing.txt" error="No such file or directory"/>'
  reply ok 'Seen.'
turn t1 done
""")


def system_of(*, trusted):
    systems = []

    async def look(stage, session):
        adapter = stage.engine.models.adapter("script", stage.env)
        run = adapter.run

        async def spy(request, sink, on_retry):
            systems.append(request.system)
            return await run(request, sink, on_retry)

        adapter.run = spy

    play(
        [END],
        files={"AGENTS.md": "Use tabs.\n"},
        trusted=trusted,
        before=look,
    )
    return systems[0]


def test_instruction_files_count_in_a_trusted_folder():
    assert "Use tabs." in system_of(trusted=True)


def test_instruction_files_of_an_untrusted_folder_are_not_read():
    assert "Use tabs." not in system_of(trusted=False)


def test_another_model_goes_on_in_the_middle_of_a_session():
    def switch(_stage, session):
        session.configure("tester", model="second")

    assert play(
        [say("First."), say("Never.")],
        models={"second": [say("Never."), say("Second.", expect=["Again."])]},
        prompts=["Go.", "Again."],
        on={"turn t1 done": switch},
        only=("configured", "step", "reply", "turn"),
    ) == snapshot("""\
turn t1 from tester
  step 1 script
  reply ok 'First.'
  step end end
turn t1 done
configured agent workspace-write second by tester
turn t2 from tester
  step 1 second
  reply ok 'Second.'
  step end end
turn t2 done
""")


async def test_a_prompt_right_after_the_end_keeps_its_card(tmp_path):
    """The end of a turn is told before it is on the disk."""
    stage = Stage(tmp_path, [END, call("bash", command="make"), END])
    session = stage.create()
    stage.prompt(session, "One.")
    await stage.until(lambda: any(r.type == "turn.completed" for r in stage.records()))
    assert session.state.status == "idle"
    _, status = stage.prompt(session, "Two.")
    assert status is StartStatus.STARTED
    approval = await stage.waiting(session)
    await asyncio.sleep(0)
    assert session.turn is not None
    stage.respond(session, approval, "deny")
    await stage.idle(session)
    assert session.state.status == "idle"
    await stage.close()


async def test_a_queued_prompt_waits_for_its_turn(tmp_path):
    stage = Stage(tmp_path, [say(["a", "b"], delay_ms=20), say("Second.", expect=["Two."])])
    session = stage.create()
    first, _ = stage.prompt(session, "One.")
    second, status = stage.prompt(session, "Two.", when_busy=WhenBusy.QUEUE)
    assert (status, second != first) == (StartStatus.QUEUED, True)
    await stage.until(lambda: [r.type for r in stage.records()].count("turn.completed") == 2)
    started = [r.turn_id for r in stage.records() if r.type == "turn.started"]
    assert started == [first, second]
    assert session.state.queue == ()
    await stage.close()


async def killed_after(stage, tag):
    """Start a turn whose engine dies right after a record, and go on with the next engine."""
    session = stage.create()

    def die(fact):
        if getattr(fact, "tag", "") == tag and not session.leaving:
            session.leaving = True
            session.journal.append = _dead
            session.turn.cancel()

    session.stream.subscribe(die)
    stage.prompt(session, "Go.")
    await asyncio.wait([session.turn])
    await stage.kill_engine()
    again = stage.start_engine().get(session.id)
    stage.listen(again)
    await stage.idle(again)
    return again


def _dead(*_):
    raise asyncio.CancelledError


async def test_an_engine_that_dies_within_the_prompt_goes_on_with_it_once(tmp_path):
    stage = Stage(tmp_path, [say("Done.", expect=["Go."])])
    session = await killed_after(stage, "item.started")
    told = [stored.record for stored in session.journal.read(1, session.journal.seq)]
    assert told[-1].stop_reason == "done"
    said = [one.item for one in told if one.tag == "item.completed"]
    assert [item.kind for item in said] == ["userMessage", "reply"]
    await stage.close()
