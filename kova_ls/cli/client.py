"""A client of the protocol over the engine's socket, in one thread.

Invariant: requests are answered in any order; what the engine tells meanwhile waits in `inbox`.
Invariant: a request of the engine is always answered, by a refusal when it asks for an editor.
"""

import json
import os
import select
import socket
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kova_ls.errors import DaemonUnavailable, KovaError
from kova_ls.l10n import Language

Message = dict[str, Any]


class Refused(KovaError):
    """The engine answered a request with an error."""


@dataclass(slots=True)
class Client:
    """One attached editor: the terminal."""

    sock: socket.socket
    inbox: deque[Message] = field(default_factory=deque[Message])
    """Notifications not yet handled, in order."""
    _buffer: bytearray = field(default_factory=bytearray)
    _answers: dict[int, Message] = field(default_factory=dict[int, Message])
    _last_id: int = 0

    def fileno(self) -> int:
        """Return the fd to wait for."""
        return self.sock.fileno()

    def close(self) -> None:
        """Detach; what runs goes on."""
        self.sock.close()

    def initialize(
        self,
        *,
        folder_uri: str | None,
        folder_name: str,
        trusted: bool,
        name: str,
        version: str,
        language: Language = Language.ENGLISH,
    ) -> Message:
        """Shake hands and return the `kova` part of the answer."""
        folders = [{"uri": folder_uri, "name": folder_name}] if folder_uri else []
        kova = {
            "versions": [1],
            "client": {"id": f"{name}-{os.getpid()}", "name": name, "version": version},
            "trusted": trusted,
            "capabilities": {
                "events": {"maxLatencyMs": 0},
                "approvals": {},
                "questions": {},
                "panels": {"kinds": ["markdown", "plan", "file"]},
            },
        }
        answer = self.request(
            "initialize",
            {
                "processId": os.getpid(),
                "locale": language.value,
                "clientInfo": {"name": name, "version": version},
                "rootUri": folder_uri,
                "workspaceFolders": folders,
                "capabilities": {"workspace": {"workspaceFolders": True}},
                "initializationOptions": {"kova": kova},
            },
        )
        self.notify("initialized", {})
        found: Message = answer.get("capabilities", {}).get("experimental", {}).get("kova", {})
        return found

    def request(self, method: str, params: Message) -> Message:
        """Ask, and wait for the answer; what is told meanwhile goes to `inbox`.

        Raises: Refused with the engine's message; DaemonUnavailable when it is gone.
        """
        number = self.send(method, params)
        while (answer := self.answer(number)) is None:
            self.pump()
        return answer

    def send(self, method: str, params: Message) -> int:
        """Ask without waiting; `answer` has the answer later."""
        self._last_id += 1
        self._write({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        return self._last_id

    def answer(self, number: int) -> Message | None:
        """Return the answer to a request once it is there.

        Raises: Refused with the engine's message.
        """
        message = self._answers.pop(number, None)
        if message is None:
            return None
        error = message.get("error")
        if error is not None:
            data: Message = error.get("data") or {}
            raise Refused(str(data.get("code", "internal")), str(error.get("message", error)))
        return message.get("result") or {}

    def notify(self, method: str, params: Message) -> None:
        """Tell, without an answer."""
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def wait(self, others: Sequence[int] = (), timeout_s: float | None = None) -> list[int]:
        """Wait until something came in or one of the other fds is readable; return those.

        Raises: DaemonUnavailable when the engine is gone.
        """
        if self.inbox:
            timeout_s = 0
        ready: list[int] = select.select([self.sock.fileno(), *others], [], [], timeout_s)[0]
        if self.sock.fileno() in ready:
            self.pump()
        return [fd for fd in others if fd in ready]

    def pump(self) -> None:
        """Read what is there and sort it.

        Raises: DaemonUnavailable when the engine is gone.
        """
        try:
            data = self.sock.recv(262_144)
        except OSError as error:
            raise DaemonUnavailable(f"The engine is gone: {error}. {_GO_ON}") from error
        if not data:
            raise DaemonUnavailable(f"The engine has ended. {_GO_ON}")
        self._buffer += data
        while (message := self._frame()) is not None:
            self._sort(message)

    def _frame(self) -> Message | None:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        length = 0
        for line in bytes(self._buffer[:end]).split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                length = int(value)
        stop = end + 4 + length
        if len(self._buffer) < stop:
            return None
        body = bytes(self._buffer[end + 4 : stop])
        del self._buffer[:stop]
        return json.loads(body)

    def _sort(self, message: Message) -> None:
        if "method" not in message:
            self._answers[message.get("id", 0)] = message
        elif "id" in message:
            self._write({"jsonrpc": "2.0", "id": message["id"], **_reply_to(message["method"])})
        else:
            self.inbox.append(message)

    def _write(self, message: Message) -> None:
        body = json.dumps(message, separators=(",", ":")).encode()
        try:
            self.sock.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        except OSError as error:
            raise DaemonUnavailable(f"The engine is gone: {error}. {_GO_ON}") from error


Connect = Callable[[Mapping[str, str]], socket.socket]
Find = Callable[[Mapping[str, str]], socket.socket | None]
FindOthers = Callable[[Mapping[str, str]], Iterator[socket.socket]]


def connect(env: Mapping[str, str]) -> socket.socket:
    """Reach the engine, starting it when none runs. Raises: DaemonUnavailable."""
    from kova_ls import relay

    try:
        return socket.socket(fileno=relay.connect(env).detach())
    except relay.Unreachable as error:
        raise DaemonUnavailable(str(error)) from error


def find(env: Mapping[str, str]) -> socket.socket | None:
    """Reach the engine only when it runs."""
    from kova_ls import relay

    try:
        return socket.socket(fileno=relay.connect(env, may_start=False).detach())
    except relay.Unreachable:
        return None


def find_others(env: Mapping[str, str]) -> Iterator[socket.socket]:
    """Reach the engines of other builds that run on the same folders, one after the other.

    One that hangs ends the wait for it: what it does not say in time counts as gone.
    """
    from kova_ls import paths, relay

    for build in paths.other_builds(env):
        try:
            sock = socket.socket(fileno=relay.connect(env, may_start=False, build=build).detach())
        except (relay.Unreachable, OSError):
            continue  # its socket was left behind
        sock.settimeout(_OTHERS_ANSWER_S)
        yield sock


_OTHERS_ANSWER_S = 5.0
_GO_ON = "Run `kova-ls run --continue` to go on; nothing announced is lost."
_REPLIES: dict[str, Message] = {
    "client/registerCapability": {"result": None},
    "client/unregisterCapability": {"result": None},
    "window/workDoneProgress/create": {"result": None},
    "window/showDocument": {"result": {"success": False}},
    "workspace/applyEdit": {
        "result": {"applied": False, "failureReason": "a terminal has no open documents"}
    },
}


def _reply_to(method: str) -> Message:
    refusal: Message = {"error": {"code": -32601, "message": f"A terminal cannot do {method!r}."}}
    return _REPLIES.get(method, refusal)
