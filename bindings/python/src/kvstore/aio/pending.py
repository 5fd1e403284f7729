"""The queue of a collection: the writes that are not sent, at most one for each entity."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Generic, Unpack, overload

from .. import pending as blocking
from .._options import CallOptions
from ..results import E, Entity, EntityLike, PendingDetail, PendingWrite
from ._waiting import finish, in_thread


class PendingQueue(Generic[E]):
    """The pending writes of a store; see :class:`kvstore.PendingQueue`."""

    def __init__(self, queue: blocking.PendingQueue[E]) -> None:
        self._queue = queue

    async def count(self) -> int:
        """Count the writes."""
        return await in_thread(len, self._queue)

    async def __aiter__(self) -> AsyncIterator[PendingWrite]:
        """Give the writes, oldest first, a page at a time."""
        after = None
        while page := await in_thread(self._queue.page, after):
            for write in page:
                yield write
            after = page[-1].id

    async def get(self, id: str) -> PendingDetail[E]:
        """Give one write and what it would send, or raise :class:`kvstore.NotFoundError`."""
        return await in_thread(self._queue.get, id)

    async def retry(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Send one write now; it stays pending if that fails."""
        await finish(lambda done: self._queue.retry_async(id, on_answer=done, **options))

    @overload
    async def edit(self: PendingQueue[Entity], id: str, entity: EntityLike) -> None: ...

    @overload
    async def edit(self, id: str, entity: E) -> None: ...

    async def edit(self, id: str, entity: Any) -> None:
        """Replace what a create or update would send; its attempts and error are reset."""
        await in_thread(self._queue.edit, id, entity)

    async def revert(self, id: str) -> None:
        """Forget one write and make the local entity what the backend has, as far as is known."""
        await in_thread(self._queue.revert, id)

    async def drop(self, id: str) -> None:
        """Forget one write; the local entity stays as it is."""
        await in_thread(self._queue.drop, id)

    def __repr__(self) -> str:
        return f"<kvstore.aio.PendingQueue of {self._queue!r}>"
