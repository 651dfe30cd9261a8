from kova_ls.engine.well_formed import well_formed
from kova_ls.journal import records as r
from kova_ls.values import NoticeItem, TextPart


def test_lone_surrogates_are_replaced_at_every_depth():
    record = r.TurnStarted(turn_id="t", prompt_id="\ud800", input=(TextPart(text="a\udfffb"),))
    mended = well_formed(record)
    assert (mended.prompt_id, mended.input[0].text) == ("\ufffd", "a\ufffdb")
    assert mended.model_dump_json()


def test_what_is_well_formed_stays():
    item = NoticeItem(item_id="i", level="info", text="\U0001f469 é")
    record = r.ItemStarted(turn_id="t", item=item)
    assert well_formed(record) == record
