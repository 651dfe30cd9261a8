"""What the engine itself says in a transcript."""

from kova_ls.engine.notices import notice, tell_notices
from kova_ls.values import NoticeItem
from tests.support.stage import Stage, call, say


async def test_what_a_call_left_to_say_is_told_once_in_order(tmp_path):
    stage = Stage(tmp_path, [call("bash", command="make"), say("Done.")])
    session = stage.create()
    stage.prompt(session, "Go.")
    await stage.waiting(session)
    session.notices += ["one", "two"]
    tell_notices(session)
    tell_notices(session)
    notice(session, "info", "three")
    items = session.items(None, 10)[0]
    found = [(item.level, item.text) for item in items if isinstance(item, NoticeItem)]
    assert found == [("warning", "one"), ("warning", "two"), ("info", "three")]
    await stage.close()
