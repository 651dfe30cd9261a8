import pytest
from inline_snapshot import snapshot
from pydantic import ValidationError

from kova_ls.permission.effects import Interact
from kova_ls.tools._base import Reply
from kova_ls.tools.question import TOOL
from kova_ls.values import Answer


def test_schema():
    assert TOOL.schema() == snapshot(
        {
            "additionalProperties": False,
            "properties": {
                "questions": {
                    "description": "Asked together.",
                    "items": {
                        "additionalProperties": False,
                        "properties": {
                            "question": {"description": "Ends with `?`.", "type": "string"},
                            "header": {
                                "maxLength": 12,
                                "type": "string",
                                "description": "Heading.",
                            },
                            "options": {
                                "description": '"Other" is added by itself.',
                                "items": {
                                    "additionalProperties": False,
                                    "properties": {
                                        "label": {
                                            "description": "Short.",
                                            "minLength": 1,
                                            "type": "string",
                                        },
                                        "description": {
                                            "description": "What choosing it means.",
                                            "type": "string",
                                        },
                                    },
                                    "required": ["label", "description"],
                                    "type": "object",
                                },
                                "maxItems": 4,
                                "minItems": 2,
                                "type": "array",
                            },
                            "multi_select": {
                                "default": False,
                                "description": "Several may be chosen.",
                                "type": "boolean",
                            },
                        },
                        "required": ["question", "options"],
                        "type": "object",
                    },
                    "maxItems": 4,
                    "minItems": 1,
                    "type": "array",
                }
            },
            "required": ["questions"],
            "type": "object",
        }
    )


def option(label):
    return {"label": label, "description": f"{label}!"}


ONE = {"question": "Which?", "options": [option("A"), option("B")]}


async def test_asks_the_questions_and_changes_nothing(desk):
    two = ONE | {"question": "And?", "header": "More", "multi_select": True}
    args, ctx = desk.context(TOOL, {"questions": [ONE, two]})
    assert TOOL.effects(args, ctx.resolve) == [Interact("question")]
    asked = await TOOL.asks(args, ctx)
    assert [
        (q.id, q.question, q.header, [o.label for o in q.options], q.multi_select, q.allow_other)
        for q in asked.questions
    ] == snapshot(
        [
            ("q1", "Which?", None, ["A", "B"], False, True),
            ("q2", "And?", "More", ["A", "B"], True, True),
        ]
    )


@pytest.mark.parametrize(
    "questions",
    [
        [],
        [ONE] * 5,
        [ONE | {"question": "Which"}],
        [ONE | {"options": [option("A")]}],
        [ONE | {"options": [option(label) for label in "ABCDE"]}],
        [ONE | {"options": [option("A"), option("A")]}],
        [ONE | {"header": "x" * 13}],
        [ONE | {"options": [{"label": "A"}, option("B")]}],
    ],
)
def test_limits(questions):
    with pytest.raises(ValidationError):
        TOOL.args.model_validate({"questions": questions})


async def test_tells_what_the_person_said(desk):
    desk.answer = Reply(
        "answered",
        (Answer(id="q1", selected=("A",), other="but slowly"), Answer(id="q2", other="neither")),
    )
    result = await desk.call(TOOL, questions=[ONE, ONE | {"question": "And?"}])
    assert result.text == snapshot("""\
Which?
-> A; Other: but slowly
And?
-> neither\
""")


async def test_an_answer_that_is_missing_is_said_to_be(desk):
    desk.answer = Reply("answered")
    assert "(not answered)" in (await desk.call(TOOL, questions=[ONE])).text


async def test_declined(desk):
    desk.answer = Reply("declined", feedback="you choose")
    result = await desk.call(TOOL, questions=[ONE])
    assert result.text == snapshot(
        """\
The person declined to answer. Do not ask the same again.
The person says: you choose\
"""
    )
    assert not result.is_error


async def test_where_nobody_can_be_asked_the_model_is_told_to_ask_in_text(desk):
    result = await desk.call(TOOL, questions=[ONE])
    assert result.is_error
    assert "plain text" in result.text
