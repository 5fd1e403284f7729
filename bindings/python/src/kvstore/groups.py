"""Groups of users, which an access list can name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Unpack

from ._json import from_json
from ._option_types import NetworkOptions
from ._options import encode_options, to_ids, to_json, to_text
from .request import OnAnswer, Request, TextReader, start
from .results import Entity, decode_entity, decode_nothing

if TYPE_CHECKING:
    from .client import Client


@dataclass(frozen=True, slots=True)
class UserGroup:
    """A group of users."""

    #: The id by which an access list names the group.
    id: str
    name: str | None
    #: The ids of the users in the group.
    members: list[str]
    #: The whole answer of the backend, with the group's own ``_acl``.
    entity: Entity


def _decode(entity: Entity) -> UserGroup:
    return UserGroup(entity["_id"], entity.get("name"), entity["members"], entity)


_GROUP: Final = TextReader(lambda text: _decode(decode_entity(text)))
_GROUPS: Final = TextReader(lambda text: [_decode(entity) for entity in from_json(text)])
_NOTHING: Final = TextReader(decode_nothing)


class Groups:
    """The groups of users of a client's backend: see :attr:`Client.groups`.

    Only its creator can see and change a group, unless its own ``_acl`` lets others do so.
    """

    def __init__(self, client: Client) -> None:
        self._client = client

    def create(
        self,
        name: str | None = None,
        members: Iterable[str] = (),
        *,
        acl: Mapping[str, Any] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> UserGroup:
        """Create a group of these users, by their ids."""
        return self.create_async(name, members, acl=acl, **options).finish()

    def get(self, id: str, **options: Unpack[NetworkOptions]) -> UserGroup:
        """Read one group."""
        return self.get_async(id, **options).finish()

    def all(self, **options: Unpack[NetworkOptions]) -> list[UserGroup]:
        """List the groups that the active user may read."""
        return self.all_async(**options).finish()

    def update(
        self,
        id: str,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        name: str | None = None,
        acl: Mapping[str, Any] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> UserGroup:
        """Add users, remove others, rename a group or replace its ``_acl``; the rest stays.

        If another client changes the group meanwhile, the call applies to the newer version.
        """
        return self.update_async(id, add=add, remove=remove, name=name, acl=acl, **options).finish()

    def delete(self, id: str, **options: Unpack[NetworkOptions]) -> None:
        """Delete a group. Its members lose the rights that they had because of it."""
        self.delete_async(id, **options).finish()

    # The asynchronous forms

    def create_async(
        self,
        name: str | None = None,
        members: Iterable[str] = (),
        *,
        acl: Mapping[str, Any] | None = None,
        on_answer: OnAnswer[UserGroup] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[UserGroup]:
        """Start to create a group."""
        text = to_json({**_named(name, acl), "members": to_ids(members, "members")})
        return self._start(
            "kv_group_create", _GROUP, text, len(text), options=options, on=on_answer
        )

    def get_async(
        self,
        id: str,
        *,
        on_answer: OnAnswer[UserGroup] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[UserGroup]:
        """Start to read one group."""
        key = to_text(id, "id")
        return self._start("kv_group_read", _GROUP, key, options=options, on=on_answer)

    def all_async(
        self,
        *,
        on_answer: OnAnswer[list[UserGroup]] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[list[UserGroup]]:
        """Start to list groups."""
        return self._start("kv_group_list", _GROUPS, options=options, on=on_answer)

    def update_async(
        self,
        id: str,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        name: str | None = None,
        acl: Mapping[str, Any] | None = None,
        on_answer: OnAnswer[UserGroup] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[UserGroup]:
        """Start to change a group."""
        change = {
            "add": to_ids(add, "added members"),
            "remove": to_ids(remove, "removed members"),
            "set": _named(name, acl),
        }
        key, text = to_text(id, "id"), to_json(change)
        return self._start(
            "kv_group_update", _GROUP, key, text, len(text), options=options, on=on_answer
        )

    def delete_async(
        self,
        id: str,
        *,
        on_answer: OnAnswer[None] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[None]:
        """Start to delete a group."""
        key = to_text(id, "id")
        return self._start("kv_group_delete", _NOTHING, key, options=options, on=on_answer)

    def _start(
        self,
        name: str,
        reader: TextReader[Any],
        *arguments: object,
        options: Mapping[str, object],
        on: OnAnswer[Any] | None,
    ) -> Request[Any]:
        return start(name, reader, self._client, *arguments, encode_options(options), on_answer=on)


def _named(name: str | None, acl: Mapping[str, Any] | None) -> dict[str, Any]:
    named = {"name": name, "_acl": acl}
    return {member: value for member, value in named.items() if value is not None}
