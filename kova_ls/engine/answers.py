"""Whether answers fit the questions."""

from kova_ls.errors import RequestFailed
from kova_ls.values import Answer, QuestionRequest


def check(request: QuestionRequest, answers: tuple[Answer, ...]) -> None:
    """Refuse answers that are missing or were not offered. Raises: RequestFailed."""
    given = {answer.id: answer for answer in answers}
    for number, question in enumerate(request.questions):
        answer = given.get(question.id)
        if answer is None or not (answer.selected or (answer.other or "").strip()):
            raise RequestFailed(
                "invalidParams", f"answers: question {question.id!r} has no answer."
            )
        labels = {option.label for option in question.options}
        unknown = [label for label in answer.selected if label not in labels]
        if unknown:
            raise RequestFailed(
                "invalidParams",
                f"answers[{number}].selected: {unknown[0]!r} is not an option; give a free text "
                "as `other`.",
            )
        if len(answer.selected) > 1 and not question.multi_select:
            raise RequestFailed(
                "invalidParams", f"answers[{number}].selected: only one option may be chosen."
            )
