from pathlib import Path

from kova_ls.engine.blobs import keep, load


def test_texts_come_back_and_are_kept_once(tmp_path: Path) -> None:
    texts = ["", "a\r\n\f", "\ud800 alone", None, "a\r\n\f"]
    names = keep(tmp_path, texts)
    assert [load(tmp_path, name) for name in names] == texts
    assert names[1] == names[4]
    assert len(list((tmp_path / "blobs").iterdir())) == 3


def test_only_the_person_may_read_them(tmp_path: Path) -> None:
    [name] = keep(tmp_path, ["secret"])
    assert name is not None
    assert (tmp_path / "blobs").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "blobs" / name).stat().st_mode & 0o777 == 0o600


def test_a_text_that_is_gone_is_none(tmp_path: Path) -> None:
    assert load(tmp_path, "0" * 64) is None
    assert load(tmp_path, None) is None
