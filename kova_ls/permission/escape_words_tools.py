"""Read the words of build tools and version control whose options need more than a list of names.

Invariant: what is not known to be harmless is taken for an escape.
"""

import re
from collections.abc import Callable, Sequence

from kova_ls.permission.escape_words import STEERED

_MAKE_VALUE = re.compile(r"\d*|yes|no|true|false|on|off|y|n")
_MAKE_NAMES = frozenset(
    "TEST TESTS VERSION TAG IMG IMAGE ENV PROFILE FILTER PKG PACKAGE MODULE NAME ARCH PLATFORM"
    " BUILD_TYPE MODE TARGET SERVICE REGION".split()
)
"""By custom they name what to build or test, and no program."""
_MAKE_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/@+-]*")


def _check_make(values: Sequence[str]) -> str | None:
    for value in values:
        name, has_value, rest = value.partition("=")
        if value.startswith("-"):
            continue
        if has_value and not (
            re.fullmatch(r"[A-Z][A-Z0-9_]*", name)
            and (
                _MAKE_VALUE.fullmatch(rest)
                or (name in _MAKE_NAMES and _MAKE_WORD.fullmatch(rest) and ".." not in rest)
            )
        ):
            return f"`make {name}=` may name a program to run."
    return None


_SHELL_LINK = re.compile(r"extld|linkmode|buildmode|-r\b|-I\b|-o\b|plugin|\x01", re.IGNORECASE)


def _check_go(values: Sequence[str]) -> str | None:
    for at, value in enumerate(values):
        bare = value.lstrip("-")
        if bare.split("=", 1)[0] in ("ldflags", "gcflags", "asmflags") and value.startswith("-"):
            given = bare.partition("=")[2] or (values[at + 1] if at + 1 < len(values) else "")
            if _SHELL_LINK.search(given):
                return "The flags given to the linker may run a program."
        if at and values[0] == "tool" and not _is_cover(values[1:]):
            return "`go tool` runs a program."
        if at and values[0] == "run" and "@" in value:
            return "`go run` with a version fetches a program and runs it."
    if values[:1] == ["run"]:
        return _check_go_run(values[1:])
    return None


_GO_VALUED = frozenset(
    "-tags -mod -p -ldflags -gcflags -asmflags -pgo -covermode -coverpkg".split()
)
_ELSEWHERE = re.compile(r"/|~|\.\./|.*/\.\./|.*\x01")


def _check_go_run(values: Sequence[str]) -> str | None:
    is_value = is_named = False
    for value in values:
        if value.startswith("-") and not is_named:
            is_value = value.replace("--", "-", 1) in _GO_VALUED
        elif is_value:
            is_value = False
        elif is_named and not value.endswith(".go"):
            break
        elif _ELSEWHERE.match(value):
            return f"`go run {value}` runs a program of another place."
        else:
            is_named = True
    return None


_COVER = re.compile(r"--?(func|html)=[\w.-][\w./-]*|--?o=(?!\.)[\w.-]+\.html")


def _is_cover(values: Sequence[str]) -> bool:
    """Tell whether `go tool` shows what tests covered, in the terminal or in a page beside it."""
    if values[:1] != ["cover"] or len(values) < 2:
        return False
    joined: list[str] = []
    for value in values[1:]:
        if joined and joined[-1] in ("-o", "-func", "-html"):
            joined[-1] += f"={value}"
        else:
            joined.append(value)
    has_page = any(value.startswith(("-html", "--html")) for value in joined)
    is_written = any(value.startswith(("-o", "--o")) for value in joined)
    return has_page == is_written and all(_COVER.fullmatch(value) for value in joined)


_GIT_CONFIG_READS = frozenset(
    "--get --get-all --get-regexp --get-urlmatch --list -l --get-color --get-colorbool get list"
    " --show-origin --show-scope --global --local --system --worktree --name-only -z --null --bool"
    " --int --path --includes --no-includes --type --default --all".split()
)


_GIT_ADDRESSES = frozenset(
    "fetch pull push clone ls-remote remote submodule archive fetch-pack send-pack subtree request-pull".split()
)
_GIT_HELPER = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*::")


_GIT_CONFIG_ACTIONS = frozenset(
    "--get --get-all --get-regexp --get-urlmatch --get-color --get-colorbool --list -l".split()
)


def _check_git_config(values: Sequence[str]) -> str | None:
    operands = [value for value in values if not value.startswith("-")]
    for value in values:
        if value.startswith("-") and value.split("=")[0] not in _GIT_CONFIG_READS:
            return f"`git config {value}` is not a plain reading option."
    if values[:1] in (["get"], ["list"]) or (len(operands) == 1 and "." in operands[0]):
        return None
    is_value = False
    for value in values:  # Behind the first operand even `--get` is one.
        if value in _GIT_CONFIG_ACTIONS:
            return None
        if not value.startswith("-") and not is_value:
            break
        is_value = value in ("--type", "--default")
    return "`git config` changes what git runs later."


def _check_git(values: Sequence[str]) -> str | None:
    if not values:
        return None
    if values[0] in _GIT_ADDRESSES and any(_GIT_HELPER.match(value) for value in values):
        return "A git address with `::` runs a helper program."
    if values[0] == "config":
        return _check_git_config(values[1:])
    return None


_GRADLE_PROPERTY = re.compile(
    r"(spring\.profiles\.active|test\.single|skipTests|file\.encoding|org\.gradle\.(daemon|parallel"
    r"|caching|configureondemand|warning\.mode))(=[\w.,*-]*)?"
)


def _check_gradle(values: Sequence[str]) -> str | None:
    for at, value in enumerate(values):
        given = ""
        if value in ("-D", "--system-prop"):
            given = values[at + 1] if at + 1 < len(values) else "?"
        elif value.startswith(("-D", "--D")):
            given = value.lstrip("-")[1:]
        elif value.startswith("--system-prop"):
            given = value.partition("=")[2] or "?"
        elif match := re.match(r"(?:-P|--project-prop[= ]?)=?(org\.gradle\..*)", value):
            given = match[1]
        elif value in ("-P", "--project-prop") and values[at + 1 : at + 2]:
            given = values[at + 1] if values[at + 1].startswith("org.gradle.") else ""
        if given and not _GRADLE_PROPERTY.fullmatch(given):
            return f"`gradle`'s {given.split('=')[0]} may name a program or agent to run."
    return None


_MAVEN_PROPERTY = re.compile(
    r"-D(skipTests|skipITs|spring\.profiles\.active|surefire\.(useFile|printSummary|rerunFailingTestsCount)"
    r"|maven\.test\.failure\.ignore|style\.color|maven\.test\.skip|failIfNoTests|test|it\.test|checkstyle\.skip|spotless\.check"
    r"\.skip|surefire\.failIfNoSpecifiedTests|maven\.javadoc\.skip)(=[\w.#*,+$-]*)?\Z"
)


_MAVEN_GROUPS = (
    *("org.apache.maven.plugins:", "org.codehaus.mojo:", "org.springframework.boot:"),
    *("org.jacoco:", "com.diffplug.spotless:", "org.sonarsource.scanner.maven:", "io.quarkus:"),
    *("org.owasp:", "org.pitest:", "org.openrewrite.maven:", "com.github.spotbugs:"),
)


def _check_maven(values: Sequence[str]) -> str | None:
    for at, value in enumerate(values):
        if value in ("-D", "--define") and at + 1 < len(values):
            value = f"-D{values[at + 1]}"
        elif value.startswith("--d"):
            value = f"-D{value.partition('=')[2]}"
        if value.startswith("-D") and not _MAVEN_PROPERTY.match(value):
            return f"`mvn {value.split('=')[0]}` may name a program or agent to run."
        if "antrun" in value or "exec-maven" in value or "groovy" in value or value[:5] == "exec:":
            return f"The goal {value!r} runs a program."
        if value.count(":") > 1 and value[0] != "-" and not value.startswith(_MAVEN_GROUPS):
            return f"The goal {value!r} may fetch a plugin and run it."
    return None


_WORKSPACE_RUNS = frozenset({"exec", "dlx", "node", "create"})


def _check_workspaces(values: Sequence[str]) -> str | None:
    operands = [value for value in values if not value.startswith("-")]
    if operands[:1] in (["workspace"], ["workspaces"], ["recursive"], ["multi"], ["m"], ["run"]):
        for value in operands[1:4]:
            if value in _WORKSPACE_RUNS and (operands[0] != "run" or value == "node"):
                return f"`{operands[0]} … {value}` runs another program."
    return None


_SBT_RUNS = frozenset(
    "eval set apply alias console consoleQuick consoleProject session exec bsp client".split()
)


def _check_sbt(values: Sequence[str]) -> str | None:
    for value in values:
        for piece in value.split(";"):
            word = (piece.split() or ["x"])[0].lstrip("~+")
            name = word.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
            if name in _SBT_RUNS or not re.match(r"[A-Za-z-]", word) or STEERED in value:
                return f"`sbt {word}` runs program text."
    return None


_MSBUILD = re.compile(r"(?:--?|/)(p|property|l|logger|t|target)[:=](.*)", re.IGNORECASE | re.DOTALL)
_MSBUILD_RISK = re.compile(
    r"event|exec|command|tool|path|exe|import|props|targets|analy|runsettings|_", re.IGNORECASE
)


_FILE = re.compile(r".*[/\\~].*|.*\.(dll|exe|swift|cs|csx|dart)", re.IGNORECASE)


def _check_swift(values: Sequence[str]) -> str | None:
    if values and _FILE.fullmatch(values[0]):
        return f"{values[0]!r} is a file that would be run."
    return None


def _check_dart(values: Sequence[str]) -> str | None:
    operands = [value for value in values if not value.startswith("-")]
    return _check_swift(operands[1:] if operands[:1] == ["run"] else operands)


def _check_dotnet(values: Sequence[str]) -> str | None:
    started = _check_swift(values)
    if started is not None:
        return started
    for at, value in enumerate(values):
        match = _MSBUILD.fullmatch(value)
        kind, given = (match[1].lower()[0], match[2]) if match else ("", "")
        if value in ("-p", "--property") and at + 1 < len(values) and "=" in values[at + 1]:
            kind, given = "p", values[at + 1]
        if kind == "l" and re.search(r"[/\\,]|\.dll", given):
            return "`dotnet` with a logger loads code."
        if kind == "p":
            for pair in given.split(";"):
                name, _, text = pair.partition("=")
                if _MSBUILD_RISK.search(name) or not re.fullmatch(r"[\w.+-]*", text):
                    return f"`dotnet {value.split('=')[0]}` may name a program to run."
    return None


_CMAKE_RISK = re.compile(
    r"COMPILER|LAUNCHER|INCLUDE|TOOLCHAIN|LINKER|PROGRAM|EXECUTABLE|COMMAND|EMULATOR|MODULE_PATH"
    r"|PREFIX_PATH|RULE|_AR\b|_LD\b|RANLIB|ANALY|TIDY|CHECK|LINT|WYU"
)
_CMAKE_KNOWN = re.compile(
    r"(gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(-\d+)?|s?ccache|ninja|make|OFF|ON|"
)


def _check_cmake(values: Sequence[str]) -> str | None:
    for at, value in enumerate(values):
        given = ""
        if value == "-D" and at + 1 < len(values):
            given = values[at + 1]
        elif value.startswith("-D"):
            given = value[2:]
        name, _, text = given.partition("=")
        if _CMAKE_RISK.search(name.upper()) and not _CMAKE_KNOWN.fullmatch(text):
            return f"`cmake -D{name}` may name a program to run."
        if value == "--":
            if any("=" in word or word[:2] in ("-f", "-C", "-t") for word in values[at + 1 :]):
                return "What follows `--` is for the build tool, and may name a program to run."
            break
    return None


_PYTHON_VERSION = re.compile(r"(?:c?python|pypy|graalpy)?@?[0-9][0-9.]*t?")


def _check_uv(values: Sequence[str]) -> str | None:
    for at, value in enumerate(values):
        given: str | None = None
        if value in ("-p", "--python"):
            given = values[at + 1] if at + 1 < len(values) else ""
        elif value.startswith("--python="):
            given = value.partition("=")[2]
        elif value.startswith("-p"):
            given = value[2:].removeprefix("=")
        if given is not None and not _PYTHON_VERSION.fullmatch(given):
            return f"`{value.split('=')[0]}` with another word than a version runs that program."
    return None


_RAILS_OWN = frozenset(
    "generate g destroy d server s test t test:system test:all version notes stats routes"
    " app:update credentials:show dev:cache about middleware initializers secret boot".split()
)
_RAKE_RUNS = re.compile(
    r"-[a-zA-Z]*[frepEIRC].*|--(rake|req|exe|lib|dir|trace=|suppress).*", re.DOTALL
)


def _check_rails(values: Sequence[str]) -> str | None:
    """A task that is not of rails itself is given to rake with all that stands behind it."""
    task = next((value for value in values if not value.startswith("-")), None)
    if task is None or task in _RAILS_OWN:
        return None
    for value in values:
        if _RAKE_RUNS.fullmatch(value):
            return (
                f"`rails {task} {value.split('=')[0]}` is an option of rake, which runs a script."
            )
    return None


_JSON_FLAGS = frozenset(
    "--sort-keys --no-ensure-ascii --json-lines --tab --no-indent --compact -h --help -".split()
)


def _check_json_tool(values: Sequence[str]) -> str | None:
    operands = 0
    for at, value in enumerate(values):
        if re.fullmatch(r"--indent(=\d+)?", value) or (at and values[at - 1] == "--indent"):
            continue
        if value.startswith("-") and value not in _JSON_FLAGS:
            return f"`json.tool {value}` is not a plain option."
        operands += value == "-" or not value.startswith("-")
    return "The second operand of `json.tool` is written." if operands > 1 else None


_VENV_FLAGS = frozenset(
    "--system-site-packages --symlinks --copies --without-pip --upgrade-deps --prompt"
    " --without-scm-ignore-files -h --help".split()
)
_VENV_FOLDER = re.compile(r"\.?[A-Za-z0-9_][A-Za-z0-9_.-]*/?")


def _check_venv(values: Sequence[str]) -> str | None:
    for value in values:
        if value.startswith("-"):
            if value.split("=", 1)[0] not in _VENV_FLAGS:
                return f"`venv {value}` is not a plain option."
        elif not _VENV_FOLDER.fullmatch(value) or value.startswith((".git", ".kova", ".vscode")):
            return f"`venv` writes into {value!r}, which may not be a folder of its own."
    return None


TOOL_CHECKS: dict[str, Callable[[Sequence[str]], str | None]] = {
    "make": _check_make,
    "gmake": _check_make,
    "go": _check_go,
    "git": _check_git,
    "mvn": _check_maven,
    "mvnw": _check_maven,
    "mvnd": _check_maven,
    "yarn": _check_workspaces,
    "pnpm": _check_workspaces,
    "sbt": _check_sbt,
    "dotnet": _check_dotnet,
    "swift": _check_swift,
    "dart": _check_dart,
    "cmake": _check_cmake,
    "gradle": _check_gradle,
    "gradlew": _check_gradle,
    "uv": _check_uv,
    "pipx": _check_uv,
    "rails": _check_rails,
    "json.tool": _check_json_tool,
    "venv": _check_venv,
}
