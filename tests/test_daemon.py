"""The engine's process; the whole of it is shown in e2e."""

import asyncio
import os
import platform
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kova_ls import daemon, paths
from kova_ls.daemon import Daemon, is_own, peer_pid


@pytest.fixture
def env():
    with tempfile.TemporaryDirectory(prefix="kd", dir="/tmp") as folder:
        for name in "kdr":
            os.mkdir(f"{folder}/{name}", mode=0o700)
        yield {
            "HOME": folder,
            "PATH": os.defpath,
            "KOVA_HOME": f"{folder}/k",
            "KOVA_DATA_DIR": f"{folder}/d",
            "KOVA_RUNTIME_DIR": f"{folder}/r",
        }


@pytest.fixture
async def served(env, monkeypatch):
    """An engine in this process, which would else be its own clients' ancestor."""
    monkeypatch.setattr(daemon, "is_own", lambda pid: False)
    one = Daemon(env)
    path = paths.socket_path(env, "build")
    serving = asyncio.ensure_future(one.serve(path, None))
    while not os.path.exists(path):
        await asyncio.sleep(0.001)
    yield one, path
    one._stopped.set()
    await serving
    assert not os.path.exists(path)


async def greet(path, line):
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(line)
    return reader, writer


@pytest.mark.parametrize(
    "line",
    [
        b"\n",
        b"GET / HTTP/1.1\n",
        b"[]\n",
        b"{}\n",
        b'{"env": 5}\n',
        b'{"env": {}, "secret": "guess"}\n',
        b"\xff\n",
    ],
)
async def test_who_does_not_greet_properly_is_cut_off(served, line):
    one, path = served
    reader, writer = await greet(path, line)
    with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
        await reader.readexactly(1)
    writer.close()
    assert one.hub.endpoints == []


async def test_a_greeting_may_come_in_pieces_and_with_more_behind_it(served):
    one, path = served
    reader, writer = await greet(path, b'{"env": {"A"')
    await asyncio.sleep(0)
    body = b'{"jsonrpc":"2.0","id":1,"method":"kova/session/list"}'
    writer.write(b': "b"}}\nContent-Length: %d\r\n\r\n%s' % (len(body), body))
    assert await reader.readuntil(b"\r\n\r\n")
    assert b"Send `initialize` first" in await reader.read(1000)
    assert one.hub.endpoints[0].env == {"A": "b"}
    writer.close()


async def test_the_socket_is_the_users_alone(served):
    _, path = served
    assert os.stat(path).st_mode & 0o777 == 0o600


async def test_the_idle_clock_runs_only_without_editors(served):
    one, path = served
    assert one._idle is not None
    _, writer = await greet(path, b'{"env": {}}\n')
    while not one.hub.endpoints:
        await asyncio.sleep(0.001)
    assert one._idle is None
    writer.close()
    while one.hub.endpoints:
        await asyncio.sleep(0.001)
    assert one._idle is not None


def test_what_the_engine_started_is_its_own():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        assert is_own(child.pid)
        assert is_own(os.getpid())
        assert not is_own(os.getppid())
        child.stdin.close()


@pytest.mark.parametrize("pid", [None, 0, 1])
def test_who_is_unknown_is_no_descendant(pid):
    assert not is_own(pid)


def test_who_is_gone_may_have_left_its_connection_to_a_child():
    assert is_own(2**22 + 5)


async def test_the_other_end_of_a_socket_is_known(served):
    _, path = served
    _, writer = await greet(path, b"")
    assert peer_pid(writer.get_extra_info("socket")) == os.getpid()
    writer.close()


def test_a_second_engine_finds_the_lock_taken(tmp_path):
    path = str(tmp_path / "a.sock")
    first = daemon._take_lock(path)
    assert first is not None
    assert daemon._take_lock(path) is None
    os.close(first)
    second = daemon._take_lock(path)
    assert second is not None
    os.close(second)
    assert Path(path + ".lock").stat().st_mode & 0o777 == 0o600


async def test_a_socket_that_was_removed_comes_back(served):
    one, path = served
    os.unlink(path)
    os.kill(os.getpid(), signal.SIGURG)
    while not os.path.exists(path):
        await asyncio.sleep(0.001)
    _, writer = await greet(path, b'{"env": {}}\n')
    while not one.hub.endpoints:
        await asyncio.sleep(0.001)
    writer.close()
    inode = os.lstat(path).st_ino
    os.kill(os.getpid(), signal.SIGURG)
    await asyncio.sleep(0)
    assert os.lstat(path).st_ino == inode


async def test_an_engine_that_another_waits_for_ends_with_its_last_editor(served):
    one, path = served
    _, writer = await greet(path, b'{"env": {}}\n')
    while not one.hub.endpoints:
        await asyncio.sleep(0.001)
    daemon.ask_to_yield(os.getpid())
    while not one._is_superseded:
        await asyncio.sleep(0.001)
    assert not one._stopped.is_set()
    writer.close()
    await one._stopped.wait()


async def test_the_place_of_another_engine_is_left_alone(env):
    one = Daemon(env)
    path = paths.socket_path(env, "build")
    serving = asyncio.ensure_future(one.serve(path, None))
    while not os.path.exists(path):
        await asyncio.sleep(0.001)
    os.rename(path, path + ".old")
    Path(path).write_text("another's")
    one._stopped.set()
    await serving
    assert Path(path).read_text() == "another's"


def test_nobody_is_signalled_who_is_not_known():
    for pid in (None, 0, 1, -1, 2**22 + 5):
        daemon.ask_to_yield(pid)


def test_who_finds_the_lock_taken_waits_for_the_socket(tmp_path, monkeypatch):
    path = tmp_path / "a.sock"
    told = []
    lock = daemon._take_lock(str(path))

    def tell(pid, sign):
        told.append((pid, sign))
        path.touch()

    monkeypatch.setattr(daemon, "_tell", tell)
    daemon._wait_for(str(path))
    daemon._wait_for(str(path))
    assert told == [(os.getpid(), "SIGURG")]
    os.close(lock)


FRESH_PAGES = """
import resource, sys
from kova_ls.daemon import reuse_memory

if "reuse" in sys.argv:
    reuse_memory()
counted = []
for step in range(200):
    body = b"x" * (500_000 + step * 500)
    body = b"head" + body
    counted.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)
print(counted[-1] - counted[20])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another malloc")
def test_a_value_that_grows_is_made_where_the_last_one_stood():
    def fresh_pages(*args: str) -> int:
        command = [sys.executable, "-c", FRESH_PAGES, *args]
        ran = subprocess.run(command, check=True, capture_output=True, text=True)
        return int(ran.stdout)

    assert fresh_pages("reuse") * 10 < fresh_pages()
