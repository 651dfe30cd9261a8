import shlex

import pytest

from kova_ls.permission.never import NEVER, Never
from kova_ls.permission.programs import make_rule, never_reason


@pytest.mark.parametrize("entry", NEVER, ids=lambda entry: entry.reason)
def test_every_never_entry_keeps_what_its_examples_say(entry: Never) -> None:
    assert entry.examples
    for command in entry.examples:
        reason = never_reason(shlex.split(command))
        assert reason is not None, command
        assert entry.reason in reason
        assert make_rule(shlex.split(command)) is None


def test_no_program_is_never_remembered_for_two_reasons() -> None:
    names = [name for entry in NEVER for name in entry.names.split()]
    assert len(names) == len(set(names))


LETTER = (
    "node nodejs busybox dash ksh script bun deno bash sh zsh fish python python3 python3.12 perl"
    " ruby php lua awk pwsh npx bunx uvx kova-ls ssh eval exec source . command builtin env xargs"
    " parallel nohup nice timeout time watch stdbuf setsid flock sudo doas su rm rmdir unlink shred"
    " cp mv find fd dd mkfs mkfs.ext4 chmod chown ln install tee truncate rsync scp kill pkill"
    " killall"
).split()
PAIRS = (
    "pipx run,pnpm dlx,yarn dlx,npm exec,npm x,uv run,docker run,docker exec,kubectl exec,"
    "pnpm --silent dlx,pnpm -C a dlx,docker --context a run,uv --quiet run,kubectl -n a exec,"
    "poetry run,bundle exec,pnpm exec,docker compose exec,docker compose -f a.yml run,"
    "bundle e,gem ex,composer exe,cargo watch,meson devenv,dotnet fsi,dotnet tool run,yarn node,"
    "yarn run node,swift repl,git merge-index,docker create,podman unshare,buildah run,adb shell,"
    "terragrunt exec,aws ecs execute-command,az vm run-command,railway run,minikube kubectl,"
    "gcloud beta compute ssh,oc rsync"
).split(",")


@pytest.mark.parametrize("name", LETTER)
def test_interpreters_wrappers_and_destroyers_are_never_remembered(name: str) -> None:
    for spelled in (name, f"/usr/bin/{name}", f"./{name}"):
        assert never_reason([spelled, "x"]) is not None
        assert make_rule([spelled, "x"]) is None


@pytest.mark.parametrize("pair", PAIRS)
def test_sub_commands_that_run_others_are_never_remembered(pair: str) -> None:
    assert never_reason([*pair.split(), "x.py"]) is not None


@pytest.mark.parametrize(
    "name",
    "lldb-15 vim.basic sudo-rs busybox.static bash5 bash-static ksh93 node.cmd npx.CMD gfind gxargs"
    " perl5.36 original-awk mksh-static".split(),
)
def test_builds_of_a_program_are_that_program(name: str) -> None:
    assert never_reason([name, "x"]) is not None
    assert make_rule([name, "x"]) is None
