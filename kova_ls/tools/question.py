"""Ask the person one to four questions; the turn waits.

Invariant: changes nothing; an answer is the person's own.
"""

from pydantic import Field, field_validator

from kova_ls.permission.effects import Effect, Interact
from kova_ls.tools._args import Args
from kova_ls.tools._base import (
    AskQuestions,
    Resolve,
    Tool,
    ToolContext,
    ToolResult,
    reports_errors,
)
from kova_ls.values import Answer, Option, Question, TextBlock
from kova_ls.vocabulary import ToolKind


class QuestionOption(Args):
    """One offered answer."""

    label: str = Field(min_length=1)
    """Short."""
    description: str
    """What choosing it means."""


class OneQuestion(Args):
    """One question."""

    question: str
    """Ends with `?`."""
    header: str | None = Field(default=None, max_length=12)
    """Heading."""
    options: tuple[QuestionOption, ...] = Field(min_length=2, max_length=4)
    """"Other" is added by itself."""
    multi_select: bool = False
    """Several may be chosen."""

    @field_validator("question")
    @classmethod
    def _asks(cls, value: str) -> str:
        if not value.rstrip().endswith(("?", "？")):
            raise ValueError("must end with '?'")
        return value

    @field_validator("options")
    @classmethod
    def _unique(cls, value: tuple[QuestionOption, ...]) -> tuple[QuestionOption, ...]:
        if len({option.label for option in value}) < len(value):
            raise ValueError("labels must differ from each other")
        return value


class QuestionArgs(Args):
    """Arguments of `Question`."""

    questions: tuple[OneQuestion, ...] = Field(min_length=1, max_length=4)
    """Asked together."""


def effects(_args: QuestionArgs, _resolve: Resolve) -> list[Effect]:
    """Declare asking."""
    return [Interact("question")]


async def asks(args: QuestionArgs, _ctx: ToolContext) -> AskQuestions:
    """Return the questions as the person is shown them."""
    return AskQuestions(
        tuple(
            Question(
                id=f"q{number}",
                question=one.question,
                header=one.header,
                options=tuple(
                    Option(label=option.label, description=option.description)
                    for option in one.options
                ),
                multi_select=one.multi_select,
            )
            for number, one in enumerate(args.questions, 1)
        )
    )


@reports_errors
async def run(args: QuestionArgs, ctx: ToolContext) -> ToolResult:
    """Tell the model what the person said."""
    reply = ctx.answer
    if reply is None:
        text = "Nobody can be asked here. Put the question in your reply as plain text instead."
        return ToolResult(text, is_error=True)
    if reply.decision != "answered":
        said = f"\nThe person says: {reply.feedback}" if reply.feedback else ""
        return ToolResult(f"The person declined to answer. Do not ask the same again.{said}")
    answers = {answer.id: answer for answer in reply.answers}
    text = "\n".join(
        f"{one.question}\n-> {_said(answers.get(f'q{number}'))}"
        for number, one in enumerate(args.questions, 1)
    )
    return ToolResult(text, (TextBlock(text=text),))


def _said(answer: Answer | None) -> str:
    if answer is None:
        return "(not answered)"
    words = list(answer.selected)
    if answer.other:
        words.append(f"Other: {answer.other}" if words else answer.other)
    return "; ".join(words) or "(not answered)"


TOOL = Tool(
    name="Question",
    kind=ToolKind.INTERACT,
    args=QuestionArgs,
    description=(
        "Ask the person to choose, when the work depends on a decision only they can make. Not for "
        "what you can find out."
    ),
    effects=effects,
    run=run,
    title=lambda args: f"Ask: {args.questions[0].question}",
    asks=asks,
    aliases=("AskUserQuestion",),
)
