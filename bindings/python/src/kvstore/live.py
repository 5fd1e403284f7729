"""Live data: what happens in a collection, the moment it does."""

from __future__ import annotations

import asyncio
import json
import queue
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from ._options import encode_options
from .errors import KVError
from .subscription import Subscription, begin

#: Ends a :class:`LiveStream` that waits.
_END = object()


@dataclass(frozen=True)
class LiveEvent:
    """Something that a subscriber is told.

    ``event`` is ``"ready"``, ``"status"`` (see ``status``), ``"change"`` (see ``change``, ``id``
    and ``entity``) or ``"missed"``: changes were lost, and whoever wants to know them pulls.
    """

    event: str
    #: ``connected``, ``disconnected``, ``reconnected`` or ``unexpectedDisconnect``.
    status: str | None = None
    #: ``create``, ``update``, ``save`` (one of these), ``delete`` or ``fetch`` (saved, too large).
    change: str | None = None
    id: str | None = None
    #: The entity as it is now; None for ``delete`` and ``fetch``.
    entity: dict[str, Any] | None = None


LiveHandler = Callable[[LiveEvent], object]
ErrorHandler = Callable[[KVError], object]


def subscribe(
    store: Any,
    on_next: LiveHandler | None = None,
    on_ready: LiveHandler | None = None,
    on_status: LiveHandler | None = None,
    on_error: ErrorHandler | None = None,
    *,
    live_to_local: bool,
) -> Subscription:
    """Begin a subscription of a store."""
    handlers = {"change": on_next, "ready": on_ready, "status": on_status, "missed": on_status}
    if on_error is None and not any(handlers.values()):
        raise TypeError("a subscription needs a handler")

    def told(event: bytes | KVError) -> None:
        if isinstance(event, KVError):
            if on_error is not None:
                on_error(event)
            return
        members = json.loads(event)
        handler = handlers.get(members["event"])
        if handler is not None:
            handler(LiveEvent(**members))

    options = encode_options({"live_to_local": live_to_local})
    handle = begin("kv_store_subscribe", store, store.handle, options, receive=told, handlers=4)
    return Subscription(handle, store)


class LiveStream:
    """The changes of a collection, to be iterated over with ``for`` or ``async for``.

    Iterating waits for the next event. It ends when the stream is closed, or the user logs out;
    what goes wrong is raised. As a context manager it closes itself.
    """

    def __init__(self, store: Any, *, live_to_local: bool) -> None:
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._subscription = subscribe(
            store,
            self._receive,
            self._receive,
            self._receive,
            self._receive,
            live_to_local=live_to_local,
        )

    def _receive(self, event: LiveEvent | KVError) -> None:
        self._events.put(event)
        if isinstance(event, LiveEvent) and event.status == "disconnected":
            self._events.put(_END)

    def close(self) -> None:
        """End it; whoever waits for an event stops waiting. A second time is harmless."""
        self._subscription.close()
        self._events.put(_END)

    def __iter__(self) -> Iterator[LiveEvent]:
        return self

    def __next__(self) -> LiveEvent:
        event = self._events.get()
        if event is _END:
            self._events.put(_END)
            raise StopIteration
        if isinstance(event, KVError):
            raise event
        assert isinstance(event, LiveEvent)
        return event

    def __aiter__(self) -> AsyncIterator[LiveEvent]:
        return self

    async def __anext__(self) -> LiveEvent:
        event = await asyncio.to_thread(next, self, None)
        if event is None:
            raise StopAsyncIteration
        return event

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
