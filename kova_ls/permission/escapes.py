"""Options by which programs for files and text write or run something beyond their purpose.

Options are data here, and in the `escapes_….py` beside it; programs that need their words read one
by one are in `escape_words….py`.
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
    with `+` any value, with `!` only a place that a build has no business in."""
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
        "less more most pg zless zmore bzless bzmore xzless xzmore",
        "-o -O -k -K -t -T --log-file --LOG-FILE --cmd --lesskey-file --lesskey-src --lesskey-content"
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
        "dos2unix unix2dos",
        "-n --newfile -O --to-stdout",
        "writes another file",
        ("dos2unix -n a b",),
        ("dos2unix a.txt",),
    ),
    Escape(
        "split csplit gsplit gcsplit",
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
        "uniq guniq",
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
        "printf gprintf",
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
        "shuf gshuf strip objcopy",
        "-o --output --output-file --dump-section --random-source@",
        "writes a file",
        ("shuf -o x a", "shuf --outp=x a", "strip -o x a"),
        ("shuf -n 5 a",),
        valued="ni",
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
        "iconv",
        "-o --output",
        "writes a file",
        ("iconv -o x a", "iconv --outp=x a"),
        ("iconv -f latin1 -t utf-8 a",),
        valued="ft",
    ),
    Escape(
        "dasel",
        "put delete --out",
        "writes files",
        ("dasel put -f a .b", "dasel put string -f a.json .b c"),
        ("dasel -f a.json .b",),
        abbreviates=False,
    ),
    Escape(
        "xmlstarlet",
        "-L --inplace",
        "rewrites files",
        ("xmlstarlet ed -L a", "xmlstarlet ed --inplace a"),
        ("xmlstarlet sel -t -m a -v b c.xml",),
        valued="tmvduN",
        abbreviates=False,
    ),
    Escape(
        "tidy",
        "-m --modify -o --output -f --file -c --config",
        "writes files or loads its options from one",
        ("tidy -m a", "tidy -config x a", "tidy -output x a"),
        ("tidy -q a.html",),
        abbreviates=False,
    ),
    Escape(
        "xsv qsv csvsql sql2csv htmlq pv",
        "-o --output split partition foreach luau py apply --db --insert --query"
        " --before-insert --after-insert -P --pidfile --filename",
        "writes a file or runs a program",
        ("xsv sort -o x a", "qsv foreach a x", "csvsql --query x a", "htmlq -o x a"),
        ("xsv count a.csv", "csvsql a.csv", "htmlq title"),
        valued="dsin",
    ),
    Escape(
        "ast-grep",
        "-U --update-all -i --interactive -c --config new",
        "rewrites files or loads other rules",
        ("ast-grep run -p a -r b -U", "ast-grep scan -c x"),
        ("ast-grep run -p a src",),
        valued="prl",
    ),
    Escape(
        "pdftotext",
        "",
        "writes its second operand",
        ("pdftotext a.pdf b", "pdftotext -layout a.pdf ~/b"),
        ("pdftotext a.pdf -", "pdftotext -layout a.pdf -", "pdftotext -f 1 -l 2 a.pdf -"),
    ),
    Escape(
        "plutil defaults gsettings dconf crudini",
        "-replace -insert -remove -convert -o write delete import rename set reset load --set --del",
        "changes settings",
        ("defaults write a b c", "gsettings set a b c", "plutil -replace a -string b c"),
        ("defaults read a", "gsettings get a b", "plutil -p a"),
        abbreviates=False,
    ),
)
