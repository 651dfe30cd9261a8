import pytest

from tests.support.context import Desk


@pytest.fixture
def desk(tmp_path):
    for folder in ("workspace", "saved"):
        (tmp_path / folder).mkdir()
    return Desk(tmp_path / "workspace", tmp_path / "saved")
