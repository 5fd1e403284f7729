"""Streams: the events of a subscription, to be iterated over."""

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
    """Events in their order, for ``for`` and ``async for``.

    A stream has all events from its creation until it is closed. Iterating waits for the next
    event, and ends when the stream or its client is closed. Errors are raised; iterating may go on
    after one. Use the stream in a ``with`` or an ``async with``: dropping the object does not end
    it. Do not use ``for`` with pumped clients: no thread would dispatch while it waits.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._waiting: deque[Any] = deque()
        self._behind = False
        self._ended = False
        self._news = threading.Condition()
        #: Functions that wake the waiting tasks.
        self._wakers: list[Callable[[], object]] = []

    @abstractmethod
    def _resume(self) -> T | None:
        """Return the event that stands for dropped ones, or None; called without the lock."""

    def _put(self, event: T | KVError) -> None:
        """Add an event that must not be dropped."""
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
        """End the stream after the events that wait."""
        with self._news:
            self._ended = True
            self._wake()

    def _wake(self) -> None:
        self._news.notify_all()
        wakers, self._wakers = self._wakers, []
        for wake in wakers:
            # In a closed loop no task waits.
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
