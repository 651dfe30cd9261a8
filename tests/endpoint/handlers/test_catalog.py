"""Requests about models and tools."""


async def test_models_say_whether_they_can_be_used(desk):
    settings = '[models.far]\napi = "anthropic"\nmodel = "x"\napi_key_env = "SOME_KEY"\n'
    stage, wire = await desk()
    config = stage.root / "kova/config.toml"
    config.write_text(config.read_text() + settings)
    listed = await wire.result("kova/model/list", {})
    assert listed["default"] == "script"
    ready = {model["name"]: (model["ready"], model.get("problem")) for model in listed["models"]}
    assert ready["script"] == (True, None)
    assert ready["far"][0] is False
    assert "SOME_KEY" in ready["far"][1]


async def test_broken_settings_are_said(desk):
    stage, wire = await desk()
    (stage.root / "kova/config.toml").write_text("max_steps = -1")
    error = await wire.error("kova/model/list", {})
    assert error["data"]["code"] == "badSettings"
    assert "max_steps" in error["message"]


async def test_tools_are_listed_as_the_mode_offers_them(desk):
    _, wire = await desk()
    session = await wire.create(mode="ask")
    listed = (await wire.result("kova/tool/list", {"sessionId": session}))["tools"]
    offered = {tool["name"]: tool["offered"] for tool in listed}
    assert offered["read"] is True
    assert offered["write"] is False
    everything = (await wire.result("kova/tool/list", {}))["tools"]
    offered = {tool["name"]: tool["offered"] for tool in everything}
    assert offered["write"] is True
    assert offered["plan_exit"] is False
    assert all(tool["inputSchema"]["type"] == "object" for tool in everything)
