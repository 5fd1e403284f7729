"""The calls of the library to a backend."""

from __future__ import annotations

import inspect
import threading
from asyncio import AbstractEventLoop, run_coroutine_threadsafe
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, Final, final

from .. import _abi, _native
from .._callbacks import remember, report
from .._json import from_json
from .._options import to_json
from ..errors import KVError
from .base import Backend
from .coding import ANSWERS, OPERATIONS
from .custom import CustomStore

_complete = _native.function("kv_backend_complete")
_is_waiting = _native.function("kv_backend_is_waiting")


class _ThisThread(threading.local):
    """The request that the current thread carries out."""

    request: int | None = None


_this_thread: Final = _ThisThread()


def is_cancelled() -> bool:
    """Return whether the request that this thread carries out has no waiter any more."""
    request = _this_thread.request
    return request is not None and not _is_waiting(request)


@final
class Host:
    """Receives the library's requests, as numbers and JSON, and calls the backend or store."""

    def __init__(self, backend: Backend | CustomStore, loop: AbstractEventLoop | None) -> None:
        self._backend = backend
        self._loop = loop
        self._lock = threading.Lock()
        #: What completes the requests that are not completed yet.
        self._futures: dict[int, Future[Any]] = {}
        self.token = remember(self)

    def carry_out(self, operation: str, request: int, text: bytes) -> None:
        """Begin a request. It is completed here, or by a future."""
        before = _this_thread.request
        _this_thread.request = request
        try:
            given = OPERATIONS[operation](self._backend, from_json(text))
            if inspect.iscoroutine(given):
                given = self._scheduled(given)
            if isinstance(given, Future):
                self._wait_for(given, operation, request)
            else:
                self._succeed(operation, request, given)
        except BaseException as error:
            self._fail(request, error)
        finally:
            _this_thread.request = before

    def _scheduled(self, coroutine: Coroutine[Any, Any, Any]) -> Future[Any]:
        if self._loop is None:
            coroutine.close()
            raise TypeError("an async backend must be registered with a loop")
        return run_coroutine_threadsafe(coroutine, self._loop)

    def _wait_for(self, future: Future[Any], operation: str, request: int) -> None:
        with self._lock:
            self._futures[request] = future
        # A cancellation that came before found no future.
        if not _is_waiting(request):
            future.cancel()

        def done(future: Future[Any]) -> None:
            try:
                self._succeed(operation, request, future.result())
            except BaseException as error:
                self._fail(request, error)

        future.add_done_callback(done)

    def _succeed(self, operation: str, request: int, given: Any) -> None:
        try:
            text = to_json(ANSWERS[operation](given))
        except Exception as error:
            # What is no answer at all is as malformed as one with a wrong member.
            report(error, self._backend)
            self._refuse(request, _abi.KV_PROTOCOL, error)
            return
        self._end(request, _abi.KV_OK, text)

    def _fail(self, request: int, error: BaseException) -> None:
        if isinstance(error, CancelledError):
            self._end(request, _abi.KV_TIMEOUT, b'{"message":"the backend gave up"}')
            return
        status = _status_of(error)
        if status is None:
            report(error, self._backend)
            status = _abi.KV_SERVER
        self._refuse(request, status, error)

    def _refuse(self, request: int, status: int, error: BaseException) -> None:
        message = f"{type(error).__name__}: {error}"
        text = to_json({"message": message.encode(errors="replace").decode()})
        self._end(request, status, text)

    def _end(self, request: int, status: int, text: bytes) -> None:
        with self._lock:
            self._futures.pop(request, None)
        # No error is requested: it would be open for a moment after the client was closed.
        result = _complete(request, status, text, len(text), None)
        if result == _abi.KV_NOT_FOUND:
            return  # The request has no waiter any more.
        try:
            _native.check(result)
        except KVError as error:
            report(error, self._backend)

    def cancel(self, request: int) -> None:
        """Cancel a request that has no waiter any more."""
        with self._lock:
            future = self._futures.get(request)
        if future is not None:
            future.cancel()

    def finish(self) -> None:
        """Handle the end: no call will follow."""


def _status_of(error: BaseException) -> int | None:
    """Return the status that an exception stands for; None if it is a defect."""
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
