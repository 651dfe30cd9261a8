import pytest
from inline_snapshot import snapshot

from kova_ls.cli.ask import NO_TERMINAL, HungUp, Nobody, Person, Script
from kova_ls.cli.console import Keys
from kova_ls.cli.transcript import Feed
from kova_ls.values import Answer, Approval, QuestionRequest


@pytest.fixture
def person(screen):
    """Return a person who types the given words, each when asked for something."""

    def make(*words, step_s=1.0):
        seen = screen(terminal=True, step_s=step_s)
        keys = Keys(seen.console.stdin.fileno())
        waiting = list(words)

        def wait():
            if not waiting:
                return False
            seen.type(waiting.pop(0))
            return True

        by = Person(seen.console, keys, "/w", lambda ref: f"the whole of {ref}")
        return seen, lambda card: by.answer(card, Feed(seen.console), wait)

    return make


def test_a_key_answers_the_card(person, approval_json):
    seen, answer = person("x", "o")
    assert answer(Approval.model_validate(approval_json())) == {
        "approvalId": "a1",
        "decision": "once",
    }
    assert seen.out.endswith("[d]eny  deny and say [w]hy  [o]nce  [r]emember once\n")


def test_keys_count_only_after_a_moment(person, approval_json):
    _, answer = person("o", "d", "r", step_s=0.12)
    assert answer(Approval.model_validate(approval_json()))["decision"] == "remember"


def test_a_word_is_no_answer_by_its_second_letter(person, approval_json):
    _, answer = person("n", "o", "d", "d", "d", step_s=0.12)
    assert answer(Approval.model_validate(approval_json()))["decision"] == "deny"


def test_a_denial_may_say_why(person, approval_json):
    _, answer = person("w", "use the other branch\n")
    assert answer(Approval.model_validate(approval_json())) == {
        "approvalId": "a1",
        "decision": "deny",
        "feedback": "use the other branch",
    }


def test_a_plan_may_be_approved_with_an_approach(person, approval_json):
    plan = {"type": "plan", "markdown": "p", "options": [{"label": "A"}, {"label": "B"}]}
    card = Approval.model_validate(
        approval_json(kind="plan", subject=plan, decisions=["approve", "reject", "revise"])
    )
    assert person("a", "2\n")[1](card) == {
        "approvalId": "a1",
        "decision": "approve",
        "option": "B",
    }
    assert person("a", "\n")[1](card) == {"approvalId": "a1", "decision": "approve"}
    assert person("v", "smaller\n")[1](card)["feedback"] == "smaller"


def test_a_card_resolved_elsewhere_gets_no_answer(person, approval_json, question_json):
    assert person()[1](Approval.model_validate(approval_json())) is None
    assert person()[1](QuestionRequest.model_validate(question_json())) is None


def test_a_lost_keyboard_is_no_answer(person, question_json):
    _, answer = person("\x04")
    with pytest.raises(HungUp):
        answer(QuestionRequest.model_validate(question_json()))


def test_questions_are_answered_by_number_or_in_words(person, question_json):
    card = QuestionRequest.model_validate(question_json())
    answered = [{"id": "0", "selected": ["Spaces"]}]
    seen, answer = person("7\n", "2\n")
    assert answer(card) == {"questionId": "q1", "answers": answered}
    assert seen.out.count("That is none of the choices.") == 1
    assert person("neither\n")[1](card)["answers"] == [
        {"id": "0", "selected": [], "other": "neither"}
    ]


def test_an_empty_line_declines(person, question_json):
    assert person("\n")[1](QuestionRequest.model_validate(question_json())) == {
        "questionId": "q1",
        "declined": True,
    }


def test_nobody_denies_and_says_so_to_both_sides(screen, approval_json, question_json):
    seen = screen()
    by = Nobody(seen.console)
    feed = Feed(seen.console)
    assert by.answer(Approval.model_validate(approval_json()), feed, lambda: True) == {
        "approvalId": "a1",
        "decision": "deny",
        "feedback": NO_TERMINAL,
    }
    assert by.answer(QuestionRequest.model_validate(question_json()), feed, lambda: True) == {
        "questionId": "q1",
        "declined": True,
    }
    assert by.denied_count == 2
    assert seen.err == snapshot(
        """\
denied, as there is no terminal to ask at: bash wants to run a command
  `kova-ls permission add 'git push'` would allow it beforehand
denied, as there is no terminal to ask at: Tabs or spaces?
"""
    )


def test_a_script_answers_and_says_so(screen, approval_json, question_json):
    seen = screen()
    by = Script(
        lambda _card: "once", lambda question: Answer(id=question.id, selected=("Tabs",)), "/w"
    )
    feed = Feed(seen.console)
    first = by.answer(Approval.model_validate(approval_json()), feed, lambda: True)
    second = by.answer(QuestionRequest.model_validate(question_json()), feed, lambda: True)
    assert (first["decision"], second["answers"]) == ("once", [{"id": "0", "selected": ["Tabs"]}])
    assert seen.err.count("answered by itself") == 2


def test_a_command_shown_in_part_is_allowed_only_after_it_was_viewed(person, approval_json):
    subject = {"type": "command", "command": "echo a", "cwd": "file:///w"}
    subject |= {"hiddenChars": 7, "outputRef": "s/whole.txt"}
    card = Approval.model_validate(approval_json(subject=subject))
    seen, answer = person("o", "v", "o")
    assert answer(card)["decision"] == "once"
    assert "first [v]iew it whole" in seen.out
    assert seen.out.index("first [v]iew") < seen.out.index("the whole of s/whole.txt")
    seen, answer = person("o", "d")
    assert answer(card)["decision"] == "deny"
