"""Results: what a query found, as a sequence that loads little by little."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, Generic, TypeVar, overload

from . import _abi, _native
from ._callbacks import refuse_coroutine
from ._closing import Closing
from ._json import from_json
from ._options import to_json
from .errors import KVError, NotFoundError, invalid
from .results import Entity
from .subscription import Subscription, begin
from .tables.making import Columnar

T = TypeVar("T")

_count = _native.function("kv_results_count")
_get = _native.function("kv_results_get")
_page = _native.function("kv_results_page")
_refresh = _native.function("kv_results_refresh")
_statistics = _native.function("kv_results_statistics")
_close = _native.function("kv_results_close")

#: How many records are read from C at once while the sequence is iterated over.
_PAGE: Final = 128


class RecordState(IntEnum):
    """What became of a record between the fetch and the moment when it was read."""

    UNCHANGED = _abi.KV_RECORD_UNCHANGED
    CHANGED = _abi.KV_RECORD_CHANGED
    DELETED = _abi.KV_RECORD_DELETED


@dataclass(frozen=True, slots=True)
class ListMove:
    """A record that moved: ``origin`` is its position before, ``index`` its position now."""

    origin: int
    index: int


@dataclass(frozen=True, slots=True)
class ListChanges:
    """The positions at which a list has changed."""

    #: The length of the list now.
    count: int
    #: Positions in the list before, the last one first.
    deletions: Sequence[int]
    moves: Sequence[ListMove]
    #: Positions in the list now.
    insertions: Sequence[int]
    modifications: Sequence[int]


class Results(Closing, Columnar, Sequence[T], Generic[T]):
    """What a query found, as a sequence whose records are read in batches when they are asked for.

    Which records it has, and in which order, is fixed unless it is observed. It holds no snapshot.
    A record that was deleted meanwhile raises :class:`kvstore.NotFoundError` when it is asked for
    by its position; slices and iteration leave it out. Any thread may use it. It closes itself at
    the end of a ``with`` and when it is garbage-collected; a slice of it is a view, which keeps it
    alive.
    """

    def __init__(self, handle: int, owner: object, read: Callable[[Any], T]) -> None:
        self._handle = handle
        self._owner = owner
        self._read = read
        self._lock = threading.Lock()
        self._finalizer = weakref.finalize(self, _close, handle)
        self._length = _native.call_for_count(_count, handle)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Slice[T]: ...

    def __getitem__(self, index: int | slice) -> T | Slice[T]:
        if isinstance(index, slice):
            return Slice(self, range(self._length)[index])
        return self._at(range(self._length)[index])[0]

    def __iter__(self) -> Iterator[T]:
        return self.between(0, self._length)

    def between(self, start: int, stop: int) -> Iterator[T]:
        """Yield the records at some positions; those that were deleted are left out."""
        for page in self.pages(start, stop):
            yield from map(self._read, page)

    def pages(self, start: int, stop: int) -> Iterator[list[Any]]:
        """Yield the records at some positions page by page, as they are stored."""
        for position in range(start, stop, _PAGE):
            records = self._records(position, min(_PAGE, stop - position))
            yield [record for record in records if record is not None]

    def state(self, index: int) -> RecordState:
        """Return what became of a record: it is read for that."""
        try:
            return self._at(range(self._length)[index])[1]
        except NotFoundError:
            return RecordState.DELETED

    def observe(self, receive: Callable[[ListChanges | KVError], object]) -> Subscription:
        """Follow the query over the local data, until the subscription is closed.

        Right before each call of ``receive`` the sequence becomes what the query finds now, so the
        positions of the changes are those of the sequence. The first call has what was changed
        since the fetch, if anything was. ``receive`` runs where callbacks do.
        """
        refuse_coroutine(receive, "the callback for changes")

        def on_event(event: bytes | KVError) -> None:
            if isinstance(event, KVError):
                receive(event)
                return
            changes = _list_changes(event)
            self._length = changes.count
            receive(changes)

        return Subscription(begin("kv_results_observe", self, self._handle, receive=on_event), self)

    @property
    def pumped(self) -> bool:
        """Whether the client's callbacks run in :meth:`kvstore.Client.dispatch` only."""
        return bool(getattr(self._owner, "pumped", False))

    @property
    def handle(self) -> int:
        """The handle in C."""
        return self._handle

    def refresh(self) -> None:
        """Forget what was read: each record is read again when it is next asked for."""
        _native.call(_refresh, self._handle)

    def statistics(self) -> Mapping[str, int]:
        """Return how many batches were read, and what the cache holds."""
        statistics: Mapping[str, int] = from_json(_native.call_for_text(_statistics, self._handle))
        return statistics

    def close(self) -> None:
        """Close the results. A second call is harmless."""
        self._finalizer()

    def __repr__(self) -> str:
        return f"<kvstore.Results of {self._length}{'' if self._finalizer.alive else ', closed'}>"

    def _pages(self) -> Iterator[list[Entity]]:
        return _entities(self.pages(0, self._length))

    def _at(self, position: int) -> tuple[T, RecordState]:
        state = ctypes.c_int32()
        # The lock keeps the borrowed text until it is read.
        with self._lock:
            out = _native.take_out()
            try:
                text, length, error = out.refs
                status = _get(self._handle, position, text, length, ctypes.byref(state), error)
                if status == _abi.KV_DONE:
                    # An event has made the sequence shorter since its length was looked at.
                    raise IndexError(f"there is no record {position}")
                if status != _abi.KV_OK:
                    raise _native.failure(status, out)
                record = from_json(out.text.value or b"null")
            finally:
                _native.outs.append(out)
        return self._read(record), RecordState(state.value)

    def _records(self, position: int, limit: int) -> list[Any]:
        with self._lock:
            out = _native.take_out()
            try:
                text, length, error = out.refs
                status = _page(self._handle, position, limit, text, length, None, error)
                if status not in _native.SUCCESSES:
                    raise _native.failure(status, out)
                records: list[Any] = from_json(out.text.value or b"[]")
                return records
            finally:
                _native.outs.append(out)


class Slice(Columnar, Sequence[T], Generic[T]):
    """Some positions of results: a view, which reads nothing before it is asked to."""

    def __init__(self, results: Results[T], positions: range) -> None:
        self._results = results
        self._positions = positions

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Slice[T]: ...

    def __getitem__(self, index: int | slice) -> T | Slice[T]:
        if isinstance(index, slice):
            return Slice(self._results, self._positions[index])
        return self._results[self._positions[index]]

    def __iter__(self) -> Iterator[T]:
        positions = self._positions
        if positions.step == 1:
            yield from self._results.between(positions.start, positions.stop)
            return
        for position in positions:
            try:
                yield self._results[position]
            except NotFoundError:
                continue

    def __repr__(self) -> str:
        return f"<kvstore.Results, positions {self._positions}>"

    def _pages(self) -> Iterator[list[Entity]]:
        positions = self._positions
        if positions.step == 1:
            return _entities(self._results.pages(positions.start, positions.stop))
        pages = (page for each in positions for page in self._results.pages(each, each + 1))
        return _entities(pages)


def _entities(pages: Iterator[list[Any]]) -> Iterator[list[Entity]]:
    """Refuse ids, which have no members to make columns of."""
    for page in pages:
        if page and not isinstance(page[0], dict):
            raise invalid("Only records have columns, and these are ids.")
        yield page


def _list_changes(text: bytes) -> ListChanges:
    members = from_json(text)
    return ListChanges(
        members["count"],
        members["deletions"],
        [ListMove(each["from"], each["to"]) for each in members["moves"]],
        members["insertions"],
        members["modifications"],
    )


class ResultsReader(Generic[T]):
    """Reads the results of a fetch."""

    def __init__(self, read: Callable[[Any], T]) -> None:
        self._read = read

    def from_request(self, handle: int, owner: object) -> Results[T]:
        """Take the results of a fetch that is done."""
        return Results(_native.call_for_handle(_take, handle), owner, self._read)

    def from_answer(self, answer: _abi.AnswerStruct) -> Results[T]:
        """Refuse: the results are taken from the request."""
        raise KVError({"status": _abi.KV_UNSUPPORTED, "message": "take it from the request"})


_take = _native.function("kv_request_results")


def request_json(members: Mapping[str, Any]) -> bytes:
    """Return the request of a fetch as C reads it; what is None is left out."""
    return to_json({name: value for name, value in members.items() if value is not None})
