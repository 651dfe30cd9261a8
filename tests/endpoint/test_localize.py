"""Each editor is told in its own language; what others said stays as they said it."""

import inspect
import re
from pathlib import Path

import pytest
from pydantic.alias_generators import to_camel

from kova_ls import values as v
from kova_ls.endpoint.localize import FOR_PEOPLE, localized
from kova_ls.journal import records as r
from kova_ls.l10n import Language
from kova_ls.l10n import say as say_in
from kova_ls.vocabulary import Decision, ItemStatus
from tests.support.plain import PlainEditor
from tests.support.stage import Stage, call, say
from tests.support.wire import Wire

ZH = Language.CHINESE
EDIT = call("edit", path="a.txt", old_string="one", new_string="two")


def tool_call(**more):
    fields = {
        "item_id": "i",
        "call_id": "i",
        "tool": "read",
        "args": {"path": "Read a", "reasons": [{"code": "x", "text": "It touches nothing."}]},
        "title": "Read a.txt",
        "verdict": v.Verdict(
            decision=Decision.ALLOW,
            reasons=(v.Reason(code="reading", text="Looking changes nothing."),),
        ),
        "status": ItemStatus.OK,
        "display": (v.TextBlock(text="It touches nothing."),),
    }
    return v.ToolCallItem.model_validate(fields | more)


def test_only_what_the_engine_says_changes():
    before = r.ItemCompleted(item=tool_call(), result="Looking changes nothing.")
    after = localized(before, ZH)
    assert isinstance(after.item, v.ToolCallItem)
    assert after.item.title == "读取 a.txt"
    assert after.item.verdict.reasons == (v.Reason(code="reading", text="查看不会更改任何内容。"),)
    assert after.item.args == before.item.args  # the model's
    assert after.item.display == before.item.display  # a file's
    assert after.result == before.result


def test_words_of_people_and_models_stay():
    reply = r.ItemCompleted(
        item=v.ReplyItem(item_id="i", status=ItemStatus.OK, text="It touches nothing.")
    )
    asked = v.QuestionRequest(
        question_id="q",
        session_id="s",
        turn_id="t",
        call_id="c",
        questions=(v.Question(id="1", question="Approve the plan?"),),
        requested_at=0.0,
    )
    renamed = r.SessionRenamed(title="Approve the plan?", by="me")
    for value in (reply, asked, renamed):
        assert localized(value, ZH) is value


def test_for_english_nothing_is_looked_at(monkeypatch):
    monkeypatch.setattr("kova_ls.endpoint.localize.say", pytest.fail)
    record = r.ItemCompleted(item=tool_call())
    assert localized(record, Language.ENGLISH) is record


def test_several_lines_are_said_one_by_one():
    subject = v.OtherSubject(summary="allow git push *\ndrop strictRedirects\n怎么")
    after = localized(subject, ZH)
    assert after.summary == "允许 git push *\n移除 strictRedirects\n怎么"


def test_every_field_named_is_one_of_texts():
    for kind, names in FOR_PEOPLE.items():
        source = inspect.getsource(kind)
        for name in names:
            declared = re.search(rf"^    {name}: (.*?)(?: =.*)?$", source, re.MULTILINE)
            assert declared is not None, (kind, name)
            assert declared[1] in ("str", "str | None", "tuple[str, ...]")


def test_the_page_on_languages_names_every_field():
    page = Path(__file__).parents[2].joinpath("docs/languages.md").read_text(encoding="utf-8")
    listed = page.split("<!-- fields -->")[1].split("<!-- /fields -->")[0]
    wanted = {
        f"{kind.__name__}.{to_camel(name)}" for kind, names in FOR_PEOPLE.items() for name in names
    }
    assert set(re.findall(r"`([^`]+)`", listed)) == wanted


async def test_two_editors_see_one_card_each_in_its_language(tmp_path):
    stage = Stage(tmp_path, [call("bash", command="make -v"), say("Done.")])
    english = Wire(stage)
    await english.initialize()
    session = await english.create()
    chinese = Wire(stage, english.hub)
    await chinese.initialize(locale="zh-cn", client={"id": "other", "name": "o", "version": "1"})
    await chinese.result("kova/session/attach", {"sessionId": session})
    await english.start(session)
    cards = [
        (await wire.event("approval.requested"))["payload"]["approval"]
        for wire in (english, chinese)
    ]
    assert cards[0]["reasons"][0]["text"] == "No rule covers `make -v`."
    assert cards[1]["reasons"][0] == {"code": "no_rule", "text": "没有规则涵盖 `make -v`。"}
    assert cards[0]["subject"]["command"] == cards[1]["subject"]["command"]
    for one in cards:
        one["reasons"] = one["subject"]["segments"] = None
    assert cards[0] == cards[1]

    listed = await chinese.result("kova/approval/list")
    assert listed["approvals"][0]["reasons"][0]["text"] == "没有规则涵盖 `make -v`。"
    wrong = {"approvalId": cards[0]["approvalId"], "decision": "maybe"}
    told = await chinese.error("kova/approval/respond", wrong)
    assert told["message"].startswith("decision：没有提供 'maybe'")
    assert told["data"]["code"] == "invalidParams"
    heard = await english.error("kova/approval/respond", wrong)
    assert heard["message"].startswith("decision: 'maybe' is not offered")
    await chinese.result("kova/approval/respond", {**wrong, "decision": "deny"})

    for wire in (english, chinese):
        await wire.event("turn.completed")
    cursor = {"epoch": english.events[0]["epoch"], "seq": 0}
    again = Wire(stage, english.hub)
    await again.initialize(locale="zh_CN", client={"id": "third", "name": "t", "version": "1"})
    page = await again.result("kova/session/attach", {"sessionId": session, "cursor": cursor})
    (seen,) = [e for e in page["events"] if e["type"] == "approval.requested"]
    assert seen["payload"]["approval"]["reasons"][0]["text"] == "没有规则涵盖 `make -v`。"
    journal = (tmp_path / "data").rglob("journal.jsonl")
    for path in journal:
        assert "没有" not in path.read_text(encoding="utf-8")
    await stage.close()


async def test_a_refusal_of_the_handshake_is_said_in_the_editors_language(tmp_path):
    stage = Stage(tmp_path)
    wire = Wire(stage)
    params = {"locale": "zh-cn", "initializationOptions": {"kova": {"versions": [99]}}}
    assert (await wire.error("initialize", params))["message"].startswith("没有共同的协议版本")
    await stage.close()


async def test_a_plain_editor_is_asked_and_answers_in_chinese(tmp_path):
    stage = Stage(tmp_path, [EDIT, say("Done.")], files={"a.txt": "one\n"})
    editor = PlainEditor(stage)
    await editor.open(locale="zh-cn")
    await editor.run("kova.ask", "Change it.")
    token = await editor.shows_progress()
    assert "运行命令 kova.pending" in await editor.told("Kova 等待你处理：编辑 a.txt")
    place = {"line": 0, "character": 0}
    params = {
        "textDocument": {"uri": editor.folder + "/a.txt"},
        "range": {"start": place, "end": place},
        "context": {"diagnostics": []},
    }
    actions = [a["title"] for a in await editor.result("textDocument/codeAction", params)]
    assert actions == [
        "向 Kova 询问此行",
        "就此内容写给 Kova…",
        "回应 Kova：编辑 a.txt",
        "显示 Kova 的对话",
        "停止 Kova",
    ]
    await editor.run("kova.pending")
    asked = await editor.chooses("仅这一次")
    assert [action["title"] for action in asked["actions"]] == [
        "拒绝",
        "拒绝并说明原因…",
        "仅这一次",
    ]
    assert "+two" in asked["message"]
    assert "在 `ask` 档位下" in asked["message"]
    await editor.shows_document()
    assert (stage.workspace / "a.txt").read_text() == "two\n"
    said = editor.progress(token)
    assert said[0]["message"] in ("思考中", "编辑 a.txt", "等待你的回应")
    assert (await editor.fails("kova.answer", "x"))["message"].startswith("没有待回答的问题")
    await stage.close()


def test_a_catalogue_holds_what_plain_editors_are_shown():
    for word in ("Deny", "Allow once", "Decline to answer", "thinking", "done", "failed"):
        assert say_in(word, ZH) != word
