"""Options by which test runners, linters and bundlers load other code or write where they are told.

Invariant: a prefix rule never covers words that this table catches.
"""

from kova_ls.permission.escapes import Escape

CHECKER_ESCAPES: tuple[Escape, ...] = (
    Escape(
        "golangci-lint",
        "-c --config --cpu-profile-path --mem-profile-path --trace-path --output.* custom",
        "loads other code or writes a file",
        ("golangci-lint run -c x", "golangci-lint custom"),
        ("golangci-lint run", "golangci-lint run ./..."),
        abbreviates=False,
    ),
    Escape(
        "golangci-lint",
        "--out-format@",
        "writes elsewhere",
        ("golangci-lint run --out-format=json:/x",),
        ("golangci-lint run --out-format=colored-line-number",),
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
        "jest vitest",
        "--testSequencer --projects% --roots@ --globals --coverageReporters% --diff% --workspace%"
        " --pool% --snapshotEnvironment% --sequence.sequencer% --typecheck.checker%"
        " --benchmark.outputJson@ --snapshotSerializers --setup-files --globalsConfig",
        "loads other code or writes where it is told",
        (
            "jest --testSequencer ./x",
            "jest --global-setup ./x",
            "jest --test-environment=./x",
            "jest --coverage-directory /x",
            'jest --diff="$X"',
            "vitest --pool=./x",
            "vitest --typecheck.checker ./x",
        ),
        ("vitest run --pool forks", "jest --maxWorkers=2"),
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
        "webpack vite tsup",
        "-c --config -e --extends configtest --open-app-name",
        "loads other code",
        ("webpack -c x", "webpack --extends x", "vite -c x"),
        ("vite build", "webpack --mode production"),
        valued="odm",
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
        "phpunit",
        "--prepend --cache-directory@ --cache-result-file@ --generate-baseline@",
        "loads other code or writes elsewhere",
        ("phpunit --prepend x",),
        ("phpunit --filter x",),
    ),
    Escape(
        "mocha",
        "-R% -u% --ui% -n --file% --opts",
        "loads other code",
        ("mocha -R ./x", "mocha --ui ./x", "mocha -n require=./x"),
        ("mocha -R spec", "mocha -u tdd"),
        valued="gftsj",
        abbreviates=False,
    ),
    Escape(
        "ava tap",
        "--node-arguments --node-arg --before% --after% --plugin",
        "loads other code",
        ("ava --node-arguments='-r ./x'", "tap --before=./x"),
        ("ava test/a.js", "tap"),
        abbreviates=False,
    ),
    Escape(
        "playwright",
        "codegen screenshot pdf open cr ff wk run-server",
        "starts a browser that writes files",
        ("playwright screenshot u /x", "playwright codegen -o x u"),
        ("playwright test", "playwright install", "playwright test open.spec.ts"),
        abbreviates=False,
    ),
    Escape(
        "cypress",
        "-C --config-file -P@ --project@ -b% --browser% open",
        "loads other code or starts another browser",
        ("cypress run -C x", "cypress run -b ./x", "cypress run --project /x"),
        ("cypress run --browser chrome", "cypress run"),
        valued="serpk",
        abbreviates=False,
    ),
    Escape(
        "rollup",
        "-c+ --config+ -p --plugin --watch.on*",
        "loads other code or runs a command",
        ("rollup -c x", "rollup -cx", "rollup --watch.onStart 'touch x'", "rollup -p x"),
        ("rollup -c", "rollup -c -w"),
        valued="iodfeg",
        abbreviates=False,
    ),
    Escape(
        "babel swc",
        "--plugins --presets --config-file -C --root-mode -o@ -d@ --out-dir@ --out-file@",
        "loads other code or writes elsewhere",
        ("babel --plugins ./x a", "babel src -d /x"),
        ("babel src -d lib",),
        abbreviates=False,
    ),
    Escape(
        "nest",
        "-e --exec -b% --builder% -c --collection%",
        "runs another program or loads other code",
        ("nest start --exec ./x", "nest start -e ./x"),
        ("nest start", "nest build"),
        valued="p",
        abbreviates=False,
    ),
    Escape(
        "lerna",
        "--npm-client",
        "runs another program",
        ("lerna run x --npm-client ./x",),
        ("lerna run build",),
        abbreviates=False,
    ),
    Escape(
        "rubocop standardrb brakeman",
        "-c",
        "loads other settings, which may load code",
        ("rubocop -c x",),
        ("rubocop app",),
        valued="fo",
    ),
    Escape(
        "rails",
        "new plugin app:template LOCATION=*",
        "runs a template's code",
        (
            "rails new x -m ./y",
            "rails app:template LOCATION=./x",
            "rails db:version -e 'system 1'",
            "rails db:migrate -f x.rb",
            "rails db:migrate --requ ./x",
        ),
        ("rails db:migrate", "rails test -e test", "rails db:migrate RAILS_ENV=test --trace"),
    ),
    Escape(
        "phpcs phpcbf",
        "--config-set --config-delete",
        "changes what runs later",
        ("phpcs --config-set x y",),
        ("phpcs src",),
    ),
    Escape(
        "gulp grunt tslint typedoc jsdoc",
        "-f --gulpfile --gruntfile --tasks --base -b -r --require --rules-dir -c --config --plugin"
        " --options --theme -t% --template -o@ --out@ --output@ --cwd@ -s --formatters-dir",
        "loads other code or writes elsewhere",
        ("gulp -f x", "grunt --gruntfile x", "tslint -r x", "typedoc --plugin x"),
        ("gulp build", "grunt test", "tslint -t stylish a.ts", "typedoc src"),
        abbreviates=False,
    ),
    Escape(
        "lint-staged commitlint knip storybook semantic-release release-it npm-run-all run-s run-p",
        "--config --config-dir --extends --plugins --cwd@ --output-dir@ --npm-path",
        "loads other code or acts elsewhere",
        ("lint-staged --config x", "run-s --npm-path x a", "commitlint --extends x"),
        ("lint-staged", "run-s -c lint test", "commitlint --edit", "storybook build"),
        abbreviates=False,
    ),
    Escape(
        "husky",
        "add set install init uninstall",
        "changes what git runs later",
        ("husky add .husky/pre-commit x", "husky install"),
        ("husky --version",),
    ),
    Escape(
        "nx",
        "watch",
        "runs a command",
        ("nx watch --all -- x",),
        ("nx test watch-me", "nx run-many -t build"),
        abbreviates=False,
    ),
    Escape(
        "ng turbo",
        "config --out-dir@ --output-path!",
        "changes what runs later or writes elsewhere",
        ("ng config a b", "turbo prune a --out-dir=/x", "ng build --output-path ~/bin"),
        ("ng build", "turbo run build"),
        abbreviates=False,
    ),
    Escape(
        "json-server esbuild swc",
        "-m --middlewares -c --config -C --config-file --serve --servedir --outfile! --outdir! -o@ -d@"
        " --out-dir@ --out-file@",
        "loads other code, serves files or writes elsewhere",
        ("json-server -m x a", "esbuild a --outfile=~/bin/x", "swc -C x a", "esbuild --serve"),
        ("json-server db.json", "esbuild a.ts --bundle --outfile=b.js", "swc src -d lib"),
        abbreviates=False,
    ),
)
