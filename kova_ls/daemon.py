"""The engine's process: lock, listen, one endpoint per connection, idle exit, signals.

Listening comes first, the heavy imports after the first `initialize` is answered.
Invariant: a descendant of this process never becomes a client: the agent's shell cannot answer
its own cards.
"""

import asyncio
import contextlib
import ctypes
import gc
import hmac
import json
import logging
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, cast

from kova_ls import paths, relay
from kova_ls.ancestry import descends
from kova_ls.endpoint.hub import Hub
from kova_ls.endpoint.server import EditorEndpoint

if TYPE_CHECKING:
    from kova_ls.engine import Engine

_log = logging.getLogger(__name__)
_MAX_HELLO_BYTES = 4 * 1024 * 1024
_HELLO_S = 10.0
_PR_SET_CHILD_SUBREAPER = 36
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_REUSED_BYTES = 32 * 1024 * 1024
_KEPT_BYTES = 8 * 1024 * 1024
"""At most so much is kept that nothing is in."""
_DEFAULT_IDLE_S = 600.0
_LISTENS_S = 5.0


class Daemon:
    """One engine process."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self._stopped = asyncio.Event()
        self._idle: asyncio.TimerHandle | None = None
        self._path: str | None = None
        """Of the socket."""
        self._inode = 0
        self._relisten: asyncio.Future[None] | None = None
        self._server: asyncio.Server | None = None
        self._is_superseded = False
        """Another engine waits for sessions of this one."""
        self._engine: Engine | None = None
        self.hub = Hub(
            self._load, stop=self.stop, on_change=self._changed, kova_home=paths.home(env)
        )

    def _load(self) -> "Engine":
        from kova_ls.engine import Engine
        from kova_ls.engine.ahead import load_ahead

        with contextlib.suppress(OSError):
            paths.private_folder(paths.data_dir(self.env))
        self._engine = engine = Engine(
            kova_home=Path(paths.home(self.env)),
            data_dir=Path(paths.data_dir(self.env)),
            runtime_dir=Path(paths.runtime_dir(self.env)),
            env=self.env,
        )
        engine.on_rival = ask_to_yield
        engine.recover()
        engine.spawn(engine.models.look_around(), name="look around")
        engine.spawn(load_ahead(engine), name="load ahead")
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        return engine

    def stop(self) -> None:
        """End soon; answers already given still go out."""
        asyncio.get_running_loop().call_later(0.05, self._stopped.set)

    def _changed(self) -> None:
        """Start or stop the idle clock."""
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        engine = self._engine
        if self._is_superseded and not self.hub.endpoints:
            if engine is not None:
                engine.is_ending = True
            # A turn that waits for a person goes on waiting in the other engine.
            if engine is None or all(s.state.is_waiting for s in engine.running):
                self.stop()
            return
        if self.hub.endpoints or (engine is not None and engine.running):
            return
        idle_s = engine.settings.idle_exit_s if engine is not None else _DEFAULT_IDLE_S
        self._idle = asyncio.get_running_loop().call_later(idle_s, self._stopped.set)

    def yield_to_another(self) -> None:
        """Give another engine what it waits for; end as soon as no editor needs this one."""
        self._is_superseded = True
        if self._engine is not None:
            self._engine.release_idle()
        self._changed()

    def _listen_again(self) -> None:
        """Come back when somebody removed the socket."""
        if self._path is not None and not os.path.lexists(self._path):
            self._relisten = asyncio.ensure_future(self._listen(self._path))

    async def _listen(self, path: str) -> None:
        if self._server is not None:
            self._server.close()
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(lambda: _Greeting(self, ""), path)
        os.chmod(path, 0o600)
        self._path, self._inode = path, os.lstat(path).st_ino

    def _unlink(self, place: str) -> None:
        """Remove what tells where this engine listens, unless another one took the place."""
        with contextlib.suppress(OSError):
            if self._path is None or os.lstat(place).st_ino == self._inode:
                os.unlink(place)

    async def finish(self) -> None:
        """Let running turns come to their end, or to a card, then close."""
        engine = self._engine
        if engine is None:
            return
        engine.is_ending = True
        while tasks := [s.turn for s in engine.running if s.turn and not s.state.is_waiting]:
            await asyncio.wait(tasks, timeout=1.0)
        await engine.close()

    async def serve(self, path: str, announce: int | None) -> None:
        """Listen until stopped."""
        loop = asyncio.get_running_loop()
        for sign in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(sign, self._stopped.set)
        secret = token_hex(32)
        if relay.uses_tcp(self.env):
            self._server = await loop.create_server(lambda: _Greeting(self, secret), "127.0.0.1", 0)
            port = self._server.sockets[0].getsockname()[1]
            place = relay.port_file(path)
            fd = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.write(fd, f"{port} {secret}\n".encode())
            os.close(fd)
        else:
            place = path
            await self._listen(path)
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(signal.SIGURG, self._listen_again)
                loop.add_signal_handler(signal.SIGWINCH, self.yield_to_another)
        if announce is not None:
            os.write(announce, b"1")
            os.close(announce)
        loop.call_later(1.0, lambda: self.hub.engine)
        self._changed()
        try:
            await self._stopped.wait()
        finally:
            if self._server is not None:
                self._server.close()
            self._unlink(place)
            for endpoint in list(self.hub.endpoints):
                endpoint.close()
            if self._engine is not None:
                await self._engine.close()


def ask_to_yield(pid: int | None) -> None:
    """Ask another engine for the sessions that it does not use."""
    _tell(pid, "SIGWINCH")


def _tell(pid: int | None, sign: str) -> None:
    # Both signals used are ignored by whoever does not know them: a wrong process is not harmed.
    number = getattr(signal, sign, None)
    if pid is not None and pid > 1 and number is not None:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


class _Greeting(asyncio.Protocol):
    """Reads the hello line, refuses who may not come in, then hands over to an endpoint."""

    def __init__(self, daemon: Daemon, secret: str) -> None:
        self._daemon = daemon
        self._secret = secret
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("socket")
        if not self._secret and is_own(peer_pid(peer)):
            _log.warning("a program started by the agent tried to connect and was refused")
            transport.abort()  # type: ignore[attr-defined]
            return
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_HELLO_S, self._transport.abort)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        stop = self._buffer.find(b"\n")
        assert self._transport is not None
        if stop < 0:
            if len(self._buffer) > _MAX_HELLO_BYTES:
                self._transport.abort()
            return
        if self._timer is not None:
            self._timer.cancel()
        try:
            hello: Any = json.loads(bytes(self._buffer[:stop]))
            env = {str(name): str(value) for name, value in hello["env"].items()}
            secret = str(hello.get("secret") or "")
        except (ValueError, KeyError, TypeError, AttributeError):
            self._transport.abort()
            return
        if not hmac.compare_digest(secret.encode(), self._secret.encode()):
            self._transport.abort()
            return
        endpoint = EditorEndpoint(self._daemon.hub, env)
        self._transport.set_protocol(endpoint)
        endpoint.connection_made(self._transport)
        rest = bytes(self._buffer[stop + 1 :])
        if rest:
            endpoint.data_received(rest)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._timer is not None:
            self._timer.cancel()


def peer_pid(peer: Any) -> int | None:
    """Return the process at the other end of a Unix socket, where the system tells."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    try:
        raw = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    except OSError:
        return None
    return struct.unpack("3i", raw)[0]


def is_own(pid: int | None) -> bool:
    """Say whether a process is this one, or was started by it as far as one knows."""
    own = os.getpid()
    return pid == own or (pid is not None and descends(pid, {own}) is not False)


def _adopt_orphans() -> None:
    """Become the parent of what the agent's shells leave behind, so that it stays known as ours."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _hurry() -> None:
    """Spare the start what it does not need."""
    # Importing leaves no garbage behind, and looking for it takes a sixth of the time.
    gc.disable()
    # No plugin of someone else's has a say in what is valid; looking for them reads every package.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"


def reuse_memory() -> None:
    """Make large values where earlier ones stood, a long session's next request above all.

    Each is a little larger than the last, and so glibc would fetch fresh pages for each: that
    costs several times as much as filling them.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            libc = ctypes.CDLL(None)
            libc.mallopt(_M_MMAP_THRESHOLD, _REUSED_BYTES)
            libc.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def _set_up_log() -> None:
    logging.basicConfig(
        level=logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )


def _take_lock(path: str) -> int | None:
    """Return the lock's descriptor, or None when another engine holds it."""
    fd = os.open(path + ".lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        import fcntl
    except ImportError:
        return fd
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(fd)
        return None
    os.ftruncate(fd, 0)
    os.pwrite(fd, b"%d" % os.getpid(), 0)
    return fd


def _wait_for(path: str) -> None:
    """Wait until the engine that holds the lock listens; its socket may have been removed."""
    try:
        with open(path + ".lock", encoding="ascii") as file:
            pid = int(file.read())
    except (OSError, ValueError):
        return
    if not os.path.lexists(path):
        _tell(pid, "SIGURG")
    until = time.monotonic() + _LISTENS_S
    while not os.path.lexists(path) and time.monotonic() < until:
        time.sleep(0.01)


def main(argv: list[str]) -> int:
    """Run the engine until it is idle or told to end; `argv` is empty."""
    del argv
    env = dict(os.environ)
    announce_text = env.pop("KOVA_READY_FD", "")
    os.environ.pop("KOVA_READY_FD", None)
    announce = int(announce_text) if announce_text.isdigit() else None
    if announce is not None:
        os.set_inheritable(announce, False)
    _set_up_log()
    _hurry()
    path = paths.socket_path(env, paths.build_id())
    try:
        paths.private_folder(os.path.dirname(path))
        lock = _take_lock(path)
    except OSError as error:
        sys.stderr.write(f"kova-ls engine: {error}\n")
        return 1
    if lock is None:
        _wait_for(path)
        sys.stderr.write("kova-ls engine: another one is running\n")
        return 0
    os.chdir("/")  # noqa: TID251 - hold no folder of whoever started it
    _adopt_orphans()
    reuse_memory()
    asyncio.run(_serve(env, path, announce))
    return 0


async def _serve(env: Mapping[str, str], path: str, announce: int | None) -> None:
    await Daemon(env).serve(path, announce)


def main_attached(argv: list[str]) -> int:
    """Run engine and endpoint in one process on stdio, for hosts that kill detached processes."""
    del argv
    env = dict(os.environ)
    _set_up_log()
    _hurry()
    _adopt_orphans()
    reuse_memory()
    asyncio.run(_serve_stdio(env))
    return 0


async def _serve_stdio(env: Mapping[str, str]) -> None:
    daemon = Daemon(env)
    loop = asyncio.get_running_loop()
    endpoint = EditorEndpoint(daemon.hub, env)
    output, _ = await loop.connect_write_pipe(asyncio.Protocol, os.fdopen(os.dup(1), "wb", 0))
    ended = asyncio.Event()

    class Input(asyncio.Protocol):
        def data_received(self, data: bytes) -> None:
            endpoint.data_received(data)

        def connection_lost(self, exc: Exception | None) -> None:
            endpoint.connection_lost(exc)
            ended.set()

    endpoint.connection_made(output)
    source, _ = await loop.connect_read_pipe(Input, os.fdopen(os.dup(0), "rb", 0))
    while not ended.is_set() and not output.is_closing():
        await asyncio.wait([asyncio.ensure_future(ended.wait())], timeout=1.0)
    source.close()
    await daemon.finish()
