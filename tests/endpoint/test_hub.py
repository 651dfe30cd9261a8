"""What the editors of an engine share."""

from tests.support.stage import Stage
from tests.support.wire import Wire, hub_of


async def test_the_engine_is_loaded_at_first_use_and_once(tmp_path):
    stage = Stage(tmp_path)
    hub = hub_of(stage)
    assert not hub.is_loaded
    assert hub.engine is hub.engine is stage.engine
    assert hub.is_loaded
    await stage.close()


async def test_coming_and_going_is_noted(tmp_path):
    stage = Stage(tmp_path)
    hub, changes = hub_of(stage), []
    hub.on_change = lambda: changes.append(len(hub.endpoints))
    wire = Wire(stage, hub)
    await wire.initialize()
    await wire.result("kova/engine/status", {})
    assert wire.endpoint in stage.engine.editors
    wire.leave()
    assert wire.endpoint not in stage.engine.editors
    assert changes == [1, 0]
    await stage.close()


async def test_warnings_reach_every_editor(tmp_path):
    stage = Stage(tmp_path)
    hub = hub_of(stage)
    wires = [Wire(stage, hub), Wire(stage, hub)]
    for wire in wires:
        await wire.initialize()
    hub.engine.on_warning("Look here.")
    for wire in wires:
        shown = await wire.until(lambda m: m.get("method") == "window/showMessage")
        assert shown["params"] == {"type": 2, "message": "Look here."}
    await stage.close()
