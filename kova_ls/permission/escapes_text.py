"""Options by which programs for documents, pictures, databases and counting write or run something else.

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
    Escape(
        "pdflatex latex xelatex tex latexmk",
        "--shell-escape --enable-write18 --output-directory@ --e --pdflatex --latex --r --usepretex"
        " --xelatex=* --lualatex=* --print=* --dvips=* --outdir@ --auxdir@ --jobname@ --new-viewer",
        "runs programs that the document names",
        ("pdflatex -shell-escape a", "latexmk -e x a", "pdflatex --shell-escape a"),
        ("pdflatex a.tex", "latexmk -pdf a.tex"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "pg_dump pg_dumpall mysqldump mongodump",
        "-f --file -r --result-file --tab -T --out -o --plugin-dir --defaults-file",
        "writes a file",
        ("pg_dump -f x a", "mysqldump --result-file=x a", "mongodump --out x"),
        ("pg_dump -s a",),
        valued="hpUdntu",
    ),
    Escape(
        "psql pgcli",
        "-o --output -L --log-file -f --file",
        "runs programs or writes files",
        (
            "psql -f x",
            "psql -o x",
            "psql -c '\\! ls'",
            "psql -c \"copy t to program 'x'\"",
            "psql -c \"select '$PWD'\"",
        ),
        ("psql -c 'select 1'", "psql -l", 'psql "$DATABASE_URL" -c "select 1"'),
        valued="cdhpUvPRF",
    ),
    Escape(
        "mysql mariadb",
        "--pager --tee --init-command --plugin-dir --defaults-file --defaults-extra-file"
        " --default-auth",
        "runs programs or writes files",
        ("mysql --pager=x", "mysql -e 'system ls'", "mysql -e \"select 1 into outfile 'x'\""),
        ("mysql -e 'select 1'",),
        valued="euphPDS",
    ),
    Escape(
        "redis-cli",
        "--eval --rdb --functions-rdb --pipe config CONFIG eval EVAL script SCRIPT",
        "runs scripts or changes where the server writes",
        ("redis-cli --eval x", "redis-cli config set dir /x"),
        ("redis-cli ping", "redis-cli get a"),
    ),
    Escape(
        "sqlite3 sqlite",
        "",
        "has commands and functions that write files and run programs",
        (
            "sqlite3 a .shell",
            "sqlite3 a '.output x'",
            "sqlite3 a \"select writefile('x','y')\"",
            "sqlite3 a 'select 1;' '.once x'",
            "sqlite3 -cmd .x a",
            "sqlite3 a \"select '$PWD'\"",
        ),
        (
            "sqlite3 a.db 'select 1'",
            "sqlite3 -header -csv a.db 'select * from t'",
            "sqlite3 a.db .tables",
            "sqlite3 a.db '.schema t'",
        ),
    ),
    Escape(
        "duckdb",
        "",
        "has statements that write files and load code",
        ("duckdb a .shell", "duckdb a \"copy t to 'x'\"", "duckdb a 'install x'"),
        ("duckdb a.db 'select 1'",),
    ),
)
