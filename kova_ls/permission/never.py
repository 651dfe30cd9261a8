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
        " ruby# jruby irb pry php# lua# luajit awk gawk original-awk mawk nawk pwsh powershell powershell.exe"
        " Rscript R julia osascript tclsh# wish expect groovy jshell elixir iex erl escript guile"
        " racket sbcl scala swipl ocaml ghci runghc runhaskell jupyter m4 dc java mongo"
        " mongosh ldd gs kotlin kotlinc clojure clj bb crystal:eval raku janet zig:run dotnet:script"
        " bpython ptpython ptipython jython micropython rustpython graalpy ironpython ipy qjs quickjs d8 jsc"
        " rhino gjs tjs llrt fennel moon octave octave-cli gnuplot sage gp maxima wolframscript matlab csi"
        " csharp fsi dotnet-script scala-cli groovysh amm jbang kscript yaegi cling gforth nix-instantiate"
        " nix:eval nix:repl godot blender xonsh nu nushell elvish osh ysh yash posh rc es"
        " lualatex luatex luahbtex texlua soffice libreoffice dotnet:fsi swift:repl meson:runpython"
        " rails:runner rails:r rails:console rails:c rails:dbconsole rails:db mix:run mix:eval mix:cmd mix:do stack:ghci"
        " stack:runghc stack:script ts-node-dev tsnd ts-node-esm tsimp jiti esr zx electron nw fx"
        " rust-script torchrun deepspeed accelerate:launch ray:job ray:exec ray:submit streamlit:run"
        " fastapi:run fastapi:dev chainlit:run marimo:run marimo:edit panel:serve bokeh:serve papermill"
        " locust scrapy:shell scrapy:runspider k6:run mitmproxy mitmdump mitmweb jello csvpy vd visidata"
        " mlr goawk frawk utop cabal:repl stack:repl rebar3:shell lein:repl crystal:run nim:r v:run"
        " psysh symfony:php wp:eval wp:eval-file wp:shell django-admin:shell"
        " django-admin:shell_plus django-admin:runscript django-admin:dbshell manage.py:shell"
        " manage.py:shell_plus manage.py:runscript manage.py:dbshell flask:shell celery:shell bpftrace jjs jrunscript byebug"
        " pdb pdb3 ginsh sash slsh tasksh hping3 msfconsole volatility ebook-convert gimp sqlplus sqlcmd"
        " snowsql cqlsh beeline hive impala-shell isql rabbitmqctl:eval brew:sh brew:ruby brew:irb",
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
            "torchrun --nproc-per-node 2 x.py",
            "pnpm tsx x.ts",
            "bpftrace -e x",
            "pnpm -F a node x",
            "yarn run ts-node x",
            "yarn workspace a tsx x",
            "./manage.py shell -c 1",
            "streamlit run x.py",
        ),
    ),
    Never(
        "bash# sh zsh# fish dash ksh# mksh csh tcsh ash rbash busybox toybox script cmd cmd.exe"
        " bash.exe sh.exe",
        "is a shell or starts one",
        ("bash x.sh", "sh -c ls", "busybox ls", "script -c ls"),
    ),
    Never(
        "npx bunx uvx pnpx pipx:run pnpm:dlx yarn:dlx npm:exec npm:x npm:create npm:init npm:innit"
        " npm:explore npm:exe npm:explo npm:explor npm:ini npm:inni npm:cr npm:cre npm:crea npm:creat"
        " hatch:env:run pnpm:create yarn:create pnpm:exec yarn:exec uv:run uv:tool:run poetry:run"
        " pdm:run hatch:run rye:run pipenv:run pipenv:shell pixi:run bundle:exec composer:exec"
        " conda:run mamba:run micromamba:run corepack nix:run nix:shell nix:develop nix-shell"
        " mise:exec mise:x mise:trust asdf:exec rbenv:exec pyenv:exec direnv volta:run fnm:exec opam:exec"
        " stack:exec cabal:exec dune:exec pixi:exec pixi:shell devbox:run devbox:shell flox:activate"
        " guix:shell devenv:shell devenv:exec dagger:run sst:shell dotnet:exec dotnet:tool:run dotnet:tool:exec dotnet:dnx dnx"
        " yarn:plugin yarn:set bundle:e bundle:ex bundle:exe gem:exec gem:exe gem:ex composer:e"
        " composer:ex composer:exe cargo:watch cargo:eval cargo:script meson:devenv railway:run",
        "finds or fetches another program and runs it",
        (
            "npx tsc",
            "pixi exec x",
            "pnpm dlx x",
            "npm exec -- x",
            "uv run x.py",
            "uv --quiet run x",
            "npm x y",
            "npm exe x",
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
        " lftp ssh-add ssh-keygen ssh-copy-id docker:attach docker:container:attach podman:attach sail:shell sail:root-shell sail:bash sail:php sail:node sail:npx sail:tinker sail:exec sail:run"
        " ddev:exec ddev:ssh ddev:php lando:ssh wp-env:run nomad:alloc:exec nomad:exec consul:exec"
        " consul:lock etcdctl:lock etcdctl:watch tsh:ssh tsh:scp boundary:connect bolt salt salt-call"
        " salt-ssh knife puppet:apply ansible-inventory ansible-vault ansible-pull ansible-runner ngrok"
        " cloudflared lt localtunnel tailscale:ssh tailscale:file tailscale:serve tailscale:funnel"
        " websocat croc wormhole lynx w3m links elinks browsh psftp pscp plink"
        " ncftp ncftpget ncftpput tftp smbclient rlogin rsh rcp minicom cu picocom check_by_ssh firefox google-chrome"
        " google-chrome-stable chromium chromium-browser chrome msedge brave",
        "runs commands in another place, or opens a way there",
        (
            "docker run x",
            "docker compose exec a sh",
            "docker attach x",
            "kubectl exec p -- sh",
            "ssh host ls",
            "nomad alloc exec x sh",
            "sail php x",
            "chromium --renderer-cmd-prefix=x",
        ),
    ),
    Never(
        "eval exec source . command builtin env xargs genv gxargs gnohup gnice gstdbuf parallel nohup nice timeout gtimeout time"
        " watch stdbuf setsid flock sudo sudoedit doas su pkexec runuser run0 sg newgrp chroot"
        " unshare nsenter bwrap firejail proot fakeroot setpriv capsh ionice chrt taskset numactl"
        " setarch linux32 linux64 prlimit strace ltrace perf gdb gdb-multiarch rust-gdb rust-lldb lldb valgrind catchsegv rlwrap"
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
        " history coproc cygstart fzf sk peco yt-dlp youtube-dl aria2c axel mail mailx sendmail nyc c8"
        " libtool forever mpirun mpiexec orterun srun sbatch salloc horovodrun viztracer py-spy memray"
        " scalene kernprof pyinstrument austin samply flamegraph dlv ghcid pee vipe vidir rush rargs air"
        " symfony:run xdotool ydotool wtype xte cliclick gio run-mailcap mimeopen sensible-browser"
        " sensible-editor x-www-browser explorer wslview aa-exec multitime pexec grc genie gtester"
        " msgfilter cdist sshuttle scrot scanmem dosbox zathura cpan easy_install openvpn wg-quick"
        " certbot varnishncsa logrotate sqlmap snap:run rpmbuild rtorrent jcmd gcore brew:bundle:exec"
        " brew:edit",
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
            "nyc node x.js",
            "mpirun -n 2 x",
            "py-spy record -- x",
            "dlv exec x",
            "multitime rm x",
            "snap run x",
        ),
    ),
    Never(
        "kova-ls",
        "is the agent's own control",
        ("kova-ls permission add x", "./kova-ls stop"),
    ),
    Never(
        "rm rmdir unlink shred cp mv find grm grmdir gunlink gshred gcp gmv gfind gdd gchmod gchown gchgrp"
        " gln ginstall gtee gtruncate gkill fd fdfind dd mkfs* chmod chown chgrp ln install tee"
        " truncate rsync scp sftp kill pkill killall xkill del rd erase move copy xcopy robocopy"
        " rename mmv trash fallocate mkfifo mknod mount umount losetup fdisk parted sgdisk wipefs"
        " cryptsetup swapon swapoff setfacl chattr setcap chcon reboot shutdown halt poweroff init"
        " chsh chfn passwd useradd usermod userdel visudo insmod rmmod modprobe"
        " iptables nft update-alternatives telinit taskkill taskkill.exe sponge git:filter-branch cpio pax uudecode rclone"
        " sd fastmod codemod comby jscodeshift rimraf shx cpx cpy ncp copyfiles ditto hdiutil installer"
        " softwareupdate tccutil dscl networksetup pmset spctl nvram PlistBuddy sshfs unison"
        " rdiff-backup restic borg unsquashfs unar cabextract dtrx aunpack lwp-download",
        "destroys, moves or re-owns what it is pointed at",
        (
            "rm -rf build",
            "cp a b",
            "find . -delete",
            "mv a b",
            "chmod 777 x",
            "mkfs.ext4 /dev/x",
            "sd a b x",
        ),
    ),
    Never(
        "git:difftool git:mergetool git:shell git:send-email git:instaweb git:web--browse"
        " git:daemon git:submodule--helper git:hook git:upload-pack git:receive-pack git:gui"
        " git:cvsserver git:http-backend git:merge-index git:citool git:upload-archive git-shell"
        " git-upload-pack git-receive-pack git-upload-archive git:difftool--helper"
        " git:credential-cache--daemon gitk scalar",
        "starts other programs or serves the repository",
        ("git difftool -x cmd", "git daemon --export-all", "gitk --argscmd=x"),
    ),
    Never(
        "security secret-tool pass gopass bw lpass keyring keepassxc-cli op:read op:item op:document"
        " op:inject",
        "shows passwords",
        ("security dump-keychain", "op read op://a/b", "secret-tool lookup a b"),
    ),
    Never(
        "vi vim nvim view vimdiff ex ed emacs emacsclient nano pico micro joe kak hx helix red code"
        " code-insiders codium cursor subl zed idea",
        "is an editor, which writes files and runs commands",
        ("vim a", "ed a"),
    ),
)
