"""Live data: messages about changes on the backend, sent as they happen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Unpack

from ._callbacks import Owner, refuse_coroutine
from ._json import from_json
from ._option_types import NetworkOptions
from .errors import KVError
from .model import Mapper
from .request import OnAnswer, Request
from .results import E
from .stream import Stream
from .subscription import Subscription, begin

#: The limit of changes that wait in a stream.
_MOST = 1024


@dataclass(frozen=True)
class LiveEvent(Generic[E]):
    """An event for a subscriber.

    ``event`` is ``"ready"``, ``"status"`` (see ``status``), ``"change"`` (see ``change``, ``id``
    and ``entity``), ``"message"`` (see ``message``) or ``"missed"``, which says that changes were
    lost: a pull fetches them.
    """

    event: str
    #: ``connected``, ``disconnected``, ``reconnected`` or ``unexpectedDisconnect``.
    status: str | None = None
    #: ``create``, ``update``, ``save`` (create or update), ``delete``, or ``fetch`` (the entity was
    #: saved, and is too large for a message).
    change: str | None = None
    id: str | None = None
    #: The entity as it is now; None for ``delete`` and ``fetch``.
    entity: E | None = None
    #: The message that was sent in a :class:`kvstore.UserStream`.
    message: Any = None


def decode_live_event(members: Mapping[str, Any], mapper: Mapper[E]) -> LiveEvent[E]:
    """Read an event as the library writes it; unknown members are ignored."""
    return LiveEvent(
        members["event"],
        status=members.get("status"),
        change=members.get("change"),
        id=members.get("id"),
        entity=mapper.read_if_any(members.get("entity")),
        message=members.get("message"),
    )


LiveHandler = Callable[[LiveEvent[E]], object]
ErrorHandler = Callable[[KVError], object]


Handlers = tuple[
    LiveHandler[E] | None, LiveHandler[E] | None, LiveHandler[E] | None, ErrorHandler | None
]


def begin_live(
    function: str,
    owner: Owner,
    *arguments: object,
    handlers: Handlers[E],
    mapper: Mapper[E],
    ended: Callable[[], object] | None = None,
) -> Subscription:
    """Begin a subscription by a function of C; `handlers` for next, ready, status and error."""
    on_next, on_ready, on_status, on_error = handlers
    by_event = {
        "change": on_next,
        "message": on_next,
        "ready": on_ready,
        "status": on_status,
        "missed": on_status,
    }
    if not any(handlers):
        raise TypeError("a subscription needs a handler")
    for handler in handlers:
        refuse_coroutine(handler, "a live handler")

    def on_event(event: bytes | KVError) -> None:
        if isinstance(event, KVError):
            if on_error is not None:
                on_error(event)
            return
        members = from_json(event)
        handler = by_event.get(members["event"])
        if handler is None:
            return
        try:
            decoded = decode_live_event(members, mapper)
        except KVError as error:
            on_event(error)
        else:
            handler(decoded)

    handle = begin(function, owner, *arguments, receive=on_event, ended=ended, handlers=4)
    return Subscription(handle, owner)


class LiveStream(Stream[LiveEvent[E]], Generic[E]):
    """The live events of a collection or of a user stream: see :meth:`kvstore.Store.live`.

    The stream also ends after the status ``disconnected``. If the loop is too slow and more than
    1,024 changes wait, it receives the event ``missed``.
    """

    def __init__(self, function: str, owner: Owner, *arguments: object, mapper: Mapper[E]) -> None:
        super().__init__(_MOST)
        self._subscription = begin_live(
            function,
            owner,
            *arguments,
            mapper=mapper,
            handlers=(self._offer, self._put, self._note, self._put),
            ended=self._end,
        )

    def _note(self, event: LiveEvent[E]) -> None:
        self._put(event)
        if event.status == "disconnected":
            self._end()

    def _resume(self) -> LiveEvent[E]:
        return LiveEvent("missed")

    def close(self) -> None:
        """End the stream and any wait for an event. A second call is harmless."""
        self._subscription.close()

    def end(self, **options: Unpack[NetworkOptions]) -> None:
        """End the stream and wait for the backend: see :meth:`kvstore.Subscription.end`."""
        self._subscription.end(**options)

    def end_async(
        self, *, on_answer: OnAnswer[None] | None = None, **options: Unpack[NetworkOptions]
    ) -> Request[None]:
        """Start to end the stream."""
        return self._subscription.end_async(on_answer=on_answer, **options)
