"""Commands for access rights and groups of users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from ...groups import UserGroup
from ..failures import Exit, Failure
from ..parameters import Command, Group, collection_argument, yes_option
from ..settings import Settings, pass_settings
from .queue import confirm

F = TypeVar("F", bound=Callable[..., Any])

_COLUMNS = ["id", "name", "members"]


def _rights(function: F) -> F:
    """Add the options for readers and writers."""
    decorators = [
        click.option(
            "--reader", "readers", multiple=True, metavar="ID", help="A user who may read."
        ),
        click.option(
            "--writer",
            "writers",
            multiple=True,
            metavar="ID",
            help="A user who may read and write.",
        ),
        click.option(
            "--reader-group",
            "reader_groups",
            multiple=True,
            metavar="ID",
            help="A group that may read.",
        ),
        click.option(
            "--writer-group",
            "writer_groups",
            multiple=True,
            metavar="ID",
            help="A group that may read and write.",
        ),
        click.option("--everybody-reads", is_flag=True, help="All users may read."),
        click.option("--everybody-writes", is_flag=True, help="All users may read and write."),
    ]
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


@click.command("share", cls=Command)
@collection_argument
@click.argument("id")
@_rights
@pass_settings
def share(settings: Settings, /, collection: str, id: str, **rights: Any) -> None:
    """Grant rights to read or write an entity. The change is a pending write, like any other."""
    with settings.collection(collection, online=True) as store:
        store.share(id, **_given(rights))
    settings.out.done(f"{id} is shared.", shared=id)


@click.command("unshare", cls=Command)
@collection_argument
@click.argument("id")
@_rights
@pass_settings
def unshare(settings: Settings, /, collection: str, id: str, **rights: Any) -> None:
    """Revoke rights that share granted; --everybody-reads makes an entity private."""
    with settings.collection(collection, online=True) as store:
        store.unshare(id, **_given(rights))
    settings.out.done(f"{id} is no longer shared with them.", unshared=id)


def _given(rights: dict[str, Any]) -> Any:
    given = {name: value for name, value in rights.items() if value}
    if not given:
        raise Failure("Give at least one right, such as --reader ID.", Exit.USAGE)
    return given


@click.group("groups", cls=Group)
def groups() -> None:
    """List, create, change and delete groups of users. Entities can be shared with them."""


@groups.command("list")
@pass_settings
def list_(settings: Settings) -> None:
    """List the groups that the user may read."""
    with settings.online() as client:
        rows = map(_row, client.groups.all())
        settings.out.rows(rows, _COLUMNS, empty="No groups.")


def _row(group: UserGroup) -> dict[str, Any]:
    return {"id": group.id, "name": group.name, "members": group.members}


@groups.command("create")
@click.argument("name")
@click.argument("members", nargs=-1, metavar="[USER]...")
@pass_settings
def create(settings: Settings, name: str, members: tuple[str, ...]) -> None:
    """Create a group of users, by their ids."""
    with settings.online() as client:
        settings.out.one(_row(client.groups.create(name, members)))


@groups.command("update")
@click.argument("id")
@click.option("--add", multiple=True, metavar="USER", help="Add a user, by the id.")
@click.option("--remove", multiple=True, metavar="USER", help="Remove a user.")
@click.option("--name", help="Rename the group.")
@pass_settings
def update(
    settings: Settings, id: str, add: tuple[str, ...], remove: tuple[str, ...], name: str | None
) -> None:
    """Add users to a group, remove others, rename it."""
    with settings.online() as client:
        settings.out.one(_row(client.groups.update(id, add=add, remove=remove, name=name)))


@groups.command("delete")
@click.argument("id")
@yes_option
@pass_settings
def delete(settings: Settings, id: str, yes: bool) -> None:
    """Delete a group. Its members lose the rights that they had only through it."""
    confirm("Delete the group?", yes)
    with settings.online() as client:
        client.groups.delete(id)
    settings.out.done("The group was deleted.", deleted=id)
