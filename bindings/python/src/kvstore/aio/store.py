"""Stores: one collection, seen through one of four types."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, Unpack

from .. import store as blocking
from .._option_types import CallOptions
from .._options import FollowOptions
from ..changes import ChangesStream
from ..conflict import ConflictHandler
from ..errors import NotFoundError
from ..grouping import Aggregate
from ..query import QueryLike
from ..results import E, Entity, SyncResult
from ..status import FollowStatus
from ._calls import StoreCalls
from ._waiting import Closing, finish, in_thread
from .cursor import Cursor
from .events import LiveStream, States
from .fetched import Results
from .pending import PendingQueue

T = TypeVar("T")


class Store(StoreCalls[E], Closing):
    """A collection; open it with :meth:`kvstore.aio.Client.collection`.

    Its calls are those of :class:`kvstore.Store`, awaited.
    """

    def __init__(self, store: blocking.Store[E]) -> None:
        self.blocking = store

    async def close(self) -> None:
        """Close the store. A second call is harmless. Running calls go on."""
        await in_thread(self.blocking.close)

    def find(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> Cursor[E]:
        """Find the entities that match, for ``async for``, which fetches them page by page."""
        return Cursor(lambda done: self.blocking.find_async(query, on_answer=done, **options))

    async def results(
        self,
        query: QueryLike = None,
        *,
        batch_size: int = 100,
        cache_bytes: int = 4 << 20,
        **options: Unpack[CallOptions],
    ) -> Results[E]:
        """Fetch what a query finds, as a list that loads little by little.

        See :meth:`kvstore.Store.results`.
        """
        return Results(
            await finish(
                lambda done: self.blocking.results_async(
                    query,
                    batch_size=batch_size,
                    cache_bytes=cache_bytes,
                    on_answer=done,
                    **options,
                )
            )
        )

    async def ids(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> Results[str]:
        """Fetch the ids of what a query finds: see :meth:`kvstore.Store.ids`."""
        return Results(await in_thread(self.blocking.ids, query, **options))

    async def rows(
        self,
        query: QueryLike = None,
        *,
        distinct: bool = False,
        group_by: Sequence[str] | None = None,
        aggregates: Mapping[str, Aggregate] | None = None,
        having: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> Results[Entity]:
        """Fetch dictionaries: see :meth:`kvstore.Store.rows`."""
        return Results(
            await in_thread(
                lambda: self.blocking.rows(
                    query,
                    distinct=distinct,
                    group_by=group_by,
                    aggregates=aggregates,
                    having=having,
                    **options,
                )
            )
        )

    async def pull_entities(
        self, query: QueryLike = None, **options: Unpack[CallOptions]
    ) -> Cursor[E]:
        """Pull, and return the entities that match in the local data afterwards."""
        await self.pull(query, **options)
        options["read_policy"] = "forceLocal"
        return self.find(query, **options)

    async def sync_entities(
        self, query: QueryLike = None, **options: Unpack[CallOptions]
    ) -> tuple[SyncResult, Cursor[E]]:
        """Sync, and return the entities that match in the local data afterwards, too."""
        result = await self.sync(query, **options)
        options["read_policy"] = "forceLocal"
        return result, self.find(query, **options)

    async def get(
        self, id: str, default: T | None = None, **options: Unpack[CallOptions]
    ) -> E | T | None:
        """Find one entity, or return `default`."""
        try:
            return await self.find_by_id(id, **options)
        except NotFoundError:
            return default

    def __aiter__(self) -> Cursor[E]:
        return self.find()

    @property
    def pending(self) -> PendingQueue[E]:
        """The pending writes of the collection."""
        return PendingQueue(self.blocking.pending)

    def set_conflict_handler(self, handler: ConflictHandler[E] | None) -> None:
        """Let a function decide conflicts: see :meth:`kvstore.Store.set_conflict_handler`.

        The function is not a coroutine. It runs on a thread of the client, not in the loop.
        """
        self.blocking.set_conflict_handler(handler)

    @asynccontextmanager
    async def live(self, *, live_to_local: bool = False) -> AsyncIterator[LiveStream[E]]:
        """Iterate over the live data of this collection: ``async with``, then ``async for``.

        See :meth:`kvstore.Store.live`. Call :meth:`Client.register_live` before.
        """
        blocking = await in_thread(self.blocking.live, live_to_local=live_to_local)
        async with LiveStream(blocking) as stream:
            yield stream

    def follow(
        self, query: QueryLike = None, **options: Unpack[FollowOptions]
    ) -> States[FollowStatus]:
        """Keep a query in sync with the backend, for as long as an ``async with`` lasts.

        ``async for`` yields its status. See :meth:`kvstore.Store.follow`.
        """
        return States(
            lambda receive, ended: self.blocking.follow(query, receive, ended=ended, **options)
        )

    @asynccontextmanager
    async def changes(self, query: QueryLike = None) -> AsyncIterator[ChangesStream[E]]:
        """Observe a query over the local data: ``async with``, then ``async for``.

        See :meth:`kvstore.Store.changes`.
        """
        with await in_thread(self.blocking.changes, query) as stream:
            yield stream

    def __repr__(self) -> str:
        return f"<kvstore.aio.Store {self.blocking.name!r} of type {self.blocking.type!r}>"
