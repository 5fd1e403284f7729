"""Events: what a subscription tells, for ``async for``."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final, Generic, TypeVar

from ..subscription import Subscription
from ._waiting import Closing, in_thread

T = TypeVar("T")

#: How many events may wait for the loop.
_MOST: Final = 10_000


class Events(Closing, AsyncIterator[T], Generic[T]):
    """Events in their order, from its making in a running loop until it or its client is closed.

    Use it in an ``async with``: dropping it is no end. If more than 10,000 events wait, those are
    given, and then ``asyncio.QueueFull`` is raised: some were missed.
    """

    def __init__(
        self, subscribe: Callable[[Callable[[T], object], Callable[[], object]], Subscription]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[T] = deque()
        self._missed = False
        self._ended = False
        self._changed = asyncio.Event()
        # Both are called on a thread of the client.
        self._subscription = subscribe(
            lambda event: self._in_loop(lambda: self._take(event)),
            lambda: self._in_loop(self._end),
        )

    def __aiter__(self) -> Events[T]:
        return self

    async def __anext__(self) -> T:
        while not self._waiting:
            if self._missed:
                raise asyncio.QueueFull("events were missed: the loop takes them too slowly")
            if self._ended:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popleft()

    async def close(self) -> None:
        """End it, with the events that wait; a second time is harmless."""
        await in_thread(self._subscription.close)
        self._waiting.clear()
        self._end()

    def _in_loop(self, step: Callable[[], None]) -> None:
        # A loop that is closed has nobody who waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(step)

    def _take(self, event: T) -> None:
        if self._ended or self._missed:
            return
        if len(self._waiting) < _MOST:
            self._waiting.append(event)
        else:
            self._missed = True
        self._changed.set()

    def _end(self) -> None:
        self._ended = True
        self._changed.set()


class States(Events[T]):
    """The last state that was told, for ``async for``: one that nobody took gives way to the next.

    What it is of lasts until this is closed, whether or not somebody iterates.
    """

    def _take(self, event: T) -> None:
        self._waiting.clear()
        super()._take(event)
