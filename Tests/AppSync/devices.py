"""Clients that synchronise in the background, for tests."""

from __future__ import annotations

from collections.abc import Callable
from queue import Queue
from typing import Any

import kvstore
from client import SYNC
from standin import StandIn
from standin.testing import SECONDS

#: What another client selects, so that those who listen are told everything.
WHOLE = f"id title note rank weight done tags state boardId createdAt updatedAt {SYNC}"
WHOLE += " place { city zips }"


class Device:
    """A client and the events of its synchronisation."""

    def __init__(self, client: kvstore.Client) -> None:
        self.client = client
        self._events: Queue[kvstore.SyncEvent] = Queue()
        #: Those that were waited for, in their order.
        self.seen: list[kvstore.SyncEvent] = []
        client.observe_sync(self._events.put)

    def until(self, event: str, **members: Any) -> kvstore.SyncEvent:
        """Waits for an event whose members have these values."""
        while True:
            told = self._events.get(timeout=SECONDS)
            self.seen.append(told)
            if told.event == event and members.items() <= dict(told.members).items():
                return told

    def start(self) -> list[str]:
        """Starts, waits until it is ready, and gives the names of the events before that."""
        begin = len(self.seen)
        self.client.start_sync()
        self.until("ready")
        usual = ("started", "progress", "finished", "syncReceived")
        return [e.event for e in self.seen[begin:] if e.event not in usual]


#: Opens a client of the server with the data of a device, by its name, and further options.
Open = Callable[..., Device]


def fill(server: StandIn, model: str, rows: list[dict[str, Any]]) -> None:
    """Writes records as something outside would."""
    at = "2024-05-21T12:00:00.000Z"
    server.control(f"tables/{model}", rows=[{"createdAt": at, "updatedAt": at, **r} for r in rows])


def fault(server: StandIn, **given: Any) -> None:
    server.control("faults", **given)


def synced(device: Device, model: str) -> dict[str, Any]:
    """The members of the event that tells of a model's last read."""
    return next(
        dict(e.members)
        for e in reversed(device.seen)
        if e.event == "modelSynced" and e.collection == model
    )
