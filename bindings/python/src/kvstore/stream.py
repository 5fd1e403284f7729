"""Streams: what a subscription tells, to be iterated over."""

from __future__ import annotations

import asyncio
import threading
from abc import abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final, Generic, Self, TypeVar

from ._closing import Closing
from .errors import KVError

T = TypeVar("T")

#: Stands for events that were dropped.
_MISSED: Final = object()


class Stream(Closing, Generic[T]):
    """Events in their order, for ``for`` and ``async for``, from its making until it is closed.

    Iterating waits for the next event. It ends when the stream or its client is closed. What goes
    wrong is raised; whoever goes on gets what follows. Use it in a ``with`` or an ``async with``:
    dropping it is no end. ``for`` is not for pumped clients: nobody would dispatch while it waits.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[Any] = deque()
        self._behind = False
        self._ended = False
        self._news = threading.Condition()
        #: Of the tasks that wait.
        self._wakers: list[Callable[[], object]] = []

    @abstractmethod
    def _resume(self) -> T | None:
        """Give what stands for events that were dropped, if anything does; called with no lock."""

    def _put(self, event: T | KVError) -> None:
        """Add what must not be dropped."""
        with self._news:
            self._add(event)

    def _offer(self, event: T) -> None:
        """Add an event; if too many wait, drop it, and those that follow until all is read."""
        with self._news:
            if self._behind and self._waiting:
                return
            self._behind = len(self._waiting) >= self._limit
            self._add(_MISSED if self._behind else event)

    def _add(self, event: object) -> None:
        self._waiting.append(event)
        self._wake()

    def _end(self) -> None:
        """Nothing follows what waits."""
        with self._news:
            self._ended = True
            self._wake()

    def _wake(self) -> None:
        self._news.notify_all()
        wakers, self._wakers = self._wakers, []
        for wake in wakers:
            # A loop that is closed has nobody who waits.
            with suppress(RuntimeError):
                wake()

    def _event(self, first: Any) -> T | None:
        if isinstance(first, KVError):
            raise first
        return self._resume() if first is _MISSED else first

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        event = None
        while event is None:
            with self._news:
                self._news.wait_for(lambda: self._waiting or self._ended)
                if not self._waiting:
                    raise StopIteration
                first = self._waiting.popleft()
            event = self._event(first)
        return event

    def __aiter__(self) -> AsyncIterator[T]:
        return self

    async def __anext__(self) -> T:
        loop = asyncio.get_running_loop()
        event = None
        while event is None:
            news, first = loop.create_future(), None
            with self._news:
                if self._waiting:
                    first = self._waiting.popleft()
                elif self._ended:
                    raise StopAsyncIteration
                else:
                    self._wakers.append(partial(loop.call_soon_threadsafe, _settle, news))
            if first is None:
                await news
            else:
                event = self._event(first)
        return event

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


def _settle(news: asyncio.Future[None]) -> None:
    if not news.done():
        news.set_result(None)
