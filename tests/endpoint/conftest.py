import pytest

from tests.support.stage import Stage
from tests.support.wire import Wire


@pytest.fixture
async def stage(tmp_path):
    stage = Stage(tmp_path)
    yield stage
    await stage.close()


@pytest.fixture
async def wire(stage):
    wire = Wire(stage)
    await wire.initialize()
    return wire
