from dataclasses import replace

import pytest
from inline_snapshot import snapshot

from kova_ls.cli.card import (
    answer_of,
    approval_lines,
    counts,
    decision_of,
    decision_prompt,
    diff_lines,
    path_of,
    question_lines,
    question_prompt,
    refusal,
)
from kova_ls.cli.terminal import Style
from kova_ls.l10n import Language
from kova_ls.values import Answer, Approval, Option, Question, QuestionRequest

STYLE = Style(colour=False, signs=True, width_columns=60)
DIFF = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n keep\n--- a removed line\n+new\n"


def draw(approval, style=STYLE):
    return "\n".join(approval_lines(approval, style, "/w"))


def test_command_card_shows_segments_reasons_and_what_remember_writes(approval_json):
    card = Approval.model_validate(
        approval_json(
            subject={
                "type": "command",
                "command": "git status &&\ngit push",
                "cwd": "file:///w",
                "segments": [
                    {"text": "git status", "rule": "git status *"},
                    {"text": "git push", "reason": "no rule matches"},
                ],
            },
            reasons=[
                {"code": "no_rule", "text": "no rule matches"},
                {
                    "code": "level",
                    "text": "what the parts do not say, in more words than fit one line",
                },
            ],
            notices=["This project asks for writes under /opt"],
        )
    )
    assert draw(card) == snapshot(
        """\
┌ bash: run this command?
│ $ git status &&
│ > git push
│ in /w
│   git status  allowed by git status *
│   git push  no rule matches
│ why: what the parts do not say, in more words than fit
│   one line
│ ! This project asks for writes under /opt
│ remember writes git push to .kova/permissions.local.json\
"""
    )
    assert decision_prompt(card) == "[d]eny  deny and say [w]hy  [o]nce  [r]emember"


def test_edit_card_shows_every_file_with_its_diff(approval_json):
    files = [
        {"uri": "file:///w/src/x", "change": "modify", "diff": DIFF, "hiddenLines": 7},
        {"uri": "file:///else/y%20z", "change": "create", "diff": "@@ -0,0 +1 @@\n+y\n"},
    ]
    card = Approval.model_validate(
        approval_json(title="edit", subject={"type": "edit", "files": files}, reasons=[], rules=[])
    )
    assert draw(card) == snapshot(
        """\
┌ edit
│ modify src/x
│ @@ -1,2 +1,2 @@
│  keep
│ --- a removed line
│ +new
│ (7 more lines not shown here)
│ create /else/y z
│ @@ -0,0 +1 @@
│ +y\
"""
    )


def test_plan_card_offers_approaches(approval_json):
    card = Approval.model_validate(
        approval_json(
            kind="plan",
            title="A plan",
            subject={
                "type": "plan",
                "markdown": "# Do it\n",
                "options": [{"label": "Small", "description": "less"}, {"label": "Big"}],
            },
            decisions=["approve", "reject", "rejectAndExit", "revise"],
            reasons=[],
            rules=[],
        )
    )
    assert draw(card) == snapshot(
        """\
┌ A plan
│ # Do it
│ 1) Small  less
│ 2) Big\
"""
    )
    assert decision_prompt(card) == snapshot("[a]pprove  [n]o  no, and e[x]it plan mode  re[v]ise")
    assert [decision_of(card, key) for key in "anxvdw"] == [
        "approve",
        "reject",
        "rejectAndExit",
        "revise",
        None,
        None,
    ]
    assert refusal(card) == "reject"


@pytest.mark.parametrize("key", ["", "\r", "\n", " ", "y", "\x1b[", "1", "\x03"])
def test_no_key_is_an_answer_by_default(approval_json, key):
    assert decision_of(Approval.model_validate(approval_json()), key) is None


def test_remember_is_no_answer_where_it_is_not_offered(approval_json):
    card = Approval.model_validate(approval_json(decisions=["deny", "once"]))
    assert [decision_of(card, key) for key in "dorwO"] == ["deny", "once", None, "deny", "once"]
    assert "remember" not in draw(card)


def test_a_long_line_cannot_draw_a_frame_of_its_own(approval_json):
    command = "true " + " " * 52 + "[d]eny  [o]nce"
    card = Approval.model_validate(
        approval_json(subject={"type": "command", "command": command, "cwd": "file:///w"})
    )
    assert all(line.startswith(("┌ ", "│")) for line in approval_lines(card, STYLE, "/w"))
    assert all(len(line) < 60 for line in approval_lines(card, STYLE, "/w"))


def test_foreign_text_on_cards_is_spelled_out(approval_json):
    subject = {"type": "other", "summary": "\x1b[2J\u202eevil"}
    card = Approval.model_validate(approval_json(title="\x1b]0;x\x07", subject=subject))
    assert "\x1b" not in draw(card)
    assert "\u202e" not in draw(card)


def test_network_card_shows_the_address(approval_json):
    subject = {"type": "network", "method": "GET", "url": "https://example.org/"}
    assert "│ GET https://example.org/" in draw(
        Approval.model_validate(approval_json(subject=subject))
    )


def test_colours_follow_the_signs_of_a_diff():
    style = Style(colour=True, signs=True)
    assert diff_lines(DIFF, style) == snapshot(
        [
            "\x1b[36m@@ -1,2 +1,2 @@\x1b[0m",
            " keep",
            "\x1b[31m--- a removed line\x1b[0m",
            "\x1b[32m+new\x1b[0m",
        ]
    )
    assert counts(DIFF) == (1, 1)


def test_a_long_diff_says_how_much_is_missing():
    lines = diff_lines("@@ -0,0 +1,500 @@\n" + "+x\n" * 500, STYLE, 3)
    assert (len(lines), lines[-1]) == (201, "(304 more lines not shown here)")


def test_paths_are_relative_inside_the_folder_only():
    assert [path_of(uri, "/w") for uri in ("file:///w/a", "file:///wide/a", "untitled:x")] == [
        "a",
        "/wide/a",
        "untitled:x",
    ]


@pytest.fixture
def question(question_json):
    return QuestionRequest.model_validate(question_json()).questions[0]


def test_question_shows_numbers(question_json):
    request = QuestionRequest.model_validate(question_json())
    assert "\n".join(question_lines(request, request.questions[0], STYLE)) == snapshot(
        """\
┌ Indent
│ Tabs or spaces?
│ 1) Tabs
│ 2) Spaces  four\
"""
    )
    assert question_prompt(request.questions[0]) == snapshot(
        "a number or your own words; an empty line declines"
    )


def test_answers_are_numbers_labels_or_own_words(question):
    lines = ("2", " tabs ", "both, please")
    assert [answer_of(question, line) for line in lines] == [
        Answer(id="0", selected=("Spaces",)),
        Answer(id="0", selected=("Tabs",)),
        Answer(id="0", other="both, please"),
    ]


@pytest.mark.parametrize("line", ["0", "3", "1,2", "99999999999999999999"])
def test_a_number_that_is_not_offered_is_no_answer(question, line):
    assert answer_of(question, line) is None


def test_several_numbers_where_several_may_be_chosen():
    question = Question.model_validate(
        {
            "id": "m",
            "question": "Which?",
            "options": [{"label": "a"}, {"label": "b"}, {"label": "c"}],
            "multiSelect": True,
            "allowOther": False,
        }
    )
    assert answer_of(question, "3, 1,3") == Answer(id="m", selected=("c", "a"))
    assert answer_of(question, "something else") is None
    assert question_prompt(question) == "numbers, as 1,3; an empty line declines"


def test_a_card_is_drawn_in_the_persons_language(approval_json):
    chinese = replace(STYLE, language=Language.CHINESE)
    reasons = [{"code": "no_rule", "text": "没有规则涵盖 `git push`。"}]
    card = Approval.model_validate(approval_json(reasons=reasons))
    drawn = draw(card, chinese)
    assert "bash：运行此命令？" in drawn
    assert "$ git push" in drawn
    assert "原因：没有规则涵盖 `git push`。" in drawn
    assert "允许并记住将写入 git push" in drawn
    assert decision_prompt(card, Language.CHINESE) == (
        "[d] 拒绝  [w] 拒绝并说明原因  [o] 仅这一次  [r] 允许并记住"
    )
    question = Question(id="1", question="Which?", options=(Option(label="A"),))
    assert question_prompt(question, Language.CHINESE) == "编号或自行填写的内容；直接回车表示不回答"
