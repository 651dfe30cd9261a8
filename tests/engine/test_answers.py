import pytest

from kova_ls.engine.answers import check
from kova_ls.errors import RequestFailed
from kova_ls.values import Answer, Option, Question, QuestionRequest


def asked(*, multi_select=False):
    options = (Option(label="Red"), Option(label="Blue"))
    question = Question(id="q1", question="Which?", options=options, multi_select=multi_select)
    return QuestionRequest(
        question_id="s.1",
        session_id="s",
        turn_id="t",
        call_id="c",
        questions=(question,),
        requested_at=0.0,
    )


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        ((), "question 'q1' has no answer"),
        ((Answer(id="q2", selected=("Red",)),), "question 'q1' has no answer"),
        ((Answer(id="q1", other="  "),), "question 'q1' has no answer"),
        (
            (Answer(id="q1", selected=("Green",)),),
            r"answers\[0\].selected: 'Green' is not an option",
        ),
        ((Answer(id="q1", selected=("Red", "Blue")),), "only one option may be chosen"),
    ],
)
def test_answers_that_do_not_fit_are_refused(answers, says):
    with pytest.raises(RequestFailed, match=says) as caught:
        check(asked(), answers)
    assert caught.value.code == "invalidParams"


def test_answers_that_fit_pass():
    check(asked(), (Answer(id="q1", selected=("Red",)),))
    check(asked(), (Answer(id="q1", other="Green"),))
    check(asked(multi_select=True), (Answer(id="q1", selected=("Red", "Blue")),))
