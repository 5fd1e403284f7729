"""Subscriptions: they call back until they are closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Unpack

from . import _native
from ._callbacks import EVENT_POINTER, FREE_POINTER, EventDelivery, Owner
from ._closing import Closing
from ._option_types import NetworkOptions
from ._options import encode_options
from .errors import KVError
from .request import OnAnswer, Request, TextReader, start
from .results import decode_nothing

_NOTHING: Final = TextReader(decode_nothing)

_close = _native.function("kv_subscription_close")


class Subscription(Closing):
    """A subscription calls back until it or its client is closed. Dropping it does not end it.

    Once :meth:`close` has returned, no callback is running and none will follow. Inside the
    callback itself :meth:`close` returns at once, and that call is the last.
    """

    def __init__(self, handle: int, owner: Owner) -> None:
        self._handle: int | None = handle
        self._owner = owner
        self.pumped = owner.pumped

    @property
    def handle(self) -> int:
        """The handle in C; 0 once the subscription is closed."""
        return self._handle or 0

    def close(self) -> None:
        """End the subscription. A second call is harmless."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _close(handle)

    def end(self, **options: Unpack[NetworkOptions]) -> None:
        """End the subscription, and wait for the backend if it has to be informed.

        The backend has to be informed about live data that no other subscription of this client
        uses. If the backend refuses, its error is raised; if it cannot be reached,
        :class:`kvstore.NetworkError` is. In any case no callback is running afterwards, and none
        will follow.
        """
        self.end_async(**options).finish()

    def end_async(
        self, *, on_answer: OnAnswer[None] | None = None, **options: Unpack[NetworkOptions]
    ) -> Request[None]:
        """Start to end the subscription."""
        text = encode_options(options)
        return start("kv_subscription_end", _NOTHING, self, text, on_answer=on_answer)


def begin(
    name: str,
    owner: object,
    *arguments: object,
    receive: Callable[[bytes | KVError], object],
    ended: Callable[[], object] | None = None,
    handlers: int = 1,
) -> int:
    """Call a function that begins a subscription; return its handle.

    `receive` is passed to C for each of its `handlers`.
    """
    delivery = EventDelivery(receive, ended)
    function = _native.function(name)
    return _native.call_for_handle(
        function, *arguments, *[EVENT_POINTER] * handlers, delivery.token, FREE_POINTER
    )
