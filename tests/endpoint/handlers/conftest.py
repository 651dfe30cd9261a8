import pytest

from tests.support.stage import Stage
from tests.support.wire import Wire


@pytest.fixture
async def desk(tmp_path):
    """Open a stage with a script and an attached editor."""
    stages = []

    async def open_desk(model=(), *, trusted=True, **more):
        stage = Stage(tmp_path, model, **more)
        stages.append(stage)
        wire = Wire(stage)
        await wire.initialize(trusted=trusted)
        return stage, wire

    yield open_desk
    for stage in stages:
        await stage.close()


@pytest.fixture
def join():
    """Attach another editor."""

    async def attach(wire, name, *, trusted=True):
        other = Wire(wire.stage, wire.hub)
        await other.initialize(trusted=trusted, client={"id": name, "name": name})
        return other

    return attach
