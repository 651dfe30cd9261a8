import json

from inline_snapshot import snapshot

from kova_ls.vocabulary import ApprovalLevel
from tests.support.play import play
from tests.support.stage import Stage, call, say

END = say("Done.")
ONLY = ("call '", "card", "answer", "rules", "other", "notice", "turn")
MAKE = call("bash", command="make -v")


def local(stage, **fields):
    path = stage.put(".kova/permissions.local.json", json.dumps(fields))
    path.chmod(0o600)


def written(**fields):
    return lambda stage, _session: local(stage, **fields)


def allowed(seen):
    def look(stage, _session):
        grants = stage.engine.grants.load(stage.editor.folders[0])
        seen.extend(rule.text for rule in grants.allow)

    return look


def test_a_hand_written_file_is_offered_and_then_settles_the_call():
    seen = []
    assert play(
        [MAKE, END],
        before=written(allow=["make *"]),
        answers=["adopt"],
        after=allowed(seen),
        only=ONLY,
    ) == snapshot("""\
turn t1 from tester
  call '$ make -v' ask ['no_rule'] waiting
  card adopt 'Put what is new in <ws>/.kova/permissions.local.json into force?' deny/adopt ['unconfirmed']
    other
    notice 'Adopt only what you know. Without a yes it stays in the file and does nothing.'
  answer adopt by tester
turn t1 done
""")
    assert seen == ["make *"]


def test_a_no_leaves_it_inert_and_is_not_asked_again():
    seen = []
    assert play(
        [MAKE, call("bash", command="make -s"), END],
        before=written(allow=["make *"]),
        answers=["deny", "once", "deny"],
        after=allowed(seen),
        only=("call '", "card", "answer", "turn"),
    ) == snapshot("""\
turn t1 from tester
  call '$ make -v' ask ['no_rule'] waiting
  card adopt 'Put what is new in <ws>/.kova/permissions.local.json into force?' deny/adopt ['unconfirmed']
  answer deny by tester
  card tool '$ make -v' deny/once/remember ['no_rule']
  answer once by tester
  call '$ make -s' ask ['no_rule'] waiting
  card tool '$ make -s' deny/once/remember ['no_rule']
  answer deny by tester
turn t1 done
""")
    assert seen == []


def test_other_content_is_offered_again():
    def change(stage, session):
        local(stage, allow=["cmake *"])
        stage.respond(session, session.state.approvals[0].approval_id, "once")

    transcript = play(
        [MAKE, call("bash", command="cmake -v"), END],
        before=written(allow=["make *"]),
        answers=["deny", change, "deny", "deny"],
        only=("card",),
    )
    assert [line.split()[1] for line in transcript.splitlines()] == [
        "adopt",
        "tool",
        "adopt",
        "tool",
    ]


def test_what_changed_while_the_card_was_open_is_shown_again():
    def change_then_yes(stage, session):
        local(stage, allow=["make *", "npm *"])
        stage.respond(session, session.state.approvals[0].approval_id, "adopt")

    seen = []
    transcript = play(
        [MAKE, END],
        before=written(allow=["make *"]),
        answers=[change_then_yes, "deny", "deny"],
        after=allowed(seen),
        only=("card", "notice warning"),
    )
    assert "changed since it was shown. Review it again." in transcript
    assert [line.split()[1] for line in transcript.splitlines() if "card" in line] == [
        "adopt",
        "adopt",
        "tool",
    ]
    assert seen == []


def test_a_card_that_became_needless_goes():
    transcript = play(
        [MAKE, END],
        before=written(allow=["make *"]),
        answers=[lambda _, session: session.configure("tester", level=ApprovalLevel.AUTO)],
        only=("card", "answer", "turn"),
    )
    assert transcript == snapshot("""\
turn t1 from tester
  card adopt 'Put what is new in <ws>/.kova/permissions.local.json into force?' deny/adopt ['unconfirmed']
  answer superseded by level
turn t1 done
""")


def test_a_file_that_was_emptied_takes_its_card_along():
    def empty(stage, _session):
        local(stage, allow=[])
        stage.engine.recheck()

    transcript = play(
        [MAKE, END],
        before=written(allow=["make *"]),
        answers=[empty, "deny"],
        only=("card", "answer"),
    )
    assert [line.split()[:2] for line in transcript.splitlines()] == [
        ["card", "adopt"],
        ["answer", "superseded"],
        ["card", "tool"],
        ["answer", "deny"],
    ]


def test_nothing_is_offered_where_it_would_not_count():
    for more in ({"level": "ask"}, {"trusted": False}):
        transcript = play(
            [MAKE, END],
            before=written(allow=["make *"]),
            answers=["deny"],
            only=("card", "answer"),
            **more,
        )
        assert [line.split()[1] for line in transcript.splitlines()] == ["tool", "deny"]


async def test_an_unanswered_card_is_the_same_after_a_restart(tmp_path):
    stage = Stage(tmp_path, [MAKE, END])
    local(stage, allow=["make *"], writableRoots=["."])
    session = stage.create(level="workspace-write")
    stage.prompt(session, "Go.")
    card_id = await stage.waiting(session)
    assert session.state.approvals[0].subject.summary.splitlines()[0] == "allow make *"
    await stage.kill_engine()

    engine = stage.start_engine()
    session = engine.recover()[0]
    stage.listen(session)
    assert await stage.waiting(session) == card_id
    stage.respond(session, card_id, "adopt")
    await stage.idle(session)
    assert [rule.text for rule in engine.grants.load(stage.editor.folders[0]).allow] == ["make *"]
    await stage.close()


def test_only_fitting_proposals_are_on_a_card_and_none_is_in_force():
    wishes = {"allow": ["make *", "npm *"], "writableRoots": ["../lib"], "deny": ["Read(x)"]}

    def propose(stage, _session):
        (stage.root / "lib").mkdir()
        stage.put(".kova/permissions.json", json.dumps(wishes))

    transcript = play(
        [MAKE, call("write", path="../lib/a", content="x"), call("bash", command="cargo b"), END],
        before=propose,
        answers=["deny", "deny", "deny"],
        only=("card", "notice"),
    )
    assert transcript == snapshot("""\
  card tool '$ make -v' deny/once/remember ['no_rule']
    notice 'This project requests to allow make * without asking.'
  card tool 'Write ../lib/a' deny/once ['outside']
    notice 'This project requests to write in the folder ../lib (<root>/lib).'
  card tool '$ cargo b' deny/once/remember ['no_rule']
""")


def test_of_thousands_of_proposals_the_fitting_one_is_found():
    wishes = {"allow": [f"tool{n} *" for n in range(4_000)]}

    def propose(stage, _session):
        stage.put(".kova/permissions.json", json.dumps(wishes))

    transcript = play(
        [call("bash", command="tool1234 x"), END],
        before=propose,
        answers=["deny"],
        only=("notice",),
    )
    assert transcript == "    notice 'This project requests to allow tool1234 * without asking.'\n"


def test_a_request_is_on_every_card_that_has_a_part_for_it():
    wishes = {
        "allow": ["make *", "npm test", "rm *"],
        "deny": ["git push *"],
        "writableRoots": ["../lib", "/"],
    }

    def propose(stage, _session):
        (stage.root / "lib").mkdir()
        stage.put(".kova/permissions.json", json.dumps(wishes))

    def notices(*calls, level="workspace-write"):
        return play(
            [*calls, END],
            before=propose,
            answers=["deny"] * len(calls),
            level=level,
            only=("card", "notice 'This project", 'notice "This project'),
        )

    calls = [
        call("bash", command=line)
        for line in ("foo b && make a", "npm test; git push", "make > f", "rm -r x")
    ]
    assert notices(*calls) == snapshot("""\
  card tool '$ foo b && make a' deny/once/remember ['no_rule', 'no_rule']
    notice 'This project requests to allow make * without asking.'
  card tool '$ npm test; git push' deny/once/remember ['no_rule', 'no_rule']
    notice 'This project requests to allow npm test without asking.'
    notice 'This project requests to deny git push *.'
  card tool '$ make > f' deny/once ['hidden_write']
  card tool '$ rm -r x' deny/once ['never_remembered']
    notice "This project requests to allow rm * without asking. That cannot be accepted. `rm` destroys, moves or re-owns what it is pointed at, so a rule for it is too wide; only the user's own file may hold it."
""")
    # No rule applies there, but who is asked may know.
    outside = call("write", path="../lib/a", content="x")
    assert notices(calls[0], outside, level="ask") == snapshot("""\
  card tool '$ foo b && make a' deny/once ['level', 'no_rule', 'no_rule']
    notice 'This project requests to allow make * without asking.'
  card tool 'Write ../lib/a' deny/once ['level']
    notice 'This project requests to write in the folder ../lib (<root>/lib).'
""")
