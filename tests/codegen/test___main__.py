"""The command line."""

from pathlib import Path

import pytest

from kova_ls.codegen import outputs
from kova_ls.codegen.__main__ import main


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").touch()
    return tmp_path


def test_write_then_check(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--write"], checkout) == 0
    assert "wrote schemas/openrpc.json\n" in capsys.readouterr().out
    assert main(["--check"], checkout) == 0
    assert capsys.readouterr().out == ""


def test_check_prints_the_diff_and_the_command(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--write"], checkout)
    (checkout / "schemas/config.schema.json").unlink()
    capsys.readouterr()
    assert main(["--check"], checkout) == 1
    out = capsys.readouterr().out
    assert "+++ b/schemas/config.schema.json" in out
    assert out.endswith(f"Run: {outputs.COMMAND}\n")


def test_print_needs_no_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print", "openrpc"], tmp_path) == 0
    assert capsys.readouterr().out == outputs.documents()["openrpc"]


def test_an_installed_package_is_not_written_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--write"], tmp_path) == 2
    assert "use --print" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
