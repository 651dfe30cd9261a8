import pytest

from kova_ls.cli.prompt import parse
from kova_ls.values import FilePart, Position, Range, TextPart


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "src").mkdir()
    for name in ("a.py", "src/b.py", "two words.txt", "Makefile"):
        (tmp_path / name).write_text("x\n")
    return tmp_path


def mention(folder, name, lines=None):
    where = None
    if lines:
        where = Range(
            start=Position(line=lines[0], character=0), end=Position(line=lines[1], character=0)
        )
    return FilePart(uri=(folder / name).as_uri(), range=where)


@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [
        ("look at @a.py", "a.py", None),
        ("@src/b.py, please", "src/b.py", None),
        ("(@Makefile)", None, None),
        ("see @Makefile)", "Makefile", None),
        ('see @"two words.txt" now', "two words.txt", None),
        ("see @src", "src", None),
        ("fix @a.py:10-20", "a.py", (9, 20)),
        ("fix @a.py#L3", "a.py", (2, 3)),
        ("fix @a.py:0", "a.py", (0, 1)),
    ],
)
def test_mentions_become_file_parts_and_stay_in_the_text(folder, text, name, lines):
    found = parse(text, str(folder))
    expected = (TextPart(text=text),)
    if name:
        expected += (mention(folder, name, lines),)
    assert found.parts == expected
    assert found.missing == ()


def test_a_mention_counts_once(folder):
    assert len(parse("@a.py and @a.py", str(folder)).parts) == 2


@pytest.mark.parametrize("text", ["mail me@a.py", "use @property", "an @ alone", "@", '@""'])
def test_other_words_with_the_sign_are_only_text(folder, text):
    found = parse(text, str(folder))
    assert (found.parts, found.missing) == ((TextPart(text=text),), ())


@pytest.mark.parametrize("word", ["no/such", "gone.py", "x" * 5000 + "/y", "a\0b.c"])
def test_a_path_that_is_not_there_is_named(folder, word):
    assert parse(f"see @{word}", str(folder)).missing == (word,)
