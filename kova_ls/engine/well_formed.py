"""Records without lone surrogates, which neither a file nor a model can be given."""

from collections.abc import Sequence
from typing import Any, TypeVar, cast

from kova_ls.journal.records import Record

_R = TypeVar("_R", bound=Record)


def well_formed(record: _R) -> _R:
    """Return the record with each lone surrogate replaced."""
    return type(record).model_validate(_replaced(record.model_dump()))


def _replaced(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case list() | tuple():
            return [_replaced(entry) for entry in cast(Sequence[Any], value)]
        case dict():
            entries = cast(dict[str, Any], value)
            return {_replaced(key): _replaced(entry) for key, entry in entries.items()}
        case _:
            return value
