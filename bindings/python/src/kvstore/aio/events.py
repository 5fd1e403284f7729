"""The events of a subscription, for ``async for``."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Final, Generic, TypeVar, Unpack

from .. import live
from .._option_types import NetworkOptions
from ..live import LiveEvent
from ..results import E
from ..subscription import Subscription
from ._waiting import Closing, finish, in_thread

T = TypeVar("T")

#: How many events may wait for the loop.
_MOST: Final = 10_000


class Events(Closing, AsyncIterator[T], Generic[T]):
    """Events in their order, from creation in a running loop until it or its client is closed.

    Use it in an ``async with``: dropping the object does not end it. If more than 10,000 events
    wait, it yields these and then raises ``asyncio.QueueFull``, because some were missed.
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
                raise asyncio.QueueFull("events were lost because they were not read in time")
            if self._ended:
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
        return self._waiting.popleft()

    async def close(self) -> None:
        """End it, and drop the events that wait. A second call is harmless."""
        await in_thread(self._subscription.close)
        self._waiting.clear()
        self._end()

    def _in_loop(self, step: Callable[[], None]) -> None:
        # In a closed loop no task waits.
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


class LiveStream(Closing, AsyncIterator[LiveEvent[E]], Generic[E]):
    """The live events of a collection or of a user stream: see :class:`kvstore.LiveStream`."""

    def __init__(self, blocking: live.LiveStream[E]) -> None:
        self.blocking = blocking

    def __aiter__(self) -> LiveStream[E]:
        return self

    async def __anext__(self) -> LiveEvent[E]:
        return await anext(self.blocking)

    async def close(self) -> None:
        """End the stream and any wait for an event. A second call is harmless."""
        await in_thread(self.blocking.close)

    async def end(self, **options: Unpack[NetworkOptions]) -> None:
        """End the stream and wait for the backend: see :meth:`kvstore.Subscription.end`."""
        await finish(lambda done: self.blocking.end_async(on_answer=done, **options))


class States(Events[T]):
    """The latest state, for ``async for``: a state that was not read is replaced by the next.

    The subscription lasts until this object is closed, whether or not anybody iterates.
    """

    def _take(self, event: T) -> None:
        self._waiting.clear()
        super()._take(event)
