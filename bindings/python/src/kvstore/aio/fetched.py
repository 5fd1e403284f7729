"""Results: what a query found, as a list that loads little by little."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final, Generic, TypeVar

from .. import fetched as blocking
from ._waiting import Closing, in_thread

T = TypeVar("T")

#: How many records one step of an iteration reads.
_PAGE: Final = 128


class Results(Closing, AsyncIterator[T], Generic[T]):
    """A list with ``len()`` whose records are read in batches when they are asked for.

    See :class:`kvstore.Results`. ``async for`` continues where the last one ended.
    """

    def __init__(self, results: blocking.Results[T]) -> None:
        self.blocking = results
        self._position = 0
        self._page: list[T] = []

    def __len__(self) -> int:
        return len(self.blocking)

    async def get(self, index: int) -> T:
        """Return a record; :class:`kvstore.NotFoundError` if it was deleted meanwhile."""
        return await in_thread(self.blocking.__getitem__, index)

    async def between(self, start: int, stop: int) -> list[T]:
        """Return the records at some positions; those that were deleted are left out."""
        return await in_thread(lambda: list(self.blocking[start:stop]))

    async def state(self, index: int) -> blocking.RecordState:
        """Return what became of a record: it is read for that."""
        return await in_thread(self.blocking.state, index)

    def refresh(self) -> None:
        """Forget what was read: each record is read again when it is next asked for."""
        self.blocking.refresh()

    def __aiter__(self) -> Results[T]:
        return self

    async def __anext__(self) -> T:
        while not self._page:
            start = self._position
            if start >= len(self):
                raise StopAsyncIteration
            self._position = min(start + _PAGE, len(self))
            self._page = await self.between(start, self._position)
            self._page.reverse()
        return self._page.pop()

    async def close(self) -> None:
        """Close the results. A second call is harmless."""
        await in_thread(self.blocking.close)

    def __repr__(self) -> str:
        return f"<kvstore.aio.Results of {len(self)}>"
