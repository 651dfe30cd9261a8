"""Options by which development tools and cloud clients write or run something beyond their purpose.

Outputs that are a build tool's own purpose (`go build -o`, `tsc --outDir`) are no escape.
Invariant: a prefix rule never covers words that this table catches.
"""

from kova_ls.permission.escapes import Escape

TOOL_ESCAPES: tuple[Escape, ...] = (
    Escape(
        "make gmake",
        "-f --file --makefile --eval -E -C@ --directory@ -I --include-dir -W -o --old-file"
        " --what-if --new-file --assume-new --assume-old",
        "uses other instructions than the project's",
        (
            "make --eval x",
            "make -f x",
            "make SHELL=./x",
            "make SHELL=bash",
            "make TEST=/x",
            "make TEST=-x",
            "make VERSION='1;x'",
            "make ARGS=-x test",
            "make CC=./x",
            "make -C /x",
            "make -nf x",
            "make -C ../x",
        ),
        (
            "make",
            "make test",
            "make -j4 build",
            "make V=1",
            "make -n",
            "make -C docs html",
            "make test TEST=tests/test_a.py",
            "make docker-build IMG=foo:latest VERSION=1.2.3",
        ),
        valued="jlO",
    ),
    Escape(
        "cmake",
        "-E -P -C --graphviz --trace-redirect --profiling-output --debugger-pipe",
        "runs a command or a script",
        ("cmake -E touch x", "cmake -P x", "cmake --graphviz=x ."),
        ("cmake --build build", "cmake -B build -G Ninja", "cmake -S . -B build"),
        valued="BGSDUTA",
        abbreviates=False,
    ),
    Escape(
        "ctest",
        "-S -SP -D -T --build-and-test --script --dashboard -O --output-log --output-junit",
        "runs a script or writes a file",
        ("ctest -S x", "ctest --build-and-test a b"),
        ("ctest --output-on-failure", "ctest -j4"),
        valued="jRLEC",
        abbreviates=False,
    ),
    Escape(
        "ninja meson",
        "-f -t -C@ --native-file --cross-file --wrap-mode",
        "uses other instructions than the project's",
        ("ninja -f x", "ninja -C /x", "meson setup --cross-file x b"),
        ("ninja", "ninja -C build", "meson compile -C build"),
        valued="jkld",
    ),
    Escape(
        "just task",
        "-f --justfile -d --working-directory --shell --shell-arg -c --command --set -e --edit"
        " --chooser --choose --dotenv-path --dotenv-filename -t --taskfile --dir --global -g",
        "uses other instructions than the project's, or runs a command",
        ("just --shell x", "just -f x", "task -t x", "just -c x"),
        ("just test", "task build", "just --list"),
        abbreviates=False,
    ),
    Escape(
        "rake",
        "-f -r -e -E -I -C -R -p --rakefile --require --execute --execute-print"
        " --execute-continue --libdir --rakelib --directory",
        "uses other instructions than the project's, or runs a script",
        ("rake -f x", "rake -e x", "rake --require ./x"),
        ("rake spec", "rake -T"),
    ),
    Escape(
        "ant",
        "--f --file --buildfile --lib --logger --listener --inputhandler --find --propertyfile --D*",
        "uses other instructions than the project's",
        ("ant -f x", "ant -lib x", "ant -Dx=y"),
        ("ant test",),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "bazel bazelisk",
        "--run_under --package_path --bazelrc --output_base --output_user_root --server_javabase"
        " --host_jvm_args --install_base --action_env --workspace_status_command --script_path",
        "runs another program",
        ("bazel test --run_under=x //...", "bazel --bazelrc=x build //..."),
        ("bazel test //...",),
        abbreviates=False,
    ),
    Escape(
        "gradle gradlew",
        "--I --init-script --b --build-file --c --settings-file --p@ --project-dir@ --g"
        " --gradle-user-home --project-cache-dir@ --include-build",
        "uses other instructions than the project's",
        (
            "gradle -I x",
            "./gradlew -Ix",
            "./gradlew --init-script=x",
            "gradle -p /x",
            "gradle -Dx=y test",
            "gradle -D x=y test",
            "gradle --system-prop x=y test",
            "gradle -Porg.gradle.java.installations.paths=./x test",
            "gradle --project-prop org.gradle.jvmargs=x test",
            "gradle -Dspring.profiles.active=a -Dx=y test",
        ),
        (
            "./gradlew test",
            "./gradlew build --info",
            "gradle -q test",
            "./gradlew test -Dspring.profiles.active=test",
            "./gradlew -Pversion=1.2 assemble",
        ),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "mvn mvnw mvnd",
        "--f --file --s --settings --gs --global-settings --t --toolchains exec:exec exec:java"
        " antrun:run groovy:execute",
        "uses other instructions than the project's, or runs a program",
        (
            "mvn --define=a=b x",
            "mvn --settin x test",
            "mvn -f x",
            "mvn exec:exec",
            "mvn exec:exec@x",
            "mvn com.x:y-plugin:1.0:run",
            "mvn -Dexec.x=y z",
            "mvn -s x test",
        ),
        (
            "mvn test",
            "mvn -q test",
            "mvn clean install -DskipTests",
            "mvn test -Dtest=FooTest",
            "mvn org.apache.maven.plugins:maven-dependency-plugin:tree",
            "mvn -fae -pl a -am --define skipTests verify",
        ),
        single_dash=True,
    ),
    Escape(
        "sbt lein",
        "eval run -e apply --D* --J*",
        "runs program text",
        ("sbt eval x", "sbt -Dx=y test"),
        ("sbt test",),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "go",
        "--toolexec --exec --overlay --modfile --vettool --gccgoflags --C@ --w --pkgdir --fixtool"
        " telemetry",
        "runs a program or uses other instructions than the project's",
        (
            "go build -toolexec ./x ./...",
            "go test -exec ./x",
            "go vet -vettool=x",
            "go env -w A=b",
            "go run example.org/x@latest",
            "go tool x",
            "go tool pprof -http=:1 x",
            "go tool cover -html=x -o /x",
            "go build -ldflags '-extld=x'",
            'go build -ldflags "-X main.d=$PWD"',
        ),
        (
            "go build -o bin/a ./cmd/a",
            "go test ./... -run X",
            "go vet ./...",
            "go env GOPATH",
            "go tool cover -func=coverage.out",
            "go tool cover -html=coverage.out -o coverage.html",
            "go build -ldflags '-s -w -X main.v=1' .",
        ),
        abbreviates=False,
        single_dash=True,
    ),
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
        "golangci-lint",
        "-c --config --cpu-profile-path --mem-profile-path --trace-path --output.* custom",
        "loads other code or writes a file",
        ("golangci-lint run -c x", "golangci-lint custom"),
        ("golangci-lint run", "golangci-lint run ./..."),
        abbreviates=False,
    ),
    Escape(
        "cargo",
        "--config -Z --manifest-path@ -C@ --artifact-dir@ --out-dir@ --target-dir@ --target-runner --lockfile-path rustc rustdoc",
        "uses other configuration, which may run programs",
        (
            "cargo build --config x",
            "cargo test --manifest-path /x",
            "cargo -Zx build",
            "cargo rustc -- -C linker=x",
        ),
        (
            "cargo test --all",
            "cargo build --release",
            "cargo clippy -- -D warnings",
            "cargo run -- --config a.toml",
        ),
        valued="jpF",
        abbreviates=False,
    ),
    Escape(
        "rustup",
        "run link",
        "runs a program",
        ("rustup run nightly x",),
        ("rustup show", "rustup update"),
        abbreviates=False,
    ),
    Escape(
        "npm pnpm yarn",
        "--script-shell --config --config.* --userconfig --globalconfig --node-options --node-gyp"
        " --python --git --shell --editor --viewer --browser --init-module --onload-script"
        " --shell-emulator --prefix@ --cwd@ -C@ --dir@ --use-yarnrc --global-dir --global-folder"
        " --modules-folder --pnpmfile --global-pnpmfile --config-dir --hooks --require --cache@"
        " --logs-dir@ --store-dir@ --lockfile-dir@ --node-version --use-node-version --npm-path"
        " --local-prefix --globalignorefile",
        "runs a program or acts elsewhere",
        (
            "npm test --script-shell=./x",
            "pnpm add --config.script-shell=./x react",
            "npm test --script-sh x",
            "npm test -script-shell x",
            "npm --prefix /x test",
        ),
        ("npm test", "npm ci", "pnpm add -D react", "npm run build -- --watch", "yarn install"),
        single_dash=True,
    ),
    Escape(
        "npm:config npm:set npm:c npm:con npm:conf npm:confi pnpm:c pnpm:config yarn:policies yarn:config npm:pkg npm:edit npm:hook npm:adduser"
        " npm:profile npm:token",
        "set edit delete fix add rm create password set-version",
        "changes what runs later",
        ("npm config set script-shell ./x", "npm pkg set scripts.test=x"),
        ("npm config get registry", "npm config list"),
    ),
    Escape(
        "npm:set npm:edit",
        "*",
        "changes what runs later",
        ("npm set script-shell ./x",),
        (),
    ),
    Escape(
        "pip# pipx uv",
        "--log --log-file --report@ --target@ --prefix@ --root@ --src@ -t@"
        " --global-option --install-option --config-file --directory@ --project@ --cache-dir@"
        " --editor edit debug set unset runpip --keyring-provider",
        "runs a program or writes elsewhere",
        (
            "pip --python x install y",
            "pip install --log x y",
            "pip3 install -t /x y",
            "uv pip install --target /x y",
            "uv sync -p ./x",
            "uv venv --python=./x",
            "uv pip install -p../x y",
            "pip config set a b",
        ),
        (
            "pip install -r requirements.txt",
            "pip install -e .",
            "pip list",
            "uv sync",
            "uv venv --python 3.12 .venv",
            "uv sync -p pypy3.10",
        ),
        valued="rceip",
    ),
    Escape(
        "uv poetry pdm",
        "-o@ --output@ --output-file@",
        "writes elsewhere",
        ("uv export -o /x", "poetry export --output=../x"),
        ("uv pip compile a.in -o requirements.txt",),
        abbreviates=False,
    ),
    Escape(
        "poetry:env pdm:use pdm:venv",
        "use activate ./* ../* /*",
        "runs the Python that it is given",
        ("poetry env use ./x", "pdm use ./x"),
        ("poetry env info", "pdm use 3.12"),
    ),
    Escape(
        "poetry pdm hatch rye pipenv conda mamba",
        "--directory@ --project@ -C@ -P@ self config script shell --python --config"
        " --script --prefix@ -p@",
        "changes what runs later, or acts elsewhere",
        ("poetry config a b", "poetry self add x", "poetry -C /x install"),
        ("poetry add x", "poetry install", "pdm install"),
    ),
    Escape(
        "pytest py.test",
        "-c --config-file --rootdir@ --confcutdir@ -p^ -o --override-ini --basetemp --pdbcls --debug"
        " --log-file@ --junitxml@ --junit-xml@ --resultlog@ --cov-config --cov-report@ --html@"
        " --css@ --report-log@ --rsyncdir --tx --px -P",
        "loads other code or writes a file elsewhere",
        (
            "pytest -c evil.ini",
            "pytest --rootdir=. -c x",
            "pytest -p x",
            "pytest -xp x",
            "pytest -p no -p x",
            "pytest -oaddopts=x",
            "pytest --junitxml=/x",
            "pytest --junitxml=.nvim.lua",
            "pytest --junitxml=a/Jenkinsfile",
            'pytest --junitxml="$OUT"',
        ),
        (
            "pytest -q",
            "pytest --co -q",
            "pytest -k 'a and not b'",
            "pytest -p no:cacheprovider",
            "pytest tests -x --tb=short -n 4",
            "pytest --cov=a --cov-report=term-missing --junitxml=out.xml",
        ),
        valued="kmnrW",
        abbreviates=False,
    ),
    Escape(
        "pre-commit alembic mkdocs sphinx-build",
        "-c --config -f@ --config-file try-repo -D -C --confdir --site-dir@ -d@ --theme --template"
        " hook-impl -w@ --warning-file@",
        "uses other instructions than the project's",
        (
            "sphinx-build -w /x a b",
            "pre-commit try-repo x",
            "pre-commit run -c x",
            "alembic -c x upgrade head",
        ),
        ("pre-commit run --all-files", "pre-commit install", "alembic upgrade head"),
    ),
    Escape(
        "ruff black",
        "-o@ --output-file@ --cache-dir@",
        "writes a file elsewhere",
        ("ruff check -o /x", "ruff check --output-file ~/x"),
        ("ruff check --fix .", "ruff format .", "black --check .", "ruff check --config a.toml"),
        abbreviates=False,
    ),
    Escape(
        "eslint",
        "--rulesdir --resolve-plugins-relative-to -c --config --plugin --parser -f% --format%"
        " -o --output-file --cache-location@ --cache-file@ --init",
        "loads other code or writes a file of any name",
        (
            "eslint --rulesdir ./x src",
            "eslint -c x src",
            "eslint -o x src",
            "eslint --format ./x src",
        ),
        ("eslint src --cache", "eslint --fix src/a.ts", "eslint . --ext .ts --format json"),
        abbreviates=False,
    ),
    Escape(
        "prettier stylelint biome",
        "--plugin --config --config-path --plugin-search-dir --config-basedir --custom-formatter"
        " --custom-syntax -o --output-file --cache-location@ -f% --formatter%",
        "loads other code or writes a file of any name",
        (
            "prettier --plugin=./x a",
            "prettier --config ./x.js a",
            "stylelint --custom-formatter x a",
        ),
        ("prettier --check .", "prettier --write src", "biome check ."),
        abbreviates=False,
    ),
    Escape(
        "jest vitest mocha ava tap playwright cypress",
        "--config -c --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --reporters%"
        " --reporter% --runner --resolver --transform --testRunner --outputFile --outputFile.* --env%"
        " --environment% --testEnvironment% --rootDir@ --root@ --dir@ -r --require --import --loader"
        " --package --node-option --preset --haste --snapshotResolver --watchPlugins"
        " --browser.provider --cacheDirectory@ --coverageDirectory@ --coverage.reportsDirectory@"
        " --open --output@ --fd --testResultsProcessor --moduleNameMapper --modulePaths --filter%"
        " --prettierPath --attach --coverage.customProviderModule --coverage.provider%"
        " --execArgv --poolOptions.* --configFile --experimental-loader --dependencyExtractor",
        "loads other code or writes where it is told",
        (
            "jest --config x",
            "jest --globalSetup ./x",
            "mocha -r ./x",
            "vitest run --reporter ./x",
        ),
        (
            "jest",
            "jest src/a.test.ts --coverage",
            "vitest run --reporter verbose",
            "mocha test",
            "jest -t 'a b'",
        ),
        valued="tgwi",
        abbreviates=False,
    ),
    Escape(
        "webpack vite rollup tsup",
        "-c% --config% --plugin -p% --configPlugin --merge --require --import --entry% --inject"
        " --onSuccess --on-success --loader --profile@ --json@",
        "loads other code",
        ("vite build --config ./x", "rollup -c x.js", "webpack -c ./x"),
        ("vite build", "rollup -c", "webpack --mode production"),
        abbreviates=False,
    ),
    Escape(
        "tsc",
        "--generateTrace@ --generateCpuProfile@ --plugins",
        "writes elsewhere or loads code",
        ("tsc --generateTrace /x",),
        ("tsc --noEmit", "tsc -p tsconfig.json", "tsc --outDir dist"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "turbo nx lerna",
        "--cwd@ exec run-commands --command --profile@ --trace@ --runner --root-turbo-json",
        "runs a command or writes elsewhere",
        ("nx exec -- x", "lerna exec x"),
        ("turbo build", "nx test a"),
        abbreviates=False,
    ),
    Escape(
        "rspec rubocop standardrb brakeman",
        "-r --require -I --config -o@ --out@ --output@ -f% --format% --options -O --plugin"
        " --server --drb --init --add-checks-path --cache-root@",
        "loads other code or writes elsewhere",
        ("rspec -r ./x", "rubocop --require ./x", "rspec -o /x", "rspec -f ./x"),
        ("rspec", "rspec spec/a_spec.rb:12", "rubocop -A", "rspec --format doc"),
        valued="e",
    ),
    Escape(
        "phpunit phpstan phpcs",
        "-c --configuration --bootstrap --extension --loader --printer --include-path"
        " --autoload-file -a -d --log-junit@ --testdox-html@ --testdox-text@ --coverage-html@"
        " --coverage-php@ --coverage-text@ --coverage-xml@ --coverage-clover@ --standard%"
        " --report-file@ --runtime-set",
        "loads other code or writes elsewhere",
        ("phpunit --bootstrap x.php", "phpcs --standard=./x a"),
        ("phpunit --filter x", "phpcs --standard=PSR12 src"),
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
        "rustc rustfmt",
        "@* -C -Z --codegen --sysroot -o@ --out-dir@ --emit@ --config-path --config",
        "runs another program or writes elsewhere",
        ("rustc -C linker=x a.rs", "rustc -o /x a.rs"),
        ("rustfmt src/main.rs", "rustc --version", "rustfmt --check a.rs"),
        abbreviates=False,
        valued="LlWADF",
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
        "clang-tidy clang-format",
        "--load --export-fixes@ --vfsoverlay",
        "loads code or writes elsewhere",
        ("clang-tidy -load x a.c",),
        ("clang-format -i a.c", "clang-tidy a.c"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "gh",
        "alias extension ext extensions codespace cs browse config preview",
        "runs programs or changes what runs later",
        ("gh alias set x '!y'", "gh extension exec x", "gh config set editor x"),
        ("gh pr view 5", "gh issue list", "gh pr create --title a"),
        abbreviates=False,
    ),
    Escape(
        "kubectl oc helm",
        "--kubeconfig --cache-dir --post-renderer --editor cp plugin edit proxy attach port-forward"
        " plugins --output-dir@ --log-file@ --profile-output@ --profile",
        "uses other credentials, or runs or writes something",
        (
            "kubectl --kubeconfig x get po",
            "helm install --post-renderer x a b",
            "kubectl cp a b",
            "kubectl config set-context x",
            "kubectl config view --raw",
        ),
        ("kubectl get pods -n dev", "kubectl logs a", "helm list", "kubectl config get-contexts"),
        abbreviates=False,
    ),
    Escape(
        "docker podman docker-compose nerdctl",
        "cp plugin save export --config -H --host --output -o --iidfile@ --cidfile@"
        " --metadata-file@ --builder -f@ --file@ --project-directory@ --env-file@ --volumes-from",
        "reaches files or machines elsewhere",
        (
            "docker cp a b",
            "docker -H x ps",
            "docker save -o x y",
            "docker context use x",
            "docker compose -f a cp b:/c d",
        ),
        (
            "docker ps",
            "docker context ls",
            "docker build -t x .",
            "docker compose -f dev.yml up -d --build",
            "docker logs a",
        ),
        valued="tln",
        abbreviates=False,
    ),
    Escape(
        "terraform tofu terragrunt",
        "--chdir --out@ --state@ --state-out@ --backup@ --plugin-dir --backend-config console login"
        " --terragrunt-tfpath --tf-path",
        "acts elsewhere or runs another program",
        ("terraform -chdir=x plan", "terraform plan -out=/x", "terraform console"),
        ("terraform plan", "terraform plan -out=plan.bin"),
        abbreviates=False,
        single_dash=True,
    ),
    Escape(
        "aws gcloud az gsutil pulumi",
        "cp sync mv rm ssm ssh login alias extension plugin --endpoint-url"
        " --cli-input-json --configuration --impersonate-service-account --ca-bundle --cwd@",
        "moves files or changes credentials",
        (
            "aws s3 cp a b",
            "aws configure set x y",
            "aws configure",
            "gcloud config set a b",
            "aws s3 --region x cp a b",
        ),
        (
            "aws s3 ls",
            "az account show",
            "gcloud compute instances list",
            "gcloud config get-value project",
            "aws configure list",
        ),
    ),
)
