"""Requests: running operations, and the callbacks for their answers.

An operation that may wait for the network is always started asynchronously. A blocking call waits
for it in short slices: between two of them Python notices Ctrl-C, and the operation is cancelled.
"""

from __future__ import annotations

import ctypes
import math
import threading
import time
import weakref
from collections.abc import Callable
from typing import Final, Generic, TypeVar, cast

from . import _abi, _native
from ._callbacks import ANSWER_POINTER, FREE_POINTER, Delivery, Done, Owner, Reader
from ._closing import Closing
from .cursor import Cursor
from .errors import CancelledError, KVError, MisuseError, TimeoutError
from .model import Mapper
from .results import Answer, E, Progress

T = TypeVar("T")

#: The callback of an asynchronous form.
OnAnswer = Callable[[Answer[T]], object] | Done

_wait = _native.function("kv_request_wait")
_is_done = _native.function("kv_request_is_done")
_cursor = _native.function("kv_request_cursor")
_cancel = _native.function("kv_request_cancel")
_progress = _native.function("kv_request_progress")
_free = _native.function("kv_request_free")

#: Seconds between two checks for signals. A wait ends at once when the answer is there.
_SLICE: Final = 0.1


class TextReader(Generic[T]):
    """Reads results that come as JSON."""

    def __init__(self, decode: Callable[[bytes], T]) -> None:
        self._decode = decode

    def from_request(self, handle: int, owner: Owner) -> T:
        """Read the result of a request that is done."""
        return self._decode(_native.call_for_text(_wait, handle, -1.0))

    def from_answer(self, answer: _abi.AnswerStruct) -> T:
        """Read an answer; called while its callback runs."""
        return self._decode(answer.json or b"")


class CursorReader(Generic[E]):
    """Reads the entities of a find."""

    def __init__(self, mapper: Mapper[E]) -> None:
        self._mapper = mapper

    def from_request(self, handle: int, owner: Owner) -> Cursor[E]:
        """Take the cursor of a find that is done."""
        return Cursor(_native.call_for_handle(_cursor, handle), owner, self._mapper)

    def from_answer(self, answer: _abi.AnswerStruct) -> Cursor[E]:
        """Borrow the cursor of an answer; it is closed when the callback ends."""
        return Cursor(answer.cursor, None, self._mapper)


class Request(Closing, Generic[T]):
    """A running operation. Any thread may use it.

    Closing a request releases its handle; the operation goes on. The same happens at the end of a
    ``with`` and when the request is garbage-collected.
    """

    def __init__(
        self, handle: int, owner: Owner, reader: Reader[T] | None, delivery: Delivery | None
    ) -> None:
        self._handle = handle
        self._owner = owner
        self._reader = reader
        self._delivery = delivery
        self._lock = threading.Lock()
        self._result: list[T] = []
        self._finalizer = weakref.finalize(self, _release, handle, delivery)

    def done(self) -> bool:
        """Return whether the final answer is there."""
        return bool(_is_done(self._handle))

    def result(self, timeout: float | None = None) -> T:
        """Wait for the result. It raises the error of the operation, or that of a callback.

        After `timeout` seconds :class:`kvstore.TimeoutError` is raised, and the operation goes on.
        """
        self._wait(timeout)
        with self._lock:
            if not self._result:
                self._result.append(self._read())
        return self._result[0]

    def wait(self, timeout: float) -> bool:
        """Wait for the final answer; return whether it came within `timeout` seconds."""
        end = time.monotonic() + timeout
        while not _is_done(self._handle) and (left := end - time.monotonic()) > 0:
            _wait(self._handle, min(_SLICE, left), None, None, None)
        return self.done()

    def cancel(self) -> None:
        """Ask the operation to stop: it ends with :class:`CancelledError`, unless it is done.

        A write that is cancelled after its local step stays pending.
        """
        _cancel(self._handle)

    def progress(self) -> Progress:
        """Return the progress of the operation."""
        progress = _abi.ProgressStruct(size=ctypes.sizeof(_abi.ProgressStruct))
        _native.check(_progress(self._handle, ctypes.byref(progress)))
        return Progress(
            progress.entities_done,
            progress.entities_total,
            progress.bytes_done,
            progress.bytes_total,
        )

    def close(self) -> None:
        """Release the handle. A second call is harmless."""
        self._finalizer()

    def finish(self) -> T:
        """Wait for the result as a blocking call does: an interruption cancels the operation."""
        try:
            return self.result()
        except KVError:
            raise
        except BaseException:
            self.cancel()
            raise
        finally:
            self.close()

    def __repr__(self) -> str:
        if not self._finalizer.alive:
            return "<kvstore.Request, closed>"
        return f"<kvstore.Request, {'done' if self.done() else 'running'}>"

    def _wait(self, timeout: float | None) -> None:
        if not self.wait(math.inf if timeout is None else timeout):
            raise TimeoutError(
                {
                    "status": _abi.KV_TIMEOUT,
                    "name": "KV_TIMEOUT",
                    "message": "the request did not finish in time",
                }
            )

    def _read(self) -> T:
        if self._delivery is not None:
            self._delivery.wait()
        try:
            if self._reader is not None:
                return self._reader.from_request(self._handle, self._owner)
            _native.call(_wait, self._handle, -1.0, None, None)
        except MisuseError:
            if not self._went_with_its_client():
                raise
            raise CancelledError(
                {
                    "status": _abi.KV_CANCELLED,
                    "name": "KV_CANCELLED",
                    "message": "the client was closed",
                }
            ) from None
        return cast(T, None)

    def _went_with_its_client(self) -> bool:
        """Return whether the handle is closed, but not by this object."""
        return self._finalizer.alive and _cancel(self._handle) == _abi.KV_MISUSE


def start(
    name: str,
    reader: Reader[T],
    owner: Owner,
    *arguments: object,
    on_answer: OnAnswer[T] | None = None,
) -> Request[T]:
    """Start the asynchronous form of an operation of a client or a store."""
    function = _native.function(f"{name}_async")
    if on_answer is None or isinstance(on_answer, Done):
        over = (None, None) if on_answer is None else (on_answer.token, FREE_POINTER)
        handle = _native.call_for_handle(function, owner.handle, *arguments, None, *over)
        return Request(handle, owner, reader, None)
    delivery = Delivery(reader, on_answer, pumped=owner.pumped)
    handle = _native.call_for_handle(
        function, owner.handle, *arguments, ANSWER_POINTER, delivery.token, FREE_POINTER
    )
    # The entities of a find are in its answers; the request itself has none left.
    left = None if isinstance(reader, CursorReader) else reader
    return Request(handle, owner, left, delivery)


def _release(handle: int, delivery: Delivery | None) -> None:
    _free(handle)
    if delivery is not None:
        delivery.abandon()
