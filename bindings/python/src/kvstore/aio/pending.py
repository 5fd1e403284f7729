"""The queue of a collection: its pending writes, at most one for each entity."""

from __future__ import annotations

from collections.abc import AsyncIterator

from .. import pending as blocking
from ..results import E, PendingWrite
from ._calls import PendingCalls
from ._waiting import in_thread


class PendingQueue(PendingCalls[E]):
    """The pending writes of a store; see :class:`kvstore.PendingQueue`."""

    def __init__(self, queue: blocking.PendingQueue[E]) -> None:
        self.blocking = queue

    async def __aiter__(self) -> AsyncIterator[PendingWrite]:
        """Yield the writes, oldest first, page by page."""
        after = None
        while page := await in_thread(self.blocking.page, after):
            for write in page:
                yield write
            after = page[-1].id

    def __repr__(self) -> str:
        return f"<kvstore.aio.PendingQueue of {self.blocking!r}>"
