import json

from tests.support.permission_test import run


def test_a_rule_file_stands_in_for_the_others_and_counts_as_a_local_one(tmp_path):
    (tmp_path / "home/.kova").mkdir(parents=True)
    (tmp_path / "home/.kova/permissions.json").write_text('{"allow": ["ls *"]}')
    rules = tmp_path / "rules.json"
    rules.write_text(json.dumps({"allow": ["make *", "rm *"], "writableRoots": ["../lib"]}))
    (tmp_path / "lib").mkdir()

    def verdict(*argv):
        return run(tmp_path, "test", "--rules", str(rules), *argv)[1].partition(":")[0]

    assert [verdict(line) for line in ("ls", "make", "rm x")] == ["ask", "allow", "ask"]
    assert verdict("--tool", "write", "--path", "../lib/a") == "allow"


def test_a_rule_file_may_be_a_plain_list(tmp_path):
    rules = tmp_path / "rules"
    rules.write_text("make *\n\nls *\n")
    assert run(tmp_path, "test", "--rules", str(rules), "ls")[1].startswith("allow")


def test_a_rule_file_that_is_none_says_what_to_do(tmp_path):
    rules = tmp_path / "rules"
    for text, wanted in (
        ("[1]", "write"),
        ('{"writableRoots": ["/"]}', "name the folder that is needed"),
    ):
        rules.write_text(text)
        code, _, err = run(tmp_path, "test", "--rules", str(rules), "ls")
        assert code == 2
        assert wanted in err
