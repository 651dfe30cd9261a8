"""What an editor starts; the whole of it is shown in e2e."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from kova_ls import paths, relay
from kova_ls.relay import Unreachable, connect, hello

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def env():
    with tempfile.TemporaryDirectory(prefix="kr", dir="/tmp") as folder:
        yield {
            "HOME": folder,
            "KOVA_HOME": f"{folder}/k",
            "KOVA_DATA_DIR": f"{folder}/d",
            "KOVA_RUNTIME_DIR": f"{folder}/r",
        }


@pytest.fixture
def engine(env):
    """A socket where the engine of this build would listen."""
    path = paths.socket_path(env, paths.build_id())
    paths.private_folder(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        yield server


def test_the_first_line_says_who_and_from_where():
    line = hello({"A": 'quote " and \\ and \n', "B": "é"}, "build")
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    said = json.loads(line)
    assert said["env"] == {"A": 'quote " and \\ and \n', "B": "é"}
    assert (said["kova"], said["build"], said["pid"]) == (1, "build", os.getpid())
    assert said["secret"] == ""


def test_a_variable_that_is_no_utf8_is_carried():
    line = hello({"A": "\udcff"}, "build")
    assert json.loads(line)["env"]["A"] == "\udcff"


def test_without_an_engine_it_says_so(env):
    with pytest.raises(Unreachable, match="No engine is running"):
        connect(env, may_start=False)


def test_a_log_that_cannot_be_written_is_said(env):
    os.makedirs(paths.log_path(env))
    with pytest.raises(Unreachable, match=r"must be writable.*KOVA_DATA_DIR"):
        connect(env)


def test_it_greets_the_engine_that_is_there(env, engine):
    peer = connect(env, may_start=False)
    server, _ = engine.accept()
    with server:
        assert json.loads(server.recv(100_000))["env"] == env
    peer.close()


def test_a_folder_that_others_may_write_is_refused(env, engine):
    os.chmod(env["KOVA_RUNTIME_DIR"], 0o722)
    with pytest.raises(Unreachable, match="can be written by others"):
        connect(env, may_start=False)


def test_tcp_is_chosen_by_variable_and_needs_its_file(env):
    chosen = {**env, "KOVA_TRANSPORT": "tcp"}
    assert relay.uses_tcp(chosen)
    assert not relay.uses_tcp(env)
    with pytest.raises(Unreachable):
        connect(chosen, may_start=False)
    path = relay.port_file(paths.socket_path(chosen, paths.build_id()))
    paths.private_folder(os.path.dirname(path))
    for content in ("", "x y", "1", "65000"):
        Path(path).write_text(content)
        with pytest.raises(Unreachable):
            connect(chosen, may_start=False)
    with socket.create_server(("127.0.0.1", 0)) as server:
        Path(path).write_text(f"{server.getsockname()[1]} word\n")
        peer = connect(chosen, may_start=False)
        there, _ = server.accept()
        with there:
            assert json.loads(there.recv(100_000))["secret"] == "word"
        peer.close()


def relaying(env):
    return subprocess.Popen(
        [sys.executable, "-m", "kova_ls"],
        env={**env, "PYTHONPATH": str(ROOT)},
        cwd=env["HOME"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def greeted(engine):
    server, _ = engine.accept()
    line = bytearray()
    while not line.endswith(b"\n"):
        line += server.recv(1)
    return server


def test_it_carries_both_ways_at_once_however_much(env, engine):
    """Neither side reads before all of its own is written."""
    data = os.urandom(3_000_000)
    with relaying(env) as process, greeted(engine) as server:
        got = bytearray()

        def serve():
            server.sendall(data)
            while chunk := server.recv(65_536):
                got.extend(chunk)
            server.shutdown(socket.SHUT_WR)

        thread = threading.Thread(target=serve)
        thread.start()
        writer = threading.Thread(target=lambda: (process.stdin.write(data), process.stdin.close()))
        writer.start()
        assert process.stdout.read() == data
        writer.join()
        thread.join()
        assert bytes(got) == data
        assert process.wait() == 0


def test_an_engine_that_goes_is_no_clean_end(env, engine):
    with relaying(env) as process, greeted(engine) as server:
        server.sendall(b"last words")
        server.close()
        assert process.stdout.read() == b"last words"
        assert process.wait() == 1
        process.stdin.close()


def test_an_editor_that_goes_is_a_clean_end(env, engine):
    with relaying(env) as process, greeted(engine) as server:
        process.stdin.write(b"last words")
        process.stdin.close()
        assert server.recv(100) == b"last words"
        assert server.recv(100) == b""
        server.close()
        assert process.wait() == 0
        assert process.stderr.read() == b""
