"""Options by which programs for documents, pictures, data and counting write or run something else.

What other lists of the same programs say holds as well.
Invariant: a prefix rule never covers words that this table catches.
"""

from kova_ls.permission.escapes import Escape

TEXT_ESCAPES: tuple[Escape, ...] = (
    Escape(
        "base64 base32",
        "-o --output",
        "writes a file",
        ("base64 -o x a", "base64 -i a --output=x"),
        ("base64 -d a", "base64 a"),
        valued="ibw",
    ),
    Escape(
        "pandoc",
        "-t% -f% -w% -r% --to% --from% --write% --read% --pdf-engine-opt --log@ --syntax-definition",
        "loads code or writes elsewhere",
        ("pandoc -t ./x.lua a", "pandoc --from x.lua a"),
        ("pandoc -f markdown -t html a.md", "pandoc a.md -o a.html"),
        valued="oVM",
    ),
    Escape(
        "gpg gpg2",
        "--multifile --generate-key --gen-key --card-edit --recv-keys --fetch-keys",
        "writes files or changes the keyring",
        ("gpg --multifile -d a",),
        ("gpg --verify a.sig",),
    ),
    Escape(
        "convert magick identify mogrify composite",
        "",
        "is read word by word",
        (
            "convert a '|x'",
            "identify 'x|'",
            "convert msl:x b",
            "convert a -write x b",
            "magick -script x",
            "convert @x b",
        ),
        ("convert a.png -resize 50% b.png", "identify a.png"),
    ),
    Escape(
        "ffmpeg ffprobe ffplay",
        "--report --dump_attachment* --filter_script* --filter_complex_script --/*",
        "writes another file or reads its options from one",
        ("ffmpeg -report -i a", "ffmpeg -dump_attachment:t x -i a"),
        ("ffmpeg -i a.mp4 b.gif", "ffprobe -v error a.mp4"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "mongoexport pg_restore pg_basebackup",
        "-f --file -o@ --out@ -D@ --pgdata@ --target",
        "writes a file",
        ("mongoexport --out=/x", "pg_restore -f x a"),
        ("pg_restore -l a",),
        valued="hpUdntcL",
    ),
    Escape(
        "redis-cli",
        "",
        "is read word by word",
        ("redis-cli Config set dir /x", "redis-cli -n 1 MODULE LOAD ./x"),
        ("redis-cli get a", "redis-cli -h localhost keys 'a*'"),
    ),
    Escape(
        "hg",
        "-e --ssh --remotecmd extdiff extd extdi extdif email view --debugger",
        "runs a program",
        ("hg pull --ssh ./x", "hg clone -e ./x a b", "hg extdiff -p x"),
        ("hg log -l 5",),
        valued="lrmubp",
    ),
    Escape(
        "jj",
        "--config --config-toml --config-file -R@ --repository@ --tool util fix config run bench"
        " diffedit",
        "runs a program or uses other settings",
        ("jj util exec -- x", "jj --config ui.pager=x log", "jj diff --tool x"),
        ("jj log", "jj status"),
        valued="rTm",
    ),
    Escape(
        "markdownlint markdownlint-cli2",
        "-r --rules -c --config -o --output",
        "loads other code or writes a file",
        ("markdownlint --rules ./x a", "markdownlint-cli2 --config x.cjs"),
        ("markdownlint README.md",),
        valued="ip",
    ),
    Escape(
        "cloc",
        "--extract-with --vcs --out --report-file --sql --counted --ignored --categorized --found"
        " --write-lang-def --write-lang-def-incl-dup --config --sdir@",
        "runs a command or writes a file",
        ("cloc --extract-w=x a", "cloc --vcs=x .", "cloc --out=x ."),
        ("cloc .", "cloc --json src"),
        single_dash=True,
    ),
    Escape(
        "scc tokei",
        "-o@ --output@ --format-multi@",
        "writes elsewhere",
        ("scc --output=/x .",),
        ("scc .", "tokei"),
    ),
    Escape(
        "ack",
        "--ackrc",
        "reads its options from a file",
        ("ack --ackrc=x y",),
        ("ack foo",),
    ),
)
