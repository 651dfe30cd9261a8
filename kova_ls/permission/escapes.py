"""Options by which well-known programs write or run something beyond their purpose.

Options are data here; programs that need their words read one by one are in `escape_checks.py`.
Invariant: a prefix rule never covers words that this table catches.
"""

from typing import NamedTuple


class Escape(NamedTuple):
    """Options of some programs that ask although a prefix matches."""

    programs: str
    """Separated by blanks; `git:log` is one sub-command of `git`."""
    options: str
    """Separated by blanks. `--long`, `-s` (also inside a cluster), `-word` (Go style, one or two
    dashes), and `word` for an operand."""
    reason: str
    """Completes "`program option` …"."""
    asks: tuple[str, ...]
    fine: tuple[str, ...]
    valued: str = ""
    """Short options that take a value: the rest of their word is not options."""
    abbreviates: bool = True
    """The program takes the beginning of a long option for the whole."""


ESCAPES: tuple[Escape, ...] = (
    Escape(
        "git",
        "--output --ext-diff --upload-pack --receive-pack --exec --open-files-in-pager --template"
        " --extcmd --config-env --separate-git-dir --web --textconv --filters",
        "writes a file or runs a program",
        (
            "git log --output=x",
            "git diff --outp x",
            "git fetch --upload-pack=x .",
            "git log --ext-diff",
        ),
        (
            "git log --oneline",
            "git push -u origin main",
            "git diff --stat",
            "git log --first-parent",
        ),
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
        valued="bojl",
    ),
    Escape(
        "git:rebase",
        "-x -i --interactive --edit-todo -s --strategy",
        "runs a command for each commit",
        ("git rebase -x make main", "git rebase --exec=make main"),
        ("git rebase main", "git rebase --continue"),
        valued="XCS",
    ),
    Escape(
        "git:merge git:pull git:cherry-pick git:revert",
        "-s --strategy",
        "runs the program of that strategy",
        ("git merge -s x main", "git pull --strategy=x"),
        ("git merge --no-ff main", "git pull --rebase", "git merge --squash x"),
        valued="mXFS",
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
        "foreach update",
        "runs commands, also those that the repository names",
        ("git submodule foreach ls", "git submodule --quiet foreach ls"),
        ("git submodule status",),
    ),
    Escape(
        "git:help",
        "-w -i --info --man -m",
        "starts a browser or pager of the configuration",
        ("git help -w log",),
        ("git help log", "git help -a"),
    ),
    Escape(
        "git:bundle git:fast-export git:fast-import",
        "create --export-marks --import-marks --relative-marks --cat-blob-fd",
        "writes a file",
        ("git bundle create x HEAD", "git fast-export --export-marks=x HEAD"),
        ("git bundle verify x",),
    ),
    Escape(
        "git:format-patch",
        "-o --output-directory",
        "writes files elsewhere",
        ("git format-patch -o /tmp HEAD~1",),
        ("git format-patch -1",),
        valued="nvC",
    ),
    Escape(
        "git:maintenance git:lfs git:svn git:p4 git:credential git:credential-store",
        "start register install track set-url uninstall store approve",
        "changes what runs later",
        ("git maintenance start",),
        ("git lfs ls-files",),
    ),
    Escape(
        "sort",
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
        ("tree -o x", "tree -ao x"),
        ("tree -L 2", "tree -I node_modules"),
        valued="LPIHT",
    ),
    Escape(
        "less more most",
        "-o -O -k -K --log-file --LOG-FILE --lesskey-file --lesskey-src --lesskey-content --tag-file"
        " -t -T --use-lines",
        "writes a file or runs commands",
        ("less -o x y", "less --log-file=x y"),
        ("less a.txt", "less -N a.txt"),
        valued="bhjpPxyz",
    ),
    Escape(
        "man apropos info",
        "-H --html -P --pager -C --config-file -X --gxditview -T --troff-device --preprocessor -p -o"
        " --output --restore --dribble",
        "runs a browser or pager",
        ("man --html=x ls", "man -P x ls", "man -Hx ls"),
        ("man ls", "man -k x", "man 5 crontab"),
        valued="kfsSeELmMr",
    ),
    Escape(
        "date hostname hostnamectl timedatectl",
        "-s --set -F --file set-hostname set-time set-timezone set-ntp",
        "changes the machine",
        ("date -s 12:00", "hostname -F x"),
        ("date +%F", "date -u", "hostname -f"),
        valued="dr",
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
        "yq xq dasel jq",
        "-i --inplace --in-place -s --split-exp --split-exp-file --output-file -L --library-path"
        " --from-file -f --fromfile",
        "writes files or loads code",
        ("yq -i '.a=1' f.yml", "yq --inplace . f"),
        ("jq .a f.json", "jq -r '.[] | .b' f.json"),
        valued="pIoCM",
    ),
    Escape(
        "xmllint xsltproc pandoc dot envsubst iconv column base64 openssl gpg gpg2 bc",
        "-o --output --shell --dtdvalid --lua-filter --filter -F -L --pdf-engine --extract-media"
        " --data-dir --defaults -d -O -out -writerand -engine -provider -keyout -CAkey --import"
        " --delete-keys --edit-key --write",
        "writes a file or loads code",
        ("xmllint --output x y", "openssl rand -out x 5", "gpg -o x -d y", "pandoc a -o b"),
        ("base64 -w0 a", "openssl version"),
        valued="w",
    ),
    Escape(
        "dos2unix unix2dos",
        "-n --newfile -c --convmode",
        "writes another file",
        ("dos2unix -n a b",),
        ("dos2unix a.txt",),
    ),
    Escape(
        "split csplit",
        "--filter -f --prefix --suffix-format",
        "runs a program or writes where it is told",
        ("split --filter=x y",),
        ("split -l 100 a.txt",),
        valued="lbnCa",
    ),
    Escape(
        "zip unzip 7z zstd xz gzip bzip2 gunzip ar",
        "-T -TT --unzip-command --test -d -o -x e x -D -sdel --output-dir-flat --output-dir-mirror"
        " -O -u -f -m --move --output -S",
        "runs a program or writes over files elsewhere",
        ("zip -T -TT x a.zip a", "unzip -d /x a.zip", "unzip -o a.zip", "7z x a.7z"),
        ("unzip -l a.zip", "zip -r a.zip src", "gzip -k a.txt"),
        valued="",
    ),
    Escape(
        "curl",
        "",
        "is read word by word",
        ("curl -o x u", "curl -O u", "curl -sSo x u", "curl -K x", "curl --unix-socket s u"),
        (
            "curl -s -H 'Accept: a' https://example.org/x?a=1",
            "curl -sS -o /dev/null u",
            "curl -I u",
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
        "-o --output -d --download --session --session-read-only --cert --cert-key",
        "writes a file",
        ("http -d u", "http --output x u"),
        ("http GET u", "http -v u"),
    ),
    Escape(
        "sed gsed",
        "",
        "is read word by word",
        ("sed -i s/a/b/ f", "sed 'w x' f", "sed s/a/b/e f", "sed -n '/a/w x' f", "sed -f x f"),
        ("sed -n 1,5p f", "sed s/a/b/g f", "sed -E 's#a#b#;s/c/d/' f", "sed '/x/d' f", "sed 5q"),
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
        ("uniq a b", "uniq -c a b"),
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
        ("printf -v a x", "printf -va x", "printf -- -v"),
        ("printf '%s\\n' a", "printf hello"),
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
        "sqlite3 sqlite",
        "",
        "has commands and functions that write files and run programs",
        ("sqlite3 a .shell", "sqlite3 a '.output x'", "sqlite3 a \"select writefile('x','y')\""),
        ("sqlite3 a.db 'select 1'", "sqlite3 -header -csv a.db 'select * from t'"),
    ),
    Escape(
        "psql mysql mariadb mongosh redis-cli",
        "-o --output -L --log-file -f --file --pager --tee --init-command --plugin-dir"
        " --eval --shell --eval-file --defaults-file --rdb --pipe",
        "runs programs or writes files",
        ("psql -f x", "psql -o x", "mysql --pager=x", "psql -c '\\! ls'", "mysql -e 'system ls'"),
        ("psql -c 'select 1'", "psql -l"),
        valued="cdhpUvPRF",
    ),
    Escape(
        "make gmake",
        "-f --file --makefile --eval -E -C --directory -I --include-dir -W -o --old-file",
        "uses other instructions than the project's",
        ("make --eval x", "make -f x", "make SHELL=./x", "make CC=./x", "make -C x", "make -nf x"),
        ("make", "make test", "make -j4 build", "make V=1", "make -n"),
        valued="jlO",
    ),
    Escape(
        "ninja ctest meson cmake just task rake ant bazel bazelisk",
        "-f -C -t -S -E -P -T -r -e -R --file --build-and-test --script --dashboard --justfile -d"
        " --working-directory --shell --shell-arg --command --set --taskfile --dir --rakefile"
        " --require --execute --libdir -I -lib -D -buildfile --edit -e --chooser --dotenv-path"
        " --run_under --package_path --bazelrc --output_base --host_jvm_args --server_javabase",
        "uses other instructions than the project's, or runs a command",
        (
            "cmake -E touch x",
            "cmake -P x",
            "ninja -C x",
            "just --shell x",
            "rake -f x",
            "ctest -S x",
        ),
        ("cmake --build build", "ninja", "just test", "rake spec", "cmake -B build -G Ninja"),
        valued="BGj",
    ),
    Escape(
        "gradle gradlew mvn mvnw",
        "-I --init-script -b --build-file -c --settings-file -p --project-dir -g --gradle-user-home"
        " --project-cache-dir --include-build -f --file -s --settings -gs --global-settings -t"
        " --toolchains -D --define --system-prop -Dexec exec:exec exec:java antrun:run",
        "uses other instructions than the project's",
        (
            "gradle -I x",
            "./gradlew --init-script=x",
            "mvn -f x",
            "mvn exec:exec",
            "mvn -Dexec.x=y z",
        ),
        (
            "./gradlew test",
            "mvn test",
            "./gradlew build --info",
            "mvn -q test",
            "mvn clean install",
        ),
    ),
    Escape(
        "go",
        "-toolexec -exec -overlay -modfile -vettool -gccgoflags -extld -C -w -pkgdir -fixtool"
        " -outputdir -tool -ex",
        "runs a program or uses other instructions than the project's",
        ("go build -toolexec ./x ./...", "go test -exec ./x", "go vet -vettool=x", "go env -w A=b"),
        ("go build -o bin/a ./cmd/a", "go test ./... -run X", "go vet ./...", "go env GOPATH"),
        abbreviates=False,
    ),
    Escape(
        "gofmt goimports golangci-lint",
        "-cpuprofile -memprofile -memrate -c --config --cpu-profile-path --mem-profile-path"
        " --trace-path --output.text.path --output.json.path --output.html.path"
        " --output.tab.path --output.checkstyle.path --output.junit-xml.path --output.sarif.path"
        " --output.code-climate.path --output.teamcity.path custom",
        "writes a file or loads code",
        ("gofmt -cpuprofile x a.go", "golangci-lint run -c x"),
        ("gofmt -l .", "gofmt -w a.go", "golangci-lint run ./..."),
        abbreviates=False,
    ),
    Escape(
        "cargo rustup",
        "--config -Z --manifest-path -C --artifact-dir --out-dir --lockfile-path run",
        "uses other configuration, which may run programs",
        ("cargo build --config x", "cargo test --manifest-path x", "rustup run nightly x"),
        ("cargo test --all", "cargo build --release", "cargo clippy -- -D warnings", "cargo run"),
    ),
    Escape(
        "npm pnpm yarn",
        "--script-shell --config.script-shell --userconfig --globalconfig --node-options"
        " --node-gyp --python --git --shell --editor --viewer --browser --init-module"
        " --onload-script --shell-emulator --config.shell --prefix --cwd -C --dir --use-yarnrc"
        " --global-dir --global-folder --modules-folder --pnpmfile --global-pnpmfile --config-dir"
        " --hooks --require --cache --logs-dir --scripts-prepend-node-path --preinstall --store-dir"
        " --config --exec",
        "runs a program or acts elsewhere",
        (
            "npm test --script-shell=./x",
            "pnpm add --config.script-shell=./x react",
            "npm test --script-sh x",
        ),
        ("npm test", "npm ci", "pnpm add -D react", "npm run build -- --watch", "yarn install"),
    ),
    Escape(
        "npm:config npm:set pnpm:config yarn:config npm:pkg npm:edit",
        "set edit delete fix",
        "changes what runs later",
        ("npm config set script-shell ./x", "npm pkg set scripts.test=x"),
        ("npm config get registry", "npm config list"),
    ),
    Escape(
        "pip# pip3# pipx uv poetry pdm",
        "--python --log --log-file --report --target --prefix --root --src --build-backend -t"
        " --install-option --global-option --directory --project --cache-dir"
        " --config-file --editor edit set unset runpip --keyring-provider",
        "runs a program or writes elsewhere",
        (
            "pip --python x install y",
            "pip install --log x y",
            "pip install -t /x y",
            "uv pip install --target x y",
        ),
        (
            "pip install -r requirements.txt",
            "pip install -e .",
            "pip list",
            "uv sync",
            "poetry add x",
        ),
        valued="rceifi",
    ),
    Escape(
        "pytest py.test",
        "-c --config-file --rootdir --confcutdir -p -o --override-ini --basetemp --pdbcls --debug"
        " --log-file --pastebin --junitxml --junit-xml --resultlog"
        " --cov-config --cov-report --html --css --profile-svg --report-log --rsyncdir --tx --px -P",
        "loads other code or writes a file of any name",
        (
            "pytest -c evil.ini",
            "pytest --rootdir=. -c x",
            "pytest -p x",
            "pytest -xp x",
            "pytest -oaddopts=x",
        ),
        (
            "pytest -q",
            "pytest --co -q",
            "pytest -k 'a and not b'",
            "pytest tests -x --tb=short -n 4",
        ),
        valued="kmnrW",
        abbreviates=False,
    ),
    Escape(
        "tox nox pre-commit coverage alembic mkdocs sphinx-build",
        "-c --conf --rcfile -f --noxfile --workdir --root -x --override --config --config-file -o"
        " --outfile --data-file run try-repo --from-wheel -w --installpkg"
        " --force-python --extra-pythons --theme-dir --site-dir -d",
        "runs a program or uses other instructions than the project's",
        ("tox -c x", "nox -f x", "coverage run x.py", "pre-commit try-repo x"),
        (
            "tox -e py311",
            "nox -s tests",
            "coverage report -m",
            "pre-commit install",
            "alembic upgrade head",
        ),
        valued="semkt",
    ),
    Escape(
        "pre-commit:run",
        "-c --config",
        "uses other instructions than the project's",
        ("pre-commit run -c x",),
        (),
    ),
    Escape(
        "mypy dmypy pylint flake8 bandit isort black pyright basedpyright ruff",
        "--config-file --python-executable --rcfile --load-plugins --init-hook --output --output-file"
        " -o --html-report --txt-report --xml-report --any-exprs-report --cobertura-xml-report"
        " --linecount-report --linecoverage-report --lineprecision-report --xslt-html-report"
        " --xslt-txt-report --junit-xml --custom-typeshed-dir --cache-dir --pythonpath --venvpath"
        " --append-config --config --settings-path --settings-file -c --configfile --tee"
        " --enable-extensions --install-types --ini --timing-stats --line-checking-stats",
        "loads other code or writes a file of any name",
        (
            "mypy --config-file x",
            "mypy --python-exec x y",
            "pylint --load-plugins=x y",
            "ruff check -o x",
        ),
        (
            "mypy src",
            "ruff check --fix .",
            "ruff format .",
            "black --check .",
            "flake8 src",
            "mypy --strict a",
        ),
        valued="smplkt",
    ),
    Escape(
        "eslint",
        "--rulesdir --resolve-plugins-relative-to -c --config --plugin --parser -f --format -o"
        " --output-file --cache-location --cache-file --init",
        "loads other code or writes a file of any name",
        (
            "eslint --rulesdir ./x src",
            "eslint -c x src",
            "eslint -o x src",
            "eslint --format ./x src",
        ),
        ("eslint src", "eslint --fix src/a.ts", "eslint . --ext .ts --max-warnings 0"),
    ),
    Escape(
        "prettier stylelint biome",
        "--plugin --config --config-path --plugin-search-dir --config-basedir --custom-formatter"
        " --custom-syntax -o --output-file --cache-location --formatter -f"
        " --custom-transformer",
        "loads other code or writes a file of any name",
        (
            "prettier --plugin=./x a",
            "prettier --config ./x.js a",
            "stylelint --custom-formatter x a",
        ),
        ("prettier --check .", "prettier --write src"),
    ),
    Escape(
        "jest vitest mocha ava tap playwright cypress",
        "--config -c --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --reporters"
        " --reporter --runner --resolver --transform --testRunner --outputFile --env --environment"
        " --testEnvironment --rootDir --root --dir -r --require --import --loader"
        " --package --node-option --preset --haste --snapshotResolver --watchPlugins"
        " --browser.provider --cacheDirectory --coverageDirectory --coverage.reportsDirectory"
        " --ui --open --output --fd --testResultsProcessor --moduleNameMapper --modulePaths"
        " --filter --prettierPath --attach --pool --coverage.provider --coverage.customProviderModule"
        " --execArgv --poolOptions --configFile",
        "loads other code or writes where it is told",
        ("jest --config x", "jest --globalSetup ./x", "mocha -r ./x", "vitest run --reporter ./x"),
        ("jest", "jest src/a.test.ts --coverage", "vitest run", "mocha test", "jest -t 'a b'"),
        valued="tgwi",
        abbreviates=False,
    ),
    Escape(
        "webpack vite rollup tsup esbuild tsc turbo nx",
        "-c --config --plugin --configPlugin --merge --import --require --loader"
        " --entry --inject --onSuccess --on-success --generateTrace --generateCpuProfile"
        " --profile --trace --cwd --cwd= --root-turbo-json --runner --tsBuildInfoFile"
        " --configLoader --servedir --build-arg exec run-commands --command",
        "loads other code or writes where it is told",
        ("vite build --config ./x", "rollup -c x", "tsc --generateTrace x", "nx exec -- x"),
        ("vite build", "tsc --noEmit", "tsc -p tsconfig.json", "tsc --outDir dist", "turbo build"),
        abbreviates=False,
    ),
    Escape(
        "rspec rubocop standardrb brakeman phpunit phpstan phpcs",
        "-r --require -I -c --config -o --out --output -f --format --options -O --bootstrap"
        " --configuration --extension --log-junit --log-teamcity --testdox-html --testdox-text"
        " --coverage-html --coverage-php --coverage-text --coverage-xml --coverage-clover -d"
        " --include-path --autoload-file -a --standard --report-file --runtime-set --cache-root"
        " --init --add-checks-path --plugin --server --drb --prepend --loader --printer",
        "loads other code or writes where it is told",
        ("rspec -r ./x", "rubocop --require ./x", "phpunit --bootstrap x.php", "rspec -o x"),
        ("rspec", "rspec spec/a_spec.rb:12", "rubocop", "phpunit --filter x"),
        valued="",
    ),
    Escape(
        "rustc rustfmt gcc g++ cc c++ clang clang++ ld javac java jar ldd clang-tidy clang-format",
        "-o -C -Z --emit --out-dir --sysroot -wrapper -B -fplugin -specs -Xclang -load -T -x"
        " -run -J -agentlib -agentpath -javaagent -processor -processorpath -d -cp -classpath"
        " --config-path --config -plugin -dumpdir -MF --fix --fix-errors --export-fixes -fix"
        " --load -jar -XX --source",
        "writes where it is told, or loads code",
        ("gcc -o x a.c", "gcc -wrapper x a.c", "java -jar x", "javac -processorpath x A.java"),
        ("gcc --version", "javac A.java", "rustfmt src/main.rs"),
    ),
    Escape(
        "gh",
        "alias extension ext codespace cs browse config preview",
        "runs programs or changes what runs later",
        ("gh alias set x '!y'", "gh extension exec x", "gh config set editor x"),
        ("gh pr view 5", "gh issue list", "gh pr create --title a"),
    ),
    Escape(
        "kubectl oc helm",
        "--kubeconfig --as --cache-dir cp plugin --post-renderer edit --editor proxy attach"
        " port-forward --plugins config kustomize --output-dir --log-file --profile-output",
        "uses other credentials, or runs or writes something",
        ("kubectl --kubeconfig x get po", "helm install --post-renderer x a b", "kubectl cp a b"),
        ("kubectl get pods -n dev", "kubectl logs a", "helm list"),
    ),
    Escape(
        "docker podman docker-compose nerdctl",
        "cp --config -H --host -o --output --iidfile --cidfile --metadata-file plugin --context save"
        " context export --builder --ssh",
        "reaches files or machines elsewhere",
        ("docker cp a b", "docker -H x ps", "docker save -o x y"),
        ("docker ps", "docker build -t x .", "docker compose up -d", "docker logs -f a"),
        valued="tfln",
    ),
    Escape(
        "terraform tofu pulumi aws gcloud az",
        "-chdir -backend-config -out -state -plugin-dir -state-out -backup console --cwd --endpoint-url"
        " --cli-input-json configure cp sync mv rm --outfile --plan-file login state ssh ssm"
        " --configuration --impersonate-service-account --ca-bundle alias extension",
        "writes files or changes credentials",
        ("terraform -chdir=x plan", "aws s3 cp a b", "aws configure set x y"),
        ("terraform plan", "aws s3 ls", "az account show"),
    ),
    Escape(
        "systemctl journalctl ip service dmesg stty tput sysctl",
        "edit link set-environment import-environment enable mask set-property netns exec"
        " --vacuum-size --vacuum-time --vacuum-files --rotate --flush --relinquish-var --root --image"
        " -batch -batch -force -clear -c --clear -C -w --write --system --load set-default"
        " preset --cursor-file --setup-keys --update-catalog",
        "changes what runs later, or the machine",
        ("systemctl edit x", "ip netns exec x y", "journalctl --vacuum-size=1M"),
        ("systemctl status x", "journalctl -u x -n 50", "ip addr"),
        valued="untpSUo",
    ),
    Escape(
        "ffmpeg ffprobe convert identify tshark tcpdump nmap",
        "-w -y -z -Z -oN -oX -oG -oA --script --datadir -X -o -dump -dump_attachment -report"
        " --dumpcap -write",
        "writes files or runs programs",
        ("tcpdump -z x", "tcpdump -w x", "nmap --script x y", "tshark -w x"),
        ("ffprobe a.mp4", "nmap -sn example.org"),
        valued="ic",
    ),
    Escape(
        "diff sdiff patch",
        "-o --output --diff-program --ed -d --directory --reject-file",
        "writes a file or runs a program",
        ("sdiff -o x a b", "sdiff --diff-program=x a b", "patch -o x a b"),
        ("diff -u a b", "diff -r a b"),
        valued="UCIFWx",
    ),
    Escape(
        "ps top htop pgrep lsof netstat ss ping",
        "-signal --signal -D -K --kill",
        "ends connections or processes, or writes a cache",
        ("ss -K dst 1.2.3.4", "lsof -Db x"),
        ("ps aux", "lsof -ti:1420", "ss -tlnp"),
        valued="f",
    ),
    Escape(
        "pm2 nginx apachectl service",
        "start exec -c -g -p -s -f deploy install trigger sendSignal startup set -k",
        "runs a program, or other instructions than the machine's",
        ("pm2 start x.js", "nginx -c x"),
        ("pm2 list", "pm2 logs", "nginx -t"),
    ),
)
