import json

import pytest

from kova_ls.cli import schema
from kova_ls.cli.arguments import UsageFault


@pytest.mark.parametrize("name", schema.NAMES)
def test_every_schema_is_json(screen, name):
    seen = screen()
    assert schema.main([name], seen.console) == 0
    assert json.loads(seen.out)


def test_openrpc_is_the_default(screen):
    seen = screen()
    schema.main([], seen.console)
    assert "openrpc" in json.loads(seen.out)


def test_an_unknown_schema_is_wrong_usage(screen):
    with pytest.raises(UsageFault, match="invalid choice"):
        schema.main(["none"], screen().console)
