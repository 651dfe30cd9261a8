"""Foreign text in messages and in Markdown."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kova_ls.endpoint.lsp_text import code, fenced, goal_line, markdown, one_line, plain
from kova_ls.journal.records import Goal


def test_what_cannot_be_seen_is_spelled_out():
    assert plain("a\x1b[2Jb\u202ec\ud800\u2028d\r\ne") == (
        "a⟨U+001B⟩[2Jb⟨U+202E⟩c⟨U+D800⟩⟨U+2028⟩d\ne"
    )
    assert one_line("a\nb\tc") == "a⏎b c"
    assert len(one_line("x" * 500)) == 200


@given(st.text())
def test_nothing_unprintable_comes_through(text):
    for shown in (plain(text), one_line(text), code(text), fenced(text), markdown(text)):
        for char in shown:
            category = unicodedata.category(char)
            assert char in "\n\t\u200d\ufe0f" or category[0] != "C", hex(ord(char))
            assert category not in ("Zl", "Zp")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("`a`", "`` `a` ``"),
        ("", "`  `"),
        ("rm -rf x", "`rm -rf x`"),
        ("a``b`c", "``` a``b`c ```"),
    ],
)
def test_a_code_span_holds_any_backticks(text, shown):
    assert code(text) == shown


def test_a_block_ends_where_we_end_it():
    assert fenced("```\n# You\n````", "diff") == "`````diff\n```\n# You\n````\n`````"
    assert fenced("a\nb\nc", most_lines=2) == "```\na\nb\n… 1 lines more\n```"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a < b and `Vec<T>`", "a < b and `Vec<T>`"),
        ("<img src=x>", "&lt;img src=x>"),
        ("</details><!-- x", "&lt;/details>&lt;!-- x"),
        ("\\<b> \\![x]", "\\&lt;b> \\!\\[x]"),
        ("![x](http://a/?q)", "!\\[x](http://a/?q)"),
        ("```html\n<b>\n```\n<b>", "```html\n<b>\n```\n&lt;b>"),
        ("~~~\n<b>\n```\n~~~~ \n<b>", "~~~\n<b>\n```\n~~~~ \n&lt;b>"),
        ("``` a`b\n<b>", "``` a`b\n&lt;b>"),
        ("- x\n  ```\n<b>", "- x\n  ```\n&lt;b>"),
        ("```\nopen", "```\nopen\n```"),
        ("stray `\n` <b> `", "stray `\n` &lt;b> `"),
        ("stray `\n\n`<b>`", "stray `\n\n`<b>`"),
        ("\\` <b> `", "\\` &lt;b> `"),
        ("| ` <b> | ` |", "| ` &lt;b> | ` |"),
        ("# You\n## Kova\n### x", "### You\n### Kova\n### x"),
        ("You\n===\nKova\n---", "You\n\n===\nKova\n\n---"),
    ],
)
def test_a_reply_cannot_leave_its_place(text, shown):
    assert markdown(text) == shown


def test_a_goal_is_one_line():
    goal = Goal(goal_id="g", objective="All\ngreen.", status="blocked", by="goal")
    assert goal_line(goal) == "Kova: the goal is blocked: All⏎green."
    said = goal.model_copy(update={"reason": "The \x1bnet."})
    assert goal_line(said) == "Kova: the goal is blocked: All⏎green. (The ⟨U+001B⟩net.)"
    assert goal_line(None) == "Kova: this conversation has no goal."
