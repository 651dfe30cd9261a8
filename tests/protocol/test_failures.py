"""Error codes."""

from kova_ls.protocol.failures import ADVICE, CODES, ErrorCode


def test_every_code_says_what_to_do() -> None:
    assert ADVICE.keys() == set(ErrorCode)
    assert all(text.endswith(".") for text in ADVICE.values())


def test_no_code_is_one_of_lsps_own() -> None:
    assert not {-32800, -32801, -32802, -32803, -32001} & {int(code) for code in ErrorCode}


def test_words_are_camel_case() -> None:
    assert all(word.isalpha() and word[0].islower() for word in CODES)
