"""Callbacks that C calls, each under a number.

No Python object crosses into C: the number is looked up when C calls, in a table that keeps the
callback alive until C reports that no call will follow.
"""

from __future__ import annotations

import ctypes
import inspect
import itertools
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol, TypeVar, final

from . import _abi, _native
from .cursor import Cursor
from .errors import KVError
from .results import Answer

T_co = TypeVar("T_co", covariant=True)
K = TypeVar("K")


class Callback(Protocol):
    """A callback that C calls by a number, and releases after the last call."""

    def finish(self) -> None:
        """Handle the end: no call will follow."""


_table: Final[dict[int, Callback]] = {}
_tokens: Final = itertools.count(1)


def remember(callback: Callback) -> int:
    """Keep a callback under a number until C releases it; return the number."""
    token = next(_tokens)
    _table[token] = callback
    return token


def look_up(token: int, kind: type[K]) -> K | None:
    """Return the callback of a number; None if it was released."""
    found = _table.get(token)
    return found if isinstance(found, kind) else None


def refuse_coroutine(function: object, what: str) -> None:
    """Refuse an ``async def`` as a callback: its coroutine would not be awaited."""
    called = getattr(function, "__call__", None)  # noqa: B004
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called):
        raise TypeError(f"{what} cannot be an async function: the library does not await it")


class Owner(Protocol):
    """A client or a store that a request uses and keeps alive."""

    @property
    def handle(self) -> int:
        """The C handle."""

    @property
    def pumped(self) -> bool:
        """Whether callbacks run in ``Client.dispatch()``."""


class Reader(Protocol[T_co]):
    """Reads the result of an operation, from a request or from an answer."""

    def from_request(self, handle: int, owner: Owner) -> T_co:
        """Read the result of a finished request of a client or a store."""

    def from_answer(self, answer: _abi.AnswerStruct) -> T_co:
        """Read an answer; called while its callback runs."""


class Delivery:
    """A callback for answers.

    ``Client.dispatch()`` of a pumped client raises the callback's exceptions; otherwise
    ``Request.result()`` does. If the result is not requested, ``sys.unraisablehook`` gets them.
    """

    def __init__(
        self, reader: Reader[Any], on_answer: Callable[[Answer[Any]], object], *, pumped: bool
    ) -> None:
        refuse_coroutine(on_answer, "on_answer")
        self.token = remember(self)
        self._reader = reader
        self._on_answer = on_answer
        self._pumped = pumped
        self._finished = threading.Event()
        self._lock = threading.Lock()
        self._error: BaseException | None = None
        self._abandoned = False

    def deliver(self, answer: _abi.AnswerStruct) -> None:
        """Call the callback, keep its exception, and invalidate a borrowed cursor."""
        value = None
        before, _this_thread.calling = _this_thread.calling, True
        try:
            if answer.status in _native.SUCCESSES:
                value = self._reader.from_answer(answer)
                self._call(Answer(value, None, bool(answer.is_final), bool(answer.is_local)))
            else:
                error = _native.borrowed_error(answer.error, answer.status)
                self._call(Answer(None, error, bool(answer.is_final), bool(answer.is_local)))
        except BaseException as error:
            self._keep(error)
        finally:
            _this_thread.calling = before
            if isinstance(value, Cursor):
                value.close()
            if answer.is_final:
                self.finish()

    def finish(self) -> None:
        """Handle the end: no call will follow."""
        self._finished.set()

    def wait(self) -> None:
        """Wait for the last call, where that is possible; raise an exception of any call."""
        if not self._pumped and not _this_thread.calling:
            self._finished.wait()
        if (error := self._take_error()) is not None:
            raise error

    def abandon(self) -> None:
        """Note that the result will not be requested."""
        with self._lock:
            self._abandoned = True
        if (error := self._take_error()) is not None:
            report(error, self._on_answer)

    def _call(self, answer: Answer[Any]) -> None:
        self._on_answer(answer)

    def _take_error(self) -> BaseException | None:
        with self._lock:
            error, self._error = self._error, None
            return error

    def _keep(self, error: BaseException) -> None:
        if _this_thread.raised is not None:
            _this_thread.raised.append(error)
            return
        with self._lock:
            if not self._abandoned and self._error is None:
                self._error = error
                return
        report(error, self._on_answer)


@final
class Done:
    """Takes the place of a callback for answers, and reports only the end of the operation.

    It runs where callbacks run. The result stays in the request.
    """

    def __init__(self, notify: Callable[[], object]) -> None:
        self.token = remember(self)
        self._notify = notify

    def finish(self) -> None:
        """Handle the end: no call will follow."""
        self._notify()


class EventDelivery:
    """A callback for events.

    ``Client.dispatch()`` of a pumped client raises the callback's exceptions; otherwise
    ``sys.unraisablehook`` gets them.
    """

    def __init__(
        self,
        receive: Callable[[bytes | KVError], object],
        finished: Callable[[], object] | None = None,
    ) -> None:
        self.token = remember(self)
        self._receive = receive
        self._finished = finished

    def deliver(self, event: _abi.EventStruct) -> None:
        """Call the callback with the event's JSON, or with an error."""
        before, _this_thread.calling = _this_thread.calling, True
        try:
            if event.status in _native.SUCCESSES:
                self._receive(event.json or b"")
            else:
                self._receive(_native.borrowed_error(event.error, event.status))
        except BaseException as error:
            if _this_thread.raised is not None:
                _this_thread.raised.append(error)
            else:
                report(error, self._receive)
        finally:
            _this_thread.calling = before

    def finish(self) -> None:
        """Handle the end: no call will follow."""
        if self._finished is not None:
            self._finished()


class ConflictDelivery:
    """A conflict handler. It returns a number and, for a merge, an entity as JSON.

    If it raises an exception, the conflict stays open. ``Client.dispatch()`` raises the exception
    if it called the handler; otherwise ``sys.unraisablehook`` gets it.
    """

    def __init__(self, decide: Callable[[_abi.ConflictStruct], tuple[int, bytes | None]]) -> None:
        self.token = remember(self)
        self._decide = decide

    def deliver(self, conflict: _abi.ConflictStruct, merged_out: Any) -> int:
        """Call the handler."""
        before, _this_thread.calling = _this_thread.calling, True
        try:
            number, merged = self._decide(conflict)
            if merged is not None:
                merged_out[0] = _native.given_away(merged)
            return number
        except BaseException as error:
            if _this_thread.raised is not None:
                _this_thread.raised.append(error)
            else:
                report(error, self._decide)
            return _abi.KV_CONFLICT_LEAVE
        finally:
            _this_thread.calling = before

    def finish(self) -> None:
        """Handle the end: no call will follow."""


class TokenDelivery:
    """A token provider. ``sys.unraisablehook`` gets its exceptions but those of this package."""

    def __init__(self, provide: Callable[[str, str | None, bool], str]) -> None:
        self.token = remember(self)
        self._provide = provide

    def deliver(self, provider: bytes, former: bytes | None, refused: bool, token_out: Any) -> int:
        """Call the provider."""
        try:
            token = self._provide(provider.decode(), former.decode() if former else None, refused)
            token_out[0] = _native.given_away(token.encode())
        except KVError as error:
            return error.status
        except BaseException as error:
            report(error, self._provide)
            return _abi.KV_UNAUTHORIZED
        return _abi.KV_OK

    def finish(self) -> None:
        """Handle the end: no call will follow."""


class MigrationDelivery:
    """A migration handler. Its first exception ends the migration, and stays here."""

    def __init__(self, migrate: Callable[[_abi.MigrationStruct], bytes | None]) -> None:
        self.token = remember(self)
        self.raised: BaseException | None = None
        self._migrate = migrate

    def deliver(self, migration: _abi.MigrationStruct, text_out: Any) -> int:
        """Call the handler."""
        try:
            made = self._migrate(migration)
            if made is not None:
                text_out[0] = _native.given_away(made)
                if not text_out[0]:
                    raise MemoryError("there is no memory for the record")
        except BaseException as error:
            self.raised = error
            words = f"{type(error).__name__}: {error}".replace("\0", " ")
            text_out[0] = _native.given_away(words.encode(errors="replace"))
            return error.status if isinstance(error, KVError) else _abi.KV_INTERNAL
        return _abi.KV_OK

    def finish(self) -> None:
        """Handle the end: no call will follow."""


class LogDelivery:
    """A callback for lines of the log."""

    def __init__(self, log: Callable[[int, str], object]) -> None:
        self.token = remember(self)
        self._log = log

    def deliver(self, level: int, text: bytes) -> None:
        """Call the callback. Its failure must not affect the operation that is logged."""
        try:
            self._log(level, text.decode(errors="replace"))
        except BaseException as error:
            report(error, self._log)

    def finish(self) -> None:
        """Handle the end: no call will follow."""


class _ThisThread(threading.local):
    """The current state of a thread."""

    calling = False
    raised: list[BaseException] | None = None


_this_thread: Final = _ThisThread()


def _begin_child() -> None:
    """Forget, in a child process that fork() made, the calls that only the parent receives.

    The thread that has forked may have been inside of a callback, which goes on in the parent.
    """
    _table.clear()
    _this_thread.calling = False
    _this_thread.raised = None


os.register_at_fork(after_in_child=_begin_child)


@contextmanager
def dispatching() -> Iterator[None]:
    """Run callbacks on this thread, then raise the exception of the first that failed."""
    before, _this_thread.raised = _this_thread.raised, []
    try:
        yield
    finally:
        raised, _this_thread.raised = _this_thread.raised, before
    for error in raised[1:]:
        report(error, dispatching)
    if raised:
        raise raised[0]


class _Raiser:
    """Raises an exception in the name of the callback that raised it."""

    def __init__(self, error: BaseException, source: object) -> None:
        self._error = error
        self._source = source

    def __call__(self) -> None:
        raise self._error

    def __repr__(self) -> str:
        return repr(self._source)


_VOID_FN: Final = ctypes.CFUNCTYPE(None)


def report(error: BaseException, source: object) -> None:
    """Pass an exception to ``sys.unraisablehook``.

    Python code cannot create the hook's argument. So a function that C calls raises the exception,
    and the interpreter itself passes it to the hook.
    """
    _VOID_FN(_Raiser(error, source))()


def _on_answer(token: int, answer: Any) -> None:
    delivery = look_up(token, Delivery)
    if delivery is not None:
        delivery.deliver(answer.contents)


def _on_event(token: int, event: Any) -> None:
    delivery = look_up(token, EventDelivery)
    if delivery is not None:
        delivery.deliver(event.contents)


def _on_conflict(token: int, conflict: Any, merged_out: Any) -> int:
    delivery = look_up(token, ConflictDelivery)
    if delivery is not None:
        return delivery.deliver(conflict.contents, merged_out)
    return _abi.KV_CONFLICT_LEAVE


def _on_token(token: int, provider: bytes, former: bytes | None, refused: int, out: Any) -> int:
    delivery = look_up(token, TokenDelivery)
    if delivery is not None:
        return delivery.deliver(provider, former, bool(refused), out)
    return _abi.KV_UNAUTHORIZED


def _on_migration(token: int, migration: Any, text_out: Any) -> int:
    delivery = look_up(token, MigrationDelivery)
    if delivery is not None:
        return delivery.deliver(migration.contents, text_out)
    return _abi.KV_INTERNAL


def _on_log(token: int, level: int, text: bytes) -> None:
    delivery = look_up(token, LogDelivery)
    if delivery is not None:
        delivery.deliver(level, text)


def _on_free(token: int) -> None:
    delivery = _table.pop(token, None)
    if delivery is not None:
        delivery.finish()


# The functions that C calls; kept here, because C holds only their addresses.
_thunks: Final = (
    _abi.ANSWER_FN(_on_answer),
    _abi.EVENT_FN(_on_event),
    _abi.CONFLICT_FN(_on_conflict),
    _abi.LOG_FN(_on_log),
    _abi.TOKEN_FN(_on_token),
    _abi.MIGRATION_FN(_on_migration),
    _abi.FREE_FN(_on_free),
)
(
    ANSWER_POINTER,
    EVENT_POINTER,
    CONFLICT_POINTER,
    LOG_POINTER,
    TOKEN_POINTER,
    MIGRATION_POINTER,
    FREE_POINTER,
) = (ctypes.cast(thunk, ctypes.c_void_p).value for thunk in _thunks)
