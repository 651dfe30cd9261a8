from kova_ls.llm._stale import StaleReasoning


def test_only_what_was_refused_goes_without():
    stale = StaleReasoning(b"t", lambda one: one.replace(b"t", b""))
    first = [b"at", b"b", b"ct"]
    assert stale.sent(first) is first
    assert stale.refuse()
    assert stale.sent([*first, b"dt"]) == [b"a", b"b", b"c", b"dt"]
    assert stale.refuse()
    assert stale.sent([*first, b"dt"]) == [b"a", b"b", b"c", b"d"]
    assert not stale.refuse()


def test_nothing_to_refuse_is_told():
    stale = StaleReasoning(b"t", lambda one: one)
    assert not stale.refuse()
    stale.sent([b"a"])
    assert not stale.refuse()
