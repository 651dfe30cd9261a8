"""Variables that may stand before a command without changing what it does.

Invariant: a name enters only when no value of the given form can name a program, a file or options.
"""

import re
from typing import NamedTuple


class Inert(NamedTuple):
    """A group of harmless variables."""

    names: str
    """Separated by blanks; a trailing `*` covers every name with that beginning."""
    values: str
    """The whole value must match this pattern."""
    reason: str
    examples: tuple[str, ...]
    """Assignments that count as absent."""
    refused: tuple[str, ...]
    """Assignments that ask."""


_WORD = r"[A-Za-z0-9_.,:=@+-]*"

INERT: tuple[Inert, ...] = (
    Inert(
        "NODE_ENV RAILS_ENV RACK_ENV APP_ENV MIX_ENV FLASK_ENV DOTNET_ENVIRONMENT ASPNETCORE_ENVIRONMENT"
        " SPRING_PROFILES_ACTIVE CI",
        r"[A-Za-z0-9_-]*",
        "names the kind of run",
        ("NODE_ENV=test", "CI=1", "CI=true"),
        ("NODE_ENV=../x", "NODE_OPTIONS=--require=./x.js"),
    ),
    Inert(
        "NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE PY_COLORS COLUMNS LINES",
        r"[A-Za-z0-9]*",
        "changes colours and widths of output",
        ("NO_COLOR=1", "FORCE_COLOR=0"),
        ("COLORTERM=x", "TERM=../x"),
    ),
    Inert(
        "TZ",
        r"([A-Za-z0-9_+,-]+(/[A-Za-z0-9_+-]+)*)?",
        "changes the clock's zone; a path is not a zone",
        ("TZ=UTC", "TZ=America/New_York"),
        ("TZ=/etc/shadow", "TZ=../x"),
    ),
    Inert(
        "LANG LC_*",
        r"[A-Za-z0-9_.@-]*",
        "changes the language of messages; the C library refuses paths, and so do we",
        ("LANG=C.UTF-8", "LC_ALL=en_US.UTF-8"),
        ("LANG=../x", "LOCPATH=x", "LANGUAGE=../x"),
    ),
    Inert(
        "RUST_BACKTRACE PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8"
        " PYTHONHASHSEED CARGO_TERM_COLOR",
        r"[A-Za-z0-9_-]*",
        "switches a language's output or caching",
        ("RUST_BACKTRACE=1", "PYTHONUNBUFFERED=1"),
        ("PYTHONPATH=x", "PYTHONSTARTUP=x", "RUSTC_WRAPPER=x", "GOFLAGS=-toolexec=x"),
    ),
    Inert(
        "PORT OMP_NUM_THREADS MKL_NUM_THREADS OPENBLAS_NUM_THREADS TF_CPP_MIN_LOG_LEVEL"
        " CUDA_VISIBLE_DEVICES CUDA_LAUNCH_BLOCKING CARGO_INCREMENTAL CGO_ENABLED PYTHONFAULTHANDLER"
        " NODE_NO_WARNINGS TF_ENABLE_ONEDNN_OPTS CARGO_BUILD_JOBS RUST_TEST_THREADS DOCKER_BUILDKIT HUSKY"
        " COMPOSE_DOCKER_CLI_BUILD COMPOSER_NO_INTERACTION COMPOSER_ALLOW_SUPERUSER TF_IN_AUTOMATION"
        " PUPPETEER_SKIP_DOWNLOAD PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD PIP_DISABLE_PIP_VERSION_CHECK",
        r"[0-9]+(,[0-9]+)*",
        "is a number that the program counts or listens with",
        ("PORT=3000", "CUDA_VISIBLE_DEVICES=0,1", "CGO_ENABLED=0"),
        ("PORT=/tmp/x.sock", "PORT=|x", "CGO_CFLAGS=-fplugin=x", "CUDA_PATH=1"),
    ),
    Inert(
        "DEBIAN_FRONTEND DO_NOT_TRACK NEXT_TELEMETRY_DISABLED ASTRO_TELEMETRY_DISABLED"
        " TURBO_TELEMETRY_DISABLED DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO HOMEBREW_NO_AUTO_UPDATE"
        " TOKENIZERS_PARALLELISM HF_HUB_OFFLINE TRANSFORMERS_OFFLINE CARGO_NET_OFFLINE SQLX_OFFLINE"
        " GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS PYTEST_DISABLE_PLUGIN_AUTOLOAD VERBOSE",
        r"0|1|true|false|yes|no|on|off|noninteractive",
        "switches questions, reports or the network off",
        ("DEBIAN_FRONTEND=noninteractive", "GIT_TERMINAL_PROMPT=0", "HF_HUB_OFFLINE=1"),
        ("GIT_TERMINAL_PROMPT=./x", "GIT_ASKPASS=1", "DEBIAN_FRONTEND=../x"),
    ),
    Inert(
        "LOG_LEVEL LOGLEVEL PYTHONWARNINGS",
        r"(?i:trace|debug|info|warn|warning|error|fatal|silent|off|ignore|default|always|once)",
        "chooses which messages are shown; a warning's filter can name a module, so words alone",
        ("LOG_LEVEL=debug", "PYTHONWARNINGS=ignore"),
        ("PYTHONWARNINGS=ignore::x.Y", "LOG_LEVEL=../x"),
    ),
    Inert(
        "GOOS GOARCH",
        r"linux|darwin|windows|freebsd|amd64|arm64|386|arm",
        "names the machine to build for",
        ("GOOS=linux", "GOARCH=arm64"),
        ("GOOS=x", "GOFLAGS=-toolexec=x", "GOROOT=linux"),
    ),
    Inert(
        "MPLBACKEND QT_QPA_PLATFORM SDL_VIDEODRIVER SDL_AUDIODRIVER",
        r"(?i:agg|offscreen|minimal|dummy)",
        "draws without a screen; another value may name a module to load",
        ("MPLBACKEND=Agg", "QT_QPA_PLATFORM=offscreen"),
        ("MPLBACKEND=module://x", "QT_PLUGIN_PATH=offscreen"),
    ),
    Inert(
        "RUST_LOG",
        _WORD,
        "chooses which messages are logged",
        ("RUST_LOG=debug", "RUST_LOG=app=info,net=warn"),
        ("RUST_LOG=./x",),
    ),
    Inert(
        "NODE_OPTIONS",
        r"(?:--(?:max[-_]old[-_]space[-_]size=[0-9]+|experimental-vm-modules|no-warnings"
        r"|trace-warnings|no-deprecation|trace-deprecation|enable-source-maps"
        r"|openssl-legacy-provider)(?: +|\Z))*",
        "sets Node's memory, modules and warnings; nearly every other option loads code",
        ("NODE_OPTIONS=--max-old-space-size=4096", "NODE_OPTIONS=--experimental-vm-modules"),
        (
            "NODE_OPTIONS=--require=./x.js",
            "NODE_OPTIONS=--no-warnings --import ./x.js",
            "NODE_OPTIONS=--max-old-space-size=1x",
        ),
    ),
    Inert(
        "RUSTFLAGS RUSTDOCFLAGS",
        r"(?:-[AWDF] ?[a-z_:]+(?: +|\Z))*",
        "sets which lints warn; other flags name a linker or load code",
        ("RUSTFLAGS=-D warnings", "RUSTFLAGS=-Dwarnings -A dead_code"),
        ("RUSTFLAGS=-C linker=./x", "RUSTFLAGS=-Dwarnings -Clinker=x", "RUSTFLAGS=@x"),
    ),
    Inert(
        "GOFLAGS",
        r"-mod=(?:mod|vendor|readonly)",
        "says where modules come from; other flags run programs",
        ("GOFLAGS=-mod=mod",),
        ("GOFLAGS=-toolexec=./x", "GOFLAGS=-mod=mod -exec=x", "GOFLAGS=-modfile=x"),
    ),
    Inert(
        "GIT_PAGER PAGER GH_PAGER MANPAGER",
        r"(?:cat)?",
        "shows output as it is; any other value is a command",
        ("GIT_PAGER=cat", "PAGER="),
        ("GIT_PAGER=./cat", "PAGER=less", "GIT_PAGER=cat x"),
    ),
    Inert(
        "GIT_EDITOR GIT_SEQUENCE_EDITOR EDITOR",
        r"true|:",
        "keeps the text as it is; any other value is a command",
        ("GIT_EDITOR=true", "GIT_SEQUENCE_EDITOR=:"),
        ("GIT_EDITOR=", "GIT_EDITOR=./true", "EDITOR=vi"),
    ),
    Inert(
        "TERM",
        r"dumb|xterm(?:-256color)?",
        "says what the terminal can do; the name is looked up in a folder",
        ("TERM=dumb", "TERM=xterm-256color"),
        ("TERM=../x", "TERMINFO=dumb"),
    ),
    Inert(
        "BROWSER",
        r"none",
        "opens no browser; any other value is a command",
        ("BROWSER=none",),
        ("BROWSER=./x", "BROWSER=xterm", "BROWSER=coverage"),
    ),
    Inert(
        "XDEBUG_MODE GO111MODULE",
        r"off|coverage|on|auto",
        "switches a debugger off, or says where modules come from",
        ("XDEBUG_MODE=coverage", "GO111MODULE=on"),
        ("XDEBUG_MODE=debug", "XDEBUG_CONFIG=x"),
    ),
)


def _table() -> tuple[dict[str, re.Pattern[str]], tuple[tuple[str, re.Pattern[str]], ...]]:
    exact: dict[str, re.Pattern[str]] = {}
    prefixes: list[tuple[str, re.Pattern[str]]] = []
    for entry in INERT:
        pattern = re.compile(entry.values)
        for name in entry.names.split():
            if name.endswith("*"):
                prefixes.append((name[:-1], pattern))
            else:
                exact[name] = pattern
    return exact, tuple(prefixes)


_EXACT, _PREFIXES = _table()


def is_inert(name: str, value: str) -> bool:
    """Tell whether the assignment counts as absent. `value` must be literal."""
    pattern = _EXACT.get(name)
    if pattern is None:
        for prefix, candidate in _PREFIXES:
            if name.startswith(prefix) and name[len(prefix) :].isalpha():
                pattern = candidate
                break
        else:
            return False
    return pattern.fullmatch(value) is not None
