"""Words that the wire and the journal store."""

from enum import StrEnum

from kova_ls import vocabulary
from kova_ls.vocabulary import ApprovalLevel, Decision, ItemStatus


def test_the_levels_go_round_in_order():
    seen = [ApprovalLevel.ASK]
    for _ in range(4):
        seen.append(seen[-1].next())
    assert seen == ["ask", "workspace-write", "auto-edit", "auto", "ask"]


def test_decisions_are_ordered_by_severity():
    assert sorted(Decision, key=lambda decision: decision.severity) == [
        Decision.ALLOW,
        Decision.ASK,
        Decision.DENY,
        Decision.BLOCKED,
    ]


def test_an_item_has_ended_unless_it_waits_or_runs():
    assert {status for status in ItemStatus if not status.is_end} == {"waiting", "running"}


def test_every_set_of_words_says_what_it_is_for():
    sets = [
        value
        for value in vars(vocabulary).values()
        if isinstance(value, type) and issubclass(value, StrEnum) and value is not StrEnum
    ]
    assert len(sets) > 10
    assert [kind.__name__ for kind in sets if not kind.__doc__] == []
