"""What model calls use and cost, added up.

Invariant: pure; a cost that is not known stays unknown and is never shown as nothing.
"""

from kova_ls.values import Usage


def is_told(usage: Usage) -> bool:
    """Say whether the provider told anything about a call."""
    return bool(usage.input_tokens or usage.output_tokens or usage.cost)


def total(old: Usage, call: Usage) -> Usage:
    """Add a call to what was used before; a call of which nothing was told changes nothing."""
    if not is_told(call):
        return old
    cost = None
    if call.cost is not None and (old.cost is not None or not is_told(old)):
        cost = (old.cost or 0.0) + call.cost
    return Usage(
        input_tokens=old.input_tokens + call.input_tokens,
        output_tokens=old.output_tokens + call.output_tokens,
        cached_tokens=old.cached_tokens + call.cached_tokens,
        cache_write_tokens=old.cache_write_tokens + call.cache_write_tokens,
        context_tokens=call.input_tokens + call.output_tokens,
        context_window=call.context_window or old.context_window,
        cost=cost,
    )
