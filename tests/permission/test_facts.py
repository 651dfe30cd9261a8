from kova_ls.permission.facts import Facts
from kova_ls.vocabulary import ApprovalLevel, Mode


def test_without_more_facts_nothing_is_granted() -> None:
    facts = Facts(mode=Mode.AGENT, level=ApprovalLevel.ASK, workspace=None)
    assert (facts.allow, facts.deny, facts.roots, facts.plan_path) == ((), (), (), None)
