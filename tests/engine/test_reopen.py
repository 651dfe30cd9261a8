"""Sessions read back: what is damaged is named and harms no other."""

import shutil

import orjson
import pytest

from kova_ls.errors import JournalCorrupt, RequestFailed
from tests.support.stage import Stage, say

END = say("Done.")


@pytest.fixture
async def stage(tmp_path):
    stage = Stage(tmp_path, [END] * 9)
    yield stage
    await stage.close()


def with_line(number, change):
    def damage(lines):
        raw = orjson.loads(lines[number])
        change(raw)
        lines[number] = orjson.dumps(raw) + b"\n"

    return damage


DAMAGE = {
    "type is a list": with_line(2, lambda raw: raw.update(type=["a"])),
    "type is missing": with_line(2, lambda raw: raw.pop("type")),
    "moment is a text": with_line(2, lambda raw: raw.update(at="now")),
    "number is a truth": with_line(0, lambda raw: raw.update(seq=True)),
    "item is nothing": with_line(4, lambda raw: raw.update(item=None)),
    "id is a list": with_line(4, lambda raw: raw["item"].update(item_id=["x"])),
    "out of order": lambda lines: lines.insert(2, lines.pop(5)),
    "created twice": lambda lines: lines.__setitem__(3, lines[0].replace(b'"seq":1,', b'"seq":4,')),
    "ends twice": lambda lines: lines.__setitem__(
        1, lines[-1].replace(b'"seq":%d,' % len(lines), b'"seq":2,')
    ),
    "half a letter": lambda lines: lines.__setitem__(2, lines[2][:-3] + b'\xc3"}\n'),
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_damage_of_any_kind_is_named_each_time_and_harms_no_list(tmp_path, damage):
    stage = Stage(tmp_path, [END] * 9)
    session, other = stage.create(), stage.create(title="Other")
    stage.prompt(session, "Go.")
    await stage.idle(session)
    await stage.close()
    lines = session.journal.path.read_bytes().splitlines(keepends=True)
    damage(lines)
    session.journal.path.write_bytes(b"".join(lines))
    (session.folder / "meta.json").unlink()
    stage.start_engine()
    assert [summary.title for summary in stage.engine.summaries()] == ["Other"]
    for _ in range(2):
        with pytest.raises(JournalCorrupt):
            stage.engine.get(session.id)
    assert stage.engine.get(other.id).state.title == "Other"
    await stage.close()


async def test_a_copied_folder_is_no_second_session(stage):
    session = stage.create(title="Mine")
    await stage.close()
    shutil.copytree(session.folder, session.folder.with_name("copy"))
    stage.start_engine()
    assert [summary.session_id for summary in stage.engine.summaries()] == [session.id]
    with pytest.raises(JournalCorrupt, match="Give it that name"):
        stage.engine.get("copy")
    assert stage.engine.get(session.id)


async def test_an_empty_journal_is_no_session(stage):
    folder = stage.root / "data/sessions/abc"
    folder.mkdir(parents=True)
    (folder / "journal.jsonl").write_bytes(b"")
    for _ in range(2):  # and its file is given back
        with pytest.raises(RequestFailed, match="is empty") as caught:
            stage.engine.get("abc")
        assert caught.value.code == "sessionNotFound"
