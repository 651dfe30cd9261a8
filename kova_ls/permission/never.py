"""Programs that a remembered prefix may not cover: they run, destroy or reach whatever they are told.

Invariant: every entry says why, and has an example for each kind of name it holds.
"""

from typing import NamedTuple


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
