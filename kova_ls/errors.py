"""The few exceptions that someone catches by name.

KovaError
├── RequestFailed      an editor's request cannot be done; `code` is a word of protocol/failures.py
├── SettingsError      config.toml says something that cannot be used
├── JournalCorrupt     a journal is damaged before its last record
├── IllegalTransition  a record that the session's state does not allow
├── AdapterFailure     a model call failed; carries what a person can do about it
└── DaemonUnavailable  the engine could not be reached or started
"""

from typing import Any


class KovaError(Exception):
    """Base: `code` for programs, `message` for people, ending with what to do."""

    def __init__(self, code: str, message: str, **data: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class RequestFailed(KovaError):
    """An editor asked for something that cannot be done."""


class SettingsError(KovaError):
    """A setting that cannot be used."""

    def __init__(self, message: str) -> None:
        super().__init__("badSettings", message)


class JournalCorrupt(KovaError):
    """A journal is damaged before its last record."""

    def __init__(self, message: str) -> None:
        super().__init__("journalDamaged", message)


class IllegalTransition(KovaError):
    """A record that the state does not allow: our own fault, with the story that led to it."""

    def __init__(self, message: str, **story: Any) -> None:
        super().__init__("internal", message, **story)


class AdapterFailure(KovaError):
    """A model call that gave no answer; `retryable` says whether the same call may succeed later."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(code, message, status=status)
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.status = status


class DaemonUnavailable(KovaError):
    """The engine could not be reached or started."""

    def __init__(self, message: str) -> None:
        super().__init__("daemonUnavailable", message)
