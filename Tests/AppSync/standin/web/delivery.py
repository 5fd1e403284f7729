"""The events of one socket, and what faults make of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .faults import Fault, Faults
from .messages import Message


class Delivery:
    """Sends events by `send`, in the order of the writes unless a fault says otherwise."""

    def __init__(
        self, faults: Faults, send: Callable[[Message], None], cut: Callable[[], None]
    ) -> None:
        self._faults = faults
        self._send = send
        self._cut = cut
        self._withheld: Message | None = None
        self._waiting: set[asyncio.Task[None]] = set()

    def deliver(self, message: Message, field: str) -> None:
        """Sends an event of a subscription's field, now or when its fault lets it go."""
        fault = self._faults.take("event", (field,))
        if fault is None or not fault.waits:
            self._apply(message, fault)
            return
        task = asyncio.create_task(self._deliver_later(message, fault))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    def stop(self) -> None:
        for task in self._waiting:
            task.cancel()

    async def _deliver_later(self, message: Message, fault: Fault) -> None:
        await self._faults.wait(fault)
        self._apply(message, fault)

    def _apply(self, message: Message, fault: Fault | None) -> None:
        action = None if fault is None else fault.action
        if action == "close":
            self._cut()
        elif action == "reorder" and self._withheld is None:
            self._withheld = message
        elif action != "lose":
            self._send(message)
            if action == "duplicate":
                self._send(message)
            self._release()

    def _release(self) -> None:
        """Sends what was withheld until another event had gone before it."""
        if self._withheld is not None:
            withheld, self._withheld = self._withheld, None
            self._send(withheld)
