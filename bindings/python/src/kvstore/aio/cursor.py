"""Cursors: the entities of a find, one after the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Generic

from .. import cursor as blocking
from .._callbacks import Done
from ..request import Request
from ..results import E, Entity
from ._waiting import Closing, finish, in_thread


class Cursor(Closing, AsyncIterator[E], Generic[E]):
    """Iterates lazily over the entities of a find, with one page in memory at a time.

    The find starts when the first entity is requested. From then on, a cursor over local data holds
    a snapshot. It closes itself after the last entity, so leave a loop early only inside an
    ``async with``.
    """

    def __init__(self, begin: Callable[[Done], Request[blocking.Cursor[E]]]) -> None:
        self._begin: Callable[[Done], Request[blocking.Cursor[E]]] | None = begin
        self._cursor: blocking.Cursor[E] | None = None
        self._page: list[Entity] = []
        self._fetching: asyncio.Future[list[Entity]] | None = None
        self._lock = asyncio.Lock()

    def __aiter__(self) -> Cursor[E]:
        return self

    async def __anext__(self) -> E:
        async with self._lock:
            if not self._page:
                self._page = await self._fetch()
                self._page.reverse()
            if not self._page or self._cursor is None:
                raise StopAsyncIteration
            return self._cursor.mapper.read(self._page.pop())

    async def close(self) -> None:
        """Close the cursor. A second call is harmless."""
        self._begin, self._page = None, []
        if self._cursor is not None:
            await in_thread(self._cursor.close)

    def __repr__(self) -> str:
        return f"<kvstore.aio.Cursor at {id(self):#x}>"

    async def _fetch(self) -> list[Entity]:
        if self._cursor is None:
            if self._begin is None:
                return []
            found = await finish(self._begin)
            if self._begin is None:
                # It was closed meanwhile.
                await in_thread(found.close)
                return []
            self._cursor, self._begin = found, None
        # A page that arrives after its task was cancelled is for the next caller.
        if self._fetching is None:
            self._fetching = asyncio.ensure_future(in_thread(self._cursor.fetch))
        try:
            page = await asyncio.shield(self._fetching)
        finally:
            if self._fetching.done():
                self._fetching = None
        return page
