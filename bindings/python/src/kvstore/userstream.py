"""User-to-user streams: messages from user to user, which are not stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

from ._json import from_json
from ._option_types import NetworkOptions
from ._options import encode_options, to_json, to_text
from .live import ErrorHandler, LiveHandler, LiveStream, begin_live
from .model import PLAIN
from .request import OnAnswer, Request, TextReader, start
from .results import decode_nothing
from .subscription import Subscription

if TYPE_CHECKING:
    from .client import Client

_JSON: Final[TextReader[Any]] = TextReader(from_json)
_NOTHING: Final = TextReader(decode_nothing)


class UserStream:
    """A stream of a client's backend. Each user owns a part of it.

    The argument `user` says whose part is meant; without it, the part of the active user is. Call
    :meth:`Client.register_live` before sending and listening.
    """

    def __init__(self, client: Client, name: str) -> None:
        self._client = client
        self._name = to_text(name, "name")

    def acl(self, user: str | None = None, **options: Unpack[NetworkOptions]) -> dict[str, Any]:
        """Read who may publish and listen: ``{"subscribe": […], "publish": […]}`` of user ids."""
        return self.acl_async(user, **options).finish()

    def set_acl(
        self,
        *,
        subscribe: Sequence[str] = (),
        publish: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
        user: str | None = None,
        **options: Unpack[NetworkOptions],
    ) -> None:
        """Set who may publish and listen, besides the owner. All others lose these rights."""
        self.set_acl_async(
            subscribe=subscribe, publish=publish, groups=groups, user=user, **options
        ).finish()

    def owners(self, **options: Unpack[NetworkOptions]) -> list[str]:
        """List the users whose parts the active user may publish or listen to."""
        return self.owners_async(**options).finish()

    def send(
        self, message: object, *, user: str | None = None, **options: Unpack[NetworkOptions]
    ) -> None:
        """Send a message to the present subscribers: any JSON of up to 32 KB.

        It is sent only once. After a :class:`kvstore.NetworkError` it may have been delivered, or
        not.
        """
        self.send_async(message, user=user, **options).finish()

    def subscribe(
        self,
        on_next: LiveHandler | None = None,
        *,
        on_ready: LiveHandler | None = None,
        on_status: LiveHandler | None = None,
        on_error: ErrorHandler | None = None,
        user: str | None = None,
    ) -> Subscription:
        """Call functions for the messages of a part: see :meth:`kvstore.Store.subscribe`.

        `on_next` gets events with a ``message``.
        """
        return begin_live(
            *("kv_stream_subscribe", self._client, self._client.handle, *self._part(user)),
            handlers=(on_next, on_ready, on_status, on_error),
            mapper=PLAIN,
        )

    def live(self, user: str | None = None) -> LiveStream:
        """Iterate over the events of :meth:`subscribe`, with ``for`` or ``async for``.

        Do not use ``for`` with pumped clients: no thread would dispatch while it waits.
        """
        return LiveStream(
            *("kv_stream_subscribe", self._client, self._client.handle, *self._part(user)),
            mapper=PLAIN,
        )

    # The asynchronous forms

    def acl_async(
        self,
        user: str | None = None,
        *,
        on_answer: OnAnswer[dict[str, Any]] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[dict[str, Any]]:
        """Start to read who may publish and listen."""
        return self._start("kv_stream_acl", _JSON, *self._part(user), options=options, on=on_answer)

    def set_acl_async(
        self,
        *,
        subscribe: Sequence[str] = (),
        publish: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
        user: str | None = None,
        on_answer: OnAnswer[None] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[None]:
        """Start to set who may publish and listen."""
        acl: dict[str, Any] = {"subscribe": list(subscribe), "publish": list(publish)}
        if groups is not None:
            acl["groups"] = dict(groups)
        text = to_json(acl)
        arguments = (*self._part(user), text, len(text))
        return self._start("kv_stream_set_acl", _NOTHING, *arguments, options=options, on=on_answer)

    def owners_async(
        self, *, on_answer: OnAnswer[list[str]] | None = None, **options: Unpack[NetworkOptions]
    ) -> Request[list[str]]:
        """Start to list the owners."""
        return self._start("kv_stream_owners", _JSON, self._name, options=options, on=on_answer)

    def send_async(
        self,
        message: object,
        *,
        user: str | None = None,
        on_answer: OnAnswer[None] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[None]:
        """Start to send a message."""
        text = to_json(message)
        arguments = (*self._part(user), text, len(text))
        return self._start("kv_stream_send", _NOTHING, *arguments, options=options, on=on_answer)

    def _part(self, user: str | None) -> tuple[bytes, bytes | None]:
        return self._name, None if user is None else to_text(user, "user")

    def _start(
        self,
        name: str,
        reader: TextReader[Any],
        *arguments: object,
        options: Mapping[str, object],
        on: OnAnswer[Any] | None,
    ) -> Request[Any]:
        return start(name, reader, self._client, *arguments, encode_options(options), on_answer=on)
