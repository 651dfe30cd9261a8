"""What is said to people in another language: every text known, every hole kept."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kova_ls.l10n import Language, language_of, say
from kova_ls.l10n.catalogue import LONGEST_CHARS, Catalogue, compiled, load
from tests.support.spoken import texts

ZH = Language.CHINESE
HOLE = re.compile(r"\{(\d+)(![rsa])?(?::([^{}]*))?\}")
CATALOGUE = load(ZH.value)
ENTRIES = CATALOGUE.entries
ODD = (
    "a/b.py",
    "",
    "two\nlines",
    "`ticks` and 'quotes' and \"more\"",
    "路径/文件.py，第 3 行。",
    "{0} {1:say} %s",
    "The level is `auto`: nothing asks.",
    " forbids it. ",
    "\x1b[2J\u202e",
)


def holes(text):
    return [(int(n), mark or "", spec or "") for n, mark, spec in HOLE.findall(text)]


def filled(english, contents):
    """Make a text as the source does; numbers and quoted texts where it has them."""
    numbers = iter(range(10, 99))

    def fill(match):
        if match[2] == "!r":
            return repr(contents[int(match[1])])
        return str(next(numbers)) if match[3] else contents[int(match[1])]

    return HOLE.sub(fill, english)


@pytest.mark.parametrize(
    ("locale", "language"),
    [
        ("zh-cn", ZH),
        ("zh-CN", ZH),
        ("zh_CN.UTF-8", ZH),
        ("zh-Hans", ZH),
        ("zh-Hans-HK", ZH),
        ("zh", ZH),
        ("zh_SG@pinyin", ZH),
        ("zh-tw", Language.ENGLISH),
        ("zh-Hant", Language.ENGLISH),
        ("zh_HK.UTF-8", Language.ENGLISH),
        ("en", Language.ENGLISH),
        ("de-AT", Language.ENGLISH),
        ("zhuang", Language.ENGLISH),
        ("C", Language.ENGLISH),
        ("", Language.ENGLISH),
        (None, Language.ENGLISH),
        (["zh-cn"], Language.ENGLISH),
    ],
)
def test_a_locale_chooses_the_language(locale, language):
    assert language_of(locale) is language


def test_every_text_for_people_has_its_translation():
    unknown = {text: places for text, places in texts().items() if text not in ENTRIES}
    assert not unknown, (
        f"Add to kova_ls/l10n/{ZH.value}.json, or say in tests/support/spoken.py that it is not "
        f"for people: {unknown}"
    )


def test_the_source_is_read_whole():
    found = texts()
    assert len(found) > 750
    assert "The deny rule `{0}` forbids it." in found
    assert "{0!r} is outside of the workspace and its roots." in found
    assert "writes a file or runs a program" in found  # a table's
    assert "Allow once" in found  # a button
    assert not any("You are Kova" in text for text in found)  # the model's


def test_no_hole_is_lost_and_none_is_invented():
    for english, chinese in ENTRIES.items():
        there = sorted({number for number, _, _ in holes(english)})
        assert sorted(number for number, _, _ in holes(chinese)) == there, english
        assert {mark for _, _, mark in holes(chinese)} <= {"", "say", "list", "known", "drop"}


def test_translations_are_chinese_and_spelled_alike():
    for english, chinese in ENTRIES.items():
        assert re.search(
            r"[\u4e00-\u9fff]|\A(\{\d(:\w+)?\}|agent|HTTP|[\s：。，`（）])+\Z", chinese
        ), english
        prose = re.sub(r"`[^`]*`|\{[^{}]*\}|\[[^\]]*\]", "x", chinese)
        assert not re.search(r"[\u4e00-\u9fff][,;?!]", prose), chinese
        assert english.endswith("\n") == chinese.endswith("\n")


@pytest.mark.parametrize("content", ODD)
def test_every_template_is_recognised_whatever_stands_in_its_holes(content):
    for english, chinese in ENTRIES.items():
        if not holes(english) or "known" in chinese:
            continue
        text = filled(english, [content] * 9)
        said = CATALOGUE.say(text)
        if content in ("a/b.py", "{0} {1:say} %s"):
            assert said != text, english
        marked = {n for n, _, mark in holes(chinese) if mark}
        for number, conversion, spec in holes(english):
            if number not in marked and not spec:
                assert (repr(content) if conversion else content) in said, english


def test_no_template_is_taken_for_another():
    for english, chinese in ENTRIES.items():
        if not holes(english):
            assert say(english, ZH) == chinese
        elif ":known" not in chinese:
            contents = [f"x{number}y" for number in range(9)]
            template = compiled(english, chinese)
            text = filled(english, contents)
            (found,) = [next(template.fits(text))]
            expected = "".join(
                literal + (found[n] if n >= 0 else "") for literal, n in template.parts
            )
            assert CATALOGUE.say(text) == expected, english


@given(st.lists(st.text(max_size=40), min_size=9, max_size=9), st.sampled_from(sorted(ENTRIES)))
def test_holes_keep_their_text(contents, english):
    chinese = ENTRIES[english]
    said = CATALOGUE.say(filled(english, contents))
    marks = {n: mark for n, _, mark in holes(chinese)}
    for number, conversion, spec in holes(english):
        if not marks[number] and not spec:
            wanted = repr(contents[number]) if conversion else contents[number]
            assert wanted in said


@given(st.text())
@example("{0}: {1}")
@example("`" * 50)
@example(". " * 3_000)
def test_text_of_others_comes_back_as_it_is(text):
    if not CATALOGUE.knows(text):
        assert say(text, ZH) == text
    assert say(text, Language.ENGLISH) is text


@pytest.mark.parametrize(
    "text",
    [
        "$ rm -rf build",
        "I changed the parser: it reads files now. Shall I go on?",
        "Traceback (most recent call last): ValueError: nothing. It failed, badly.",
        "# Plan\n\n1. Read the file.\n2. Write the test.",
        "已经是中文了。",
    ],
)
def test_what_a_model_or_a_command_said_is_nobodys_template(text):
    assert say(text, ZH) == text


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("`sudo` runs whatever command it is given", "`sudo` 会运行交给它的任何命令"),
        ("'/p/.env' holds secrets of the project.", "'/p/.env' 含有项目的机密。"),
        (
            "In mode `plan` only commands that look may run: `a > b` has a redirect.",
            "在 `plan` 模式下只能运行仅查看的命令：`a > b` 含有重定向。",
        ),
        (
            "h.example did not accept the key (HTTP 401). It said: No. Really: no. Check the key.",
            "h.example 不接受该密钥（HTTP 401）。对方返回：No. Really: no。请检查密钥。",
        ),
        (
            "The model refused to answer. Word the request differently. Trying again in 3 s (1).",
            "模型拒绝回答。请换一种方式表述请求。3 秒后重试（第 1 次）。",
        ),
        (
            "Looking changes nothing. It is inside the workspace.",
            "查看不会更改任何内容。它在工作区内。",
        ),
        (
            "This project requests to allow `git push *` without asking.",
            "此项目请求不经确认即放行 `git push *`。",
        ),
        (
            "The person stopped it. Stopped: approval of Write a; sleep 9 (process 12).",
            "已被用户停止。停止的内容：对“写入 a”的审批; sleep 9（进程 12）。",
        ),
    ],
)
def test_texts_inside_texts_are_said_too(english, chinese):
    assert say(english, ZH) == chinese


def test_a_hole_that_must_be_ours_settles_whether_it_is():
    some = Catalogue({"{0}: {1}": "{0:known}：{1}", "Note": "注意"})
    assert some.say("Note: a: b") == "注意：a: b"
    assert some.say("Other: a") == "Other: a"


def test_the_work_for_one_text_is_bounded():
    some = Catalogue({"{0}a{1}a{2}a{3}a{4}.": "{4}{3}{2}{1}{0:known}。", "x": "某"})
    text = "a" * LONGEST_CHARS
    assert some.say(text) == text
    assert some.say(text + ".") == text + "."
