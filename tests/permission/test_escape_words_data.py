import pytest

from kova_ls.permission.escape_words_data import DATA_CHECKS


@pytest.mark.parametrize(
    ("program", "word"),
    [
        ("redis-cli", "EVAL"),
        ("convert", "msl:x"),
        ("identify", "x|"),
        ("sqlite3", ".shell x"),
        ("sqlite3", "select 1;\n.once x"),
        ("sqlite3", "attach 'x' as y"),
        ("duckdb", "copy t to 'x'"),
        ("psql", "copy t to program 'x'"),
        ("psql", "\\! x"),
        ("mysql", "select 1 into outfile 'x'"),
        ("mariadb", "system x"),
    ],
)
def test_words_that_write_or_run_are_caught(program: str, word: str) -> None:
    assert DATA_CHECKS[program](["a", word]) is not None


@pytest.mark.parametrize(
    ("program", "word"),
    [
        ("redis-cli", "get"),
        ("convert", "b.png"),
        ("sqlite3", ".tables"),
        ("sqlite3", "select 1"),
        ("duckdb", "select 1"),
        ("psql", "\\dt"),
        ("mysql", "select 1"),
    ],
)
def test_everyday_words_are_fine(program: str, word: str) -> None:
    assert DATA_CHECKS[program](["a", word]) is None
