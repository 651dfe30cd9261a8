from kova_ls.permission.effects import ReadPath, RunCommand, WritePath


def test_effects_are_plain_values() -> None:
    assert ReadPath("/a", "/a") == ReadPath("/a", "/a", is_tree=False, is_mention=False)
    assert WritePath("/a", "/a") == WritePath("/a", "/a", "modify", is_git_dir=False)
    assert hash(RunCommand("ls", "/a")) == hash(RunCommand("ls", "/a"))
