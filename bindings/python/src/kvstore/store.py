"""Stores: one collection, seen through one of four types."""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar, Unpack, overload

from . import _native
from ._callbacks import Done, Owner, Reader
from ._closing import Closing
from ._options import (
    CallOptions,
    StoreOptions,
    StoreType,
    encode_options,
    entity_json,
    to_text,
)
from .changes import ChangesStream, OnChanges, changes_reader
from .conflict import ConflictHandler, set_handler
from .cursor import Cursor
from .errors import NotFoundError
from .grouping import Aggregate, group_json
from .grouping import reduce as reduce_groups
from .live import ErrorHandler, LiveHandler, LiveStream, begin_live
from .pending import PendingQueue
from .query import QueryLike, as_query, handle_of
from .request import CursorReader, OnAnswer, Request, TextReader, start
from .results import (
    Answer,
    Entity,
    EntityLike,
    Explanation,
    Index,
    PullResult,
    PushResult,
    SaveManyResult,
    SyncResult,
    decode_count,
    decode_entities,
    decode_entity,
    decode_explanation,
    decode_indexes,
    decode_pull,
    decode_push,
    decode_save_many,
    decode_sync,
    decode_values,
)
from .subscription import Subscription, begin

T = TypeVar("T")
A = TypeVar("A")

_open = _native.function("kv_store_open")
_close = _native.function("kv_store_close")
_find = _native.function("kv_store_find")
_find_by_id = _native.quick_function("kv_store_find_by_id")
_save = _native.function("kv_store_save")
_save_many = _native.function("kv_store_save_many")
_remove_by_id = _native.function("kv_store_remove_by_id")
_remove = _native.function("kv_store_remove")
_count = _native.function("kv_store_count")
_create_index = _native.function("kv_store_create_index")
_drop_index = _native.function("kv_store_drop_index")
_indexes = _native.function("kv_store_indexes")
_explain = _native.function("kv_store_explain")
_purge = _native.function("kv_store_purge")
_clear = _native.function("kv_store_clear")

_BYTES: Final = TextReader(bytes)
_CURSOR: Final = CursorReader()
_ENTITY: Final = TextReader(decode_entity)
_SAVED: Final = TextReader(decode_save_many)
_COUNT: Final = TextReader(decode_count)
_GROUPS: Final = TextReader(decode_entities)
_VALUES: Final = TextReader(decode_values)
_PULL: Final = TextReader(decode_pull)
_PUSH: Final = TextReader(decode_push)
_SYNC: Final = TextReader(decode_sync)
_FORCE_LOCAL: Final = "forceLocal"


class Store(Closing):
    """A collection; open it with :meth:`kvstore.Client.collection`. Any thread may use it.

    Entities are dictionaries with an ``_id``. Where a query is asked for, a filter such as
    ``{"population": {"$gte": 50_000}}`` will do, and None means all. Every call takes the options
    of :class:`kvstore.CallOptions` as keywords. The ``_async`` forms return at once.
    """

    def __init__(
        self,
        client: Owner,
        collection: str,
        type: StoreType,
        options: StoreOptions,
    ) -> None:
        self.name = collection
        self.type = type
        self.pumped = client.pumped
        self._client = client
        self._reads_locally = _stays_local(type, options.get("read_policy"))
        self._writes_locally = _stays_local(type, options.get("write_policy"))
        self.handle = _native.call_for_handle(
            _open,
            client.handle,
            to_text(collection, "collection"),
            to_text(type, "type"),
            encode_options(options),
        )
        self._quick_handle = _native.quick_handle(self.handle)
        self._finalizer = weakref.finalize(self, _close, self.handle)

    # Reading

    def find(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> Cursor:
        """Find the entities that match; they are fetched as they are iterated over."""
        if not self._reads(options):
            return self.find_async(query, **options).finish()
        made = as_query(query)
        return Cursor(
            _native.call_for_handle(_find, self.handle, handle_of(made), encode_options(options)),
            self,
        )

    def find_by_id(self, id: str, **options: Unpack[CallOptions]) -> Entity:
        """Find one entity, or raise :class:`kvstore.NotFoundError`."""
        return decode_entity(self.get_bytes(id, **options))

    def get_bytes(self, id: str, **options: Unpack[CallOptions]) -> bytes:
        """Find one entity and give its JSON as it is stored: the fastest way to read."""
        if options or not self._reads_locally:
            if not self._reads(options):
                return self._start_find_by_id(_BYTES, id, options).finish()
            options_json = encode_options(options)
        else:
            options_json = None
        key = to_text(id, "id")
        outs = _native.outs
        try:
            out = outs.pop()
        except IndexError:
            out = _native.Out()
        try:
            status = _find_by_id(self._quick_handle, key, options_json, *out.refs)
            if status:
                raise _native.failure(status, out)
            text = out.text.value
            _native.free(out.text)
            return text or b""
        finally:
            outs.append(out)

    def get(
        self, id: str, default: T | None = None, **options: Unpack[CallOptions]
    ) -> Entity | T | None:
        """Find one entity, or give `default`."""
        try:
            return self.find_by_id(id, **options)
        except NotFoundError:
            return default

    def __getitem__(self, id: str) -> Entity:
        return self.find_by_id(id)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.get(id) is not None

    def __iter__(self) -> Iterator[Entity]:
        return self.find()

    def count(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> int:
        """Count the entities that match."""
        if not self._reads(options):
            return self.count_async(query, **options).finish()
        made = as_query(query)
        return _native.call_for_count(_count, self.handle, handle_of(made), encode_options(options))

    def group(
        self,
        keys: Sequence[str] = (),
        aggregates: Mapping[str, Aggregate] | None = None,
        query: QueryLike = None,
        *,
        reduce: str | None = None,
        initial: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> list[Entity]:
        """Group the entities that match by some members, and compute numbers about each group.

        An aggregate is ``"count"``, or ``{"sum": path}``, ``{"avg": path}``, ``{"min": path}`` or
        ``{"max": path}``; only numbers count. The groups are ordered by the keys.

        ``group(["done"], {"n": "count", "longest": {"max": "words"}})`` gives such as
        ``[{"done": False, "n": 2, "longest": 12}, {"done": True, "n": 1, "longest": 3}]``.

        `reduce` is JavaScript instead, for a backend that runs it, which starts from `initial`.
        """
        return self.group_async(
            keys, aggregates, query, reduce=reduce, initial=initial, **options
        ).finish()

    def reduce(
        self,
        function: Callable[[A, Entity], A],
        initial: Callable[[], A],
        keys: Sequence[str] = (),
        query: QueryLike = None,
        **options: Unpack[CallOptions],
    ) -> list[tuple[Entity, A]]:
        """Group the entities that match, and fold each group with a function of one's own.

        The function gets what it gave last, or ``initial()``, and an entity. Gives the keys of each
        group, as they appear, and what came of it:
        ``reduce(lambda words, note: words + note["words"], int, ["done"])`` gives such as
        ``[({"done": False}, 17), ({"done": True}, 3)]``.
        """
        made = as_query(query)
        return reduce_groups(
            self.handle, keys, handle_of(made), encode_options(options), function, initial
        )

    def distinct(
        self, path: str, query: QueryLike = None, **options: Unpack[CallOptions]
    ) -> list[Any]:
        """Give the different values of a member, in order; elements of arrays count one by one."""
        return self.distinct_async(path, query, **options).finish()

    # Writing

    def save(self, entity: EntityLike, **options: Unpack[CallOptions]) -> Entity:
        """Save one entity and give it as stored, with an ``_id`` if it had none."""
        if not self._writes(options):
            return self.save_async(entity, **options).finish()
        text = entity_json(entity)
        return decode_entity(
            _native.call_for_text(_save, self.handle, text, len(text), encode_options(options))
        )

    def save_many(
        self, entities: Iterable[EntityLike], **options: Unpack[CallOptions]
    ) -> SaveManyResult:
        """Save many entities, locally in one transaction; the result says which ones failed."""
        if not self._writes(options):
            return self.save_many_async(entities, **options).finish()
        text = _array_json(entities)
        return decode_save_many(
            _native.call_for_text(_save_many, self.handle, text, len(text), encode_options(options))
        )

    def remove_by_id(self, id: str, **options: Unpack[CallOptions]) -> int:
        """Remove one entity; give 1, or 0 if there was none."""
        if not self._writes(options):
            return self.remove_by_id_async(id, **options).finish()
        return _native.call_for_count(
            _remove_by_id, self.handle, to_text(id, "id"), encode_options(options)
        )

    def remove(self, query: QueryLike, **options: Unpack[CallOptions]) -> int:
        """Remove the entities that match and count them; None removes all."""
        if not self._writes(options):
            return self.remove_async(query, **options).finish()
        made = as_query(query)
        return _native.call_for_count(
            _remove, self.handle, handle_of(made), encode_options(options)
        )

    # Synchronising

    def pull(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> PullResult:
        """Fetch the entities that match from the backend into the local store.

        :class:`kvstore.PendingError` if writes are pending: push or purge them first.
        """
        return self.pull_async(query, **options).finish()

    def push(self, **options: Unpack[CallOptions]) -> PushResult:
        """Send all pending writes; those that are refused are in the result and stay pending."""
        return self.push_async(**options).finish()

    def sync(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> SyncResult:
        """Push, then pull what matches; nothing is pulled if the push left errors."""
        return self.sync_async(query, **options).finish()

    @property
    def pending(self) -> PendingQueue:
        """The writes that wait to be pushed."""
        return PendingQueue(self)

    def set_conflict_handler(self, handler: ConflictHandler | None) -> None:
        """Let a function decide the conflicts that calls of this store meet; None takes it away.

        It gets a :class:`kvstore.Conflict` and gives a :class:`kvstore.Decision`, or the entity
        that replaces both versions. It runs where callbacks run and may call anything, closing the
        client included. The option ``conflicts`` may say otherwise for a call.
        """
        set_handler(self.handle, handler)

    def subscribe(
        self,
        on_next: LiveHandler | None = None,
        *,
        on_ready: LiveHandler | None = None,
        on_status: LiveHandler | None = None,
        on_error: ErrorHandler | None = None,
        live_to_local: bool = False,
    ) -> Subscription:
        """Call functions for what happens to this collection on the backend.

        They get :class:`kvstore.LiveEvent` objects, `on_error` an exception, where callbacks run,
        until the subscription is closed: `on_next` changes, `on_ready` that every change from now
        on is told, `on_status` how the connection is, and that changes were missed.
        ``live_to_local`` writes what arrives to the local store first, never over a pending write.
        :meth:`Client.register_live` comes first.
        """
        return begin_live(
            *("kv_store_subscribe", self, self.handle, _live_options(live_to_local)),
            handlers=(on_next, on_ready, on_status, on_error),
        )

    def live(self, *, live_to_local: bool = False) -> LiveStream:
        """Iterate over what :meth:`subscribe` tells, with ``for`` or ``async for``."""
        return LiveStream("kv_store_subscribe", self, self.handle, _live_options(live_to_local))

    def purge(self, query: QueryLike = None) -> int:
        """Forget the pending writes of matching entities and count them; the entities stay."""
        made = as_query(query)
        return _native.call_for_count(_purge, self.handle, handle_of(made))

    def clear(self, query: QueryLike = None) -> int:
        """Remove matching entities and their pending writes locally only; count the entities."""
        made = as_query(query)
        return _native.call_for_count(_clear, self.handle, handle_of(made))

    # Indexes

    def create_index(
        self, keys: Mapping[str, int | str], *, name: str | None = None, totals: bool = False
    ) -> None:
        """Make an index, such as ``{"country": 1, "population": -1}``, over what is there too.

        The value of a key is 1, -1, ``"text"`` (for words) or ``"2dsphere"`` (for places). If there
        is the same one already, nothing happens. ``totals`` keeps count and sum of the last key for
        each group of the others, so that :meth:`group` by these is immediate.
        """
        spec: dict[str, Any] = {"keys": dict(keys)}
        if totals:
            spec["totals"] = True
        if name is not None:
            spec["name"] = name
        text = json.dumps(spec).encode()
        _native.call(_create_index, self.handle, text, len(text))

    def drop_index(self, name: str) -> None:
        """Drop an index, or raise :class:`kvstore.NotFoundError`."""
        _native.call(_drop_index, self.handle, to_text(name, "name"))

    def indexes(self) -> list[Index]:
        """List the indexes of the collection."""
        return decode_indexes(_native.call_for_text(_indexes, self.handle))

    def explain(self, query: QueryLike = None) -> Explanation:
        """Run a find in the local data and tell how it is carried out."""
        made = as_query(query)
        return decode_explanation(_native.call_for_text(_explain, self.handle, handle_of(made)))

    def observe(self, query: QueryLike, receive: OnChanges) -> Subscription:
        """Follow a query over the local data, until the subscription is closed.

        ``receive`` gets the result first, then what changes it, whoever causes that, or an error.
        It runs where callbacks do. :meth:`Changes.apply` keeps a list up to date.
        """
        return self._observe(query, receive, None)

    def observe_by_id(self, id: str, receive: OnChanges) -> Subscription:
        """Do the same for one entity, which need not be there."""
        hear = changes_reader(receive)
        handle = begin("kv_store_observe_by_id", self, self.handle, to_text(id, "id"), receive=hear)
        return Subscription(handle, self)

    def changes(self, query: QueryLike = None) -> ChangesStream:
        """Iterate over what :meth:`observe` tells, with ``for`` or ``async for``."""
        made = as_query(query)
        return ChangesStream(lambda receive, ended: self._observe(made, receive, ended))

    def _observe(
        self, query: QueryLike, receive: OnChanges, ended: Callable[[], object] | None
    ) -> Subscription:
        made = as_query(query)
        hear = changes_reader(receive)
        handle = begin(
            "kv_store_observe", self, self.handle, handle_of(made), receive=hear, ended=ended
        )
        return Subscription(handle, self)

    # The asynchronous forms

    @overload
    def find_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: Done | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[Cursor]: ...

    @overload
    def find_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: Callable[[Answer[Cursor]], object],
        **options: Unpack[CallOptions],
    ) -> Request[None]: ...

    def find_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[Cursor] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[Cursor] | Request[None]:
        """Start a find. With `on_answer` the entities are in the answers, and nowhere else.

        The cursor of an answer is closed when the callback returns.
        """
        return self._start_query("kv_store_find", _CURSOR, query, options, on_answer)

    def find_by_id_async(
        self, id: str, *, on_answer: OnAnswer[Entity] | None = None, **options: Unpack[CallOptions]
    ) -> Request[Entity]:
        """Start to find one entity."""
        return self._start_find_by_id(_ENTITY, id, options, on_answer)

    def count_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[int] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[int]:
        """Start to count."""
        return self._start_query("kv_store_count", _COUNT, query, options, on_answer)

    def group_async(
        self,
        keys: Sequence[str] = (),
        aggregates: Mapping[str, Aggregate] | None = None,
        query: QueryLike = None,
        *,
        reduce: str | None = None,
        initial: Mapping[str, Any] | None = None,
        on_answer: OnAnswer[list[Entity]] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[list[Entity]]:
        """Start to group."""
        text, made = group_json(keys, aggregates or {}, initial, reduce), as_query(query)
        return self._start(
            "kv_store_group",
            _GROUPS,
            text,
            len(text),
            handle_of(made),
            options=options,
            on_answer=on_answer,
        )

    def distinct_async(
        self,
        path: str,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[list[Any]] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[list[Any]]:
        """Start to look for the different values of a member."""
        made = as_query(query)
        return self._start(
            "kv_store_distinct",
            _VALUES,
            to_text(path, "the path"),
            handle_of(made),
            options=options,
            on_answer=on_answer,
        )

    def save_async(
        self,
        entity: EntityLike,
        *,
        on_answer: OnAnswer[Entity] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[Entity]:
        """Start to save one entity."""
        return self._start_save("kv_store_save", _ENTITY, entity_json(entity), options, on_answer)

    def save_many_async(
        self,
        entities: Iterable[EntityLike],
        *,
        on_answer: OnAnswer[SaveManyResult] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[SaveManyResult]:
        """Start to save many entities."""
        text = _array_json(entities)
        return self._start_save("kv_store_save_many", _SAVED, text, options, on_answer)

    def remove_by_id_async(
        self, id: str, *, on_answer: OnAnswer[int] | None = None, **options: Unpack[CallOptions]
    ) -> Request[int]:
        """Start to remove one entity."""
        key = to_text(id, "id")
        return self._start(
            "kv_store_remove_by_id", _COUNT, key, options=options, on_answer=on_answer
        )

    def remove_async(
        self,
        query: QueryLike,
        *,
        on_answer: OnAnswer[int] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[int]:
        """Start to remove what matches."""
        return self._start_query("kv_store_remove", _COUNT, query, options, on_answer)

    def pull_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[PullResult] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[PullResult]:
        """Start a pull."""
        return self._start_query("kv_store_pull", _PULL, query, options, on_answer)

    def push_async(
        self, *, on_answer: OnAnswer[PushResult] | None = None, **options: Unpack[CallOptions]
    ) -> Request[PushResult]:
        """Start a push."""
        return self._start("kv_store_push", _PUSH, options=options, on_answer=on_answer)

    def sync_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[SyncResult] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[SyncResult]:
        """Start a sync."""
        return self._start_query("kv_store_sync", _SYNC, query, options, on_answer)

    # Closing

    def close(self) -> None:
        """Close the store; a second time is harmless. Its requests and cursors go on."""
        self._finalizer()

    def __repr__(self) -> str:
        return f"<kvstore.Store {self.name!r} of type {self.type!r}>"

    # Starting requests

    def _start_find_by_id(
        self,
        reader: Reader[T],
        id: str,
        options: CallOptions,
        on_answer: OnAnswer[T] | None = None,
    ) -> Request[T]:
        key = to_text(id, "id")
        return self._start("kv_store_find_by_id", reader, key, options=options, on_answer=on_answer)

    def _start_query(
        self,
        name: str,
        reader: Reader[T],
        query: QueryLike,
        options: CallOptions,
        on_answer: OnAnswer[T] | None,
    ) -> Request[T]:
        made = as_query(query)
        return self._start(name, reader, handle_of(made), options=options, on_answer=on_answer)

    def _start_save(
        self,
        name: str,
        reader: Reader[T],
        text: bytes,
        options: CallOptions,
        on_answer: OnAnswer[T] | None,
    ) -> Request[T]:
        return self._start(name, reader, text, len(text), options=options, on_answer=on_answer)

    def _start(
        self,
        name: str,
        reader: Reader[T],
        *arguments: object,
        options: CallOptions,
        on_answer: OnAnswer[T] | None,
    ) -> Request[T]:
        return start(
            name,
            reader,
            self,
            *arguments,
            encode_options(options),
            on_answer=on_answer,
        )

    def _reads(self, options: CallOptions) -> bool:
        """Tell whether a read stays on this machine, so that it need not be interruptible."""
        policy = options.get("read_policy")
        return self._reads_locally if policy is None else policy == _FORCE_LOCAL

    def _writes(self, options: CallOptions) -> bool:
        policy = options.get("write_policy")
        return self._writes_locally if policy is None else policy == _FORCE_LOCAL


def _stays_local(type: StoreType, policy: str | None) -> bool:
    return type == "sync" if policy is None else policy == _FORCE_LOCAL


def _array_json(entities: Iterable[EntityLike]) -> bytes:
    if isinstance(entities, (bytes, str, Mapping)):
        raise TypeError("save_many takes several entities; save takes one")
    return b"[" + b",".join(map(entity_json, entities)) + b"]"


def _live_options(live_to_local: bool) -> bytes | None:
    return encode_options({"live_to_local": live_to_local})
