"""The transcript entry of one call.

Invariant: it is started once, whatever the call goes through, and ended once.
"""

from typing import TYPE_CHECKING, Any, cast

import orjson

from kova_ls.engine.approvals import brief
from kova_ls.journal import records as r
from kova_ls.journal.stream import Delta
from kova_ls.permission.facts import Ruling
from kova_ls.tools._base import Tool
from kova_ls.values import ToolCallItem, Verdict
from kova_ls.vocabulary import ItemStatus

if TYPE_CHECKING:
    from kova_ls.engine.session import Session


class CallItem:
    """Records what becomes of a call."""

    def __init__(self, session: "Session", turn_id: str, step_id: str, call: r.CallRequest) -> None:
        self.session = session
        self.turn_id = turn_id
        self.step_id = step_id
        self.call = call
        self._offset = 0

    def find(self) -> ToolCallItem | None:
        """Return the entry as long as it is open."""
        for item in self.session.state.open_items:
            if isinstance(item, ToolCallItem) and item.call_id == self.call.call_id:
                return item
        return None

    def start(self, tool: Tool | None, args: Any, ruling: Ruling, status: ItemStatus) -> None:
        """Begin the entry unless it is open already; no tool: the model named one that is none."""
        if self.find() is not None:
            return
        self.session.record(
            r.ItemStarted(
                turn_id=self.turn_id,
                step_id=self.step_id,
                item=ToolCallItem(
                    item_id=self.call.call_id,
                    call_id=self.call.call_id,
                    tool=tool.name if tool else self.call.tool,
                    args=self._args(),
                    title=brief(tool.title(args), 200) if tool else self.call.tool,
                    verdict=Verdict(decision=ruling.decision, reasons=ruling.reasons),
                    status=status,
                ),
            )
        )

    def running(self, item: ToolCallItem) -> None:
        """Say that a call that waited runs."""
        self.session.record(
            r.ItemUpdated(turn_id=self.turn_id, item_id=item.item_id, status=ItemStatus.RUNNING)
        )

    def tell(self, text: str) -> None:
        """Show a piece of output at once; not stored."""
        self.session.stream.tell(
            Delta(
                at=self.session.engine.now(),
                turn_id=self.turn_id,
                step_id=self.step_id,
                item_id=self.call.call_id,
                kind="toolCall",
                offset=self._offset,
                text=text,
            )
        )
        self._offset += len(text)

    def complete(
        self, item: ToolCallItem, status: ItemStatus, result: str, error: str | None = None
    ) -> None:
        """End the entry; `result` goes to the model."""
        update: dict[str, Any] = {"status": status}
        if error is not None:
            update["error"] = error
        self.session.record(
            r.ItemCompleted(
                turn_id=self.turn_id,
                step_id=self.step_id,
                item=item.model_copy(update=update),
                result=result,
            )
        )

    def _args(self) -> dict[str, Any]:
        try:
            value: Any = orjson.loads(self.call.arguments or "{}")
        except orjson.JSONDecodeError:
            return {"arguments": self.call.arguments}
        return cast(dict[str, Any], value) if isinstance(value, dict) else {"arguments": value}
