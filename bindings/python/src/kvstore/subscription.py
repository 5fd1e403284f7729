"""Subscriptions: what keeps calling back until it is closed."""

from __future__ import annotations

from collections.abc import Callable

from . import _native
from ._callbacks import EVENT_POINTER, FREE_POINTER, EventDelivery
from ._closing import Closing
from .errors import KVError

_close = _native.function("kv_subscription_close")


class Subscription(Closing):
    """Something that keeps calling back, until it or its client is closed; dropping it is no end.

    Once :meth:`close` has returned no callback is running and none will come. Inside the callback
    itself it returns at once, and that call is the last.
    """

    def __init__(self, handle: int, owner: object) -> None:
        self._handle: int | None = handle
        self._owner = owner

    def close(self) -> None:
        """End it; a second time is harmless."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _close(handle)


def begin(
    name: str,
    owner: object,
    *arguments: object,
    receive: Callable[[bytes | KVError], object],
    ended: Callable[[], object] | None = None,
    handlers: int = 1,
) -> int:
    """Call a function that begins a subscription; give its handle.

    C is given `receive` for each of its `handlers`.
    """
    delivery = EventDelivery(receive, ended)
    function = _native.function(name)
    return _native.call_for_handle(
        function, *arguments, *[EVENT_POINTER] * handlers, delivery.token, FREE_POINTER
    )
