"""What the model wrote for a call, as a tool and its arguments.

Invariant: what does not fit is told to the model in words by which it can mend the call.
"""

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from kova_ls.journal import records as r
from kova_ls.tools import by_name
from kova_ls.tools._base import Tool, ToolError

if TYPE_CHECKING:
    from kova_ls.engine.session import Session

_MOST_FAULTS = 5


def parse(session: "Session", call: r.CallRequest) -> tuple[Tool, Any]:
    """Return the tool that a call names and its checked arguments. Raises: ToolError."""
    tool = by_name(call.tool)
    if tool is None:
        offered = ", ".join(tool.name for tool in session.engine.offered(session.state.mode))
        raise ToolError(f"There is no tool {call.tool!r}. Available: {offered}.")
    if call.was_cut_off:
        raise ToolError(
            f"The arguments of {tool.name} are no whole JSON object, and it was not run. "
            "Send the call again, with valid JSON."
        )
    try:
        return tool, tool.args_of(call.tool).model_validate_json(call.arguments or "{}")
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'arguments'}: {e['msg']}"
            for e in error.errors(include_url=False, include_input=False)[:_MOST_FAULTS]
        )
        raise ToolError(f"The arguments of {tool.name} do not fit: {wrong}.") from None
