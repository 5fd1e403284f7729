"""The shared library: where it is, what its functions look like, how they are called.

Only this module knows ctypes. The rest of the package passes numbers (handles), bytes and None in,
and gets numbers and bytes back.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from .errors import KVError, error_from_json

KV_OK: Final = 0
KV_PARTIAL: Final = 1
KV_DONE: Final = 2
KV_TIMEOUT: Final = 21

#: What a conflict handler answers to leave the conflict open.
KV_CONFLICT_LEAVE: Final = 0

#: Statuses that are not failures.
SUCCESSES: Final = frozenset((KV_OK, KV_PARTIAL, KV_DONE))


class AnswerStruct(ctypes.Structure):
    """The C struct ``kv_answer``; everything in it is borrowed."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("status", ctypes.c_int32),
        ("is_final", ctypes.c_int32),
        ("is_local", ctypes.c_int32),
        ("json", ctypes.c_char_p),
        ("length", ctypes.c_size_t),
        ("cursor", ctypes.c_void_p),
        ("error", ctypes.c_void_p),
    )


class EventStruct(ctypes.Structure):
    """The C struct ``kv_event``; everything in it is borrowed."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("status", ctypes.c_int32),
        ("json", ctypes.c_char_p),
        ("length", ctypes.c_size_t),
        ("error", ctypes.c_void_p),
    )


class ConflictStruct(ctypes.Structure):
    """The C struct ``kv_conflict``; everything in it is borrowed."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("id", ctypes.c_char_p),
        ("base", ctypes.c_char_p),
        ("base_length", ctypes.c_size_t),
        ("local", ctypes.c_char_p),
        ("local_length", ctypes.c_size_t),
        ("remote", ctypes.c_char_p),
        ("remote_length", ctypes.c_size_t),
    )


class ProgressStruct(ctypes.Structure):
    """The C struct ``kv_progress``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("entities_done", ctypes.c_uint64),
        ("entities_total", ctypes.c_uint64),
        ("bytes_done", ctypes.c_uint64),
        ("bytes_total", ctypes.c_uint64),
    )


BACKEND_FN: Final = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t
)
BACKEND_CANCEL_FN: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64)


class BackendStruct(ctypes.Structure):
    """The C struct ``kv_backend``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("fetch", BACKEND_FN),
        ("fetch_ids", BACKEND_FN),
        ("changes", BACKEND_FN),
        ("write", BACKEND_FN),
        ("live", BACKEND_FN),
        ("cancel", BACKEND_CANCEL_FN),
    )


ANSWER_FN: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(AnswerStruct))
EVENT_FN: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(EventStruct))
CONFLICT_FN: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.POINTER(ConflictStruct),
    ctypes.POINTER(ctypes.c_void_p),
)
REDUCE_FN: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_char), ctypes.c_size_t
)
FREE_FN: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
LOG_FN: Final = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)


def _library() -> ctypes.CDLL:
    """Load the library: $KVSTORE_LIBRARY, or the one in this package, or the system's."""
    if chosen := os.environ.get("KVSTORE_LIBRARY"):
        return ctypes.CDLL(chosen)
    carried = Path(__file__).with_name("libkvstore.so")
    return ctypes.CDLL(str(carried) if carried.exists() else "libkvstore.so.0")


#: One letter for each kind of parameter in the table below.
_KINDS: Final[dict[str, Any]] = {
    "p": ctypes.c_void_p,  # a handle, an out parameter, a callback
    "s": ctypes.c_char_p,  # text
    "n": ctypes.c_size_t,
    "i": ctypes.c_int32,
    "u": ctypes.c_uint32,
    "d": ctypes.c_double,
    "q": ctypes.c_uint64,
}

# How each function is called, without the last parameter, `kv_error **`; results stand behind the
# bar. `+` marks those that also have an asynchronous form, where the results give way to done,
# context, free_context and request_out.
_FAILING: Final = {
    "kv_backend_register": "ssnppp|",
    "kv_backend_unregister": "s|",
    "kv_backend_complete": "qisn|",
    "kv_client_open": "sn|p",
    "kv_salvage": "sns|pp",
    "kv_client_event_fd": "p|p",
    "kv_client_dispatch": "pu|p",
    "kv_client_set_log": "pippp|",
    "kv_client_transaction": "pspp|",
    "kv_transaction_begin": "ps|p",
    "kv_transaction_find_by_id": "pps|pp",
    "kv_transaction_find": "ppp|p",
    "kv_transaction_count": "ppp|p",
    "kv_transaction_save": "ppsn|pp",
    "kv_transaction_save_if": "ppsns|pp",
    "kv_transaction_remove_by_id": "pps|p",
    "kv_transaction_remove_by_id_if": "ppss|p",
    "kv_transaction_remove": "ppp|p",
    "kv_transaction_update": "pppsn|pp",
    "kv_transaction_commit": "p|",
    "kv_client_observe_sync": "pppp|p",
    "kv_request_wait": "pd|pp",
    "kv_request_cursor": "p|p",
    "kv_ping+": "ps|pp",
    "kv_user_signup+": "psns|pp",
    "kv_user_login+": "psns|pp",
    "kv_user_login_page": "pss|pp",
    "kv_user_login_with_code+": "psss|pp",
    "kv_user_logout+": "ps|",
    "kv_user_active": "p|pp",
    "kv_user_me+": "ps|pp",
    "kv_user_update+": "psns|pp",
    "kv_user_delete+": "ps|",
    "kv_user_exists+": "pss|p",
    "kv_query_create": "snsn|p",
    "kv_query_from_format": "ssnsn|p",
    "kv_query_combine": "spnsn|p",
    "kv_query_format": "p|pp",
    "kv_query_json": "p|pp",
    "kv_store_open": "psss|p",
    "kv_store_find+": "pps|p",
    "kv_store_find_by_id+": "pss|pp",
    "kv_store_save+": "psns|pp",
    "kv_store_save_many+": "psns|pp",
    "kv_store_remove_by_id+": "pss|p",
    "kv_store_remove+": "pps|p",
    "kv_store_update+": "ppsns|pp",
    "kv_store_version": "ps|p",
    "kv_store_count+": "pps|p",
    "kv_store_group+": "psnps|pp",
    "kv_store_reduce": "psnpspp|pp",
    "kv_store_distinct+": "psps|pp",
    "kv_store_pull+": "pps|pp",
    "kv_store_push+": "ps|pp",
    "kv_store_sync+": "pps|pp",
    "kv_store_create_index": "psn|",
    "kv_store_drop_index": "ps|",
    "kv_store_indexes": "p|pp",
    "kv_store_explain": "pp|pp",
    "kv_store_observe": "ppppp|p",
    "kv_store_observe_by_id": "psppp|p",
    "kv_store_set_conflict_handler": "pppp|",
    "kv_live_register+": "ps|",
    "kv_live_unregister+": "ps|",
    "kv_stream_acl+": "psss|pp",
    "kv_stream_set_acl+": "psssns|",
    "kv_stream_owners+": "pss|pp",
    "kv_stream_send+": "psssns|",
    "kv_stream_subscribe": "psspppppp|p",
    "kv_store_subscribe": "pspppppp|p",
    "kv_store_sync_count": "p|p",
    "kv_store_pending": "psu|pp",
    "kv_store_pending_get": "ps|pp",
    "kv_store_pending_retry+": "pss|",
    "kv_store_pending_edit": "pssn|",
    "kv_store_pending_drop": "ps|",
    "kv_store_pending_revert": "ps|",
    "kv_store_purge": "pp|p",
    "kv_store_clear": "pp|p",
    "kv_cursor_next": "p|pp",
    "kv_cursor_next_page": "pu|ppp",
}

_lib: Final = _library()


def _declare(name: str, kinds: str, result: Any) -> None:
    function = getattr(_lib, name)
    function.argtypes = [_KINDS[kind] for kind in kinds]
    function.restype = result


def _declare_all() -> None:
    for key, kinds in _FAILING.items():
        name = key.rstrip("+")
        _declare(name, kinds.replace("|", "") + "p", ctypes.c_int32)
        if key.endswith("+"):
            _declare(f"{name}_async", kinds.split("|")[0] + "ppppp", ctypes.c_int32)
    for name, kinds, result in (
        ("kv_version", "", ctypes.c_char_p),
        ("kv_version_number", "", ctypes.c_int32),
        ("kv_status_name", "i", ctypes.c_char_p),
        ("kv_has_feature", "s", ctypes.c_int32),
        ("kv_live_objects", "s", ctypes.c_int64),
        ("kv_free", "p", None),
        ("kv_error_json", "p", ctypes.c_char_p),
        ("kv_error_free", "p", None),
        ("kv_client_close", "p", ctypes.c_int32),
        ("kv_request_is_done", "p", ctypes.c_int32),
        ("kv_request_cancel", "p", ctypes.c_int32),
        ("kv_request_progress", "pp", ctypes.c_int32),
        ("kv_request_free", "p", None),
        ("kv_subscription_close", "p", ctypes.c_int32),
        ("kv_query_free", "p", None),
        ("kv_store_close", "p", ctypes.c_int32),
        ("kv_cursor_close", "p", None),
        ("kv_transaction_close", "p", None),
    ):
        _declare(name, kinds, result)


_declare_all()

Function = Callable[..., int]

# Memory that C frees with free().
_strdup: Final = ctypes.CDLL(None).strdup
_strdup.argtypes = [ctypes.c_char_p]
_strdup.restype = ctypes.c_void_p


def given_away(text: bytes) -> int | None:
    """Copy a text to memory that the library frees."""
    return _strdup(text)  # type: ignore[no-any-return]


def function(name: str) -> Any:
    """Give a declared function of the library."""
    return getattr(_lib, name)


def quick_function(name: str) -> Any:
    """Give a function that converts no arguments, which saves a third of the call.

    It takes ctypes objects, bytes and None only: it would cut an int to 32 bits.
    """
    quick = _lib[name]
    quick.restype = ctypes.c_int32
    return quick


def quick_handle(handle: int) -> Any:
    """Give a handle as a quick function takes it."""
    return ctypes.c_void_p(handle)


free: Final[Callable[..., None]] = _lib.kv_free
_error_json: Final[Callable[..., bytes]] = _lib.kv_error_json
_error_free: Final[Callable[..., None]] = _lib.kv_error_free


class Out:
    """Out parameters, kept between calls: making them anew costs as much as the call itself.

    Text is a ``c_char_p``, whose value stops at the first NUL: JSON never contains one.
    """

    __slots__ = ("count", "error", "error_ref", "first_ref", "handle", "length", "refs", "text")

    def __init__(self) -> None:
        self.text = ctypes.c_char_p()
        self.length = ctypes.c_size_t()
        self.handle = ctypes.c_void_p()
        self.count = ctypes.c_int64()
        self.error = ctypes.c_void_p()
        self.refs = (
            ctypes.byref(self.text),
            ctypes.byref(self.length),
            ctypes.byref(self.error),
        )
        self.error_ref = self.refs[2]


#: Taken with pop() and given back with append(), each atomic. A pool and not one per thread,
#: because a signal handler may call in between a call and the reading of its results.
outs: Final[list[Out]] = []


def take_out() -> Out:
    """Borrow a set of out parameters; give it back with ``outs.append``."""
    try:
        return outs.pop()
    except IndexError:
        return Out()


def failure(status: int, out: Out) -> KVError:
    """Turn a failed status and the error it left into an exception; the error is freed."""
    handle = out.error.value
    if not handle:
        return error_from_json({"status": status, "name": _lib.kv_status_name(status).decode()})
    try:
        return error_from_json(_error_json(handle), status)
    finally:
        _error_free(handle)
        out.error.value = None


def borrowed_error(handle: int, status: int) -> KVError:
    """Describe an error that the library will free itself."""
    return error_from_json(_error_json(handle), status)


def check(status: int) -> None:
    """Raise if a function that gives no error of its own failed."""
    if status not in SUCCESSES:
        raise error_from_json({"status": status, "name": _lib.kv_status_name(status).decode()})


def call(function: Function, *arguments: object) -> int:
    """Call a function that has no result; give the status."""
    out = take_out()
    try:
        status = function(*arguments, out.error_ref)
        if status not in SUCCESSES:
            raise failure(status, out)
        return status
    finally:
        outs.append(out)


def call_for_text(function: Function, *arguments: object) -> bytes:
    """Call a function that gives text to its caller."""
    out = take_out()
    try:
        status = function(*arguments, *out.refs)
        if status not in SUCCESSES:
            raise failure(status, out)
        text = out.text.value
        free(out.text)
        return text or b""
    finally:
        outs.append(out)


def call_for_count(function: Function, *arguments: object) -> int:
    """Call a function that gives an integer of any width."""
    out = take_out()
    try:
        out.count.value = 0
        status = function(*arguments, ctypes.byref(out.count), out.error_ref)
        if status not in SUCCESSES:
            raise failure(status, out)
        return out.count.value
    finally:
        outs.append(out)


def handles(values: Sequence[int | None]) -> Any:
    """Make a C array of handles."""
    return (ctypes.c_void_p * len(values))(*values)


def call_for_handle(function: Function, *arguments: object) -> int:
    """Call a function that opens something."""
    out = take_out()
    try:
        status = function(*arguments, ctypes.byref(out.handle), out.error_ref)
        if status not in SUCCESSES:
            raise failure(status, out)
        return out.handle.value or 0
    finally:
        outs.append(out)


def version() -> str:
    """Give the version of the loaded library, such as "0.1.0"."""
    return str(_lib.kv_version().decode())


def has_feature(name: str) -> bool:
    """Tell whether the loaded library has a feature, such as "pump"."""
    return bool(_lib.kv_has_feature(name.encode()))


def live_objects(kind: str | None = None) -> int:
    """Count the open handles of this process, for leak tests."""
    return int(_lib.kv_live_objects(kind.encode() if kind else None))
