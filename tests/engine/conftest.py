from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.stage import Stage


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """An engine over empty folders."""
    stage = Stage(tmp_path)
    yield stage
    await stage.close()
