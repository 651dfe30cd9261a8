"""Options by which Python's checkers and runners, and modules that `python -m` runs, write or run something else.

The names are those of programs or modules.
Invariant: a prefix rule never covers words that this table catches.
"""

from kova_ls.permission.escapes import Escape

PYTHON_ESCAPES: tuple[Escape, ...] = (
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
        "pytest py.test",
        "@* --benchmark-json@ --benchmark-storage@ --json-report-file@ --alluredir@ --durations-path@"
        " --pastebin --ds --dc --result-log@",
        "reads its options from a file, loads other settings or writes elsewhere",
        ("pytest @args", "pytest --json-report-file=/x", "pytest --ds=x"),
        ("pytest --durations=5", "pytest --benchmark-json=out.json"),
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
        "pre-commit",
        "init-templatedir",
        "writes hooks elsewhere",
        ("pre-commit init-templatedir x",),
        ("pre-commit run",),
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
        "tox",
        "e",
        "runs a command",
        ("tox e -- x",),
        ("tox -e py311",),
        valued="e",
    ),
    Escape(
        "tox nox",
        "-c --conf -f --noxfile --workdir --root -x --override --installpkg --force-python"
        " --extra-pythons --devenv exec run-command --discover --result-json@ --report@ --envdir@",
        "uses other instructions than the project's",
        ("tox -c x", "nox -f x", "tox exec -- x", "tox --discover ./x", "tox --result-json /x"),
        ("tox -e py311", "nox -s tests"),
        valued="sekt",
    ),
    Escape(
        "mypy dmypy",
        "@*",
        "reads its options from a file",
        ("mypy @args",),
        ("mypy src",),
    ),
    Escape(
        "mypy dmypy pylint flake8 bandit isort pyright basedpyright",
        "--config-file --python-executable --rcfile --load-plugins --init-hook --output@ -o@"
        " --output-file@ --html-report@ --txt-report@ --xml-report@ --any-exprs-report@"
        " --cobertura-xml-report@ --linecount-report@ --linecoverage-report@"
        " --lineprecision-report@ --xslt-html-report@ --xslt-txt-report@ --junit-xml@"
        " --custom-typeshed-dir --cache-dir@ --pythonpath --venvpath@ --append-config --config"
        " --tee --enable-extensions --install-types --ini --timing-stats@ --memory-xml-report@"
        " --mypyc-annotation-file@ --evaluation --output-format% --import-graph@"
        " --ext-import-graph@ --int-import-graph@ --spelling-private-dict-file@ --log-file@"
        " --status-file@ --perf-stats-file@",
        "loads other code or writes a file elsewhere",
        (
            "mypy --config-file x",
            "mypy --python-exec x y",
            "pylint --load-plugins=x y",
            "pylint --evaluation='__import__(1)' y",
            "pylint --output-format=json:/x y",
            "pylint --output-format=x.Reporter y",
            "pylint --import-graph=../x.dot y",
            "mypy --html-report /x y",
        ),
        ("mypy src", "flake8 src", "mypy --strict a", "isort --check ."),
        valued="smplkt",
    ),
    Escape(
        "json.tool",
        "",
        "writes its second operand",
        (
            "python3 -m json.tool a b",
            "python -m json.tool --indent 2 a b",
            "python -m json.tool --ind 2 a b",
            "python -m json.tool *.json",
            "uv run python -m json.tool - x",
        ),
        (
            "python3 -m json.tool",
            "python3 -m json.tool a.json",
            "python3 -m json.tool --indent 2 a.json",
            "python3 -m json.tool --indent=2 a.json",
            "python3 -m json.tool --sort-keys --no-ensure-ascii",
        ),
    ),
    Escape(
        "unittest",
        "-s@ --start-directory@ -t@ --top-level-directory@",
        "runs tests of another project",
        ("python -m unittest discover -s /x", "python -m unittest discover --start ../x"),
        ("python -m unittest", "python3 -m unittest discover -s tests -p 'test_*.py' -v"),
        valued="kp",
    ),
    Escape(
        "venv",
        "",
        "is read word by word",
        (
            "python3 -m venv --clear build",
            "python3 -m venv ~/.local",
            "python3 -m venv ../x",
            "python3 -m venv .git",
            "python3 -m venv --cl x",
        ),
        ("python3 -m venv .venv", "python -m venv --system-site-packages env --prompt x"),
    ),
    Escape(
        "build",
        "-o@ --outdir@ -C --config-setting --config-json --installer --env-dir@",
        "writes elsewhere, or hands options to the project's builder",
        ("python -m build -o /x", "python -m build --outdir=../x", "python -m build -C--x=y"),
        ("python -m build", "python -m build --wheel --outdir dist", "python -m build -sn"),
    ),
    Escape(
        "pip#",
        "--python -d@ --dest@ --destination-directory@ -w@ --wheel-dir@ --build-option --config-settings -C",
        "writes elsewhere, or hands options to what builds a package",
        (
            "pip download -d /x a",
            "python -m pip wheel -w ../x a",
            "python -m pip install -t /x a",
            "python -m pip --python x install a",
            "python -m pip config set a b",
            "pip install --config-settings=x a",
            "pip install -C x=y a",
        ),
        ("pip download -d wheels a", "python -m pip install -r requirements.txt", "pip list"),
        valued="rceifb",
    ),
    Escape(
        "coverage",
        "--debug",
        "is read word by word",
        (
            "python -m coverage run x.py",
            "coverage run -m x",
            "coverage run --rcfile=x -m pytest",
            "coverage run -m pytest -p x",
            "coverage run --source=. x.py -m pytest",
        ),
        (
            "coverage run -m pytest -q",
            "coverage run --source=src --branch -m unittest discover",
            "python -m coverage run -p -m pytest tests",
            "coverage report -m --skip-covered",
        ),
    ),
    Escape(
        "coverage",
        "run --rcfile -d@ --directory@ -o@ --data-file@",
        "runs a program, or writes elsewhere",
        ("coverage run x.py", "coverage html -d /x"),
        ("coverage report -m", "coverage html", "coverage xml -o out.xml"),
        valued="m",
    ),
    Escape(
        "pylint",
        "-f%",
        "loads code or writes a file elsewhere",
        ("pylint -f json:/x y", "pylint -f x.Reporter y", "pylint -fjson:~/x y"),
        ("pylint -f colorized src", "pylint --output-format=json src"),
        valued="jdes",
    ),
    Escape(
        "uvicorn gunicorn hypercorn daphne flask",
        "-c@ --config@ --chdir@ --app-dir@ --pythonpath@ --env-file@ --log-config@ --paste -p@ --pid@"
        " --pidfile@ --access-logfile@ --error-logfile@ --log-file@ -A@ --app@",
        "runs code of another place or writes elsewhere",
        ("uvicorn --app-dir /x a:b", "gunicorn -c ../x a:b", "flask --app /x run"),
        ("uvicorn app.main:app --reload --port 8000", "gunicorn -c g.py -w 4 a:b", "flask run"),
        valued="wbthke",
        abbreviates=False,
    ),
    Escape(
        "snakemake",
        "-s --snakefile -d@ --directory@ --configfile --cluster --jobscript --wrapper-prefix",
        "uses other instructions than the project's",
        ("snakemake -s x", "snakemake --cluster x", "snakemake -d /x"),
        ("snakemake -j4", "snakemake -c 4 -n"),
        valued="jc",
        abbreviates=False,
    ),
    Escape(
        "invoke inv fab doit",
        "-c --collection -r --search-root -f --config --file -d --dir",
        "uses other instructions than the project's",
        ("inv -c x test", "invoke --search-root=x a", "doit -f x"),
        ("inv test", "invoke --list", "doit"),
        abbreviates=False,
    ),
    Escape(
        "dbt pip-audit",
        "--profiles-dir@ --project-dir@ --target-path@ --log-path@ -o@ --output@",
        "acts elsewhere",
        ("dbt run --profiles-dir /x", "pip-audit -o /x"),
        ("dbt run -s a", "pip-audit"),
        abbreviates=False,
    ),
)
