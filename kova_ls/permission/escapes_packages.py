"""Options by which package managers run programs, act elsewhere or change what runs later.

Invariant: a prefix rule never covers words that this table catches.
"""

from kova_ls.permission.escapes import Escape

PACKAGE_ESCAPES: tuple[Escape, ...] = (
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
        "npm pnpm yarn",
        "--pack-destination@ --modules-dir@ --virtual-store-dir@ --filename@ --out@ -o@",
        "writes elsewhere",
        ("npm pack --pack-destination /x", "pnpm install --modules-dir ../x", "yarn pack -o /x"),
        ("npm pack", "npm install -D a", "npm run build -- -o dist"),
        valued="wF",
        abbreviates=False,
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
        "yarn pnpm",
        "",
        "is read word by word",
        (
            "yarn workspace a exec x",
            "yarn workspaces foreach exec x",
            "yarn workspace a node x",
            "yarn run node x",
            "yarn run -T node x",
            "pnpm recursive exec x",
        ),
        ("yarn workspace a test", "yarn run build", "pnpm run exec-tests"),
    ),
    Escape(
        "bundle bundler",
        "console open plugin config conf --gemfile --path@",
        "changes what runs later, or starts a program",
        ("bundle config set x y", "bundle open x", "bundle install --gemfile x"),
        ("bundle install", "bundle exec rspec", "bundle add rails"),
    ),
    Escape(
        "gem",
        "open server cert -i@ --install-dir@ -n@ --bindir@",
        "starts a program or writes elsewhere",
        ("gem install x -i /y", "gem open x"),
        ("gem install rails", "gem list"),
        valued="vsg",
    ),
    Escape(
        "composer",
        "config conf confi global glob create-project -d@ --working-dir@",
        "changes what runs later, or acts elsewhere",
        ("composer config scripts.x y", "composer -d /x install", "composer --work /x install"),
        ("composer install", "composer require a/b"),
    ),
    Escape(
        "pip#",
        "-o@ --output@",
        "writes elsewhere",
        ("pip lock -o /x a",),
        ("pip list -o", "pip lock -o pylock.toml"),
        valued="rceip",
        abbreviates=False,
    ),
)
