"""The environment of the programs that the agent starts, from that of the editor.

Invariant: never the engine's own secrets.
"""

import os
from collections.abc import Iterable, Mapping

_MODEL_KEYS = frozenset(
    f"{maker}_API_KEY"
    for maker in [
        "ANTHROPIC",
        "AZURE_OPENAI",
        "CEREBRAS",
        "COHERE",
        "DASHSCOPE",
        "DEEPSEEK",
        "FIREWORKS",
        "GEMINI",
        "GOOGLE",
        "GROQ",
        "KIMI",
        "MISTRAL",
        "MOONSHOT",
        "OPENAI",
        "OPENROUTER",
        "PERPLEXITY",
        "TOGETHER",
        "XAI",
        "ZAI",
        "ZHIPU",
    ]
) | {"ANTHROPIC_AUTH_TOKEN", "GOOGLE_GENERATIVE_AI_API_KEY", "OPENAI_ADMIN_KEY"}
_SHELL_CONTROLS = frozenset(
    [
        "BASH_ENV",
        "ENV",
        "PROMPT_COMMAND",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "BASH_XTRACEFD",
        "BASH_COMPAT",
        "POSIXLY_CORRECT",
        "CDPATH",
        "GLOBIGNORE",
    ]
)
_GIT_PLACES = frozenset(
    [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
    ]
)
_TERMINAL = frozenset(["COLUMNS", "LINES", "FORCE_COLOR", "CLICOLOR_FORCE"])
_DROPPED = _MODEL_KEYS | _SHELL_CONTROLS | _GIT_PLACES | _TERMINAL
_SET = {
    "TERM": "dumb",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "MANPAGER": "cat",
    "GIT_EDITOR": "true",
    "GIT_TERMINAL_PROMPT": "0",
}


def shell_env(base: Mapping[str, str], *, api_key_envs: Iterable[str] = ()) -> dict[str, str]:
    """Return the environment of the agent's shell, from that of the editor.

    Dropped: `KOVA_*`, keys of models (`api_key_envs` and the usual names), what makes a shell
    run or read something by itself, where git would look instead of the current folder, and
    relative PATH entries. Set: no pager, no editor, no colour, no prompt, no bare repositories
    found by chance.
    """
    keys = frozenset(api_key_envs)
    env = {
        name: value
        for name, value in base.items()
        if name not in _DROPPED
        and name not in keys
        and not name.startswith(("KOVA_", "BASH_FUNC_"))
    }
    entries = [entry for entry in env.get("PATH", "").split(os.pathsep) if os.path.isabs(entry)]
    env["PATH"] = os.pathsep.join(entries) or os.defpath.lstrip(os.pathsep)
    count = env.get("GIT_CONFIG_COUNT", "")
    number = int(count) if count.isascii() and count.isdigit() else 0
    env[f"GIT_CONFIG_KEY_{number}"] = "safe.bareRepository"
    env[f"GIT_CONFIG_VALUE_{number}"] = "explicit"
    env["GIT_CONFIG_COUNT"] = str(number + 1)
    return env | _SET
