"""How a task waits for an operation of the library."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from .._callbacks import Done
from ..request import Request

T = TypeVar("T")
P = ParamSpec("P")


async def finish(begin: Callable[[Done], Request[T]]) -> T:
    """Start an operation and wait for its result; whatever ends the waiting cancels it."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()

    def settle() -> None:
        if not over.done():
            over.set_result(None)

    def wake() -> None:
        # A loop that is closed has nobody who waits.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle)

    with begin(Done(wake)) as request:
        try:
            await over
        except BaseException:
            request.cancel()
            raise
        return request.result()


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Call what stays on this machine without holding up the loop.

    It is carried through even if the task is cancelled: it is short, and half of it is nothing.
    """
    return await asyncio.shield(asyncio.to_thread(function, *args, **kwargs))


class Closing(ABC):
    """A context manager that closes itself."""

    @abstractmethod
    async def close(self) -> None:
        """Close it; a second time is harmless."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
