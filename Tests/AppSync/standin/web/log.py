"""The log of all requests, which tests may wait for."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass, field
from typing import Any

from ..clock import Clock


@dataclass
class Entry:
    """A request, or a message of a socket; what is not known yet is None."""

    number: int
    time: int
    #: `http`, `connect`, `close`, or the type of a socket's message.
    kind: str
    operation: str | None = None
    fields: list[str] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)
    query: str | None = None
    mode: str | None = None
    claims: dict[str, Any] = field(default_factory=dict)
    connection: int | None = None
    subscription: str | None = None
    status: int | None = None
    error_types: list[str | None] = field(default_factory=list)
    fault: str | None = None


class Log:
    """The entries in the order of arrival, numbered from 1."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: list[Entry] = []
        self._count = 0
        self._changed = asyncio.Event()

    def add(self, kind: str, **members: Any) -> Entry:
        self._count += 1
        entry = Entry(self._count, self._clock.now(), kind, **members)
        self._entries.append(entry)
        self.changed()
        return entry

    def changed(self) -> None:
        """Wakes those who wait: an entry was added, or completed."""
        self._changed.set()
        self._changed = asyncio.Event()

    def clear(self) -> None:
        self._entries.clear()

    def entries(self, after: int = 0) -> list[dict[str, Any]]:
        return [asdict(entry) for entry in self._entries if entry.number > after]

    async def wait(self, after: int, count: int, seconds: float) -> list[dict[str, Any]]:
        """The entries after a number, once there are so many or the time is over."""
        end = asyncio.get_running_loop().time() + seconds
        while len(found := self.entries(after)) < count:
            left = end - asyncio.get_running_loop().time()
            try:
                await asyncio.wait_for(self._changed.wait(), left)
            except TimeoutError:
                break
        return found
