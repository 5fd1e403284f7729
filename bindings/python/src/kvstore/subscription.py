"""Subscriptions: what keeps calling back until it is closed."""

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
    """Something that keeps calling back, until it or its client is closed; dropping it is no end.

    Once :meth:`close` has returned no callback is running and none will come. Inside the callback
    itself it returns at once, and that call is the last.
    """

    def __init__(self, handle: int, owner: Owner) -> None:
        self._handle: int | None = handle
        self._owner = owner
        self.pumped = owner.pumped

    @property
    def handle(self) -> int:
        """What C calls it; 0 once it is closed."""
        return self._handle or 0

    def close(self) -> None:
        """End it; a second time is harmless."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _close(handle)

    def end(self, **options: Unpack[NetworkOptions]) -> None:
        """End it, and wait for the answer of the backend where it has to be told.

        That is so for live data that nobody else of this client listens to. What the backend says
        if it refuses is raised, and :class:`kvstore.NetworkError` if it cannot be told; once this
        is over, whatever came of it, no callback is running and none will come.
        """
        self.end_async(**options).finish()

    def end_async(
        self, *, on_answer: OnAnswer[None] | None = None, **options: Unpack[NetworkOptions]
    ) -> Request[None]:
        """Start to end it."""
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
    """Call a function that begins a subscription; give its handle.

    C is given `receive` for each of its `handlers`.
    """
    delivery = EventDelivery(receive, ended)
    function = _native.function(name)
    return _native.call_for_handle(
        function, *arguments, *[EVENT_POINTER] * handlers, delivery.token, FREE_POINTER
    )
