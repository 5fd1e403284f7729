"""Stores: one collection, seen through one of four types."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Generic, TypeVar, Unpack, overload

from .. import store as blocking
from .._options import CallOptions, WriteOptions
from ..changes import ChangesStream
from ..conflict import ConflictHandler
from ..errors import NotFoundError
from ..grouping import Aggregate
from ..live import LiveStream
from ..query import QueryLike
from ..results import (
    E,
    Entity,
    EntityLike,
    Explanation,
    Index,
    PullResult,
    PushResult,
    SaveManyResult,
    SyncResult,
    UpdateResult,
)
from ._waiting import Closing, finish, in_thread
from .cursor import Cursor
from .pending import PendingQueue

T = TypeVar("T")


class Store(Closing, Generic[E]):
    """A collection; open it with :meth:`kvstore.aio.Client.collection`.

    Its calls are those of :class:`kvstore.Store`, awaited.
    """

    def __init__(self, store: blocking.Store[E]) -> None:
        #: The store of the blocking calls, for what has no form here.
        self.blocking = store

    async def close(self) -> None:
        """Close the store; a second time is harmless. What is under way goes on."""
        await in_thread(self.blocking.close)

    # Reading

    def find(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> Cursor[E]:
        """Find the entities that match, for ``async for``; they are fetched as it goes on."""
        return Cursor(lambda done: self.blocking.find_async(query, on_answer=done, **options))

    async def find_by_id(self, id: str, **options: Unpack[CallOptions]) -> E:
        """Find one entity, or raise :class:`kvstore.NotFoundError`."""
        return await finish(
            lambda done: self.blocking.find_by_id_async(id, on_answer=done, **options)
        )

    async def get(
        self, id: str, default: T | None = None, **options: Unpack[CallOptions]
    ) -> E | T | None:
        """Find one entity, or give `default`."""
        try:
            return await self.find_by_id(id, **options)
        except NotFoundError:
            return default

    def __aiter__(self) -> Cursor[E]:
        return self.find()

    async def count(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> int:
        """Count the entities that match."""
        return await finish(
            lambda done: self.blocking.count_async(query, on_answer=done, **options)
        )

    async def group(
        self,
        keys: Sequence[str] = (),
        aggregates: Mapping[str, Aggregate] | None = None,
        query: QueryLike = None,
        *,
        reduce: str | None = None,
        initial: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> list[Entity]:
        """Compute numbers about groups of entities: see :meth:`kvstore.Store.group`."""
        return await finish(
            lambda done: self.blocking.group_async(
                keys, aggregates, query, reduce=reduce, initial=initial, on_answer=done, **options
            )
        )

    async def distinct(
        self, path: str, query: QueryLike = None, **options: Unpack[CallOptions]
    ) -> list[Any]:
        """Give the different values of a member, in order; elements of arrays count one by one."""
        return await finish(
            lambda done: self.blocking.distinct_async(path, query, on_answer=done, **options)
        )

    # Writing

    @overload
    async def save(
        self: Store[Entity], entity: EntityLike, **options: Unpack[WriteOptions]
    ) -> Entity: ...

    @overload
    async def save(self, entity: E, **options: Unpack[WriteOptions]) -> E: ...

    async def save(self, entity: Any, **options: Unpack[WriteOptions]) -> Any:
        """Save one entity and give it as stored, with an ``_id`` if it had none."""
        return await finish(
            lambda done: self.blocking.save_async(entity, on_answer=done, **options)
        )

    @overload
    async def insert(
        self: Store[Entity], entity: EntityLike, **options: Unpack[CallOptions]
    ) -> Entity: ...

    @overload
    async def insert(self, entity: E, **options: Unpack[CallOptions]) -> E: ...

    async def insert(self, entity: Any, **options: Unpack[CallOptions]) -> Any:
        """Save one entity if there is none of its ``_id``, else :class:`kvstore.ConflictError`."""
        return await self.save(entity, **options, if_missing=True)

    @overload
    async def save_many(
        self: Store[Entity], entities: Iterable[EntityLike], **options: Unpack[WriteOptions]
    ) -> SaveManyResult[Entity]: ...

    @overload
    async def save_many(
        self, entities: Iterable[E], **options: Unpack[WriteOptions]
    ) -> SaveManyResult[E]: ...

    async def save_many(self, entities: Any, **options: Unpack[WriteOptions]) -> Any:
        """Save many entities, locally in one transaction; the result says which ones failed."""
        return await finish(
            lambda done: self.blocking.save_many_async(entities, on_answer=done, **options)
        )

    async def remove_by_id(self, id: str, **options: Unpack[WriteOptions]) -> int:
        """Remove one entity; give 1, or 0 if there was none."""
        return await finish(
            lambda done: self.blocking.remove_by_id_async(id, on_answer=done, **options)
        )

    async def remove(
        self, query: QueryLike = None, *, all: bool = False, **options: Unpack[CallOptions]
    ) -> int:
        """Remove the entities that match and count them; None asks for ``all=True``."""
        return await finish(
            lambda done: self.blocking.remove_async(query, all=all, on_answer=done, **options)
        )

    async def update(
        self, query: QueryLike, update: Mapping[str, Any], **options: Unpack[CallOptions]
    ) -> UpdateResult:
        """Change members of the entities that match: see :meth:`kvstore.Store.update`."""
        return await finish(
            lambda done: self.blocking.update_async(query, update, on_answer=done, **options)
        )

    async def version(self, id: str) -> int:
        """Give the local version of one entity, which goes up with each change of it here."""
        return await in_thread(lambda: self.blocking.version(id))

    # Synchronising

    async def pull(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> PullResult:
        """Fetch the entities that match from the backend into the local store.

        :class:`kvstore.PendingError` if writes are pending: push or purge them first.
        """
        return await finish(lambda done: self.blocking.pull_async(query, on_answer=done, **options))

    async def push(self, **options: Unpack[CallOptions]) -> PushResult:
        """Send all pending writes; those that are refused are in the result and stay pending."""
        return await finish(lambda done: self.blocking.push_async(on_answer=done, **options))

    async def sync(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> SyncResult:
        """Push, then pull what matches; nothing is pulled if the push left errors."""
        return await finish(lambda done: self.blocking.sync_async(query, on_answer=done, **options))

    @property
    def pending(self) -> PendingQueue[E]:
        """The writes that wait to be pushed."""
        return PendingQueue(self.blocking.pending)

    def set_conflict_handler(self, handler: ConflictHandler[E] | None) -> None:
        """Let a function decide conflicts: see :meth:`kvstore.Store.set_conflict_handler`.

        It is no coroutine, and runs on a thread of the client, not in the loop.
        """
        self.blocking.set_conflict_handler(handler)

    async def purge(self, query: QueryLike = None) -> int:
        """Forget the pending writes of matching entities and count them; the entities stay."""
        return await in_thread(self.blocking.purge, query)

    async def clear(self, query: QueryLike = None) -> int:
        """Remove matching entities and their pending writes locally only; count the entities."""
        return await in_thread(self.blocking.clear, query)

    # Following

    @asynccontextmanager
    async def live(self, *, live_to_local: bool = False) -> AsyncIterator[LiveStream[E]]:
        """Give what happens to this collection on the backend: ``async with``, then ``async for``.

        See :meth:`kvstore.Store.live`; :meth:`Client.register_live` comes first.
        """
        with await in_thread(self.blocking.live, live_to_local=live_to_local) as stream:
            yield stream

    @asynccontextmanager
    async def changes(self, query: QueryLike = None) -> AsyncIterator[ChangesStream[E]]:
        """Follow a query over the local data: ``async with``, then ``async for``.

        See :meth:`kvstore.Store.changes`.
        """
        with await in_thread(self.blocking.changes, query) as stream:
            yield stream

    # Indexes

    async def create_index(
        self, keys: Mapping[str, int | str], *, name: str | None = None, totals: bool = False
    ) -> None:
        """Make an index: see :meth:`kvstore.Store.create_index`."""
        await in_thread(self.blocking.create_index, keys, name=name, totals=totals)

    async def drop_index(self, name: str) -> None:
        """Drop an index, or raise :class:`kvstore.NotFoundError`."""
        await in_thread(self.blocking.drop_index, name)

    async def indexes(self) -> list[Index]:
        """List the indexes of the collection."""
        return await in_thread(self.blocking.indexes)

    async def explain(self, query: QueryLike = None) -> Explanation:
        """Run a find in the local data and tell how it is carried out."""
        return await in_thread(self.blocking.explain, query)

    def __repr__(self) -> str:
        return f"<kvstore.aio.Store {self.blocking.name!r} of type {self.blocking.type!r}>"
