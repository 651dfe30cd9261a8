"""`kova-ls stop`: end the engine.

Invariant: never starts an engine; running turns are interrupted only when the person said so.
"""

import os
import select
from collections.abc import Generator, Sequence
from contextlib import contextmanager

from pydantic import ValidationError

from kova_ls.cli.arguments import DONE, FAILED, Parser
from kova_ls.cli.client import Client, Find, FindOthers
from kova_ls.cli.client import find as find_engine
from kova_ls.cli.client import find_others as find_other_engines
from kova_ls.cli.console import Console, keys_of
from kova_ls.cli.status import END_OTHERS, greet, other_engines
from kova_ls.cli.terminal import shown
from kova_ls.errors import DaemonUnavailable, KovaError
from kova_ls.protocol.engine import EngineStatusResult, EngineStopResult

_END_S = 10.0


def main(
    argv: Sequence[str],
    console: Console,
    find: Find = find_engine,
    find_others: FindOthers = find_other_engines,
) -> int:
    """Ask the engine to end; exit code 1 when turns run and nobody said to stop them."""
    parser = Parser(console, "stop", "End the engine. Nothing announced is lost.")
    parser.add_argument("--force", action="store_true", help="interrupt running turns first")
    parser.add_argument(
        "--all",
        action="store_true",
        help="end engines of other versions or installations on the same folders too",
    )
    options = parser.parse_args(argv)
    sock = find(console.env)
    if sock is None:
        console.print("No engine is running.")
    is_ended = sock is None or _end(console, Client(sock), is_forced=options.force)
    if not options.all:
        others = other_engines(console, find_others)
        for other in others:
            version, pid = shown(other.version), other.pid
            console.say(f"An engine of another installation runs too: {version}, pid {pid}.")
        if others:
            console.say(END_OTHERS)
        return DONE if is_ended else FAILED
    for other in find_others(console.env):
        try:
            is_ended &= _end(console, Client(other), is_forced=options.force)
        except (KovaError, ValidationError) as error:
            console.complain(f"An engine of another version cannot be ended: {error}")
            is_ended = False
    return DONE if is_ended else FAILED


def _end(console: Console, client: Client, *, is_forced: bool) -> bool:
    """End one engine; False when its turns were to go on."""
    try:
        greet(client)
        with _process_of(client) as process_fd:
            result = _stop(client, is_forced=is_forced)
            if not result.stopping:
                titles = ", ".join(shown(title) for title in result.running)
                console.say(f"Turns are running: {titles}.")
                if not _confirmed(console):
                    console.complain("Not stopped. `kova-ls stop --force` interrupts them first.")
                    return False
                _stop(client, is_forced=True)
            _wait_for_end(client, process_fd)
    finally:
        client.close()
    console.print("The engine has ended.")
    return True


def end_engine(client: Client) -> None:
    """End the engine at the other end whatever it does, and wait for its end."""
    try:
        with _process_of(client) as process_fd:
            _stop(client, is_forced=True)
            _wait_for_end(client, process_fd)
    except DaemonUnavailable:
        pass


def _stop(client: Client, *, is_forced: bool) -> EngineStopResult:
    answer = client.request("kova/engine/stop", {"force": is_forced})
    return EngineStopResult.model_validate(answer)


@contextmanager
def _process_of(client: Client) -> Generator[int | None]:
    """Yield a descriptor that becomes readable when the engine's process is gone."""
    if not hasattr(os, "pidfd_open"):
        yield None
        return
    status = EngineStatusResult.model_validate(client.request("kova/engine/status", {}))
    try:
        process_fd = os.pidfd_open(status.pid)
    except OSError:
        yield None
        return
    try:
        yield process_fd
    finally:
        os.close(process_fd)


def _wait_for_end(client: Client, process_fd: int | None) -> None:
    try:
        while True:
            client.inbox.clear()
            client.pump()
    except DaemonUnavailable:
        if process_fd is not None:
            select.select([process_fd], [], [], _END_S)


def _confirmed(console: Console) -> bool:
    with keys_of(console) as keys:
        if keys is None:
            return False
        console.talk.write("Interrupt them? [y]es  [n]o ")
        console.talk.flush()
        with keys.by_key():
            key = ""
            while key not in ("y", "n"):
                key = keys.key().lower()
                if not key:
                    return False
        console.say({"y": "yes", "n": "no"}[key])
        return key == "y"
