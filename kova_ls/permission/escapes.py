"""Options by which programs of the system and of version control write or run something beyond their purpose.

Options are data here; programs that need their words read one by one are in `escape_checks.py`,
and development tools in `escapes_tools.py`.
Invariant: a prefix rule never covers words that this table catches.
"""

from typing import NamedTuple


class Escape(NamedTuple):
    """Options of some programs that ask although a prefix matches."""

    programs: str
    """Separated by blanks; `git:log` is one sub-command of `git`, `pip#` also `pip3`."""
    options: str
    """Separated by blanks: `--long`, `-s` (also inside a cluster), `word` (an operand among the
    first two). With `*` at the end every longer name counts; with `@` only a value that leaves the
    folder asks, with `%` only a value that looks like a file, with `^` all but a value `no:x`,
    with `+` any value."""
    reason: str
    """Completes "`program option` …"."""
    asks: tuple[str, ...]
    fine: tuple[str, ...]
    valued: str = ""
    """Short options that take a value: the rest of their word is not options."""
    abbreviates: bool = True
    """The program takes the beginning of a long option for the whole."""
    single_dash: bool = False
    """Long options may be written with one dash."""


ESCAPES: tuple[Escape, ...] = (
    Escape(
        "git",
        "--output --ext-diff --upload-pack --receive-pack --exec --open-files-in-pager --template"
        " --extcmd --config-env --separate-git-dir --web --textconv --filters --unsafe-paths",
        "writes a file or runs a program",
        (
            "git log --output=x",
            "git diff --outp x",
            "git fetch --upload-pack=x .",
            "git log --ext-diff",
        ),
        ("git log --oneline", "git push -u origin main", "git diff --stat", "git log -S'a::b'"),
    ),
    Escape(
        "git:grep",
        "-O",
        "opens the files in a program",
        ("git grep -Oless x", "git grep -nO x"),
        ("git grep -n x", "git grep -e Open"),
        valued="eCABm",
    ),
    Escape(
        "git:archive",
        "-o --remote",
        "writes a file or runs a helper",
        ("git archive -o x HEAD", "git archive --remote=. HEAD"),
        ("git archive --list",),
    ),
    Escape(
        "git:clone",
        "-u -c --config",
        "runs a helper or sets configuration that runs programs",
        ("git clone -c core.sshCommand=x u d", "git clone -u x u"),
        ("git clone --depth 1 https://example.org/a.git",),
        valued="boj",
    ),
    Escape(
        "git:rebase",
        "-x -i --interactive --edit-todo -s --strategy",
        "runs a command for each commit, or an editor",
        ("git rebase -x make main", "git rebase --exec=make main"),
        ("git rebase main", "git rebase --continue"),
        valued="XCS",
    ),
    Escape(
        "git:merge git:pull",
        "-s --strategy --rebase=i* --rebas=i* --reba=i* --reb=i* -r=i* -ri*",
        "runs the program of that strategy",
        (
            "git merge -s x main",
            "git pull --strategy=x",
            "git pull --rebase=interactive",
            "git pull -ri",
            "git pull --reb=i",
        ),
        ("git merge --no-ff main", "git pull --rebase", "git merge --squash x"),
        valued="mXFS",
    ),
    Escape(
        "git:cherry-pick git:revert",
        "--strategy",
        "runs the program of that strategy",
        ("git cherry-pick --strategy=x main",),
        ("git cherry-pick -x a1b2", "git revert --no-edit HEAD"),
    ),
    Escape(
        "git:bisect",
        "run view visualize",
        "runs a program",
        ("git bisect run make",),
        ("git bisect good", "git bisect start HEAD v1"),
    ),
    Escape(
        "git:submodule",
        "foreach",
        "runs a command",
        ("git submodule foreach ls", "git submodule --quiet foreach ls"),
        ("git submodule status", "git submodule update --init --recursive"),
    ),
    Escape(
        "git:help",
        "-w -i --info --man -m",
        "starts a viewer of the configuration",
        ("git help -w log",),
        ("git help log", "git help -a"),
    ),
    Escape(
        "git:bundle git:fast-export git:fast-import",
        "create --export-marks --import-marks --export-pack-edges --rewrite-submodules-from",
        "writes a file",
        ("git bundle create x HEAD", "git fast-export --export-marks=x HEAD"),
        ("git bundle verify x",),
    ),
    Escape(
        "git:index-pack git:mailsplit git:bugreport git:diagnose git:checkout-index git:read-tree",
        "-o@ --output-directory@ --prefix@ --index-output@",
        "writes files elsewhere",
        ("git bugreport -o /x", "git checkout-index --prefix=/x/ -a"),
        ("git bugreport", "git read-tree HEAD"),
        valued="fds",
    ),
    Escape(
        "git:format-patch",
        "-o@ --output-directory@",
        "writes files elsewhere",
        ("git format-patch -o /tmp HEAD~1", "git format-patch -o ../x HEAD~1"),
        ("git format-patch -1", "git format-patch -o patches HEAD~2"),
        valued="nvC",
    ),
    Escape(
        "git:maintenance git:lfs git:credential git:credential-store git:credential-cache",
        "start register install track fill store approve get erase",
        "changes what runs later, or shows passwords",
        ("git maintenance start", "git credential fill"),
        ("git lfs ls-files",),
    ),
    Escape(
        "sort gsort",
        "-o --output -T --temporary-directory --compress-program --files0-from",
        "writes a file or runs a program",
        ("sort -o x y", "sort -uo x y", "sort --outp=x y", "sort --compress-prog ./x y"),
        ("sort -rn", "sort -t '|' -k3 a", "sort -u a", "sort -k2,2n"),
        valued="ktS",
    ),
    Escape(
        "rg",
        "--pre --hostname-bin --search-zip -z",
        "runs a program",
        ("rg --pre ./x y", "rg --hostname-bin ./x y"),
        ("rg -n foo", "rg -g '*.rs' foo", "rg --pretty foo"),
        valued="ABCEMTdefgjmrt",
        abbreviates=False,
    ),
    Escape(
        "ag ack bat batcat delta",
        "--pager --output --pre --config-file --diff-args",
        "runs a program or writes a file",
        ("ag --pager x y", "bat --pager=x y"),
        ("ag foo", "bat -p a.txt"),
    ),
    Escape(
        "tree",
        "-o -R --output",
        "writes a file",
        ("tree -o x", "tree -ao x", "tree -Lo 2 x"),
        ("tree -L 2", "tree -I node_modules"),
    ),
    Escape(
        "less more most",
        "-o -O -k -K -t -T --log-file --LOG-FILE --lesskey-file --lesskey-src --lesskey-content"
        " --tag-file +*",
        "writes a file or runs commands",
        ("less -o x y", "less --log-file=x y", "less '+!x' y"),
        ("less a.txt", "less -N a.txt"),
        valued="bhjpPxyz",
    ),
    Escape(
        "man apropos whatis info",
        "-H --html -P --pager -C --config-file -X --gxditview -T --troff-device --preprocessor -p -o"
        " --output --restore --dribble -r --prompt",
        "runs a browser or pager, or writes a file",
        ("man --html=x ls", "man -P x ls", "man -Hx ls"),
        ("man ls", "man -k x", "man 5 passwd"),
        valued="sSeELmM",
    ),
    Escape(
        "date",
        "-s --set",
        "changes the machine's clock",
        ("date -s 12:00", "date --set=x"),
        ("date +%F", "date -u", "date -Iseconds", "date -d yesterday"),
        valued="drfI",
    ),
    Escape(
        "hostname hostnamectl timedatectl",
        "-F --file set-hostname set-time set-timezone set-ntp hostname set-deployment",
        "changes the machine",
        ("hostname -F x", "hostnamectl set-hostname x"),
        ("hostname", "hostname -f"),
    ),
    Escape(
        "file",
        "-C --compile -m --magic-file",
        "writes or loads a rule file",
        ("file -C -m x",),
        ("file a.txt", "file -b --mime-type a"),
        valued="FfP",
    ),
    Escape(
        "yq xq tomlq dasel",
        "-i --inplace --in-place -s --split-exp --split-exp-file -w --write",
        "writes files",
        ("yq -i '.a=1' f.yml", "yq --inplace . f"),
        ("yq .a f.yml", "yq -r .a f.yml"),
        valued="p",
    ),
    Escape(
        "xmllint xsltproc",
        "-o --output --shell --loaddtd --load-trace --dtdattr --path --profile-output",
        "writes a file or loads others",
        ("xmllint --output x y", "xsltproc -o x y z"),
        ("xmllint --noout a.xml",),
        single_dash=True,
    ),
    Escape(
        "pandoc dot iconv",
        "-o@ --output@ -O --lua-filter --filter -F -L --pdf-engine --extract-media@ --data-dir"
        " --defaults -d --template",
        "writes a file elsewhere or loads code",
        ("pandoc a -o /x", "pandoc --lua-filter x a", "dot -O a"),
        ("pandoc a.md -o a.html", "iconv -f latin1 -t utf-8 a"),
        valued="fmrtVTGNEK",
    ),
    Escape(
        "openssl",
        "--out --writerand --engine --provider --keyout --provider-path --CAkey s_server req ca"
        " enc engine rehash srp cms smime cmp fipsinstall --certsout --keylogfile --msgfile --sess_out"
        " --CAserial --CAcreateserial --respout --reqout --config",
        "writes a file or loads code",
        (
            "openssl rand -out x 5",
            "openssl dgst -engine x a",
            "openssl x509 -in a",
            "openssl x509 -noout -in a -CAserial x",
            "openssl x509 -noout -in org.openssl.engine:/x.so:k",
            "openssl dgst -sign ORG.openssl.ENGINE:x:k a",
            "openssl cms -verify -certsout x -in a",
            "openssl s_client -connect a -sess_out x",
        ),
        (
            "openssl version",
            "openssl rand -hex 16",
            "openssl x509 -in a.crt -noout -text",
            "openssl s_client -connect example.org:443 -servername example.org",
        ),
        single_dash=True,
    ),
    Escape(
        "gpg gpg2",
        "-o --output --exec-path --photo-viewer --edit-key --delete-keys --import --options --homedir"
        " --agent-program --dirmngr-program --pinentry-mode --log-file --logger-file --status-file"
        " --attribute-file --export-secret-keys",
        "writes a file or runs a program",
        ("gpg -o x -d y", "gpg --agent-program x -d y"),
        ("gpg --verify a.sig a", "gpg --list-keys"),
        valued="ru",
    ),
    Escape(
        "dos2unix unix2dos",
        "-n --newfile -O --to-stdout",
        "writes another file",
        ("dos2unix -n a b",),
        ("dos2unix a.txt",),
    ),
    Escape(
        "split csplit",
        "--filter -f@ --prefix@",
        "runs a program or writes elsewhere",
        ("split --filter=x y", "csplit -f /x y 1"),
        ("split -l 100 a.txt",),
        valued="lbnCa",
    ),
    Escape(
        "zip",
        "-T -TT --test --unzip-command -m --move -O --output-file -b@ --temp-path@ -lf -la"
        " --logfile-path --log-append --out",
        "runs a program, removes files or writes others",
        ("zip -T -TT x a.zip a", "zip a.zip a -T --unzip-command x", "zip -lf x a.zip a"),
        ("zip -r a.zip src",),
    ),
    Escape(
        "unzip",
        "",
        "writes whatever the archive names",
        ("unzip -d /x a.zip", "unzip -o a.zip", "unzip a.zip", "unzip -qo a.zip -d out"),
        ("unzip -l a.zip", "unzip -p a.zip b.txt", "unzip -Z1 a.zip", "unzip -tq a.zip"),
    ),
    Escape(
        "patch",
        "",
        "writes whatever the patch names, and runs `ed` for some",
        ("patch -p1 -i a.diff", "patch a b", "patch -p1", "patch -ia.diff"),
        ("patch --dry-run -p1 -i a.diff", "patch --version"),
    ),
    Escape(
        "7z 7za 7zz rar unrar",
        "x e d rn -o* -sdel",
        "writes over files, or elsewhere",
        ("7z x a.7z", "unrar x a.rar", "7z a b.7z c -sdel"),
        ("7z l a.7z",),
    ),
    Escape(
        "zstd",
        "-o --output-dir-flat --output-dir-mirror --rm -f --force",
        "writes over a file",
        ("zstd -o x y", "zstd -fo x y"),
        ("zstd -k a.txt", "zstd -l a.zst"),
    ),
    Escape(
        "curl",
        "",
        "is read word by word",
        (
            "curl -o x u",
            "curl -O u",
            "curl -sSo x u",
            "curl -K x",
            "curl --unix-socket s u",
            "curl -w '%output{x}' u",
            "curl --outp x u",
            'curl -w "$PWD" u',
            'curl --write-out "$OLDPWD" u',
        ),
        (
            "curl -s -H 'Accept: a' 'https://example.org/x?a=1'",
            "curl -sS -o /dev/null u",
            "curl -I u",
            "curl -sD - -o - u",
        ),
    ),
    Escape(
        "wget",
        "",
        "writes files, and a history beside them",
        ("wget u", "wget -O- u", "wget --spider u"),
        (),
    ),
    Escape(
        "http https xh",
        "-o --output -d --download --session --session-read-only",
        "writes a file",
        ("http -d u", "http --output x u"),
        ("http GET u", "http -v u"),
    ),
    Escape(
        "sed gsed",
        "",
        "is read word by word",
        (
            "sed -i s/a/b/ f",
            "sed 'w x' f",
            "sed s/a/b/e f",
            "sed -n '/a/w x' f",
            "sed -f x f",
            "sed -ne p -i f",
            "sed '1r x' f",
            "sed 's/a/b/;e' f",
            "sed --in-pl s/a/b/ f",
            'sed "s|a|b$PWD|" f',
            'sed "s|a|b${OLDPWD}|" f',
            "sed p f -i",
        ),
        (
            "sed -n 1,5p f",
            "sed s/a/b/g f",
            "sed -E 's#a#b#;s/c/d/' f",
            "sed '/x/d' f",
            "sed 5q",
            "sed -n '/a/,/b/p' f",
            "sed -n '$p' f",
        ),
    ),
    Escape(
        "tar bsdtar gtar",
        "",
        "is read word by word",
        ("tar xf a", "tar cf a b", "tar tf a -I x", "tar -xzf a", "tar tf a --to-command=x"),
        ("tar tf a.tar", "tar -tzf a.tgz", "tar -tvf a.tar", "tar --list -f a.tar"),
    ),
    Escape(
        "uniq",
        "",
        "writes its second operand",
        ("uniq a b", "uniq -c a b", "uniq -f 1 a b"),
        ("uniq -c", "uniq -c a", "uniq -f 1 a"),
    ),
    Escape(
        "xxd",
        "",
        "writes its second operand",
        ("xxd a b", "xxd -r a", "xxd -p a b"),
        ("xxd a", "xxd -p a", "xxd -l 16 a"),
    ),
    Escape(
        "printf",
        "",
        "evaluates the name it stores into",
        (
            "printf -v a x",
            "printf -va x",
            "printf '%n' PATH",
            "printf 'a%-5ln' PATH",
            'printf "$PWD"',
        ),
        ("printf '%s\\n' a", "printf hello", "printf '100%%n'", 'printf "%s" "$PWD"'),
    ),
    Escape(
        "test [",
        "",
        "evaluates the subscript of a variable's name",
        ("test -v a", "[ -v a ]", "[ ! -R a ]", "test x -o -v a"),
        ("test -f a", "[ -n x ]", '[ "$A" = b ]'),
    ),
    Escape(
        "wait",
        "-p",
        "evaluates the name it stores into",
        ("wait -p a 1", "wait -np a"),
        ("wait", "wait 1"),
    ),
    Escape(
        "cpp",
        "",
        "writes its second operand",
        ("cpp a b", "cpp -o x a"),
        ("cpp a.c", "cpp -DX=1 a.c"),
    ),
    Escape(
        "shuf strip objcopy",
        "-o --output --output-file --dump-section --random-source@",
        "writes a file",
        ("shuf -o x a", "shuf --outp=x a", "strip -o x a"),
        ("shuf -n 5 a",),
        valued="ni",
    ),
    Escape(
        "hg",
        "--config --cwd -R --repository --tool --extension -o --output serve debugshell",
        "runs a program or loads code",
        ("hg --config alias.x='!y' x", "hg log --config extensions.x=y"),
        ("hg log -l 5", "hg status"),
        valued="lr",
    ),
    Escape(
        "svn",
        "--config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd",
        "runs a program",
        ("svn diff --diff-cmd ./x", "svn --config-option a:b:c=d log"),
        ("svn log", "svn status"),
        abbreviates=False,
    ),
    Escape(
        "protoc",
        "--plugin --plugin=* --descriptor_set_out@ -o@",
        "runs a plugin",
        ("protoc --plugin=./x a.proto",),
        ("protoc --python_out=. a.proto",),
        abbreviates=False,
    ),
    Escape(
        "diff sdiff patch",
        "-o --output --diff-program -d@ --directory@ --reject-file@",
        "writes a file or runs a program",
        ("sdiff -o x a b", "sdiff --diff-program=x a b", "patch -o x a b", "patch -d /x"),
        ("diff -u a b", "diff -r a b"),
        valued="UCIFWx",
    ),
    Escape(
        "systemctl",
        "edit link set-environment import-environment mask set-property --root --image preset enable"
        " set-default",
        "changes what runs later",
        ("systemctl edit x", "systemctl --user enable x"),
        ("systemctl status x", "systemctl restart x"),
    ),
    Escape(
        "journalctl",
        "--vacuum-size --vacuum-time --vacuum-files --rotate --flush --root --image --cursor-file"
        " --setup-keys --update-catalog",
        "removes or moves the journal",
        ("journalctl --vacuum-size=1M",),
        ("journalctl -u x -n 50", "journalctl -f"),
    ),
    Escape(
        "ip",
        "netns exec -batch --batch -b -force -n",
        "runs a program or commands of a file",
        ("ip netns exec x y", "ip -b x"),
        ("ip addr", "ip route show"),
        single_dash=True,
    ),
    Escape(
        "dmesg",
        "-c -C --clear --read-clear -n --console-level -D --console-off -F@ --file@",
        "changes the kernel's log",
        ("dmesg -c", "dmesg --clear"),
        ("dmesg", "dmesg -T"),
    ),
    Escape(
        "tshark tcpdump nmap",
        "-w -X -oN -oX -oG -oA --script --datadir --write -G -Z",
        "writes files or runs programs",
        ("tcpdump -w x", "nmap --script x y", "tshark -w x", "nmap -oN x y"),
        ("nmap -sn example.org", "tshark -r a.pcap -z io,phs"),
        valued="rifYTeEc",
    ),
    Escape(
        "tcpdump",
        "-z",
        "runs a program for each file",
        ("tcpdump -z x",),
        ("tcpdump -r a.pcap",),
        valued="rif",
    ),
    Escape(
        "ss lsof",
        "-K --kill -D",
        "ends connections, or writes a cache",
        ("ss -K dst 1.2.3.4", "lsof -Db x"),
        ("lsof -ti:1420", "ss -tlnp"),
        valued="ipcu",
    ),
    Escape(
        "pm2 nginx apachectl service",
        "start exec deploy install trigger sendSignal startup set module:install -c -g -p",
        "runs a program, or other instructions than the machine's",
        ("pm2 start x.js", "nginx -c x"),
        ("pm2 list", "pm2 logs", "nginx -t"),
    ),
)
