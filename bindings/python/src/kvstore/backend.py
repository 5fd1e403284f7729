"""Backends of a program's own, for what the library does not know: classes with a few methods.

>>> import kvstore
>>> class Shelf(Backend):
...     def __init__(self) -> None:
...         self.records: dict[str, Record] = {}
...
...     def fetch(self, request: Fetch) -> Page:
...         return Page(list(self.records.values()))
...
...     def fetch_ids(self, collection: str, ids: Sequence[Any]) -> Iterable[Record]:
...         return [self.records[id] for id in ids if id in self.records]
...
...     def write(self, collection: str, writes: Sequence[Write]) -> Iterable[Result]:
...         return [self.carry_out(write) for write in writes]
...
...     def carry_out(self, write: Write) -> Result:
...         if write.record is None:
...             return Deleted(self.records.pop(write.id, None) is not None)
...         self.records[write.id] = write.record
...         return Stored(write.record)
>>> with (
...     register_backend("shelf", Shelf()),
...     kvstore.Client(app_key="kid", backend="shelf", data_directory=directory) as client,
... ):
...     notes = client.collection("notes")
...     saved = notes.save({"_id": "a", "text": "milk"})
...     notes.push().pushed
1

``docs/backends.md`` describes what each method is asked and answers.
"""

from __future__ import annotations

import ctypes
import inspect
import threading
from abc import ABC, abstractmethod
from asyncio import AbstractEventLoop, run_coroutine_threadsafe
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal, final

from . import _abi, _native
from ._callbacks import FREE_POINTER, look_up, remember, report
from ._closing import Closing
from ._json import from_json
from ._options import to_json, to_text
from .errors import KVError

Record = dict[str, Any]

_register = _native.function("kv_backend_register")
_unregister = _native.function("kv_backend_unregister")
_complete = _native.function("kv_backend_complete")


class Unconditional(Enum):
    """The condition of a write that has none."""

    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Integer:
    """A member, or the path of one inside objects, that holds integers."""

    path: str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Ordered:
    """A version that is a text, and of which the greater is the later one."""

    path: str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Fetch:
    """A page that is asked for."""

    collection: str
    page_size: int
    #: What the page before gave as ``next``; None: the first page.
    after: Any = None
    #: What does not match may be left out; a backend with ``queries`` must leave it out.
    filter: Mapping[str, Any] | None = None
    #: For backends with ``queries``.
    sort: Mapping[str, Any] | None = None
    skip: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some records of a collection."""

    records: Iterable[Record]
    #: Asks for the page behind this one; any JSON value. None: this is the last one.
    next: Any = None
    #: Of a first page: the state of the collection before it was read, for ``changes``.
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Upsert:
    """A record that was made or changed."""

    record: Record


@dataclass(frozen=True, slots=True)
class Delete:
    """A record that has gone."""

    id: Any
    #: What a record is that has gone, where the backend has versions of these.
    version: Any = None


@dataclass(frozen=True, slots=True)
class ChangedPage:
    """What has happened to a collection, in its order."""

    changes: Iterable[Upsert | Delete]
    #: What to ask from the next time.
    token: str
    #: There is more behind the token.
    more: bool = False


@dataclass(frozen=True, slots=True)
class LivePage:
    """What has happened to some collections since they were asked for last."""

    #: Names of collections, and what happened in them, in its order.
    changes: Iterable[tuple[str, Upsert | Delete]]
    #: Where to go on from; any JSON value but None.
    next: Any
    #: Something that happened before is not among the changes.
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a batch."""

    operation: Literal["create", "update", "delete"]
    id: Any
    #: None for a deletion.
    record: Record | None
    #: The version that must be there; None: no such record may be there.
    condition: Any = Unconditional.ALWAYS

    def may_replace(self, version: Any) -> bool:
        """Tell whether the write may be carried out where this version is; None: no such record.

        A record that is to be created must not be there, whatever the condition.
        """
        if self.operation == "create":
            return version is None
        return self.condition is Unconditional.ALWAYS or bool(self.condition == version)


@dataclass(frozen=True, slots=True)
class Stored:
    """The write was carried out; the record as it is now."""

    record: Record


@dataclass(frozen=True, slots=True)
class Deleted:
    """The record is gone."""

    existed: bool = True


@dataclass(frozen=True, slots=True)
class Conflicting:
    """What is there does not meet the condition, or is there although it was to be created."""

    #: None: nothing is there.
    record: Record | None


@dataclass(frozen=True, slots=True)
class Refused:
    """The write is refused for good."""

    message: str
    #: ``KV_INVALID``, ``KV_NOT_FOUND`` (12), ``KV_FORBIDDEN`` (16) or ``KV_TOO_LARGE`` (25).
    status: int = 11


@dataclass(frozen=True, slots=True)
class Later:
    """Not now."""

    message: str
    #: Seconds.
    after: float | None = None


Result = Stored | Deleted | Conflicting | Refused | Later


class Backend(ABC):
    """What clients synchronise with.

    The methods run on threads of the library, ``requests_at_once`` of them at the same time; each
    may take as long as it likes. One may also give a :class:`concurrent.futures.Future` of what it
    would give, or be an ``async def`` if the backend is registered with a loop: those are cancelled
    when nobody waits for them any more. A method that does the work itself can look at
    :func:`is_cancelled`.

    What a method raises is how the request fails. ``ConnectionError`` and ``TimeoutError`` are "no
    answer", ``PermissionError`` is "forbidden", a :class:`kvstore.KVError` is itself. Everything
    else is taken for a defect of the backend: ``sys.unraisablehook`` gets it, and the client is
    told ``KV_SERVER``. No write is lost by any of them.
    """

    #: The member that records are known by, a text unless it is an :class:`Integer`; several of
    #: them if only together they tell one record from another.
    id: str | Integer | Sequence[str | Integer] = "_id"
    #: The member, or its path, that is another one after each change of a record: a text of which
    #: nothing is known, an :class:`Integer` that grows, or an :class:`Ordered` text. None: there is
    #: none, and what others have changed in the meantime is overwritten.
    version: str | Sequence[str] | Integer | Ordered | None = None
    #: Members that are the backend's, and no content.
    backend_members: Sequence[str] = ()
    #: The member that says who may do what, and the one in it that names who made the record.
    permissions: str | None = None
    creator: str | None = None
    #: Whether ``fetch`` evaluates filter, order, skip and limit; else the library does.
    queries: bool = False
    #: Whether ``write`` keeps conditions; else the library looks first.
    conditions: bool = True
    page_size: int = 1000
    ids_per_request: int = 100
    writes_per_request: int = 100
    requests_at_once: int = 4
    max_answer_bytes: int = 100 << 20

    @abstractmethod
    def fetch(self, request: Fetch) -> Any:
        """Give a :class:`Page` of a collection."""

    @abstractmethod
    def fetch_ids(self, collection: str, ids: Sequence[Any]) -> Any:
        """Give the records of these ids that there are, in any order."""

    def changes(self, collection: str, since: str) -> Any:
        """Give a :class:`ChangedPage`, or None if the token is too old or of other data.

        Without this method everything is read each time.
        """
        raise NotImplementedError

    def live(self, collections: Sequence[str], after: Any) -> Any:
        """Wait until something happens to a collection; give a :class:`LivePage`.

        `after` is what the last one gave as ``next``; None asks for the present place, at once and
        without changes. After some minutes without a change give an empty page. Without this method
        live data is unsupported.
        """
        raise NotImplementedError

    @abstractmethod
    def write(self, collection: str, writes: Sequence[Write]) -> Any:
        """Carry out writes; give a :class:`Result` for each, in their order."""


class _ThisThread(threading.local):
    """The request that the running thread carries out."""

    request: int | None = None
    host: _Host | None = None


_this_thread: Final = _ThisThread()


def is_cancelled() -> bool:
    """Tell whether nobody waits any more for the request that this thread carries out."""
    host, request = _this_thread.host, _this_thread.request
    return host is not None and request is not None and host.has_cancelled(request)


@final
class _Host:
    """A backend as the library calls it: requests come as numbers and JSON."""

    def __init__(self, backend: Backend, loop: AbstractEventLoop | None) -> None:
        self._backend = backend
        self._loop = loop
        self._lock = threading.Lock()
        #: Requests under way; None while the method that carries it out runs.
        self._futures: dict[int, Future[Any] | None] = {}
        self._cancelled: set[int] = set()
        self.token = remember(self)

    def carry_out(self, operation: str, request: int, text: bytes) -> None:
        """Begin a request; it is completed here or by a future."""
        with self._lock:
            self._futures[request] = None
        before = _this_thread.host, _this_thread.request
        _this_thread.host, _this_thread.request = self, request
        try:
            given = _OPERATIONS[operation](self._backend, from_json(text))
            if inspect.iscoroutine(given):
                given = self._scheduled(given)
            if isinstance(given, Future):
                self._wait_for(given, operation, request)
            else:
                self._succeed(operation, request, given)
        except BaseException as error:
            self._fail(request, error)
        finally:
            _this_thread.host, _this_thread.request = before

    def _scheduled(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        if self._loop is None:
            coroutine.close()
            raise TypeError("an async backend is registered with a loop")
        return run_coroutine_threadsafe(coroutine, self._loop)

    def _wait_for(self, future: Future[Any], operation: str, request: int) -> None:
        with self._lock:
            self._futures[request] = future
            cancelled = request in self._cancelled
        if cancelled:
            future.cancel()

        def done(future: Future[Any]) -> None:
            try:
                self._succeed(operation, request, future.result())
            except BaseException as error:
                self._fail(request, error)

        future.add_done_callback(done)

    def _succeed(self, operation: str, request: int, given: Any) -> None:
        try:
            text = to_json(_ANSWERS[operation](given))
        except KVError as error:
            # What a backend gives and JSON has not is its defect, not a refusal of what was asked.
            raise TypeError(str(error)) from error
        self._end(request, _abi.KV_OK, text)

    def _fail(self, request: int, error: BaseException) -> None:
        if isinstance(error, CancelledError):
            self._end(request, _abi.KV_TIMEOUT, b'{"message":"the backend gave up"}')
            return
        status = _status_of(error)
        if status is None:
            report(error, self._backend)
            status = _abi.KV_SERVER
        told = f"{type(error).__name__}: {error}"
        text = to_json({"message": told.encode(errors="replace").decode()})
        self._end(request, status, text)

    def _end(self, request: int, status: int, text: bytes) -> None:
        with self._lock:
            self._futures.pop(request, None)
            self._cancelled.discard(request)
        # No error is asked for: it would be open for a moment after the client was closed.
        result = _complete(request, status, text, len(text), None)
        if result == _abi.KV_NOT_FOUND:
            return  # Nobody waits any more.
        try:
            _native.check(result)
        except KVError as error:
            report(error, self._backend)

    def cancel(self, request: int) -> None:
        """Nobody waits for a request any more."""
        with self._lock:
            if request not in self._futures:
                return
            self._cancelled.add(request)
            future = self._futures[request]
        if future is not None:
            future.cancel()

    def has_cancelled(self, request: int) -> bool:
        """Tell whether nobody waits for a request any more."""
        with self._lock:
            return request in self._cancelled

    def finish(self) -> None:
        """No call will follow."""


def _status_of(error: BaseException) -> int | None:
    """Give the status that an exception stands for; None: it is a defect."""
    match error:
        case KVError():
            return error.status
        case TimeoutError():
            return _abi.KV_TIMEOUT
        case ConnectionError():
            return _abi.KV_NETWORK
        case PermissionError():
            return _abi.KV_FORBIDDEN
    return None


def _fetch(backend: Backend, asked: dict[str, Any]) -> Any:
    return backend.fetch(
        Fetch(
            collection=asked["collection"],
            page_size=asked["pageSize"],
            after=asked.get("after"),
            filter=asked.get("filter"),
            sort=asked.get("sort"),
            skip=asked.get("skip", 0),
            limit=asked.get("limit"),
        )
    )


def _fetch_ids(backend: Backend, asked: dict[str, Any]) -> Any:
    return backend.fetch_ids(asked["collection"], asked["ids"])


def _changes(backend: Backend, asked: dict[str, Any]) -> Any:
    return backend.changes(asked["collection"], asked["since"])


def _live(backend: Backend, asked: dict[str, Any]) -> Any:
    return backend.live(asked["collections"], asked.get("after"))


def _write(backend: Backend, asked: dict[str, Any]) -> Any:
    writes = [
        Write(
            operation=write["op"],
            id=write["id"],
            record=write.get("record"),
            condition=write.get("if", Unconditional.ALWAYS),
        )
        for write in asked["writes"]
    ]
    return backend.write(asked["collection"], writes)


_OPERATIONS: Final[dict[str, Callable[[Backend, dict[str, Any]], Any]]] = {
    "fetch": _fetch,
    "fetch_ids": _fetch_ids,
    "changes": _changes,
    "live": _live,
    "write": _write,
}


def _page(given: Page) -> dict[str, Any]:
    return {"records": list(given.records), "next": given.next, "token": given.token}


def _records(given: Iterable[Record]) -> dict[str, Any]:
    return {"records": list(given)}


def _changed(given: ChangedPage | None) -> dict[str, Any]:
    if given is None:
        return {"unknown": True}
    changes = [_change(change) for change in given.changes]
    return {"changes": changes, "token": given.token, "more": given.more}


def _change(change: Upsert | Delete) -> dict[str, Any]:
    if isinstance(change, Upsert):
        return {"upsert": change.record}
    gone = {"delete": change.id}
    return gone if change.version is None else gone | {"version": change.version}


def _lived(given: LivePage) -> dict[str, Any]:
    changes = [{"collection": name} | _change(change) for name, change in given.changes]
    return {"changes": changes, "next": given.next, "incomplete": given.incomplete}


def _results(given: Iterable[Result]) -> dict[str, Any]:
    return {"results": [_result(result) for result in given]}


def _result(result: Result) -> dict[str, Any]:
    match result:
        case Stored(record):
            return {"stored": record}
        case Deleted(existed):
            return {"deleted": existed}
        case Conflicting(record):
            return {"conflict": record}
        case Refused(message, status):
            return {"refused": {"message": message, "status": status}}
        case Later(message, after):
            later: dict[str, Any] = {"message": message}
            return {"later": later if after is None else later | {"after": after}}
    raise TypeError(f"a {type(result).__name__} is no result of a write")


_ANSWERS: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    "fetch": _page,
    "fetch_ids": _records,
    "changes": _changed,
    "live": _lived,
    "write": _results,
}


class Registration(Closing):
    """A name under which clients are opened with a backend, until it is closed."""

    __slots__ = ("_is_closed", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._is_closed = False

    def close(self) -> None:
        """Take the name back: no client is opened with it any more; those that are open go on."""
        if not self._is_closed:
            self._is_closed = True
            _native.call(_unregister, to_text(self.name, "name"))

    def __repr__(self) -> str:
        return f"<kvstore.backend.Registration of {self.name!r}>"


def register_backend(
    name: str, backend: Backend, *, loop: AbstractEventLoop | None = None
) -> Registration:
    """Give a backend a name, for the option ``backend`` of clients.

    `loop` runs the methods that are ``async def``, on whatever thread it runs. The name is the
    backend's until ``close()`` or the end of a ``with``, or of the process. Clients that are open
    keep the backend alive.
    """
    if not isinstance(backend, Backend):
        raise TypeError(f"a {type(backend).__name__} is no kvstore.Backend")
    text = to_json(_description(backend))
    given = to_text(name, "name")
    functions = _functions_of(backend)
    host = _Host(backend, loop)
    # The library gives the token back, also when it refuses.
    _native.call(
        _register, given, text, len(text), ctypes.byref(functions), host.token, FREE_POINTER
    )
    return Registration(name)


def _description(backend: Backend) -> dict[str, Any]:
    id = backend.id
    parts: Sequence[str | Integer] = [id] if isinstance(id, (str, Integer)) else id
    rights = {"permissions": backend.permissions, "creator": backend.creator}
    return {
        **{name: member for name, member in rights.items() if member is not None},
        "id": [_id_member(part) for part in parts],
        "version": _version_member(backend.version),
        "backendMembers": list(backend.backend_members),
        "queries": backend.queries,
        "conditions": backend.conditions,
        "pageSize": backend.page_size,
        "idsPerRequest": backend.ids_per_request,
        "writesPerRequest": backend.writes_per_request,
        "requestsAtOnce": backend.requests_at_once,
        "maxAnswerBytes": backend.max_answer_bytes,
    }


def _id_member(part: str | Integer) -> Any:
    return {"name": part.path, "kind": "integer"} if isinstance(part, Integer) else part


def _version_member(version: str | Sequence[str] | Integer | Ordered | None) -> Any:
    match version:
        case Integer(path):
            return {"path": _path(path), "kind": "integer"}
        case Ordered(path):
            return {"path": _path(path), "ordered": True}
        case None:
            return None
    return _path(version)


def _path(path: str | Sequence[str]) -> Any:
    return path if isinstance(path, str) else list(path)


def _thunk(operation: str) -> Any:
    def call(token: int, request: int, text: Any, length: int) -> None:
        host = look_up(token, _Host)
        if host is not None:
            host.carry_out(operation, request, ctypes.string_at(text, length))

    return _abi.BACKEND_FN(call)


def _on_cancel(token: int, request: int) -> None:
    host = look_up(token, _Host)
    if host is not None:
        host.cancel(request)


# What C calls; kept here, because C holds only the addresses.
_thunks: Final = {operation: _thunk(operation) for operation in _OPERATIONS}
_cancel_thunk: Final = _abi.BACKEND_CANCEL_FN(_on_cancel)


def _functions_of(backend: Backend) -> _abi.BackendStruct:
    """Give the table of what a backend has; the library copies it."""
    missing = _abi.BACKEND_FN()
    has_changes = type(backend).changes is not Backend.changes
    has_live = type(backend).live is not Backend.live
    return _abi.BackendStruct(
        size=ctypes.sizeof(_abi.BackendStruct),
        fetch=_thunks["fetch"],
        fetch_ids=_thunks["fetch_ids"],
        changes=_thunks["changes"] if has_changes else missing,
        write=_thunks["write"],
        live=_thunks["live"] if has_live else missing,
        cancel=_cancel_thunk,
    )
