"""The models that the settings name, and an adapter for each that was used.

Invariant: settings that changed while a command of the agent ran are not read by this engine until
the person changes the file again: they say where keys are sent and what runs commands.
Invariant: a key is read from the environment when it is wanted and kept only with its adapter.
"""

import asyncio
import contextlib
import os
import stat
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


_Stamp = tuple[int, ...]


class Models:
    """The settings of one user, read again when they changed, and the models in them."""

    def __init__(self, kova_home: Path, env: Mapping[str, str]) -> None:
        self.settings = Settings()
        """As they were last read."""
        self._kova_home = kova_home
        self._path = str(kova_home / "config.toml")
        self._env = env
        self._stamp: _Stamp | None = None
        self._held: _Stamp | None = None
        """Of a content that a command of the agent may have written."""
        self._running = 0
        self._adapters: dict[tuple[str, str | None], tuple[ModelSettings, Adapter]] = {}
        self._replaced: list[Adapter] = []
        """Of settings that changed; a step may still speak through them."""
        self._ollama: tuple[str, ...] = ()

    def read(self, env: Mapping[str, str] | None = None) -> Settings:
        """Read config.toml again when it changed. Raises: SettingsError."""
        stamp = self._look()
        is_new = stamp != self._stamp and stamp != self._held
        if is_new and (not self._running or self._stamp is None):
            self.settings = config.read(self._kova_home)
            self._stamp = stamp
        return config.with_discovered(self.settings, env or self._env, self._ollama)

    def _look(self) -> _Stamp:
        try:
            info = os.stat(self._path)
        except OSError:
            return ()
        if not stat.S_ISREG(info.st_mode):  # a pipe would stop the engine
            raise SettingsError(f"{self._path} is no ordinary file. Remove it.")
        return info.st_mtime_ns, info.st_ctime_ns, info.st_size, info.st_ino

    def command_started(self) -> None:
        """Read what stands before a command of the agent starts; matched by `command_finished`."""
        if not self._running:
            with contextlib.suppress(SettingsError):
                self.read()
        self._running += 1

    def command_finished(self) -> tuple[str, ...]:
        """Hold back what changed while commands ran; return a notice when there is such."""
        self._running -= 1
        try:
            stamp = self._look()
        except SettingsError as error:
            return (error.message,)
        if stamp in (self._stamp, self._held):
            return ()
        self._held = stamp
        notice = (
            f"{self._path} changed while a command of the agent ran. The "
            "settings of before stay in force: look at the file and save it again while no command "
            "runs, or run kova-ls stop."
        )
        return (notice,)

    async def look_around(self) -> None:
        """Find a local Ollama when nothing else is configured."""
        with contextlib.suppress(SettingsError):
            if not self.read().models:
                self._ollama = await asyncio.to_thread(config.ollama_models) or ()

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
        """Return the adapter of a model, made once per key and settings. Raises: RequestFailed."""
        model = self.find(name, env)
        key = config.api_key(model, env) or config.api_key(model, self._env)
        known = self._adapters.get((name, key))
        if known is not None and known[0] == model:
            return known[1]
        if known is not None:
            self._replaced.append(known[1])
        adapter = open_adapter(model, key)
        self._adapters[name, key] = model, adapter
        return adapter

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
        for adapter in (*self._replaced, *(adapter for _, adapter in self._adapters.values())):
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
