"""The registration of backends under names."""

from __future__ import annotations

import ctypes
from asyncio import AbstractEventLoop
from collections.abc import Mapping, Sequence
from typing import Any, Final

from .. import _abi, _native
from .._callbacks import FREE_POINTER, look_up
from .._closing import Closing
from .._options import to_json, to_text
from .base import Backend
from .coding import OPERATIONS
from .custom import CustomStore
from .host import Host
from .requests import (
    Integer,
    Ordered,
)

_register = _native.function("kv_backend_register")
_unregister = _native.function("kv_backend_unregister")
_register_store = _native.function("kv_store_type_register")
_unregister_store = _native.function("kv_store_type_unregister")
_announce = _native.function("kv_store_type_announce")


class Registration(Closing):
    """The registration of a backend or a store under a name, until it is closed."""

    __slots__ = ("_is_closed", "_unregister", "name")

    def __init__(self, name: str, unregister: Any) -> None:
        self.name = name
        self._unregister = unregister
        self._is_closed = False

    def close(self) -> None:
        """Unregister the name. No client can be opened with it any more; open ones go on."""
        if not self._is_closed:
            self._is_closed = True
            _native.call(self._unregister, to_text(self.name, "name"))

    def __repr__(self) -> str:
        return f"<kvstore.backend.Registration of {self.name!r}>"


class StoreRegistration(Registration):
    """The registration of a store of the program's own, until it is closed."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        super().__init__(name, _unregister_store)

    def announce(self, changes: Mapping[str, Sequence[Any] | None] | None = None) -> None:
        """Tell that records were changed otherwise than by the library.

        Lists of contexts that are observed fetch again, and objects without unsaved changes are
        read anew if their version is another one. `changes` has the ids of the records of each
        collection; None in place of ids is any record of it, and without `changes` any record may
        have been changed. It does not wait, and may be called by the methods of the store.
        """
        text = None
        if changes is not None:
            text = to_json(
                [
                    {"collection": name, "ids": None if ids is None else list(ids)}
                    for name, ids in changes.items()
                ]
            )
        _native.call(_announce, to_text(self.name, "name"), text, 0 if text is None else len(text))


def register_backend(
    name: str, backend: Backend, *, loop: AbstractEventLoop | None = None
) -> Registration:
    """Register a backend under a name, for the option ``backend`` of clients.

    `loop` runs the methods that are ``async def``, on whatever thread the loop runs. The name
    belongs to the backend until ``close()``, the end of a ``with``, or the end of the process. Open
    clients keep the backend alive.
    """
    if not isinstance(backend, Backend):
        raise TypeError(f"a {type(backend).__name__} is not a kvstore.Backend")
    text = to_json(_description(backend))
    given = to_text(name, "name")
    functions = _functions_of(backend)
    host = Host(backend, loop)
    # The library releases the token, even if it refuses the backend.
    _native.call(
        _register, given, text, len(text), ctypes.byref(functions), host.token, FREE_POINTER
    )
    return Registration(name, _unregister)


def register_store(
    name: str, store: CustomStore, *, loop: AbstractEventLoop | None = None
) -> StoreRegistration:
    """Register a store under a name, for the option ``store`` of clients.

    As :func:`register_backend`, with which it shares the names. ``"local"`` is the library's own
    database.
    """
    if not isinstance(store, CustomStore):
        raise TypeError(f"a {type(store).__name__} is not a kvstore.CustomStore")
    text = to_json(_description(store))
    given = to_text(name, "name")
    functions = _functions_of_store(store)
    host = Host(store, loop)
    _native.call(
        _register_store, given, text, len(text), ctypes.byref(functions), host.token, FREE_POINTER
    )
    return StoreRegistration(name)


def _description(backend: Backend | CustomStore) -> dict[str, Any]:
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
        host = look_up(token, Host)
        if host is not None:
            host.carry_out(operation, request, ctypes.string_at(text, length))

    return _abi.BACKEND_FN(call)


def _on_cancel(token: int, request: int) -> None:
    host = look_up(token, Host)
    if host is not None:
        host.cancel(request)


# The functions that C calls; kept here, because C holds only their addresses.
_thunks: Final = {operation: _thunk(operation) for operation in OPERATIONS}
_cancel_thunk: Final = _abi.BACKEND_CANCEL_FN(_on_cancel)


def _functions_of(backend: Backend) -> _abi.BackendStruct:
    """Return the table of a backend's functions; the library copies it."""
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


def _functions_of_store(store: CustomStore) -> _abi.StoreTypeStruct:
    """Return the table of a store's functions; the library copies it."""
    missing = _abi.BACKEND_FN()
    has_relationship = type(store).relationship is not CustomStore.relationship
    has_ids = type(store).obtain_ids is not CustomStore.obtain_ids
    return _abi.StoreTypeStruct(
        size=ctypes.sizeof(_abi.StoreTypeStruct),
        load=_thunks["load"],
        fetch=_thunks["fetch"],
        values=_thunks["values"],
        save=_thunks["save"],
        relationship=_thunks["relationship"] if has_relationship else missing,
        obtain_ids=_thunks["obtain_ids"] if has_ids else missing,
        cancel=_cancel_thunk,
    )
