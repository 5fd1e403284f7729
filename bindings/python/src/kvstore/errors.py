"""The exceptions, one class for each decision that a caller can take.

Every exception is a :class:`KVError`. Where Python has an exception for the same thing, the class
derives from that too: a :class:`NotFoundError` is a ``KeyError``, an :class:`InvalidError` is a
``ValueError``, a :class:`NetworkError` is a ``ConnectionError``, and so on.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from ._json import from_json


class KVError(Exception):
    """The base of all errors of this package. Members that do not apply are None."""

    #: The number and the name of the status, such as 23 and "KV_SERVER".
    status: int
    name: str
    #: One sentence in English.
    message: str
    #: The HTTP status code of the backend's answer, and the texts of the error in it.
    http: int | None
    error: str | None
    description: str | None
    debug: str | None
    #: The header X-Kinvey-Request-Id, for the backend's support.
    request_id: str | None
    #: The index in the input of a call that takes many.
    index: int | None
    #: The id of the entity concerned, and the operation that failed.
    id: str | None
    operation: str | None
    #: The byte offset of the fault in a text that could not be parsed.
    position: int | None
    #: The error code of SQLite or libcurl.
    code: int | None

    def __init__(self, details: Mapping[str, Any]) -> None:
        self.details = dict(details)
        self.status = details.get("status", 90)
        self.name = details.get("name", f"status {self.status}")
        self.message = details.get("message", "")
        self.http = details.get("http")
        self.error = details.get("error")
        self.description = details.get("description")
        self.debug = details.get("debug")
        self.request_id = details.get("requestId")
        self.index = details.get("index")
        self.id = details.get("id")
        self.operation = details.get("operation")
        self.position = details.get("position")
        self.code = details.get("code")
        super().__init__(self.details)

    def __str__(self) -> str:
        """Return the message, what it is about, and what else the backend said."""
        facts = {
            "HTTP {}": self.http,
            "id {!r}": self.id,
            "index {}": self.index,
            "at byte {}": self.position,
        }
        parts = [words.format(fact) for words, fact in facts.items() if fact is not None]
        where = ", ".join([self.name, *parts])
        stop = "." if self.message.endswith(".") else ""
        text = f"{self.message.removesuffix('.')} ({where}){stop}" if self.message else where
        for said in (self.description, self.debug):
            if said and said not in self.message:
                text = _joined(text, said)
        return text

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


def _joined(text: str, said: str) -> str:
    """Add what else was said: a sentence after a sentence, anything else after a colon."""
    if said[0].islower():
        return f"{text.removesuffix('.')}: {said}"
    return f"{text} {said}" if text.endswith((".", "!", "?")) else f"{text}: {said}"


class MisuseError(KVError, RuntimeError):
    """The client, store, cursor or request was closed, or was inherited through fork()."""


class InvalidError(KVError, ValueError):
    """An argument is not valid, such as malformed JSON, an unknown option or an empty id."""


class NotFoundError(KVError, KeyError):
    """There is no such entity, user or collection."""


class ConflictError(KVError):
    """The entity exists already, there is a newer version of it, or a condition does not hold."""


class NoUserError(KVError):
    """No user is logged in."""


class UnauthorizedError(KVError):
    """The credentials are wrong, or the session has ended. Pending writes are kept."""


class ForbiddenError(KVError, PermissionError):
    """The user may not do this."""


class PendingError(KVError):
    """Pending writes must be pushed or purged first."""


class UnsupportedError(KVError):
    """The type of store, or the backend, does not support the operation."""


class NetworkError(KVError, ConnectionError):
    """The backend did not answer: no network, or the connection was refused or lost."""


class TimeoutError(KVError, builtins.TimeoutError):
    """The operation did not finish within its timeout."""


class CancelledError(KVError):
    """The operation was cancelled, or its client was closed."""


class ServerError(KVError):
    """The backend answered with an error that no other class names."""


class ProtocolError(KVError):
    """The backend's answer is not valid."""


class TooLargeError(KVError):
    """A body exceeds a limit of the client or of the backend."""


class StorageError(KVError):
    """The local database failed, or the system has no memory, thread or descriptor left."""


class CorruptError(StorageError):
    """The data file is damaged, or is not a file of this library. It was left untouched."""


class FullError(StorageError):
    """The disk is full."""


class BusyError(StorageError):
    """Another process has locked the local database for too long."""


class WrongKeyError(StorageError):
    """The data is encrypted with another key, or is not encrypted though a key was given."""


class InternalError(KVError):
    """The library has a defect. Please report it."""


class CertificateError(KVError):
    """The backend's certificate is not trusted, or the file of `ca_file` cannot be read."""


_CLASSES: dict[int, type[KVError]] = {
    10: MisuseError,
    11: InvalidError,
    12: NotFoundError,
    13: ConflictError,
    14: NoUserError,
    15: UnauthorizedError,
    16: ForbiddenError,
    17: PendingError,
    18: UnsupportedError,
    20: NetworkError,
    21: TimeoutError,
    22: CancelledError,
    23: ServerError,
    24: ProtocolError,
    25: TooLargeError,
    30: StorageError,
    31: CorruptError,
    32: FullError,
    33: BusyError,
    34: WrongKeyError,
    26: CertificateError,
    90: InternalError,
}


def error_from_json(details: bytes | Mapping[str, Any], status: int = 90) -> KVError:
    """Build the exception that an error's JSON describes; `status` is used if the JSON has none."""
    members = from_json(details) if isinstance(details, bytes) else details
    members = {"status": status, **members}
    return _CLASSES.get(members["status"], KVError)(members)


def invalid(message: str) -> InvalidError:
    """Build the error for an argument that is refused before the library sees it."""
    return InvalidError({"status": 11, "name": "KV_INVALID", "message": message})
