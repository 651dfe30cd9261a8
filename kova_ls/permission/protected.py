"""Paths that grant permission, run by themselves later, or hold secrets.

Invariant: judged by the resolved path; names compare without case, prefixes as the disk does.
"""

import re
from collections.abc import Callable
from fnmatch import fnmatchcase, translate
from functools import cache
from typing import Literal, NamedTuple

from kova_ls.permission.effects import ReadPath, WritePath
from kova_ls.permission.facts import Facts
from kova_ls.permission.globs import absolute, unbraced
from kova_ls.permission.roots import find_root, is_inside
from kova_ls.values import Reason
from kova_ls.vocabulary import ApprovalLevel, Mode


class Guarded(NamedTuple):
    """A group of paths that ask at every level below `auto`."""

    kind: Literal["protected", "sensitive"]
    """`sensitive` asks for reading as well."""
    patterns: str
    """Separated by blanks. `~/x` stands below the home folder; others match anywhere, as whole
    trailing or middle parts of the path; a part may hold `*`. What is below matches too."""
    reason: str
    """Completes "`path` …"."""
    examples: tuple[str, ...]
    """Relative to home for `~/`, else to the workspace."""
    others: tuple[str, ...] = ()
    """Look alike and are not guarded by this group."""


GUARDED: tuple[Guarded, ...] = (
    Guarded(
        "sensitive",
        ".env .env.* .envrc .env-* *.env",
        "holds secrets of the project",
        (".env", "a/.env.local", ".env/x", "prod.env"),
        (".env.example", ".env.sample", "a/.env.template", "env.py", ".environment"),
    ),
    Guarded(
        "sensitive",
        "id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk *.pem *.key *.p12 *.pfx *.jks"
        " *.keystore *.ppk *.kdbx ~/.ssh .ssh ~/.gnupg .gnupg",
        "holds private keys",
        ("id_rsa", "certs/server.pem", "~/.ssh/work", "a.key"),
        ("id_rsa.pub", "key.py", "a.keys"),
    ),
    Guarded(
        "sensitive",
        ".netrc _netrc .git-credentials .pgpass .my.cnf .pypirc .htpasswd .vault-token .dockercfg"
        " credentials.json client_secret*.json service-account*.json secrets.json secrets.yml"
        " secrets.yaml secrets.toml .terraformrc ~/.aws ~/.azure ~/.config/gcloud ~/.kube"
        " ~/.docker/config.json ~/.config/gh/hosts.yml ~/.config/hub ~/.cargo/credentials*"
        " ~/.gem/credentials ~/.npmrc ~/.config/git/credentials ~/.local/share/keyrings"
        " ~/.password-store ~/.mozilla ~/.config/google-chrome ~/.config/chromium"
        " ~/Library/Keychains ~/.bash_history ~/.zsh_history ~/.python_history /etc/shadow"
        " /etc/sudoers /etc/gshadow .aws/credentials .kube/config"
        " .docker/config.json gh/hosts.yml",
        "holds credentials",
        ("~/.netrc", "~/.aws/credentials", "~/.npmrc", "a/credentials.json"),
        ("credentials.py",),
    ),
    Guarded(
        "sensitive",
        "proc/*/environ proc/*/task/*/environ",
        "holds the keys that a program was started with",
        ("/proc/self/environ", "/proc/1/environ", "/proc/1/task/2/environ"),
        ("environ", "proc/environ"),
    ),
    Guarded(
        "protected",
        ".kova",
        "configures the agent or grants it permissions",
        (".kova/permissions.local.json", "sub/.kova/x", ".kova"),
        (".kovarc", "kova"),
    ),
    Guarded(
        "protected",
        ".git .gitmodules .gitattributes .husky .githooks .lefthook lefthook.yml .lefthook.yml"
        " .gitconfig ~/.gitconfig ~/.config/git",
        "changes what git runs later",
        (".git", ".git/hooks/pre-commit", "a/b/.git/config", ".husky/pre-push", "~/.gitconfig"),
        (".gitignore", ".github/x.md", "git"),
    ),
    Guarded(
        "protected",
        ".vscode .idea .fleet .zed *.code-workspace .nvim.lua .nvimrc .exrc .vimrc .lvimrc .envrc"
        " .dir-locals.el .devcontainer .devcontainer.json .claude .cursor .mcp.json .gemini .codex",
        "tells an editor or another agent what to run",
        (".vscode/tasks.json", "a.code-workspace", ".nvim.lua", ".devcontainer/x"),
        ("vscode.md",),
    ),
    Guarded(
        "protected",
        ".npmrc .yarnrc* .pnpmfile.cjs pnpmfile.js .cargo/config .cargo/config.toml .bazelrc"
        " .pre-commit-config.yaml .pre-commit-config.yml pip.conf .pip .bundle/config .tool-versions"
        " mise.toml .mise.toml sitecustomize.py usercustomize.py *.pth",
        "tells a tool what to run",
        (".npmrc", "a/.yarnrc.yml", ".cargo/config.toml", ".pre-commit-config.yaml"),
        ("npmrc.md", ".cargo/registry"),
    ),
    Guarded(
        "protected",
        ".github/workflows .github/actions .gitlab-ci.yml .gitlab/ci .circleci .buildkite"
        " .travis.yml .drone.yml azure-pipelines.yml bitbucket-pipelines.yml Jenkinsfile"
        " .gitea/workflows .forgejo/workflows .woodpecker .woodpecker.yml .teamcity",
        "runs on the project's build servers",
        (".github/workflows/ci.yml", "a/.circleci/config.yml", "Jenkinsfile"),
        (".github/ISSUE_TEMPLATE.md",),
    ),
    Guarded(
        "protected",
        ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv"
        " .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .inputrc .xprofile .xinitrc .xsession"
        " .pam_environment .login .screenrc .tmux.conf .wgetrc .curlrc .gdbinit .lldbinit .pdbrc"
        " .irbrc .pryrc .Rprofile ~/.config ~/.local/bin ~/bin ~/.local/share/applications"
        " ~/.local/share/systemd ~/.cargo ~/.rustup ~/.pyenv ~/.nvm ~/.rbenv ~/Library/LaunchAgents"
        " ~/Library/LaunchDaemons ~/.vim ~/.emacs ~/.emacs.d ~/.oh-my-zsh ~/.zsh ~/.bashrc.d"
        " ~/.ipython ~/.jupyter ~/.docker ~/.gem ~/.m2/settings.xml ~/.gradle/init.d"
        " ~/.gradle/gradle.properties ~/.gradle/init.gradle",
        "runs when the person logs in, opens a shell or starts a program",
        ("~/.bashrc", ".zshrc", "~/.config/autostart/x.desktop", "~/bin/git"),
        ("bashrc.md",),
    ),
    Guarded(
        "protected",
        "/etc /boot /usr /bin /sbin /lib /lib64 /opt/homebrew /var/spool/cron /Library /System"
        " /proc /sys /dev",
        "belongs to the machine",
        ("/etc/passwd", "/usr/local/bin/x", "/var/spool/cron/root"),
        ("/srv/x",),
    ),
)

_EXAMPLE_KIN = re.compile(
    r"\.env[.-].*?(example|sample|template|dist|default|defaults|tpl|schema)s?(\..*)?\Z"
)
_PUBLIC = re.compile(r".*\.pub\Z|known_hosts(\.old)?\Z|config\Z")
_GIT_KIN = re.compile(r"git~[0-9]+\Z|\.git[ .]+\Z")


class _Pattern(NamedTuple):
    guarded: Guarded
    parts: tuple[str, ...]


def _compile() -> tuple[
    dict[str, list[_Pattern]],
    list[_Pattern],
    dict[str, list[_Pattern]],
    list[tuple[str, Guarded]],
]:
    """Return the patterns by literal last part, with globs, below home, and by absolute prefix."""
    literal: dict[str, list[_Pattern]] = {}
    globs: list[_Pattern] = []
    home: dict[str, list[_Pattern]] = {}
    absolute: list[tuple[str, Guarded]] = []
    for guarded in GUARDED:
        for text in guarded.patterns.split():
            if text.startswith("/"):
                absolute.append((text, guarded))
            elif text.startswith("~/"):
                pattern = _Pattern(guarded, tuple(text[2:].lower().split("/")))
                home.setdefault(pattern.parts[0], []).append(pattern)
            else:
                pattern = _Pattern(guarded, tuple(text.lower().split("/")))
                if "*" in pattern.parts[-1]:
                    globs.append(pattern)
                else:
                    literal.setdefault(pattern.parts[-1], []).append(pattern)
    return literal, globs, home, absolute


_LITERAL, _GLOBS, _HOME, _ABSOLUTE = _compile()
_ANY_GLOB = re.compile("|".join(translate(pattern.parts[-1]) for pattern in _GLOBS))
_SENSITIVE_NAMES = (
    *(".env .env.local id_rsa id_ed25519 .netrc .git-credentials server.pem server.key").split(),
    *(".ssh .aws .gnupg .kube .azure .pgpass .pypirc .npmrc .docker .password-store").split(),
    *("credentials.json secrets.yml").split(),
)


def find_guard(path: str, facts: Facts, *, for_reading: bool = False) -> Guarded | None:
    """Return what guards a resolved path, sensitive first, or None."""
    found: Guarded | None = None
    for guarded in _matches(path, facts, for_reading=for_reading):
        if guarded.kind == "sensitive":
            return guarded
        if not for_reading and found is None:
            found = guarded
    return found


def secret_test(home: str) -> Callable[[str], bool]:
    """Return a test of resolved paths: files with secrets, whose very reading asks."""
    facts = Facts(mode=Mode.AGENT, level=ApprovalLevel.ASK, workspace=None, home=home)
    first_look = _maybe_secret()

    def has_secrets(path: str) -> bool:
        if first_look.search(path) is None:
            return False
        return find_guard(path, facts, for_reading=True) is not None

    return has_secrets


@cache
def _maybe_secret() -> re.Pattern[str]:
    """Return a quick first look at many paths; what it passes over is certainly not sensitive."""
    names = (
        translate(pattern.rpartition("/")[2]).removesuffix(r"\Z")
        for guarded in GUARDED
        if guarded.kind == "sensitive"
        for pattern in guarded.patterns.split()
    )
    alternatives = "|".join(names).replace(".*", "[^/]*")
    return re.compile(f"(?:^|/)(?:{alternatives})(?:/|$)", re.IGNORECASE)


def _matches(path: str, facts: Facts, *, for_reading: bool) -> "list[Guarded]":
    found: list[Guarded] = []
    parts = path.lower().strip("/").split("/")
    is_public = for_reading and _PUBLIC.match(parts[-1]) is not None
    for at, part in enumerate(parts):
        named = None if is_public and part == ".ssh" else _LITERAL.get(part)
        if named:
            for pattern in named:
                if _ends(parts, at, pattern.parts) and not _is_kin(part, pattern.guarded):
                    found.append(pattern.guarded)
        if _ANY_GLOB.match(part):
            for pattern in _GLOBS:
                if (
                    fnmatchcase(part, pattern.parts[-1])
                    and _ends(parts, at, pattern.parts)
                    and not _is_kin(part, pattern.guarded)
                ):
                    found.append(pattern.guarded)
        if not for_reading and _GIT_KIN.match(part):
            found.append(_LITERAL[".git"][0].guarded)
    if is_inside(path, facts.home, case_folds=facts.case_folds):
        below = path[len(facts.home.rstrip("/")) :].lower().strip("/").split("/")
        for pattern in _HOME.get(below[0], ()):
            if is_public and pattern.parts == (".ssh",):
                continue
            if len(below) >= len(pattern.parts) and all(
                fnmatchcase(mine, theirs)
                for mine, theirs in zip(below, pattern.parts, strict=False)
            ):
                found.append(pattern.guarded)
    for prefix, guarded in _ABSOLUTE:
        if (
            (guarded.kind == "sensitive" or not for_reading)
            and is_inside(path, prefix, case_folds=facts.case_folds)
            # A workspace may stand in such a folder, as in a container's /usr/src.
            and (guarded.kind == "sensitive" or find_root(path, facts) is None)
        ):
            found.append(guarded)
    return found


_ANYWHERE = Facts(Mode.AGENT, ApprovalLevel.WORKSPACE_WRITE, None)


def runs_by_itself(path: str) -> bool:
    """Tell whether a relative path is guarded wherever it stands."""
    return bool(path) and find_guard(f"/./{path}", _ANYWHERE) is not None


def _ends(parts: list[str], at: int, pattern: tuple[str, ...]) -> bool:
    """Tell whether the pattern's parts end at this part of the path."""
    return len(pattern) == 1 or (
        at + 1 >= len(pattern)
        and all(map(fnmatchcase, parts[at + 1 - len(pattern) : at], pattern[:-1]))
    )


def _is_kin(part: str, guarded: Guarded) -> bool:
    return guarded.kind == "sensitive" and _EXAMPLE_KIN.match(part) is not None


def read_reason(effect: ReadPath, facts: Facts) -> Reason | None:
    """Return why looking at the path asks, or None."""
    guarded = find_guard(effect.path, facts, for_reading=True)
    if guarded is None:
        return None
    return Reason(code="sensitive", text=f"{effect.path!r} {guarded.reason}.")


def write_reason(effect: WritePath, facts: Facts) -> Reason | None:
    """Return why changing the path asks at every level below `auto`, or None."""
    if effect.is_git_dir:
        return Reason(code="protected", text=f"{effect.path!r} is inside a git directory.")
    for folder in (facts.kova_home, facts.data_dir, facts.runtime_dir):
        if is_inside(effect.path, folder, case_folds=facts.case_folds):
            return Reason(code="protected", text=f"{effect.path!r} belongs to the agent itself.")
    for folder in facts.path_dirs:
        if is_inside(effect.path, folder, case_folds=facts.case_folds):
            return Reason(
                code="protected", text=f"{effect.path!r} is in a folder of programs on PATH."
            )
    guarded = find_guard(effect.path, facts)
    if guarded is None and effect.asked != effect.path:
        guarded = find_guard(effect.asked, facts)
    if guarded is None:
        return None
    return Reason(code=guarded.kind, text=f"{effect.path!r} {guarded.reason}.")


_GLOB_CHARS = re.compile(r"[*?\[]")
_SPLIT = re.compile(r"[=:@,{}]")
_QUOTED = re.compile(r"[=:@,{}'\"`]")
_STATEMENTS = frozenset("sqlite3 sqlite duckdb psql pgcli mysql mariadb yq".split())
"""Their words are programs, which name files in quotes."""
_TEMPLATE = re.compile(
    r"(-[a-z]|--[a-z-]+=)?(\{\{[^/]*\}\}|(jsonpath(-as-json)?|go-template|custom-columns)=[^/]*)",
    re.DOTALL,
)
"""Picks fields of an answer, and names no file."""
_ENV_OBJECT = re.compile(r"(process|meta|import\.meta)\\?\.env")
"""How JavaScript names its environment: what searches look for, and no file."""


def sensitive_word(
    value: str, facts: Facts, cwd: str, *, expands: bool, program: str = "", is_prose: bool = False
) -> Reason | None:
    """Return why a word of a shell command asks: it names a sensitive path.

    `expands` says that the shell puts something into the word, such as the files of a pattern;
    `is_prose` that a name with blanks in it is no name.
    """
    if not may_be_sensitive(value) or (not expands and _TEMPLATE.fullmatch(value)):
        return None
    words = unbraced(value) if expands and "{" in value else (value,)
    split = (_QUOTED if program in _STATEMENTS else _SPLIT).split
    for piece in dict.fromkeys(piece for word in words for piece in (word, *split(word))):
        if not piece or len(piece) > 4096:
            continue
        name = piece.rstrip("/").rsplit("/", 1)[-1]
        if (is_prose and any(char.isspace() for char in name)) or _ENV_OBJECT.fullmatch(name):
            continue
        guarded = find_guard(absolute(piece, facts.home, cwd), facts, for_reading=True)
        if guarded is not None:
            return Reason(code="sensitive", text=f"{piece!r} {guarded.reason}.")
        if expands and _GLOB_CHARS.search(piece) and _may_expand_to_secret(piece):
            return Reason(code="sensitive", text=f"{piece!r} may name a file with secrets.")
    return None


def _may_expand_to_secret(piece: str) -> bool:
    """Tell whether a part of the path is a pattern that a sensitive name fits.

    A pattern without a beginning of its own (`*`, `[a-z]*`) names whatever there is and does not
    count: it does not match names that begin with a dot.
    """
    for part in piece.lower().split("/"):
        beginning = _GLOB_CHARS.split(part, maxsplit=1)[0]
        if beginning != part and (part.startswith(".") or len(beginning) > 1):
            if any(fnmatchcase(name, part) for name in _SENSITIVE_NAMES):
                return True
    return False


_HINT = re.compile(
    r"env|id_|\.pem|\.key|\.p12|\.pfx|\.jks|keystore|\.ppk|\.kdbx|ssh|gnupg|netrc|credential|pgpass"
    r"|my\.cnf|pypirc|htpasswd|token|dockercfg|secret|account|terraformrc|aws|azure|gcloud|kube"
    r"|docker|hub|gh/|gem|npmrc|keyring|keychain|password|mozilla|chrom|history|shadow|sudoers|[*?\[{]"
)


def may_be_sensitive(value: str) -> bool:
    """Tell whether a word, or one of several with line ends between them, is worth a look."""
    # A pattern that heeds case skips faster to where it may begin.
    return _HINT.search(value.casefold()) is not None
