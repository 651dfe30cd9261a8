import json

import pytest

from kova_ls.engine import grant_file
from kova_ls.engine.grant_file import Content, Fault


def parse(text):
    return grant_file.parse(text.encode() if isinstance(text, str) else text, "P")


def test_entries_carry_their_place():
    content = parse('{\n  "x": [1, {"allow": ["no"]}],\n  "allow": ["git log *",\n    "é", "b"]\n}')
    assert isinstance(content, Content)
    found = [(entry.value, entry.line_no, entry.column_no) for entry in content.allow]
    assert found == [("git log *", 3, 13), ("é", 4, 5), ("b", 4, 10)]


@pytest.mark.parametrize(
    ("raw", "start"),
    [
        ("", "P:1:1: is broken"),
        ('{\n  "allow": ["a",]\n}', "P:2:1"),
        ('{"allow": [] // why\n}', "P:1:14: is broken"),
        ("[]", "P:1:1: is no JSON object"),
        ('{\n "allow": "a"}', "P:2:11: 'allow' is no list"),
        ('{"version": 2}', "P:1:13: has a version that is not 1"),
        ('{"version": true}', "P:1:13: has a version that is not 1"),
        ('{"strictRedirects": 1}', "P:1:21: is neither true nor false"),
        ('{"deny": ["x"],\n "deny": []}', "P:2:2: has 'deny' twice"),
        ('{"x": NaN}', "P:1:1: holds a value"),
        ("[" * 100_000, "P:1:1: holds a value"),
        (b'{"allow":\n ["\xff"]}', "P:2:4: is not UTF-8"),
        ('{"allow": []}'.encode("utf-16"), "P:1:1: is not UTF-8"),
        (b" " * (grant_file.MAX_BYTES + 1), "P: is larger than 1,000,000 bytes"),
    ],
)
def test_broken_file_is_named_with_its_place(raw, start):
    fault = parse(raw)
    assert isinstance(fault, Fault)
    assert fault.message.startswith(start)
    assert "nothing in it is in force" in fault.message


def test_entry_that_is_no_string_is_a_problem_and_the_rest_holds():
    content = parse('{"allow": [1,\n "a"]}')
    assert isinstance(content, Content)
    assert [entry.value for entry in content.allow] == ["a"]
    assert content.problems[0].startswith("P:1:12: an entry of 'allow' is no string")


def test_form_of_the_file_is_kept():
    raw = b'\xef\xbb\xbf{\r\n\t"mine": {"b": 1, "a": "\xc3\xa9"},\r\n\t"allow": ["a"]\r\n}\r\n'
    content = parse(raw)
    assert isinstance(content, Content)
    after = grant_file.edited(content, {"allow": ["b", "a", "b"], "deny": ["c"]}, {})
    assert after.startswith(b'\xef\xbb\xbf{\r\n\t"mine": {\r\n')
    assert b"\n" not in after.replace(b"\r\n", b"")
    assert list(json.loads(after.decode("utf-8-sig")).items()) == [
        ("mine", {"b": 1, "a": "é"}),
        ("allow", ["a", "b"]),
        ("deny", ["c"]),
    ]


def test_new_file_says_its_version():
    raw = grant_file.edited(None, {"allow": ["a"]}, {})
    assert raw == b'{\n  "version": 1,\n  "allow": [\n    "a"\n  ]\n}\n'


def test_lone_surrogate_survives():
    content = parse('{"x": "\\ud800", "allow": ["a"]}')
    assert isinstance(content, Content)
    assert b"\\ud800" in grant_file.edited(content, {}, {"allow": ["a"]})


def test_a_list_that_is_too_long_is_named_and_counts_for_nothing():
    fault = parse(json.dumps({"allow": ["a"], "deny": ["x"] * 4_001}))
    assert isinstance(fault, Fault)
    assert fault.message == (
        "P:1:26: 'deny' has more than 4,000 entries; nothing in it is in force. Remove some."
    )


def test_places_are_found_in_a_large_file():
    lines = ",\n".join(f'    "tool{n}"' for n in range(4_000))
    content = parse(f'{{\n  "allow": [\n{lines}\n  ]\n}}\n')
    assert (content.allow[3_999].line_no, content.allow[3_999].column_no) == (4_002, 5)
