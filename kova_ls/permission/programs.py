"""Which programs take sub-commands, which are never remembered, which only start another one.

Invariant: what is not known is treated in the narrower way.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from kova_ls.permission.python_modules import PYTHON_WRAPPERS, module_program


class Never(NamedTuple):
    """Programs that a remembered prefix may not cover."""

    names: str
    """Separated by blanks: a program, or `program:sub`. A trailing `*` covers every longer name, a
    trailing `#` a version (digits and dots)."""
    reason: str
    """Completes "`x` …"."""
    examples: tuple[str, ...]


NEVER: tuple[Never, ...] = (
    Never(
        "node# nodejs bun deno tsx ts-node vite-node babel-node esno python* py pypy# ipython# perl#"
        " ruby# jruby irb pry php# lua# luajit awk gawk mawk nawk pwsh powershell powershell.exe"
        " Rscript R julia osascript tclsh# wish expect groovy jshell elixir iex erl escript guile"
        " racket sbcl scala swipl ocaml ghci runghc runhaskell jupyter m4 dc java mongo"
        " mongosh ldd gs kotlin kotlinc clojure clj bb crystal:eval raku janet zig:run dotnet:script"
        " bpython ptpython ptipython jython micropython rustpython graalpy ironpython ipy qjs quickjs d8 jsc"
        " rhino gjs tjs llrt fennel moon octave octave-cli gnuplot sage gp maxima wolframscript matlab csi"
        " csharp fsi dotnet-script scala-cli groovysh amm jbang kscript yaegi cling gforth nix-instantiate"
        " nix:eval nix:repl godot blender xonsh nu nushell elvish osh ysh yash posh rc es"
        " lualatex luatex luahbtex texlua soffice libreoffice dotnet:fsi swift:repl meson:runpython yarn:node yarn:run:node"
        " rails:runner rails:r rails:console rails:c rails:dbconsole rails:db mix:run mix:eval mix:cmd mix:do stack:ghci"
        " stack:runghc stack:script",
        "runs any program text it is given",
        (
            "node -e 1",
            "python3 -m http.server",
            "python3.12 x.py",
            "py x.py",
            "python -c 1",
            "python -c pytest",
            "python -m x",
            "python -m",
            "python -B -m pytest",
            "awk 1 f",
            "bun test",
            "php8.2 x",
            "gnuplot -e x",
            "nu -c x",
            "rails db",
        ),
    ),
    Never(
        "bash sh zsh fish dash ksh mksh csh tcsh ash rbash busybox toybox script cmd cmd.exe"
        " bash.exe sh.exe",
        "is a shell or starts one",
        ("bash x.sh", "sh -c ls", "busybox ls", "script -c ls"),
    ),
    Never(
        "npx bunx uvx pnpx pipx:run pnpm:dlx yarn:dlx npm:exec npm:x npm:create npm:init npm:innit"
        " npm:explore npm:exe npm:explo npm:explor npm:ini npm:inni npm:cr npm:cre npm:crea npm:creat"
        " pnpm:node pnpm:tsx pnpm:ts-node pnpm:vite-node pnpm:babel-node pnpm:esno pnpm:bun pnpm:deno"
        " pnpm:sh pnpm:bash yarn:tsx yarn:ts-node yarn:vite-node yarn:babel-node yarn:esno yarn:bun"
        " yarn:sh yarn:bash yarn:run:tsx yarn:run:ts-node yarn:run:vite-node yarn:run:babel-node"
        " hatch:env:run pnpm:create yarn:create pnpm:exec yarn:exec uv:run uv:tool:run poetry:run"
        " pdm:run hatch:run rye:run pipenv:run pipenv:shell pixi:run bundle:exec composer:exec"
        " conda:run mamba:run micromamba:run corepack nix:run nix:shell nix:develop nix-shell"
        " mise:exec mise:x mise:trust asdf:exec rbenv:exec pyenv:exec direnv volta:run fnm:exec opam:exec"
        " stack:exec cabal:exec dune:exec dotnet:exec dotnet:tool:run dotnet:tool:exec dotnet:dnx dnx"
        " yarn:plugin yarn:set bundle:e bundle:ex bundle:exe gem:exec gem:exe gem:ex composer:e"
        " composer:ex composer:exe cargo:watch cargo:eval cargo:script meson:devenv railway:run",
        "finds or fetches another program and runs it",
        (
            "npx tsc",
            "pnpm dlx x",
            "npm exec -- x",
            "uv run x.py",
            "uv --quiet run x",
            "npm x y",
            "npm exe x",
            "pnpm tsx x.ts",
            "pnpm -F a node x",
            "yarn run ts-node x",
            "hatch env run x",
        ),
    ),
    Never(
        "docker:run docker:exec docker:compose:run docker:compose:exec docker:container:run"
        " docker:container:exec podman:run podman:exec podman:container:run podman:container:exec"
        " podman:compose:run podman:compose:exec nerdctl:run nerdctl:exec docker-compose:run"
        " docker-compose:exec kubectl:exec kubectl:run kubectl:debug oc:exec oc:rsh ssh sshpass"
        " mosh autossh gcloud:compute:ssh vagrant:ssh multipass:exec lxc:exec limactl:shell wsl"
        " wsl.exe systemd-nspawn machinectl gh:codespace:ssh heroku:run fly:ssh flyctl:ssh minikube:ssh"
        " docker:create docker:container:create docker:service:create docker:debug docker:sandbox"
        " podman:create podman:unshare podman:machine:ssh nerdctl:create buildah:run buildah:unshare"
        " kubectl:attach oc:debug oc:rsync terragrunt:exec aws:ecs:execute-command gcloud:sql:connect"
        " gcloud:alpha:compute:ssh gcloud:beta:compute:ssh gcloud:workstations:ssh az:vm:run-command"
        " az:ssh fly:console flyctl:console railway:shell railway:ssh railway:connect render:ssh"
        " doctl:compute:ssh minikube:kubectl adb:shell"
        " crictl:exec ctr:run ansible ansible-playbook ansible-console nc ncat netcat socat telnet ftp"
        " lftp ssh-add ssh-keygen ssh-copy-id",
        "runs commands in another place, or opens a way there",
        ("docker run x", "docker compose exec a sh", "kubectl exec p -- sh", "ssh host ls"),
    ),
    Never(
        "eval exec source . command builtin env xargs parallel nohup nice timeout gtimeout time"
        " watch stdbuf setsid flock sudo sudoedit doas su pkexec runuser run0 sg newgrp chroot"
        " unshare nsenter bwrap firejail proot fakeroot setpriv capsh ionice chrt taskset numactl"
        " setarch linux32 linux64 prlimit strace ltrace perf gdb lldb valgrind catchsegv rlwrap"
        " unbuffer entr watchexec nodemon sem run-parts at batch crontab systemd-run"
        " start-stop-daemon daemonize tmux screen dotenv dotenvx cross-env env-cmd op:run"
        " doppler:run infisical:run aws-vault hyperfine caffeinate ssh-agent dbus-run-session"
        " chronic ifne mispipe lckdo zrun torsocks torify tsocks proxychains# faketime eatmydata ccache"
        " sccache distcc bear scan-build cgexec trickle dtach abduco tmate byobu tsp pueue nq gosu su-exec"
        " chpst envdir setlock softlimit s6-setuidgid choom uclampset cpulimit schedtool arch i386 x86_64"
        " sandbox-exec systemd-inhibit systemd-cat logsave fakechroot heaptrack uftrace rr:record gtime"
        " apptainer:exec singularity:exec toolbox:run distrobox:enter flatpak:run devcontainer:exec"
        " chamber:exec sops:exec-env sops:exec-file envchain envconsul teller:run saml2aws:exec vault:ssh"
        " concurrently wait-on start-server-and-test onchange cross-env-shell reflex foreman:run honcho:run"
        " goreman:run overmind:run pssh pdsh clush dsh ssh-keyscan xinit startx cage dbus-launch"
        " busctl gdbus dbus-send expect-lite mosh-server ptx"
        " xvfb-run launchctl open xdg-open start start.exe jobs fc bind complete compgen compopt"
        " history coproc cygstart fzf sk peco yt-dlp youtube-dl aria2c mail mailx sendmail",
        "runs whatever command it is given",
        (
            "chronic rm x",
            "proxychains4 x",
            "concurrently x",
            "env FOO=1 ls",
            "xargs rm",
            "timeout 5 ls",
            "sudo ls",
            "command ls",
            ". ./x",
            "eval ls",
        ),
    ),
    Never(
        "kova-ls",
        "is the agent's own control",
        ("kova-ls permission add x", "./kova-ls stop"),
    ),
    Never(
        "rm rmdir unlink shred cp mv find fd fdfind dd mkfs* chmod chown chgrp ln install tee"
        " truncate rsync scp sftp kill pkill killall xkill del rd erase move copy xcopy robocopy"
        " rename mmv trash fallocate mkfifo mknod mount umount losetup fdisk parted sgdisk wipefs"
        " cryptsetup swapon swapoff setfacl chattr setcap chcon reboot shutdown halt poweroff init"
        " chsh chfn passwd useradd usermod userdel visudo insmod rmmod modprobe"
        " iptables nft update-alternatives telinit taskkill taskkill.exe sponge git:filter-branch cpio pax uudecode rclone",
        "destroys, moves or re-owns what it is pointed at",
        ("rm -rf build", "cp a b", "find . -delete", "mv a b", "chmod 777 x", "mkfs.ext4 /dev/x"),
    ),
    Never(
        "git:difftool git:mergetool git:shell git:send-email git:instaweb git:web--browse"
        " git:daemon git:submodule--helper git:hook git:upload-pack git:receive-pack git:gui"
        " git:cvsserver git:http-backend git:merge-index git:citool git:upload-archive git-shell"
        " git-upload-pack git-receive-pack git-upload-archive",
        "starts other programs or serves the repository",
        ("git difftool -x cmd", "git daemon --export-all"),
    ),
    Never(
        "vi vim nvim view vimdiff ex ed emacs emacsclient nano pico micro joe kak hx helix red code"
        " code-insiders codium cursor subl zed idea",
        "is an editor, which writes files and runs commands",
        ("vim a", "ed a"),
    ),
)

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
        " django-admin flask celery pm2 pre-commit coverage biome deptry golangci-lint buf protolint bazel"
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
        " journalctl wait times pip-compile pip-sync gradle mvn ant sbt rake just task rspec"
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
    if name.endswith(".exe") and len(name) > 4:
        name = name[:-4]
    return name


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
    if (reason is None and found is None) or development_program(words):
        return None
    if found is None:
        return f"`{words[0]}` {reason}"
    return f"`{words[0]} {' '.join(found[0])}` {found[1]}"


class Inner(NamedTuple):
    """The program that a wrapper starts."""

    at: int
    """Where in the words it is named."""
    program: str
    is_module: bool
    """Python finds it, as `python -m`."""


def development_program(words: Sequence[str]) -> Inner | None:
    """Return the well-known program in `uv run pytest -q` or `python -m pytest -q`, or None."""
    if len(words) < 3:
        return None
    at = 0
    name = program_name(words[0])
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
    return None


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
