"""Settings: what config.toml may say, merged with what the environment offers.

Order: default < user file < environment discovery for what is still missing.
Invariant: one load function; keys are named by variable, their values never stored or shown.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kova_ls.errors import SettingsError
from kova_ls.vocabulary import ApprovalLevel

OLLAMA_PORT = 11434

Api = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "scripted"]


class Table(BaseModel):
    """Base of every table of config.toml: closed, so that a misspelt key is named."""

    model_config = ConfigDict(frozen=True, extra="forbid", protected_namespaces=())


class ModelPrice(Table):
    """One `[models.NAME.price]` table: US dollars per million tokens."""

    input: float = Field(ge=0)
    """US dollars per million tokens read."""
    output: float = Field(ge=0)
    """US dollars per million tokens written."""
    cache_read: float | None = Field(default=None, ge=0)
    """For tokens that came from the provider's cache; absent = as `input`."""
    cache_write: float | None = Field(default=None, ge=0)
    """For tokens that were put into that cache; absent = as `input`."""


class ModelSettings(Table):
    """One `[models.NAME]` table."""

    api: Api
    """How to talk to it."""
    model: str = ""
    """The provider's name of the model."""
    base_url: str | None = None
    """Address up to and without the method's own path; absent = the provider's own."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key."""
    context_window: int = Field(default=0, ge=0)
    """In tokens; 0 = unknown."""
    max_output_tokens: int = Field(default=0, ge=0)
    """Limit of one answer; 0 = the adapter's default."""
    reasoning_effort: str | None = None
    """Handed to providers that know it: `low`, `medium`, `high`."""
    temperature: float | None = None
    """Absent = the provider's default."""
    price: ModelPrice | None = None
    """What its tokens cost, where the provider does not say it itself; absent = unknown."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Sent with every request; not for keys."""
    connect_timeout_s: float = Field(default=10.0, gt=0)
    """For the connection."""
    idle_timeout_s: float = Field(default=300.0, gt=0)
    """Longest silence within an answer."""
    max_retries: int = Field(default=4, ge=0)
    """On overload and dropped connections."""
    script: str | None = None
    """`scripted` only: the file with the replies, absolute or beside config.toml."""


class AutomationSettings(Table):
    """`[automation]`: what runs that nobody watches may do; what would ask is denied in them."""

    level: Literal["ask", "workspace-write", "auto-edit"] = "workspace-write"
    """Approval level of runs that nobody watches, in place of the session's."""
    levels: dict[str, ApprovalLevel] = Field(default_factory=dict)
    """Approval levels of such runs by their names; here alone may be `auto`."""


class Settings(Table):
    """All of config.toml."""

    default_model: str | None = None
    """Name of a `[models.NAME]` table."""
    models: dict[str, ModelSettings] = Field(default_factory=dict)
    """By name."""
    idle_exit_s: float = Field(default=600.0, gt=0)
    """The engine ends after this time with no editor attached and no turn running."""
    max_steps: int = Field(default=1000, gt=0)
    """Model calls in one turn."""
    dirty_documents: Literal["save", "warn", "refuse"] = "warn"
    """What to do about unsaved documents before a shell command."""
    instruction_files: tuple[str, ...] = ("AGENTS.md", "KOVA.md")
    """Looked for in the workspace of a trusted editor."""
    shell: str = "/bin/bash"
    """Runs the commands."""
    automation: AutomationSettings = AutomationSettings()
    """Of runs that nobody watches."""
    trusted_folders: tuple[str, ...] = ()
    """Trusted for editors without a Kova client, such as `~/src/**`; others say it themselves."""


def load(
    kova_home: Path, env: Mapping[str, str], *, ollama_models: tuple[str, ...] = ()
) -> Settings:
    """Read `config.toml` and fill in what the environment offers. Raises: SettingsError."""
    return with_discovered(read(kova_home), env, ollama_models)


def read(kova_home: Path) -> Settings:
    """Read `config.toml`; a missing file is an empty one.

    Raises: SettingsError naming file, key and what is expected.
    """
    path = kova_home / "config.toml"
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raw = {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}. Mend or remove it.") from error
    try:
        settings = Settings.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SettingsError(f"{path}: {where or 'top level'}: {first['msg']}.") from error
    models = {
        name: model.model_copy(update={"script": str(kova_home / model.script)})
        if model.script
        else model
        for name, model in settings.models.items()
    }
    return settings.model_copy(update={"models": models})


def with_discovered(
    settings: Settings, env: Mapping[str, str], ollama_models: tuple[str, ...] = ()
) -> Settings:
    """Add `anthropic`, `openai`, `gemini` and `ollama` where they are there and the name is free.

    Raises: SettingsError when the default names no model.
    """
    models = dict(settings.models)
    for name, model in discover(env, ollama_models).items():
        models.setdefault(name, model)
    default = settings.default_model
    if default is not None and default not in models:
        known = ", ".join(models) or "none"
        raise SettingsError(
            f"config.toml: default_model names {default!r}, which is not configured "
            f"(known: {known})."
        )
    if default is None and models:
        default = next(iter(models))
    return settings.model_copy(update={"models": models, "default_model": default})


def ollama_models(port: int = OLLAMA_PORT) -> tuple[str, ...] | None:
    """Ask a local Ollama for its models; None when none answers within 0.3 s."""
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection("127.0.0.1", port, timeout=0.3)
    try:
        connection.request("GET", "/api/tags")
        answer = json.loads(connection.getresponse().read(1_000_000))
        return tuple(str(entry["name"]) for entry in answer["models"])
    except (OSError, HTTPException, ValueError, KeyError, TypeError):
        return None
    finally:
        connection.close()


def discover(
    env: Mapping[str, str], ollama_models: tuple[str, ...] = ()
) -> dict[str, ModelSettings]:
    """Return the models that the environment offers without any file, best first."""
    found: dict[str, ModelSettings] = {}
    if env.get("ANTHROPIC_API_KEY"):
        found["anthropic"] = ModelSettings(
            api="anthropic",
            model=env.get("ANTHROPIC_MODEL") or "claude-sonnet-4-5",
            base_url=env.get("ANTHROPIC_BASE_URL") or None,
            api_key_env="ANTHROPIC_API_KEY",
            context_window=200_000,
        )
    if env.get("OPENAI_API_KEY"):
        base = env.get("OPENAI_BASE_URL") or None
        found["openai"] = ModelSettings(
            api="openai-chat" if base else "openai-responses",
            model=env.get("OPENAI_MODEL") or "gpt-5",
            base_url=base,
            api_key_env="OPENAI_API_KEY",
            context_window=0 if base else 400_000,
        )
    if env.get("GEMINI_API_KEY"):
        found["gemini"] = ModelSettings(
            api="gemini",
            model=env.get("GEMINI_MODEL") or "gemini-2.5-pro",
            api_key_env="GEMINI_API_KEY",
            context_window=1_048_576,
        )
    for number, model in enumerate(ollama_models):
        name = "ollama" if number == 0 else f"ollama/{model}"
        found[name] = ModelSettings(
            api="openai-chat", model=model, base_url=f"http://127.0.0.1:{OLLAMA_PORT}/v1"
        )
    return found


def api_key(model: ModelSettings, env: Mapping[str, str]) -> str | None:
    """Return the key from the environment, or None."""
    return (env.get(model.api_key_env) or None) if model.api_key_env else None
