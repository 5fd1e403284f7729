"""User-to-user streams for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from .. import userstream as blocking
from ._calls import StreamCalls
from ._waiting import in_thread
from .events import LiveStream


class UserStream(StreamCalls):
    """A user-to-user stream: see :class:`kvstore.UserStream`."""

    def __init__(self, stream: blocking.UserStream) -> None:
        self.blocking = stream

    @asynccontextmanager
    async def live(self, user: str | None = None) -> AsyncIterator[LiveStream]:
        """Iterate over the messages: ``async with``, then ``async for``."""
        async with LiveStream(await in_thread(self.blocking.live, user)) as stream:
            yield stream
