"""Live data: what happens in a collection, the moment it does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ._options import encode_options
from .errors import KVError
from .stream import Stream
from .subscription import Subscription, begin

#: How many changes may wait in a stream.
_MOST = 1024


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
    ended: Callable[[], object] | None = None,
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
    handle = begin(
        "kv_store_subscribe", store, store.handle, options, receive=told, ended=ended, handlers=4
    )
    return Subscription(handle, store)


class LiveStream(Stream[LiveEvent]):
    """What happens in a collection: made by :meth:`kvstore.Store.live`.

    It ends behind ``disconnected`` too. Whoever takes events too slowly, so that more than 1,024
    changes wait, is told ``missed``.
    """

    def __init__(self, store: Any, *, live_to_local: bool) -> None:
        super().__init__(_MOST)
        self._subscription = subscribe(
            store,
            self._offer,
            self._put,
            self._note,
            self._put,
            ended=self._end,
            live_to_local=live_to_local,
        )

    def _note(self, event: LiveEvent) -> None:
        self._put(event)
        if event.status == "disconnected":
            self._end()

    def _resume(self) -> LiveEvent:
        return LiveEvent("missed")

    def close(self) -> None:
        """End it; whoever waits for an event stops waiting. A second time is harmless."""
        self._subscription.close()
