"""Options by which compilers and their kin load code, run programs or write elsewhere.

Outputs that are their own purpose, inside the folder, are no escape.
Invariant: a prefix rule never covers words that this table catches.
"""

from kova_ls.permission.escapes import Escape

COMPILER_ESCAPES: tuple[Escape, ...] = (
    Escape(
        "gofmt goimports",
        "--cpuprofile --memprofile",
        "writes a file",
        ("gofmt -cpuprofile x a.go",),
        ("gofmt -l .", "gofmt -w a.go"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "gcc g++ cc c++ clang clang++ ld",
        "--wrapper --B* --fplugin* --specs* --Xclang --load --Xlinker --Wl,* --Wp,* --Wa,* --fuse-ld*"
        " --ld-path --T* --plugin --o@ --MF@ --dumpdir@ --aux-info@ --fdump* --config @*",
        "runs another program or loads code",
        (
            "gcc -wrapper x a.c",
            "gcc -fplugin=./x a.c",
            "gcc -B. a.c",
            "gcc -o /x a.c",
            "gcc @x a.c",
        ),
        ("gcc --version", "gcc -O2 -Wall -o app a.c -lm", "g++ -std=c++17 -c a.cpp"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "gcc g++ cc c++ clang clang++ ld",
        "--fopt-info* --fdiagnostics-add-output* --fdiagnostics-format=sarif* --fcallgraph* --MJ* --ccc*"
        " --fpass-plugin* --cc1* --mllvm --serialize-diagnostics --foptimization-record-file*"
        " --index-store-path --ftime-trace=* --fproc-stat-report* --fcrash-diagnostics-dir*"
        " --gcc-toolchain --fmodules-cache-path* --fprofile-dir* --dumpbase --MF/* --MF.* --MF~*"
        " --Map@ --dependency-file@",
        "loads code or writes another file",
        (
            "clang -fpass-plugin=./x a.c",
            "gcc -fopt-info-all=x a.c",
            "ld -Map=/x a",
            "gcc -MF/x a.c",
        ),
        ("gcc -MMD -MF a.d a.c", "clang -O2 a.c"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "rustc rustfmt",
        "@* -C -Z --codegen --sysroot -o@ --out-dir@ --emit@ --config-path --config",
        "runs another program or writes elsewhere",
        ("rustc -C linker=x a.rs", "rustc -o /x a.rs"),
        ("rustfmt src/main.rs", "rustc --version", "rustfmt --check a.rs"),
        abbreviates=False,
        valued="LlWADF",
    ),
    Escape(
        "rustc rustdoc",
        "--extern --print=*=* --test-runtool --runtool --test-builder -o@",
        "loads code or runs another program",
        ("rustc --extern x=./y.so a.rs", "rustdoc --test-runtool ./x --test a.rs"),
        ("rustc --version", "rustdoc src/lib.rs"),
        abbreviates=False,
    ),
    Escape(
        "javac jar",
        "@* --processor --processorpath --processor-path --d@ --J* --s@ --h@ --proc",
        "loads other code or writes elsewhere",
        ("javac -processorpath x A.java", "javac -J-agentlib:x A.java"),
        ("javac A.java", "javac -d out A.java"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "javac javadoc",
        "--Xplugin* --processor-module-path --Xbootclasspath* --doclet --docletpath --d@ @*",
        "loads other code or writes elsewhere",
        ("javac -Xplugin:x A.java", "javadoc -doclet X A"),
        ("javac -d out A.java",),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "clang-tidy clang-format",
        "--load --export-fixes@ --vfsoverlay",
        "loads code or writes elsewhere",
        ("clang-tidy -load x a.c",),
        ("clang-format -i a.c", "clang-tidy a.c"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "as ar nm objdump objcopy strings size readelf addr2line c++filt strip ranlib",
        "@* --plugin* -o@ --MD --disassembler",
        "reads its options from a file, loads code or writes elsewhere",
        ("nm @x", "ar --plugin ./x t a", "as -o /x a"),
        ("nm -D a.so", "objdump -d a.o", "strings a", "readelf -h a"),
        abbreviates=False,
    ),
    Escape(
        "ar",
        "x xo xv M -x -M -xo",
        "writes whatever the archive names",
        ("ar x a.a", "ar -x a.a"),
        ("ar t a.a", "ar rcs a.a a.o"),
        abbreviates=False,
    ),
    Escape(
        "jar",
        "",
        "is read word by word",
        ("jar xf a.jar", "jar -xf a.jar", "jar --extract --file a.jar", "jar uf a.jar b"),
        ("jar tf a.jar", "jar tvf a.jar"),
    ),
    Escape(
        "tsc",
        "--outDir! --outFile! --declarationDir! --tsBuildInfoFile! --mapRoot!",
        "writes where programs are found or obeyed",
        ("tsc --outDir ~/bin", "tsc --outFile .git/hooks/x", "tsc --tsBuildInfoFile ~/.bashrc"),
        ("tsc --outDir dist", "tsc --noEmit", "tsc --outDir /tmp/x"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "protoc",
        "@*",
        "reads its options from a file",
        ("protoc @x",),
        ("protoc --go_out=. a.proto",),
    ),
)
