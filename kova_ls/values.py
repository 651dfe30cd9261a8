"""Small frozen shapes that cross both the journal and the wire.

On disk the fields are snake_case, on the wire camelCase: one model, two dumps. The schema
generator reads the docstrings under the fields from the source.
Invariant: no IO; unknown fields are ignored, missing optional ones default.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from kova_ls.vocabulary import Decision, ItemStatus


class Value(BaseModel):
    """Base of every shape: frozen, camelCase aliases, docstrings become descriptions."""

    model_config = ConfigDict(
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=False,
        extra="ignore",
        defer_build=True,
    )


# -- input ------------------------------------------------------------------------------------


class Position(Value):
    """A place in a document as LSP counts it."""

    line: int
    """Zero-based line."""
    character: int
    """Zero-based offset in UTF-16 code units."""


class Range(Value):
    """A stretch of a document, end exclusive."""

    start: Position
    """Where it begins."""
    end: Position
    """Where it ends."""


class TextPart(Value):
    """What the person typed."""

    type: Literal["text"] = "text"
    """Tag."""
    text: str
    """Markdown."""


class FilePart(Value):
    """An @-mention: the file's content goes into the context, unsaved text included."""

    type: Literal["file"] = "file"
    """Tag."""
    uri: str
    """`file:` URI."""
    range: Range | None = None
    """Only these lines."""


class ImagePart(Value):
    """An attached picture; `uri` or `data`."""

    type: Literal["image"] = "image"
    """Tag."""
    uri: str | None = None
    """`file:` URI of the picture."""
    data: str | None = None
    """Base64 of the bytes."""
    mime_type: str = "image/png"
    """Media type of the bytes."""


class SelectionPart(Value):
    """Text selected in the editor."""

    type: Literal["selection"] = "selection"
    """Tag."""
    uri: str
    """`file:` URI."""
    range: Range
    """Where the text stands."""
    text: str
    """The selected text."""


class DiagnosticPart(Value):
    """One of the editor's diagnostics."""

    type: Literal["diagnostic"] = "diagnostic"
    """Tag."""
    uri: str
    """`file:` URI."""
    range: Range
    """Where it stands."""
    message: str
    """What it says."""
    severity: int | None = None
    """LSP severity: 1 error, 2 warning, 3 information, 4 hint."""
    source: str | None = None
    """Who says it."""


InputPart = Annotated[
    TextPart | FilePart | ImagePart | SelectionPart | DiagnosticPart, Field(discriminator="type")
]


# -- display blocks: a closed set -------------------------------------------------------------


class TextBlock(Value):
    """Plain text or Markdown."""

    type: Literal["text"] = "text"
    """Tag."""
    text: str
    """The text."""
    language: str | None = None
    """Language id for highlighting; `markdown` for prose."""


class DiffBlock(Value):
    """A change to one file."""

    type: Literal["diff"] = "diff"
    """Tag."""
    uri: str
    """`file:` URI."""
    change: Literal["create", "modify", "delete"]
    """What happens to the file."""
    diff: str
    """Unified diff."""
    hidden_lines: int = 0
    """Lines of the diff left out here; the whole stands behind the item's `outputRef`."""


class CommandBlock(Value):
    """A shell command and what it printed."""

    type: Literal["command"] = "command"
    """Tag."""
    command: str
    """The command line."""
    cwd_path: str
    """Folder it ran in."""
    exit_code: int | None = None
    """Absent while it runs or when it was stopped."""
    output: str = ""
    """Both output streams, or the preview of them."""
    hidden_bytes: int = 0
    """Bytes left out of `output`; the whole stands behind the item's `outputRef`."""


class Todo(Value):
    """One entry of the task list."""

    text: str
    """What is to be done."""
    status: Literal["pending", "in_progress", "done"]
    """How far it is."""


class TodosBlock(Value):
    """The task list."""

    type: Literal["todos"] = "todos"
    """Tag."""
    todos: tuple[Todo, ...]
    """All entries, in order."""


class ImageBlock(Value):
    """A picture."""

    type: Literal["image"] = "image"
    """Tag."""
    uri: str
    """`file:` URI."""
    alt: str = ""
    """What it shows."""


class LinkBlock(Value):
    """A pointer to a file or page."""

    type: Literal["link"] = "link"
    """Tag."""
    uri: str
    """Target."""
    text: str
    """Label."""


class TableBlock(Value):
    """Rows of text."""

    type: Literal["table"] = "table"
    """Tag."""
    columns: tuple[str, ...]
    """Headings."""
    rows: tuple[tuple[str, ...], ...]
    """Cells, as many per row as columns."""


Block = Annotated[
    TextBlock | DiffBlock | CommandBlock | TodosBlock | ImageBlock | LinkBlock | TableBlock,
    Field(discriminator="type"),
]


# -- verdicts, approvals, questions -----------------------------------------------------------


class Reason(Value):
    """Why a verdict is what it is."""

    code: str
    """Stable word for programs."""
    text: str
    """Sentence for people and for the model."""


class Segment(Value):
    """One simple command of a command line."""

    text: str
    """The segment as it stands in the line."""
    rule: str | None = None
    """The rule that matched it."""
    reason: str | None = None
    """Why it asks, when no rule matched."""


class Verdict(Value):
    """What the gates said of a call."""

    decision: Decision
    """The strictest decision of all gates."""
    reasons: tuple[Reason, ...] = ()
    """Every reason, strictest first."""
    rules: tuple[str, ...] = ()
    """Of a call that an unattended run denied: the rules that would let it through."""


class CommandSubject(Value):
    """A shell command that asks."""

    type: Literal["command"] = "command"
    """Tag."""
    command: str
    """The whole command line, or its beginning when characters are hidden."""
    cwd: str
    """`file:` URI of the folder it would run in."""
    segments: tuple[Segment, ...] = ()
    """Every simple command in it."""
    hidden_chars: int = 0
    """Characters at the end of the command left out here."""
    output_ref: str | None = None
    """Where the whole command can be read when characters are hidden."""


class FileChange(Value):
    """One file that an edit would change."""

    uri: str
    """`file:` URI."""
    change: Literal["create", "modify", "delete"]
    """What happens to the file."""
    diff: str
    """Unified diff."""
    document_version: int | None = None
    """The open document's version that the diff was computed from."""
    hidden_lines: int = 0
    """Lines of the diff left out here."""
    output_ref: str | None = None
    """Where the whole diff can be read when lines are hidden."""


class EditSubject(Value):
    """Changes to files that ask."""

    type: Literal["edit"] = "edit"
    """Tag."""
    files: tuple[FileChange, ...]
    """All files."""


class NetworkSubject(Value):
    """A network request that asks."""

    type: Literal["network"] = "network"
    """Tag."""
    method: str
    """HTTP method."""
    url: str
    """Address."""


class PlanSubject(Value):
    """A plan to be approved."""

    type: Literal["plan"] = "plan"
    """Tag."""
    markdown: str
    """The plan."""
    options: tuple["Option", ...] = ()
    """Approaches of which the person may choose one."""


class OtherSubject(Value):
    """Anything else that asks."""

    type: Literal["other"] = "other"
    """Tag."""
    summary: str
    """What would happen."""


Subject = Annotated[
    CommandSubject | EditSubject | NetworkSubject | PlanSubject | OtherSubject,
    Field(discriminator="type"),
]


class Approval(Value):
    """A call that waits for a person's yes."""

    approval_id: str
    """Opaque id."""
    session_id: str
    """Session it belongs to."""
    turn_id: str
    """Turn that waits."""
    call_id: str
    """The item that waits."""
    kind: Literal["tool", "plan", "adopt"]
    """What is asked."""
    tool: str | None = None
    """Name of the tool."""
    title: str
    """One line for the card's head."""
    subject: Subject
    """What would happen."""
    reasons: tuple[Reason, ...] = ()
    """Why it is asked."""
    decisions: tuple[str, ...]
    """The answers offered, safest first; any other is an error."""
    rules: tuple[str, ...] = ()
    """Exactly what "remember" would write, one per segment."""
    rules_path: str | None = None
    """The file they would be written to."""
    notices: tuple[str, ...] = ()
    """Things worth knowing, such as what the project requests."""
    requested_at: float
    """Unix seconds."""


class Option(Value):
    """One of the answers offered."""

    label: str
    """Short text."""
    description: str = ""
    """What choosing it means."""


class Question(Value):
    """One question to the person."""

    id: str
    """Unique within its request."""
    question: str
    """The sentence."""
    header: str | None = None
    """Short heading."""
    options: tuple[Option, ...] = ()
    """Offered answers."""
    multi_select: bool = False
    """More than one may be chosen."""
    allow_other: bool = True
    """A free text is accepted too."""


class QuestionRequest(Value):
    """Questions that a turn waits for."""

    question_id: str
    """Opaque id."""
    session_id: str
    """Session it belongs to."""
    turn_id: str
    """Turn that waits."""
    call_id: str
    """The item that waits."""
    questions: tuple[Question, ...]
    """One to four."""
    requested_at: float
    """Unix seconds."""


class Answer(Value):
    """The answer to one question."""

    id: str
    """Which question."""
    selected: tuple[str, ...] = ()
    """Labels of the chosen options."""
    other: str | None = None
    """Free text."""


# -- transcript -------------------------------------------------------------------------------


class Usage(Value):
    """What a model call or a session used."""

    input_tokens: int = 0
    """Tokens read, cached ones included."""
    output_tokens: int = 0
    """Tokens written, reasoning included."""
    cached_tokens: int = 0
    """Tokens of the input that came from the provider's cache."""
    cache_write_tokens: int = 0
    """Tokens of the input that were put into the provider's cache."""
    context_tokens: int = 0
    """Size of the last request and its answer: what fills the window."""
    context_window: int = 0
    """Size of the window; 0 when unknown."""
    cost: float | None = None
    """In US dollars; absent when the price of any part is not known."""


class Failure(Value):
    """What went wrong."""

    code: str
    """Stable word for programs."""
    message: str
    """What happened and what to do."""


class UserMessageItem(Value):
    """What the person said, or the engine to go on towards a goal."""

    kind: Literal["userMessage"] = "userMessage"
    """Tag."""
    item_id: str
    """Opaque id."""
    input: tuple[InputPart, ...]
    """As given."""
    steered: bool = False
    """Given while the turn ran."""
    client: str | None = None
    """Name of the editor it came from."""
    prompt_id: str | None = None
    """The same id again is not said twice."""
    goal_id: str | None = None
    """The goal for which the engine said it by itself."""


class ReplyItem(Value):
    """What the model said."""

    kind: Literal["reply"] = "reply"
    """Tag."""
    item_id: str
    """Opaque id."""
    status: ItemStatus
    """How far it is."""
    text: str = ""
    """Markdown; empty until it ended."""


class ReasoningItem(Value):
    """What the model thought, as far as its provider shows it."""

    kind: Literal["reasoning"] = "reasoning"
    """Tag."""
    item_id: str
    """Opaque id."""
    status: ItemStatus
    """How far it is."""
    text: str = ""
    """The thinking or its summary; may be empty when it is encrypted."""


class ToolCallItem(Value):
    """A tool call, from the verdict to its result."""

    kind: Literal["toolCall"] = "toolCall"
    """Tag."""
    item_id: str
    """Opaque id; the same as `callId`."""
    call_id: str
    """Opaque id, unique in the session."""
    tool: str
    """Name of the tool, as the model wrote it when unknown."""
    args: dict[str, Any]
    """Arguments; long strings are cut on the wire."""
    title: str
    """One line that says what it does."""
    verdict: Verdict
    """What the gates said."""
    status: ItemStatus
    """How far it is."""
    display: tuple[Block, ...] = ()
    """The result, for people."""
    output_ref: str | None = None
    """Where the whole output can be read when the display shows a part."""
    error: str | None = None
    """Why it failed or was blocked."""


class NoticeItem(Value):
    """Something the engine says to the person."""

    kind: Literal["notice"] = "notice"
    """Tag."""
    item_id: str
    """Opaque id."""
    level: Literal["info", "warning", "error"]
    """How much it matters."""
    text: str
    """The message."""


class CompactionItem(Value):
    """Earlier turns folded into a summary."""

    kind: Literal["compaction"] = "compaction"
    """Tag."""
    item_id: str
    """Opaque id."""
    summary: str
    """What the model sees in their place."""


Item = Annotated[
    UserMessageItem | ReplyItem | ReasoningItem | ToolCallItem | NoticeItem | CompactionItem,
    Field(discriminator="kind"),
]
