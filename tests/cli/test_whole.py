"""What a card shows in part, and the whole of it."""

import pytest

from kova_ls.cli.card import DIFF_LINES
from kova_ls.cli.terminal import Style
from kova_ls.cli.whole import is_shown_in_part, output_reader, whole_lines
from kova_ls.values import Approval, CommandSubject, EditSubject, FileChange

PLAIN = Style(colour=False, signs=True)


def card(subject):
    return Approval(
        approval_id="a",
        session_id="s",
        turn_id="t",
        call_id="c",
        kind="tool",
        title="x",
        subject=subject,
        decisions=("deny", "once"),
        requested_at=0,
    )


def edit(diff, **fields):
    return EditSubject(files=(FileChange(uri="file:///w/a", change="modify", diff=diff, **fields),))


@pytest.mark.parametrize(
    ("subject", "is_part"),
    [
        (CommandSubject(command="a", cwd="file:///w"), False),
        (CommandSubject(command="a", cwd="file:///w", hidden_chars=1, output_ref="r"), True),
        (edit("@@ -1 +1 @@\n-a\n+b\n"), False),
        (edit("@@ -1 +1 @@\n-a\n+b\n", hidden_lines=1, output_ref="r"), True),
        (edit("@@ @@\n" + "+x\n" * DIFF_LINES), True),
    ],
)
def test_a_part_is_told_from_the_whole(subject, is_part):
    assert is_shown_in_part(card(subject)) is is_part


def test_the_whole_comes_from_where_it_is_kept():
    whole = "@@ -1 +1 @@\n" + "+line\n" * 300 + "+last\n"
    subject = edit("@@ -1 +1 @@\n+line\n", hidden_lines=300, output_ref="s/d")
    lines = whole_lines(card(subject), {"s/d": whole}.__getitem__, PLAIN, "/w")
    assert lines[0] == "modify a"
    assert len(lines) == 303
    assert lines[-1] == "+last"


def test_outputs_are_read_page_by_page():
    pages = {0: ("one ", 4), 4: ("two", 7)}

    class Engine:
        def request(self, method, params):
            assert (method, params["outputRef"]) == ("kova/output/read", "s/o")
            text, following = pages[params["offset"]]
            return {"text": text, "nextOffset": following, "totalBytes": 7}

    assert output_reader(Engine())("s/o") == "one two"
