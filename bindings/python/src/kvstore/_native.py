"""The shared library: its path, the types of its functions, and the calls.

Only this module uses ctypes. The rest of the package passes numbers (handles), bytes and None,
and receives numbers and bytes.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from . import _abi
from .errors import KVError, error_from_json

#: The statuses that are not failures.
SUCCESSES: Final = frozenset((_abi.KV_OK, _abi.KV_PARTIAL, _abi.KV_DONE))


def _library() -> ctypes.CDLL:
    """Load the library: $KVSTORE_LIBRARY, the one in this package, or the system's."""
    if chosen := os.environ.get("KVSTORE_LIBRARY"):
        return ctypes.CDLL(chosen)
    carried = Path(__file__).with_name("libkvstore.so")
    return ctypes.CDLL(str(carried) if carried.exists() else "libkvstore.so.0")


_lib: Final = _library()


def path() -> str:
    """Return the path of the library, or its name for the system's loader."""
    return str(_lib._name)


def _declare_all() -> None:
    for name, (result, parameters) in _abi.FUNCTIONS.items():
        function = getattr(_lib, name)
        function.restype = _abi.KINDS[result]
        function.argtypes = [_abi.KINDS[letter] for letter in parameters]


_declare_all()

Function = Callable[..., int]

# Memory that C releases with free().
_strdup: Final = ctypes.CDLL(None).strdup
_strdup.argtypes = [ctypes.c_char_p]
_strdup.restype = ctypes.c_void_p


def given_away(text: bytes) -> int | None:
    """Copy a text to memory that the library will free."""
    return _strdup(text)  # type: ignore[no-any-return]


def function(name: str) -> Any:
    """Return a declared function of the library."""
    return getattr(_lib, name)


def quick_function(name: str) -> Any:
    """Return a function that does not convert arguments, which saves a third of a call.

    It accepts ctypes objects, bytes and None only, because it would cut an int to 32 bits.
    """
    quick = _lib[name]
    quick.restype = ctypes.c_int32
    return quick


def quick_handle(handle: int) -> Any:
    """Return a handle in the form that a quick function accepts."""
    return ctypes.c_void_p(handle)


free: Final[Callable[..., None]] = _lib.kv_free
_error_json: Final[Callable[..., bytes]] = _lib.kv_error_json
_error_free: Final[Callable[..., None]] = _lib.kv_error_free


class Out:
    """Out parameters, reused between calls: creating them costs as much as a call.

    Text is a ``c_char_p``, whose value ends at the first NUL. JSON never contains one.
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


#: Taken with pop() and returned with append(), both atomic. It is a pool, not one per thread,
#: because a signal handler may call between a call and the reading of its results.
outs: Final[list[Out]] = []


def take_out() -> Out:
    """Borrow a set of out parameters; return it with ``outs.append``."""
    try:
        return outs.pop()
    except IndexError:
        return Out()


def failure(status: int, out: Out) -> KVError:
    """Turn a failed status and its C error into an exception, and free the C error."""
    handle = out.error.value
    if not handle:
        return error_from_json({"status": status, "name": _lib.kv_status_name(status).decode()})
    try:
        return error_from_json(_error_json(handle), status)
    finally:
        _error_free(handle)
        out.error.value = None


def borrowed_error(handle: int, status: int) -> KVError:
    """Read a C error that the library will free."""
    return error_from_json(_error_json(handle), status)


def check(status: int) -> None:
    """Raise an exception if a function without an error parameter failed."""
    if status not in SUCCESSES:
        raise error_from_json({"status": status, "name": _lib.kv_status_name(status).decode()})


def call(function: Function, *arguments: object) -> int:
    """Call a function without a result; return the status."""
    out = take_out()
    try:
        status = function(*arguments, out.error_ref)
        if status not in SUCCESSES:
            raise failure(status, out)
        return status
    finally:
        outs.append(out)


def call_for_text(function: Function, *arguments: object) -> bytes:
    """Call a function whose result is a text."""
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
    """Call a function whose result is an integer of any width."""
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
    """Call a function whose result is a handle."""
    out = take_out()
    try:
        status = function(*arguments, ctypes.byref(out.handle), out.error_ref)
        if status not in SUCCESSES:
            raise failure(status, out)
        return out.handle.value or 0
    finally:
        outs.append(out)


def version() -> str:
    """Return the version of the loaded library, such as "0.1.0"."""
    return str(_lib.kv_version().decode())


def has_feature(name: str) -> bool:
    """Return whether the loaded library has a feature, such as "pump"."""
    return bool(_lib.kv_has_feature(name.encode()))


def live_objects(kind: str | None = None) -> int:
    """Count the open handles of this process, for leak tests."""
    return int(_lib.kv_live_objects(kind.encode() if kind else None))
