"""Which programs take sub-commands, which are never remembered, which only start another one.

Invariant: what is not known is treated in the narrower way.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kova_ls.permission.never import NEVER
from kova_ls.permission.python_modules import PYTHON_WRAPPERS, module_program

SHELL_CHANGERS = frozenset(
    "export declare typeset local readonly alias unalias unset set shopt hash trap enable read"
    " mapfile readarray let getopts ulimit umask".split()
)
"""Builtins that change the shell the rest of the line runs in: such a line asks as a whole."""

FOLDER_CHANGERS = frozenset({"cd", "pushd", "popd"})
"""After one of them a relative program is another program."""


class Takes(NamedTuple):
    """Programs, and whether their second word is a sub-command."""

    names: str
    has_subcommands: bool
    reason: str
    examples: tuple[tuple[str, str | None], ...]
    """A command and the rule it makes."""


TAKES: tuple[Takes, ...] = (
    Takes(
        "git npm pnpm yarn pip# pip3# pipx uv poetry pdm hatch rye pipenv pixi conda mamba"
        " micromamba cargo rustup go gem bundle composer mvnd dotnet nuget swift mix rebar3 opam"
        " dune stack cabal luarocks flutter dart pub brew apt apt-get apt-cache dnf yum pacman"
        " zypper apk snap flatpak port choco scoop winget nix nix-env mise asdf rbenv pyenv nvm fnm"
        " volta sdk",
        True,
        "package managers and language tools",
        (
            ("pnpm add -D react", "pnpm add *"),
            ("git log --oneline", "git log *"),
            ("pnpm -v", None),
            ("git --no-pager log", None),
            ("npm", None),
            ("npm run test:unit", "npm run *"),
            ("pip install -e .", "pip install *"),
        ),
    ),
    Takes(
        "docker docker-compose podman nerdctl buildah skopeo kubectl oc helm minikube kind k3d k9s"
        " kustomize terraform tofu terragrunt pulumi packer vagrant ansible-galaxy aws gcloud gsutil"
        " az doctl fly flyctl heroku vercel netlify wrangler firebase supabase railway render eas"
        " expo gh glab hub tea jj hg svn bzr fossil dvc lfs",
        True,
        "containers, clouds and version control",
        (
            ("gh issue list", "gh issue *"),
            ("kubectl get pods", "kubectl get *"),
            ("docker ps", "docker ps *"),
            ("aws s3 ls", "aws s3 *"),
        ),
    ),
    Takes(
        "systemctl service launchctl loginctl networkctl timedatectl hostnamectl ip ufw"
        " nmcli resolvectl openssl ruff turbo nx lerna ng vue nest prisma drizzle-kit alembic"
        " django-admin flask celery pm2 pre-commit coverage biome golangci-lint buf protolint bazel"
        " bazelisk buck buck2 pants west idf.py zig rails nb hugo mkdocs"
        " docusaurus changeset wasm-pack trunk maturin cross sqlx diesel sea-orm-cli tauri cordova"
        " ionic capacitor pod fastlane xcrun adb fastboot virsh zfs zpool btrfs"
        "",
        True,
        "build and service tools with sub-commands",
        (
            ("ruff check .", "ruff check *"),
            ("systemctl status nginx", "systemctl status *"),
            ("golangci-lint run", "golangci-lint run *"),
            ("ruff --version", None),
        ),
    ),
    Takes(
        "cat ls grep egrep fgrep zgrep rg ag ack head tail less more wc sort uniq cut tr nl od xxd"
        " hexdump strings file stat du df tree touch mkdir echo printf test [ true false pwd cd"
        " pushd popd dirs date cal uname hostname whoami id groups who w users uptime free ps top"
        " htop pgrep lsof ss netstat ifconfig ping traceroute dig nslookup host whois curl wget"
        " http https sed jq yq xq dasel diff cmp comm patch paste join fold fmt expand unexpand"
        " column rev tac shuf seq basename dirname realpath readlink which where whereis type man"
        " info help sleep yes md5sum sha1sum sha256sum sha512sum shasum md5 cksum b2sum base64"
        " base32 tar gzip gunzip zcat bzip2 xz zstd zip unzip 7z make gmake cmake ninja ctest meson"
        " gcc g++ cc c++ clang clang++ ld as ar nm objdump readelf size strip javac jar"
        " rustc rustfmt gofmt goimports tsc eslint prettier jest vitest mocha pytest mypy pyright"
        " basedpyright black isort flake8 pylint bandit tox nox sqlite3 psql mysql"
        " redis-cli mongosh ffmpeg ffprobe convert identify tshark tcpdump nmap printenv tput"
        " clear reset stty tty nproc lscpu lsblk lspci lsusb dmesg vmstat iostat sqlformat shellcheck"
        " shfmt hadolint yamllint markdownlint clang-format clang-tidy cloc tokei scc split csplit"
        " getent getconf locale iconv dos2unix unix2dos envsubst xmllint pandoc dot gpg sum sync"
        " journalctl wait times pip-compile pip-sync deptry gradle mvn ant sbt rake just task rspec"
        " rubocop phpunit phpstan phpcs npm-check sloccount nginx apachectl bc factor numfmt",
        False,
        "the second word is a file, a pattern or a value",
        (
            ("cat package.json", "cat *"),
            ("cat README", "cat *"),
            ("lsof -ti:1420", "lsof *"),
            ("grep foo a.txt", "grep *"),
            ("tr a-z A-Z", "tr *"),
            ("pytest tests", "pytest *"),
            ("ls", "ls *"),
        ),
    ),
)

WRAPPERS: dict[tuple[str, str], str] = {
    ("uv", "run"): "runs in the project's environment",
    ("poetry", "run"): "runs in the project's environment",
    ("pdm", "run"): "runs in the project's environment",
    ("hatch", "run"): "runs in the project's environment",
    ("rye", "run"): "runs in the project's environment",
    ("pipenv", "run"): "runs in the project's environment",
    ("pixi", "run"): "runs in the project's environment",
    ("bundle", "exec"): "runs with the project's gems",
    ("pnpm", "exec"): "runs from the project's node_modules",
    ("yarn", "exec"): "runs from the project's node_modules",
}
"""Remembered together with a development program, never alone; the reason says what they add."""

DEVELOPMENT = frozenset(
    "pytest ruff mypy pyright basedpyright black isort flake8 pylint bandit tox nox coverage"
    " pre-commit mkdocs sphinx-build alembic tsc eslint prettier jest vitest mocha ava tap biome"
    " stylelint playwright cypress turbo nx vite webpack rollup tsup rspec rubocop rake standardrb"
    " brakeman minitest rails deptry vulture ty pip-audit codespell yamllint".split()
)
"""Programs whose own purpose is checking, testing or building the project."""

_FALL_THROUGH = frozenset({"pnpm", "yarn"})
"""Run a program of that name when neither they nor the project's scripts know the sub-command."""
_PASSED_OVER = frozenset("workspaces foreach recursive multi m run".split())
"""Sub-commands behind which the name of a script or program stands."""
_CUSTOMARY = frozenset(
    "watch start open init install link ln exec env rm view code script at batch kill rename move copy"
    " time complete history mail mount trash del".split()
)
"""Their own sub-commands, and what projects call their scripts."""

_SUBCOMMAND = re.compile(r"[a-z][a-z0-9:_-]*\Z")
_DOTTED = re.compile(r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+\Z")
"""How Elixir's `mix` names its tasks."""
_PROGRAM = re.compile(r"[A-Za-z0-9_./+@%,:-]+\Z|\[\Z")
_VERSION = re.compile(r"[0-9.]*\Z")


def _never_table() -> tuple[
    dict[str, str], dict[str, list[tuple[tuple[str, ...], str]]], tuple[tuple[str, bool, str], ...]
]:
    exact: dict[str, str] = {}
    subs: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    stems: list[tuple[str, bool, str]] = []
    for entry in NEVER:
        for name in entry.names.split():
            if name[-1] in "*#":
                stems.append((name[:-1], name[-1] == "#", entry.reason))
            elif ":" in name:
                program, *rest = name.split(":")
                subs.setdefault(program, []).append((tuple(rest), entry.reason))
            else:
                exact[name] = entry.reason
    return exact, subs, tuple(stems)


def _takes_table() -> tuple[dict[str, bool], tuple[tuple[str, bool], ...]]:
    exact: dict[str, bool] = {}
    stems: list[tuple[str, bool]] = []
    for entry in TAKES:
        for name in entry.names.split():
            if name.endswith("#"):
                stems.append((name[:-1], entry.has_subcommands))
            else:
                exact[name] = entry.has_subcommands
    return exact, tuple(stems)


_NEVER, _NEVER_SUBS, _NEVER_STEMS = _never_table()
_TAKES, _TAKES_STEMS = _takes_table()


def program_name(word: str) -> str:
    """Return the name by which a program is judged: the last part of its path."""
    name = word.rsplit("/", 1)[-1] if "/" in word else word
    if name[-4:].lower() in (".exe", ".cmd", ".bat") and len(name) > 4:
        name = name[:-4]
    return name


_BUILD = re.compile(r"[.-](?:[0-9][0-9.]*|static|basic|tiny|nox|gtk3?|athena|real|dbg|rs|ws)\Z")
"""How distributions tell builds of one program apart: `lldb-15`, `vim.basic`, `sudo-rs`."""


def plain_name(name: str) -> str:
    """Return the name of a program without what tells its builds apart."""
    return _BUILD.sub("", name)


@lru_cache(maxsize=1024)
def takes_subcommands(name: str) -> bool | None:
    """Tell whether the second word is a sub-command; None for an unknown program."""
    known = _TAKES.get(name)
    if known is not None:
        return known
    for stem, has_subcommands in _TAKES_STEMS:
        if name.startswith(stem) and _VERSION.match(name, len(stem)):
            return has_subcommands
    return None


def has_subcommands(name: str) -> bool:
    """Tell whether the second word decides what the program does."""
    return takes_subcommands(name) is True or name in _NEVER_SUBS


def never_reason(words: Sequence[str]) -> str | None:
    """Return why no remembered prefix may cover these words, or None."""
    name = program_name(words[0])
    reason = _never_program(name) or (_never_program(name.lower()) if not name.islower() else None)
    found = None if reason else _never_sub(name, words)
    if reason is None and found is None and name in _FALL_THROUGH:
        return _never_started(words)
    if (reason is None and found is None) or development_program(words):
        return None
    if found is None:
        return f"`{words[0]}` {reason}"
    return f"`{words[0]} {' '.join(found[0])}` {found[1]}"


def _never_started(words: Sequence[str]) -> str | None:
    """Return why the program that `pnpm x` or `yarn x` would start is never remembered, or None."""
    is_value = is_name = False
    for at, word in enumerate(words[1:], start=1):
        if word.startswith("-"):
            is_value = "=" not in word
        elif is_name or word == "workspace":
            is_name = not is_name
            is_value = False
        elif word not in _PASSED_OVER:
            reason = None if word in _CUSTOMARY else never_reason(words[at:])
            if reason or not is_value:
                return reason
            is_value = False
    return None


class Inner(NamedTuple):
    """The program that a wrapper starts."""

    at: int
    """Where in the words it is named."""
    program: str
    is_module: bool
    """Python finds it, as `python -m`."""


def development_program(words: Sequence[str]) -> Inner | None:
    """Return the well-known program in `uv run pytest -q` or `python -m pytest -q`, or None."""
    if len(words) < 2:
        return None
    at = 0
    name = program_name(words[0])
    if name in _FALL_THROUGH and words[1] in DEVELOPMENT:
        is_free = _never_sub(words[1], words[1:]) is None
        return Inner(1, words[1], is_module=False) if is_free else None
    if len(words) < 3:
        return None
    if (name, words[1]) in WRAPPERS:
        if words[2] in DEVELOPMENT:
            is_free = _never_sub(words[2], words[2:]) is None
            return Inner(2, words[2], is_module=False) if is_free else None
        if name not in PYTHON_WRAPPERS:
            return None
        at, name = 2, words[2]
    program = module_program(words, at, name)
    return None if program is None else Inner(at + 2, program, is_module=True)


@lru_cache(maxsize=1024)
def _never_program(name: str) -> str | None:
    reason = _NEVER.get(name)
    if reason is not None:
        return reason
    for stem, is_version, why in _NEVER_STEMS:
        if name.startswith(stem) and (not is_version or _VERSION.match(name, len(stem))):
            return why
    plain = plain_name(name)
    return _never_program(plain) if plain not in (name, "") else None


def _never_sub(name: str, words: Sequence[str]) -> tuple[tuple[str, ...], str] | None:
    for subs, reason in _NEVER_SUBS.get(name, ()):
        if _has_subs(words, subs):
            return subs, reason
    return None


def _has_subs(words: Sequence[str], subs: tuple[str, ...]) -> bool:
    """Tell whether the sub-commands stand in the words, options and their values skipped."""
    found = 0
    is_value = False
    for word in words[1:]:
        if word == subs[found]:
            found += 1
            if found == len(subs):
                return True
            is_value = False
        elif word.startswith(("-", "+")):
            is_value = "=" not in word
        elif is_value:
            is_value = False
        else:
            return False
    return False


def make_rule(words: Sequence[str]) -> str | None:
    """Return the prefix rule that remembering these literal words would write, or None."""
    first = words[0]
    if not _PROGRAM.match(first) or first.startswith("-") or never_reason(words):
        return None
    inner = development_program(words)
    if inner:
        return _wrapped_rule(words, inner)
    name = program_name(first)
    takes = takes_subcommands(name)
    second = words[1] if len(words) > 1 else ""
    if takes is False:
        return f"{first} *"
    if second and (_SUBCOMMAND.match(second) or (name == "mix" and _DOTTED.match(second))):
        return f"{first} {second} *"
    return None if takes else f"{first} *"


def _wrapped_rule(words: Sequence[str], inner: Inner) -> str | None:
    rule = " ".join(words[: inner.at + 1])
    if not takes_subcommands(inner.program) or not (inner.is_module or inner.program == "rails"):
        return f"{rule} *"
    own = make_rule([inner.program, *words[inner.at + 1 :]])
    return None if own is None else rule + own[len(inner.program) :]
