"""The other users of a backend, and groups of them that an access list can name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Unpack

from ._option_types import NetworkOptions
from ._options import encode_options, to_json
from .request import OnAnswer, Request, TextReader, start
from .results import Entity, decode_entities

if TYPE_CHECKING:
    from .client import Client

_USERS: Final = TextReader(decode_entities)


class Users:
    """Finds the other users of a client's backend: see :attr:`Client.users`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def lookup(
        self,
        members: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        username: str | None = None,
        email: str | None = None,
        **options: Unpack[NetworkOptions],
    ) -> list[Entity]:
        """Find the users who have all of these values; at least one value is needed.

        The backend decides by which members users can be found, and which members it shows.
        `members` is for values under other names, such as ``{"last_name": "Moe"}``.
        """
        request = self.lookup_async(members, id=id, username=username, email=email, **options)
        return request.finish()

    def lookup_async(
        self,
        members: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        username: str | None = None,
        email: str | None = None,
        on_answer: OnAnswer[list[Entity]] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[list[Entity]]:
        """Start to find users."""
        named = {"_id": id, "username": username, "email": email}
        wanted = {name: value for name, value in named.items() if value is not None}
        text = to_json({**(members or {}), **wanted})
        return start(
            *("kv_user_lookup", _USERS, self._client, text, len(text)),
            encode_options(options),
            on_answer=on_answer,
        )
