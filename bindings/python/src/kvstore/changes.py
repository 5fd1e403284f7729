"""Changes of the result of an observed query."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal

from ._callbacks import refuse_coroutine
from ._json import from_json
from .errors import KVError
from .model import Mapper
from .results import E
from .stream import Stream
from .subscription import Subscription

#: Where an entity was changed: "local" as long as the backend has not accepted it, else "remote".
Source = Literal["local", "remote"]

#: The limit of changes that wait in a stream.
_MOST = 100


@dataclass(frozen=True, slots=True)
class Deletion:
    """An entity that left the result; ``index`` is its index in the old result."""

    index: int
    id: str
    source: Source = "remote"


@dataclass(frozen=True, slots=True)
class Move:
    """An entity that moved; ``origin`` is its index in the old result, ``index`` in the new one."""

    origin: int
    index: int
    id: str


@dataclass(frozen=True, slots=True)
class Placed(Generic[E]):
    """An entity that was inserted or modified; ``index`` is its index in the new result."""

    index: int
    entity: E
    source: Source = "remote"


@dataclass(frozen=True, slots=True)
class Changes(Generic[E]):
    """The changes from one result to the next."""

    #: Whether this is the whole result, as insertions. The first event is; another one is if a
    #: stream was read too slowly.
    initial: bool
    #: The size of the new result.
    count: int
    deletions: Sequence[Deletion]
    moves: Sequence[Move]
    insertions: Sequence[Placed[E]]
    modifications: Sequence[Placed[E]]
    #: Whether the collection is synchronised in the background, and was read since that started.
    is_synced: bool = False

    def apply(self, result: list[E]) -> None:
        """Apply the changes to a list: it has the old result, and then the new one."""
        if self.initial:
            result.clear()
        coming = [(placed.index, placed.entity) for placed in self.insertions]
        coming += [(move.index, result[move.origin]) for move in self.moves]
        going = [deletion.index for deletion in self.deletions]
        going += [move.origin for move in self.moves]
        for index in sorted(going, reverse=True):
            del result[index]
        for index, entity in sorted(coming, key=lambda placed: placed[0]):
            result.insert(index, entity)
        for placed in self.modifications:
            result[placed.index] = placed.entity


OnChanges = Callable[[Changes[E] | KVError], object]


def decode_changes(text: bytes, mapper: Mapper[E]) -> Changes[E]:
    """Read an event as the library writes it."""
    members = from_json(text)
    return Changes(
        initial=members["initial"],
        count=members["count"],
        deletions=[
            Deletion(each["index"], each["id"], each["source"]) for each in members["deletions"]
        ],
        moves=[Move(each["from"], each["to"], each["id"]) for each in members["moves"]],
        insertions=[_placed(each, mapper) for each in members["insertions"]],
        modifications=[_placed(each, mapper) for each in members["modifications"]],
        is_synced=members["isSynced"],
    )


def _placed(members: Mapping[str, Any], mapper: Mapper[E]) -> Placed[E]:
    return Placed(members["index"], mapper.read(members["entity"]), members["source"])


def changes_reader(
    receive: OnChanges[E], mapper: Mapper[E], ended: Callable[[], object] | None = None
) -> Callable[[bytes | KVError], object]:
    """Return a function that passes events on as changes.

    An entity that does not fit the model ends it: what follows would change a result that the
    receiver has not seen.
    """
    refuse_coroutine(receive, "the callback for changes")
    is_over = False

    def on_event(event: bytes | KVError) -> None:
        nonlocal is_over
        if is_over:
            return
        if isinstance(event, KVError):
            receive(event)
            return
        try:
            changes = decode_changes(event, mapper)
        except KVError as error:
            is_over = True
            receive(error)
            if ended is not None:
                ended()
        else:
            receive(changes)

    return on_event


class ChangesStream(Stream[Changes[E]], Generic[E]):
    """The changes of an observed query; :meth:`kvstore.Store.changes` makes it.

    If more than 100 changes wait, the stream has these first, and then the whole new result.
    """

    def __init__(
        self, observe: Callable[[OnChanges[E], Callable[[], object]], Subscription]
    ) -> None:
        super().__init__(_MOST)
        self._observe = observe
        self._changing = threading.RLock()
        self._closed = False
        self._begin()

    def _begin(self) -> None:
        #: Set when another subscription follows this one.
        over = self._over = threading.Event()

        def ended() -> None:
            if not over.is_set():
                self._end()

        self._subscription = self._observe(self._take, ended)

    def _take(self, changes: Changes[E] | KVError) -> None:
        if isinstance(changes, KVError):
            self._put(changes)
        else:
            self._offer(changes)

    def _resume(self) -> None:
        with self._changing:
            if self._closed:
                return
            self._over.set()
            self._subscription.close()
            self._waiting.clear()
            try:
                self._begin()
            except KVError:
                self._end()
                raise

    def close(self) -> None:
        """End the stream and any wait for a change. A second call is harmless."""
        with self._changing:
            self._closed = True
            self._subscription.close()
