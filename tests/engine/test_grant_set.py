from kova_ls.engine.grant_set import Pending, as_proposals, proposal, visible
from kova_ls.vocabulary import RootSource


def test_nothing_in_a_text_can_hide_or_move():
    assert visible("a\nb\x1b[2J\u202ec\u200bé ✓") == "a\\u{a}b\\u{1b}[2J\\u{202e}c\\u{200b}é ✓"


def test_sentence_says_who_asks_and_where_a_folder_leads():
    found = proposal("root", "../lib", "project", "/w/.kova/permissions.json", None, "/lib")
    assert found.sentence == "This project requests to write in the folder ../lib (/lib)."


def test_pending_lists_everything_that_would_change():
    pending = Pending(
        RootSource.LOCAL, "/p", "d", ("git push *",), (("../x", "/x"),), ("rm *",), True
    )
    assert pending.lines() == (
        "allow git push *",
        "write in ../x (/x)",
        "drop the deny rule rm *",
        "drop strictRedirects",
    )
    assert [one.value for one in as_proposals(pending)] == ["git push *", "../x"]
    assert not Pending(RootSource.LOCAL, "/p", "d")
