"""The models that the settings name, and an adapter for each that was used.

Invariant: a key is read from the environment when it is wanted and kept only with its adapter.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kova_ls import config
from kova_ls.config import ModelPrice, ModelSettings, Settings
from kova_ls.engine.editor import Editor
from kova_ls.engine.usage import is_told
from kova_ls.errors import RequestFailed, SettingsError
from kova_ls.llm import open_adapter
from kova_ls.values import Usage

if TYPE_CHECKING:
    from kova_ls.llm._base import Adapter

_NO_MODEL = (
    "No model is configured. Set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, start "
    "Ollama, or write ~/.kova/config.toml; `kova-ls doctor` says what was found."
)


class Models:
    """The settings of one user, read again when they changed, and the models in them."""

    def __init__(self, kova_home: Path, env: Mapping[str, str]) -> None:
        self.settings = Settings()
        """As they were last read."""
        self._kova_home = kova_home
        self._env = env
        self._stamp: tuple[int, int] | None = None
        self._adapters: dict[tuple[str, str | None], Adapter] = {}
        self._ollama: tuple[str, ...] = ()

    def read(self, env: Mapping[str, str] | None = None) -> Settings:
        """Read config.toml again when it changed. Raises: SettingsError."""
        try:
            info = (self._kova_home / "config.toml").stat()
            stamp = (info.st_mtime_ns, info.st_size)
        except OSError:
            stamp = (0, 0)
        if stamp != self._stamp:
            self.settings = config.read(self._kova_home)
            self._stamp = stamp
            self._adapters.clear()
        return config.with_discovered(self.settings, env or self._env, self._ollama)

    async def look_around(self) -> None:
        """Find a local Ollama when nothing else is configured."""
        with contextlib.suppress(SettingsError):
            if not self.read().models:
                self._ollama = await config.ollama_models()

    def check(self, name: str, editor: Editor | None) -> None:
        """Refuse a turn that could not call its model. Raises: RequestFailed."""
        self.find(name, editor.env if editor is not None else self._env)

    def find(self, name: str, env: Mapping[str, str]) -> config.ModelSettings:
        """Return a model by name; an empty name is the default. Raises: RequestFailed."""
        try:
            settings = self.read(env)
        except SettingsError as error:
            raise RequestFailed("modelNotConfigured", error.message) from error
        name = name or settings.default_model or ""
        model = settings.models.get(name)
        if model is None:
            known = ", ".join(settings.models)
            raise RequestFailed(
                "modelNotConfigured",
                f"Model {name!r} is not configured; known: {known}." if known else _NO_MODEL,
            )
        if model.api_key_env and not config.api_key(model, {**self._env, **env}):
            raise RequestFailed(
                "modelNotConfigured",
                f"Model {name!r} needs a key: set {model.api_key_env} in the editor's environment.",
            )
        return model

    def adapter(self, name: str, env: Mapping[str, str]) -> "Adapter":
        """Return the adapter of a model, made once per key. Raises: RequestFailed."""
        model = self.find(name, env)
        key = config.api_key(model, env) or config.api_key(model, self._env)
        cached = self._adapters.get((name, key))
        if cached is None:
            cached = self._adapters[name, key] = open_adapter(model, key)
        return cached

    def account(self, name: str, env: Mapping[str, str], usage: Usage) -> Usage:
        """Add what the settings know to the usage of a call: window and price."""
        try:
            return priced(usage, self.find(name, env))
        except RequestFailed:
            return usage

    def key_names(self) -> frozenset[str]:
        """Return the variables that hold models' keys."""
        return frozenset(m.api_key_env for m in self.settings.models.values() if m.api_key_env)

    async def close(self) -> None:
        """Give back what the adapters hold."""
        for adapter in self._adapters.values():
            await adapter.close()


def priced(usage: Usage, model: ModelSettings) -> Usage:
    """Add the model's window to a call, and its price unless the provider said what it took."""
    known: dict[str, object] = {"context_window": usage.context_window or model.context_window}
    if usage.cost is None and model.price is not None and is_told(usage):
        known["cost"] = _cost(usage, model.price)
    return usage.model_copy(update=known)


def _cost(usage: Usage, price: ModelPrice) -> float:
    plain = max(usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens, 0)
    read = price.input if price.cache_read is None else price.cache_read
    write = price.input if price.cache_write is None else price.cache_write
    return (
        plain * price.input
        + usage.cached_tokens * read
        + usage.cache_write_tokens * write
        + usage.output_tokens * price.output
    ) / 1_000_000
