"""Commands for conflicts that are not decided yet."""

from __future__ import annotations

import click

from ..failures import Exit, Failure
from ..parameters import Group, collection_argument, complete_collection
from ..settings import Settings, entity_from, pass_settings
from .queue import detail_row, pending_rows


@click.group("conflicts", cls=Group, invoke_without_command=True)
@click.pass_context
def conflicts(context: click.Context) -> None:
    """List open conflicts, show their versions, and decide them."""
    if context.invoked_subcommand is None:
        context.invoke(list_)


@conflicts.command("list")
@click.argument("collection", required=False, shell_complete=complete_collection)
@pass_settings
def list_(settings: Settings, collection: str | None = None) -> None:
    """List the conflicts, oldest first."""
    columns = ["collection", "id", "operation", "attempts", "changedAt"]
    with settings.local() as client:
        rows = pending_rows(client, collection, "conflict")
        settings.out.rows(rows, columns, empty="No conflicts.")


@conflicts.command("show")
@collection_argument
@click.argument("id")
@pass_settings
def show(settings: Settings, collection: str, id: str) -> None:
    """Show the local version, the backend's version, and their common base."""
    with settings.collection(collection) as store:
        row = detail_row(store.pending.get(id))
    versions = {"base": row["base"], "ours": row["entity"], "theirs": row["remote"]}
    settings.out.document({"id": id, **versions})


@conflicts.command("resolve")
@collection_argument
@click.argument("id")
@click.option("--ours", is_flag=True, help="The local version replaces the backend's, now.")
@click.option("--theirs", is_flag=True, help="The backend's version replaces the local one.")
@click.option(
    "--with", "entity", metavar="JSON", help="This entity replaces both; a push sends it."
)
@pass_settings
def resolve(
    settings: Settings, collection: str, id: str, ours: bool, theirs: bool, entity: str | None
) -> None:
    """Decide a conflict."""
    if ours + theirs + (entity is not None) != 1:
        raise Failure("One of --ours, --theirs and --with is required.", Exit.USAGE)
    with settings.collection(collection, online=ours) as store:
        if entity is not None:
            store.pending.edit(id, entity_from(entity))
        elif ours:
            store.pending.retry(id)
        else:
            store.pending.revert(id)
    settings.out.done("1 conflict decided.", decided=1)
