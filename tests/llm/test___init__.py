import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import kova_ls.llm
from kova_ls.config import Api, ModelSettings
from kova_ls.errors import SettingsError
from kova_ls.llm import open_adapter


def test_every_api_has_one_adapter_and_every_adapter_an_api():
    folder = Path(kova_ls.llm.__file__).parent
    modules = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert {name.replace("-", "_") for name in get_args(Api)} == modules


@pytest.mark.parametrize("api", get_args(Api))
async def test_an_adapter_names_its_api(api: Api):
    adapter = open_adapter(ModelSettings(api=api, model="m", base_url="http://127.0.0.1:1"), "k")
    assert adapter.api == api
    await adapter.close()


@pytest.mark.parametrize("api", ["nothing", "_http", "-base"])
def test_an_unknown_api_is_told(api: str):
    settings = ModelSettings.model_construct(api=api)  # pyright: ignore[reportArgumentType]
    with pytest.raises(SettingsError, match="Correct `api`"):
        open_adapter(settings, None)


def test_opening_one_adapter_imports_no_other():
    code = (
        "import sys\n"
        "from kova_ls.config import ModelSettings\n"
        "from kova_ls.llm import open_adapter\n"
        "assert 'httpx' not in sys.modules\n"
        "open_adapter(ModelSettings(api='scripted'), None)\n"
        "assert 'httpx' not in sys.modules\n"
        "open_adapter(ModelSettings(api='anthropic'), None)\n"
        "print(sorted(n for n in sys.modules if n.startswith('kova_ls.llm.') and '._' not in n))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['kova_ls.llm.anthropic', 'kova_ls.llm.scripted']"
