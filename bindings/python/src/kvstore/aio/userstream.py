"""User-to-user streams for asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Unpack

from .. import userstream as blocking
from .._options import NetworkOptions
from ..live import LiveStream
from ._waiting import finish, in_thread


class UserStream:
    """A user-to-user stream: see :class:`kvstore.UserStream`."""

    def __init__(self, stream: blocking.UserStream) -> None:
        self.blocking = stream

    async def acl(
        self, user: str | None = None, **options: Unpack[NetworkOptions]
    ) -> dict[str, Any]:
        """Read who may publish and listen."""
        return await finish(lambda done: self.blocking.acl_async(user, on_answer=done, **options))

    async def set_acl(
        self,
        *,
        subscribe: Sequence[str] = (),
        publish: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
        user: str | None = None,
        **options: Unpack[NetworkOptions],
    ) -> None:
        """Say who may publish and listen, besides the owner."""
        await finish(
            lambda done: self.blocking.set_acl_async(
                subscribe=subscribe,
                publish=publish,
                groups=groups,
                user=user,
                on_answer=done,
                **options,
            )
        )

    async def owners(self, **options: Unpack[NetworkOptions]) -> list[str]:
        """List the users of whose parts the active user may use something."""
        return await finish(lambda done: self.blocking.owners_async(on_answer=done, **options))

    async def send(
        self, message: object, *, user: str | None = None, **options: Unpack[NetworkOptions]
    ) -> None:
        """Send something, once, to whoever listens now."""
        await finish(
            lambda done: self.blocking.send_async(message, user=user, on_answer=done, **options)
        )

    @asynccontextmanager
    async def live(self, user: str | None = None) -> AsyncIterator[LiveStream]:
        """Give what is said: ``async with``, then ``async for``."""
        with await in_thread(self.blocking.live, user) as stream:
            yield stream
