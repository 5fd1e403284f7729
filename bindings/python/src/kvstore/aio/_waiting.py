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
    """Start an operation and wait for its result. An interrupted wait cancels the operation."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()

    def settle() -> None:
        if not over.done():
            over.set_result(None)

    def wake() -> None:
        # In a closed loop no task waits.
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
    """Call a function that stays on this machine, without blocking the loop.

    The call is completed even if the task is cancelled, because it is short and cannot be undone.
    """
    return await asyncio.shield(asyncio.to_thread(function, *args, **kwargs))


class Closing(ABC):
    """A context manager that closes itself."""

    @abstractmethod
    async def close(self) -> None:
        """Close it. A second call is harmless."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
