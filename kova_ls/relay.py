"""What an editor starts: find or start the engine, say hello, pump bytes both ways.

Invariant: stdlib only, and little of that; the first relayed byte comes within milliseconds.
Invariant: killing the relay never hurts a turn; it holds nothing but bytes on their way.
"""

from __future__ import annotations

import _socket
import os
import select
import sys
import time
from _json import encode_basestring_ascii

from kova_ls import paths

TYPE_CHECKING = False  # `typing` and `collections.abc` would cost 3 ms
if TYPE_CHECKING:
    from collections.abc import Mapping

_START_S = 20.0
_CHUNK = 65_536
_ROOM = 1_000_000


class Unreachable(Exception):
    """The engine could not be reached or started; the text says what to do."""


def hello(env: Mapping[str, str], build: str) -> bytes:
    """Return the line that opens every connection: who connects, from where, with what."""
    quote = encode_basestring_ascii
    variables = ",".join(f"{quote(name)}:{quote(value)}" for name, value in env.items())
    try:
        cwd = os.getcwd()  # noqa: TID251 - of the editor, for the engine
    except OSError:
        cwd = "/"
    return (
        f'{{"kova":1,"build":{quote(build)},"pid":{os.getpid()},"cwd":{quote(cwd)},'
        f'"secret":{quote(_secret(env, build))},"env":{{{variables}}}}}\n'
    ).encode()


def connect(env: Mapping[str, str], *, may_start: bool = True, build: str = "") -> _socket.socket:
    """Return a blocking socket to the engine of a build, this one by default, after the hello line.

    Raises: Unreachable.
    """
    build = build or paths.build_id()
    path = paths.socket_path(env, build)
    found = _dial(path, env)
    if found is None:
        if not may_start:
            raise Unreachable("No engine is running.")
        found = _start(path, env)
    found.sendall(hello(env, build))
    return found


def _dial(path: str, env: Mapping[str, str]) -> _socket.socket | None:
    if uses_tcp(env):
        return _dial_tcp(path)
    folder = os.path.dirname(path)
    try:
        info = os.lstat(folder)
    except OSError:
        return None
    if info.st_uid != os.getuid() or info.st_mode & 0o022:
        # Whoever may write there may have put a socket of their own under our name.
        raise Unreachable(
            f"{folder} can be written by others; remove it, or set KOVA_RUNTIME_DIR to a "
            "private folder."
        )
    peer = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        peer.connect(path)
    except OSError:
        peer.close()
        return None
    return peer


# -- loopback TCP, where Unix sockets are not to be had -----------------------------------------


def uses_tcp(env: Mapping[str, str]) -> bool:
    """Say whether the engine listens on loopback TCP: on Windows, or when asked to."""
    return sys.platform == "win32" or env.get("KOVA_TRANSPORT") == "tcp"


def port_file(path: str) -> str:
    """Return the 0600 file that names port and secret of a TCP engine."""
    return path.removesuffix(".sock") + ".port"


def _port_and_secret(path: str) -> tuple[int, str] | None:
    try:
        with open(port_file(path), encoding="ascii") as file:
            port, secret = file.read().split()
        return int(port), secret
    except (OSError, ValueError):
        return None


def _secret(env: Mapping[str, str], build: str) -> str:
    if not uses_tcp(env):
        return ""
    found = _port_and_secret(paths.socket_path(env, build))
    return found[1] if found else ""


def _dial_tcp(path: str) -> _socket.socket | None:
    found = _port_and_secret(path)
    if found is None:
        return None
    peer = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        peer.connect(("127.0.0.1", found[0]))
    except OSError:
        peer.close()
        return None
    peer.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    return peer


# -- starting the engine ----------------------------------------------------------------------------


def engine_command() -> list[str]:
    """Return the command line of an engine of this build."""
    package_parent = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    code = (
        "import sys; sys.path.append(sys.argv.pop(1)); "
        "from kova_ls.__main__ import main; sys.exit(main())"
    )
    return [sys.executable, "-P", "-c", code, package_parent, "engine"]


def _start(path: str, env: Mapping[str, str]) -> _socket.socket:
    """Start the engine and wait until it listens; another relay may win the race."""
    log = paths.log_path(env)
    try:
        paths.private_folder(os.path.dirname(path))
        os.makedirs(os.path.dirname(log), mode=0o700, exist_ok=True)
    except OSError as error:
        raise Unreachable(f"The engine cannot be started: {error}.") from error
    ready, announce = os.pipe()
    os.set_inheritable(announce, True)
    child = dict(env)
    child["KOVA_READY_FD"] = str(announce)
    try:
        pid = _spawn(log, child)
    except OSError as error:
        os.close(ready)
        raise Unreachable(
            f"The engine cannot be started: {error.strerror}; its log {log} must be writable. "
            "Mend the rights of that folder, or set KOVA_DATA_DIR to another."
        ) from error
    finally:
        os.close(announce)
    deadline = time.monotonic() + _START_S
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([ready], [], [], left)[0]:
                raise Unreachable(f"The engine did not start within {_START_S:.0f} s; see {log}.")
            said = os.read(ready, 1)
            found = _dial(path, env)
            if found is not None:
                return found
            if not said:
                raise Unreachable(f"The engine ended while starting; see {log}.")
    finally:
        os.close(ready)
        _reap(pid)


def _spawn(log: str, env: Mapping[str, str]) -> int:
    command = engine_command()
    if sys.platform == "win32":
        import subprocess

        with open(log, "ab") as out:
            flags = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
            return subprocess.Popen(
                command,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                creationflags=flags,
                close_fds=False,
            ).pid
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    return os.posix_spawn(
        command[0],
        command,
        dict(env),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, flags, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )


def _reap(pid: int) -> None:
    if sys.platform != "win32":
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            pass


# -- pumping ------------------------------------------------------------------------------------------


def pump(peer: _socket.socket) -> bool:
    """Carry bytes between stdio and the engine; True when the editor ended it.

    What can go out at once does; neither side can block the other, since each direction has a
    bounded buffer of its own.
    """
    peer.setblocking(False)
    _unblock_output()
    engine = peer.fileno()
    to_engine, to_editor = bytearray(), bytearray()
    reads_editor, reads_engine = True, True
    poll = select.poll()
    masks = dict.fromkeys((0, 1, engine), 0)
    while reads_engine or to_editor:
        for fd, is_wanted, has_output in (
            (0, reads_editor and len(to_engine) < _ROOM, False),
            (engine, reads_engine and len(to_editor) < _ROOM, bool(to_engine)),
            (1, False, bool(to_editor)),
        ):
            mask = (select.POLLIN if is_wanted else 0) | (select.POLLOUT if has_output else 0)
            if mask != masks[fd]:
                masks[fd] = mask
                if mask:
                    poll.register(fd, mask)
                else:
                    poll.unregister(fd)
        for fd, event in poll.poll():
            if fd == 0:
                data = os.read(0, _CHUNK)
                to_engine += data
                reads_editor = bool(data)
            elif fd == 1 and event & (select.POLLERR | select.POLLHUP):
                return True
            elif fd == engine and event & (select.POLLIN | select.POLLHUP | select.POLLERR):
                try:
                    data = peer.recv(_CHUNK)
                except BlockingIOError:
                    continue
                except OSError:
                    data = b""
                to_editor += data
                reads_engine = bool(data)
        _send(peer, to_engine)
        _print(to_editor)
        if not (to_engine or reads_editor):
            _end_writing(peer)
    return not reads_editor


def _unblock_output() -> None:
    """Let writing to the editor fail instead of wait, where the pipe's end is ours alone."""
    kind = os.fstat(1).st_mode & 0o170000
    if kind in (0o010000, 0o140000):  # a pipe, a socket
        os.set_blocking(1, False)


def _send(peer: _socket.socket, data: bytearray) -> None:
    while data:
        try:
            del data[: peer.send(data)]
        except BlockingIOError:
            return
        except OSError:
            data.clear()


def _print(data: bytearray) -> None:
    while data:
        try:
            del data[: os.write(1, data)]
        except BlockingIOError:
            return


def _end_writing(peer: _socket.socket) -> None:
    try:
        peer.shutdown(_socket.SHUT_WR)
    except OSError:
        pass


def main() -> int:
    """Relay stdio to the engine until one side ends."""
    try:
        peer = connect(os.environ)
        return 0 if pump(peer) else 1
    except Unreachable as error:
        sys.stderr.write(f"kova-ls: {error}\n")
        return 1
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
