"""Options by which programs for the network and the machine write or run something beyond their purpose.

Invariant: a prefix rule never covers words that this table catches.
"""

from kova_ls.permission.escapes import Escape

MACHINE_ESCAPES: tuple[Escape, ...] = (
    Escape(
        "date gdate",
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
    Escape(
        "hostname",
        "*",
        "names the machine anew",
        ("hostname x",),
        ("hostname", "hostname -f"),
    ),
    Escape(
        "sysctl",
        "-w --write -p --load --system",
        "changes the kernel",
        ("sysctl -w a=b", "sysctl -p x", "sysctl a.b=c"),
        ("sysctl -a", "sysctl -n hw.ncpu"),
    ),
    Escape(
        "iperf3 grpcurl vegeta nats",
        "--logfile --protoset-out --proto-out-dir --output --command",
        "writes a file or runs a program",
        ("iperf3 --logfile x", "grpcurl -protoset-out x u", "nats reply a --command x"),
        ("iperf3 -s", "grpcurl -plaintext a:1 list", "vegeta attack -duration=5s"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "ab",
        "-g -e",
        "writes a file",
        ("ab -g x u", "ab -n 1 -e x u"),
        ("ab -n 10 -c 2 u", "ab -s 30 u"),
        valued="ncptTsHACi",
    ),
    Escape(
        "wrk",
        "-s --script",
        "runs a script",
        ("wrk -s x u", "wrk --script=x u"),
        ("wrk -t2 -c10 -d5s u",),
        valued="tcdH",
    ),
    Escape(
        "apt apt-get aptitude dnf yum microdnf pacman zypper apk",
        "--option -c --config --config-file --setopt --installroot --root --hookdir --dbpath --plugin"
        " --scriptsdir --cachedir@ --downloaddir@ --destdir@ -r --rootdir",
        "uses other settings, which may run programs, or acts elsewhere",
        (
            "apt-get install a -o DPkg::Pre-Invoke::=/x",
            "dnf install a --setopt=reposdir=x",
            "pacman -S a --hookdir x",
        ),
        ("apt-get update", "apt list --installed", "dnf install -y a", "pacman -Q"),
        abbreviates=False,
    ),
    Escape(
        "apt apt-get aptitude",
        "-o",
        "sets what runs before and after",
        ("apt-get update -o APT::Update::Pre-Invoke::=x",),
        ("apt-get update -qq", "apt-cache policy a"),
        abbreviates=False,
    ),
    Escape(
        "dpkg dpkg-deb",
        "-i --install --unpack --configure -r --remove -P --purge --root --admindir --instdir"
        " --pre-invoke --post-invoke --status-logger -x -X -e -R -b --extract --vextract"
        " --raw-extract --control --build -A --record-avail",
        "installs, unpacks or removes packages",
        ("dpkg -i a.deb", "dpkg --pre-invoke=x -l", "dpkg-deb -x a b"),
        ("dpkg -l", "dpkg -L bash", "dpkg -S /bin/ls", "dpkg --list", "dpkg-deb -I a.deb"),
        abbreviates=False,
    ),
    Escape(
        "rpm rpmdb rpmquery rpmverify",
        "-E --eval -D --define --pipe -i -U -F --install --upgrade --freshen -e --erase --root --rcfile"
        " --macros --load --import --rebuilddb --restore --setperms --setugids",
        "runs a macro, or installs and removes packages",
        ("rpm --eval x", "rpm -ivh a", "rpm -qa --pipe x"),
        ("rpm -qa", "rpm -qf /bin/ls", "rpm -ql bash", "rpm -V bash"),
        valued="qV",
        abbreviates=False,
    ),
    Escape(
        "neofetch fastfetch cowsay cowthink pidstat facter dmidecode",
        "--config -c -f -e --custom-dir --external-dir --dump-bin",
        "runs a program or writes a file",
        ("cowsay -f x y", "neofetch --config x", "pidstat -e x"),
        ("cowsay hi", "neofetch", "pidstat 1 5"),
        abbreviates=False,
    ),
    Escape(
        "javap jmap jstack jps keytool jarsigner",
        "-J* -dump*",
        "loads an agent or writes a file",
        ("jmap -dump:file=x 1", "javap -J-agentlib:x A"),
        ("javap -c A", "jstack 1", "keytool -list"),
        abbreviates=False,
    ),
)
