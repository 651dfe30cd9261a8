import pytest

from kova_ls.permission.escape_words import CHECKS

PLAIN_SED = [
    "p",
    "1p",
    "$p",
    "1,5p",
    "/a/p",
    "/a/,/b/p",
    "/a/!p",
    "1d",
    "5q",
    "5q1",
    "=",
    "s/a/b/",
    "s/a/b/gp",
    "s#a#b#2",
    "s|a/b|c|;p",
    "s/a\\/b/c/",
    "1~2p",
    "/a/,+3p",
    "s/a/b/\np",
    "/a/Ip",
]
OTHER_SED = [
    "w x",
    "1w x",
    "s/a/b/w x",
    "s/a/b/e",
    "e",
    "1e ls",
    "r x",
    "a text",
    "i text",
    "c text",
    "R x",
    "W x",
    "s/a/b/gw x",
    "s/a/b/;w x",
    "p;w x",
    "p\nw x",
    "/a/w x",
    "$!{w x\n}",
    "{p}",
    "s/a/b/m w x",
    "y/a/b/",
    "b",
    "t",
    ":a",
    "D",
    "N",
    "s/a/b",
    "s/a",
    "/a",
    "s",
    "sxaxbx",
    "1,",
    "s/[/w/]/x/",
    "F",
    "p e",
    "p w x",
    "s/[^/]/w x/",
    "l",
    "n",
    "s/a/b/ e",
    "pw x",
    "=w x",
]


@pytest.mark.parametrize("script", PLAIN_SED)
def test_plain_sed_scripts_are_no_escape(script: str) -> None:
    assert CHECKS["sed"](["-n", script, "a"]) is None


@pytest.mark.parametrize("script", [*OTHER_SED, "s/[/]x/y/"])
def test_every_other_sed_script_is_an_escape(script: str) -> None:
    assert CHECKS["sed"]([script, "a"]) is not None
    assert CHECKS["sed"](["-e", script, "a"]) is not None
    assert CHECKS["sed"]([f"--expression={script}", "a"]) is not None
    assert CHECKS["sed"](["-e", "p", "-ne", script, "a"]) is not None


@pytest.mark.parametrize(
    "words",
    ["-i p", "-ni p", "-f x", "-nf x", "--in-place p", "--file=x", "-n p -i", "--line-length=5 p"],
)
def test_sed_options_that_write_or_load_are_escapes(words: str) -> None:
    assert CHECKS["sed"](words.split()) is not None


@pytest.mark.parametrize(
    "words",
    [
        "-o x u", "-ox u", "-sSLo x u", "-O u", "-LO u", "-J u", "-K x", "--config x", "-c jar u",
        "--cookie-jar x u", "--output x u", "--output=x u", "--outp x u", "--trace x u", "-D x u",
        "-T x u", "--unix-socket s u", "--abstract-unix-socket s u", "--libcurl x u", "--stderr x u",
        "-w %output{x} u", "-w @x u", "--etag-save x u", "--hsts x u", "--next -o x u", "-: -o x u",
        "-ox /dev/null u", "-Dx - u", "--engine x u", "-q u", "--proto-default x u", "-so x u", "-E x u", "--create-dirs u",
    ],
)  # fmt: skip
def test_curl_options_that_write_are_escapes(words: str) -> None:
    assert CHECKS["curl"](words.split()) is not None


@pytest.mark.parametrize(
    "words",
    ["u", "-s u", "-sSL u", "-X POST -d {} u", "-XPOST u", "-o /dev/null u", "-so /dev/null u",
     "-w %{http_code} u", "-H A:b u", "--data a u", "-I u", "-m 5 u", "--max-time 5 u"],
)  # fmt: skip
def test_plain_curl_is_no_escape(words: str) -> None:
    assert CHECKS["curl"](words.split()) is None


def test_tar_lists_and_does_nothing_else() -> None:
    for words in ("tf a", "-tzf a.tgz", "tvf a", "-t -f a", "--list --file=a", "-tfa"):
        assert CHECKS["tar"](words.split()) is None, words
    for words in (
        "xf a",
        "cf a b",
        "-tf a -I x",
        "tf h:a",
        "rf a b",
        "-tf a --checkpoint-action=x",
        "tf a -x",
        "uf a",
        "--get -f a",
        "tIf x a",
        "-tFf x a",
        "",
        "--diff -f a",
    ):
        assert CHECKS["tar"](words.split()) is not None, words
