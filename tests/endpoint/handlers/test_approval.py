"""Requests about cards and questions."""

import os

from kova_ls.engine import card_watch
from kova_ls.engine.workspace import file_uri
from tests.support.stage import call, say

OPTIONS = [{"label": "A", "description": ""}, {"label": "B", "description": ""}]
ASKING = call("Question", questions=[{"question": "Which?", "options": OPTIONS}])


async def at_a_card(desk):
    stage, wire = await desk([call("bash", command="make -v"), say("Done.")])
    session = await wire.create()
    await wire.start(session)
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    await wire.event("turn.suspended")
    return stage, wire, session, card


async def test_a_card_says_what_it_would_do_and_remember(desk):
    _, _, session, card = await at_a_card(desk)
    assert card["subject"]["type"] == "command"
    assert card["subject"]["command"] == "make -v"
    assert card["decisions"] == ["deny", "once", "remember"]
    assert card["rules"] == ["make *"]
    assert card["rulesPath"]
    assert card["sessionId"] == session


async def test_the_first_answer_wins(desk, join):
    _, wire, session, card = await at_a_card(desk)
    other = await join(wire, "other")
    answer = {"approvalId": card["approvalId"], "decision": "deny", "feedback": "No."}
    first = await wire.result("kova/approval/respond", answer)
    assert first == {"status": "resolved", "decision": "deny", "resolvedBy": "wire"}
    late = await other.result("kova/approval/respond", {**answer, "decision": "once"})
    assert late == {"status": "alreadyResolved", "decision": "deny", "resolvedBy": "wire"}
    resolved = await wire.event("approval.resolved")
    assert resolved["payload"]["feedback"] == "No."
    assert resolved["turnId"] == card["turnId"]
    assert session


async def test_an_answer_that_the_card_does_not_offer_is_refused(desk):
    _, wire, session, card = await at_a_card(desk)
    for decision in ("approve", "yes", "allowed", ""):
        answer = {"approvalId": card["approvalId"], "decision": decision}
        error = await wire.error("kova/approval/respond", answer)
        assert (error["code"], error["data"]["code"]) == (-32602, "invalidParams")
        assert "deny, once, remember" in error["message"]
    listed = await wire.result("kova/approval/list", {"sessionId": session})
    assert listed["approvals"] == [card]


async def test_open_cards_of_all_sessions_are_listed(desk):
    _, wire, _, card = await at_a_card(desk)
    assert (await wire.result("kova/approval/list", {}))["approvals"] == [card]


async def test_a_card_that_never_was_is_not_found(desk):
    _, wire, session, _ = await at_a_card(desk)
    for approval in ("nope", f"{session}.nope", "", "../x.y"):
        answer = {"approvalId": approval, "decision": "once"}
        error = await wire.error("kova/approval/respond", answer)
        assert error["data"]["code"] == "approvalNotFound"


async def test_questions_are_answered_by_their_options(desk):
    _, wire = await desk([ASKING, say("Done.")])
    session = await wire.create()
    await wire.start(session)
    request = (await wire.event("question.requested"))["payload"]["request"]
    await wire.event("turn.suspended")
    assert (await wire.result("kova/question/list", {}))["questions"] == [request]
    question = request["questions"][0]["id"]
    for answers, wrong in (
        ([], "has no answer"),
        ([{"id": question, "selected": ["C"]}], "is not an option"),
        ([{"id": question, "selected": ["A", "B"]}], "only one option"),
        ([{"id": question, "other": "  "}], "has no answer"),
    ):
        params = {"questionId": request["questionId"], "answers": answers}
        error = await wire.error("kova/question/respond", params)
        assert error["code"] == -32602
        assert wrong in error["message"]
    error = await wire.error("kova/question/respond", {"questionId": request["questionId"]})
    assert error["code"] == -32602
    params = {
        "questionId": request["questionId"],
        "answers": [{"id": question, "other": "Neither"}],
    }
    assert (await wire.result("kova/question/respond", params))["outcome"] == "answered"
    await wire.event("turn.completed")
    late = await wire.result("kova/question/respond", {**params, "declined": True})
    assert (late["status"], late["outcome"]) == ("alreadyResolved", "answered")


async def test_questions_may_be_declined(desk):
    _, wire = await desk([ASKING, say("Done.")])
    session = await wire.create()
    await wire.start(session)
    request = (await wire.event("question.requested"))["payload"]["request"]
    await wire.event("turn.suspended")
    params = {"questionId": request["questionId"], "declined": True}
    assert (await wire.result("kova/question/respond", params))["outcome"] == "declined"
    await wire.event("turn.completed")


async def test_typing_in_the_document_replaces_the_card(desk, monkeypatch):
    monkeypatch.setattr(card_watch, "QUIET_S", 0.0)
    edit = call("edit", path="a.txt", old_string="one", new_string="1")
    stage, wire = await desk([edit, say("Done.")], files={"a.txt": "one\n"})
    uri = file_uri(os.path.realpath(stage.workspace / "a.txt"))
    opened = {"uri": uri, "languageId": "plaintext", "version": 1, "text": "one\n"}
    wire.notify("textDocument/didOpen", {"textDocument": opened})
    session = await wire.create(level="ask")
    await wire.start(session)
    card = (await wire.event("approval.requested"))["payload"]["approval"]
    await wire.event("turn.suspended")
    assert card["subject"]["files"][0]["documentVersion"] == 1
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "one two\n"}]}
    wire.notify("textDocument/didChange", change)
    gone = (await wire.event("approval.resolved"))["payload"]
    assert (gone["approvalId"], gone["decision"]) == (card["approvalId"], "superseded")
    again = (await wire.event("approval.requested", 2))["payload"]["approval"]
    assert again["subject"]["files"][0]["documentVersion"] == 2
    assert "+1 two" in again["subject"]["files"][0]["diff"]
    answer = {"approvalId": card["approvalId"], "decision": "once"}
    late = await wire.result("kova/approval/respond", answer)
    assert late == {"status": "alreadyResolved", "decision": "superseded", "resolvedBy": "engine"}
