"""The loop view as text: every step of a turn, its calls and verdicts, and why it stopped.

Invariant: pure.
"""

from kova_ls.cli.terminal import Style, shown
from kova_ls.protocol.turn import LoopCall, LoopReadResult, LoopStep
from kova_ls.vocabulary import ItemStatus


def loop_lines(loop: LoopReadResult, style: Style) -> list[str]:
    """Draw a turn from inside."""
    lines: list[str] = []
    for step in loop.steps:
        lines.append(style.clip(style.say(f"step {step.number}  {shown(step.intent)}").rstrip()))
        lines.append(style.dim(style.clip(f"  {_figures(step, style)}")))
        for call in step.calls:
            lines += _call_lines(call, style)
        if step.error:
            lines.append(style.red(style.clip(f"  {shown(step.error.message)}")))
    lines.append(style.clip(style.say(f"stopped: {shown(loop.stopped_because)}")))
    if loop.error:
        lines.append(style.red(style.clip(shown(loop.error.message))))
    return lines


def _call_lines(call: LoopCall, style: Style) -> list[str]:
    paint = style.green if call.status is ItemStatus.OK else style.red
    took = f"  {_ms(call.duration_ms)}" if call.duration_ms is not None else ""
    head = f"{shown(call.title)}  {call.status}{took}"
    lines = [f"  {paint(style.sign('•', '*'))} {style.clip(head, 4)}"]
    for reason in call.verdict.reasons:
        text = f"    {call.verdict.decision}: {shown(reason.text)}"
        lines.append(style.dim(style.clip(text)))
    return lines


def _figures(step: LoopStep, style: Style) -> str:
    usage = step.usage
    parts = [f"model {shown(step.model)}"]
    if step.first_token_ms is not None:
        parts.append(f"first token {_ms(step.first_token_ms)}")
    if usage.input_tokens or usage.output_tokens:
        cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
        parts.append(f"{usage.input_tokens:,} tokens in{cached}, {usage.output_tokens:,} out")
    if usage.cost is not None:
        parts.append(f"${usage.cost:.{3 if usage.cost < 1 else 2}f}")
    if step.duration_ms is not None:
        parts.append(f"{_ms(step.duration_ms)} in all")
    return ", ".join(map(style.say, parts))


def _ms(duration_ms: float) -> str:
    return f"{duration_ms / 1000:.1f} s" if duration_ms >= 1000 else f"{duration_ms:.0f} ms"
