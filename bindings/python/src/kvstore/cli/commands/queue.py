"""Commands for pending writes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import click

from ...client import Client
from ...errors import KVError
from ...results import PendingDetail, PendingWrite
from ...store import Store
from ..failures import Exit, Failure, code_of
from ..output import counted
from ..parameters import Group, collection_argument, complete_collection, yes_option
from ..settings import Settings, entity_from, names_of_collections, pass_settings

_COLUMNS = ["collection", "id", "operation", "state", "attempts", "changedAt", "error"]
_STATES = ("waiting", "refused", "conflict", "backendWentBack")

state_option = click.option(
    "--state", type=click.Choice(_STATES), help="Only the writes in this state."
)
all_option = click.option("--all", "everything", is_flag=True, help="All writes of the collection.")
ids_argument = click.argument("ids", nargs=-1, metavar="[ID]...")


@click.group("pending", cls=Group, invoke_without_command=True)
@click.pass_context
def pending(context: click.Context) -> None:
    """List the pending writes; retry, edit, revert and drop them.

    A write waits until a push has sent it. It is quarantined if the backend has refused it for
    good, if it is in a conflict that is open, or if the backend had confirmed it and
    went back to an older copy of its data.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_)


@pending.command("list")
@click.argument("collection", required=False, shell_complete=complete_collection)
@state_option
@pass_settings
def list_(settings: Settings, collection: str | None = None, state: str | None = None) -> None:
    """List pending writes, oldest first."""
    with settings.local() as client:
        rows = pending_rows(client, collection, state)
        settings.out.rows(rows, _COLUMNS, empty="No pending writes.")


def pending_rows(
    client: Client, collection: str | None, state: str | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the writes of one collection or of all, in one state or in any."""
    names = [collection] if collection is not None else names_of_collections(client)
    for name in names:
        with client.collection(name) as store:
            for write in store.pending:
                if state is None or write.state == state:
                    yield {"collection": name, **_row(write)}


def _row(write: PendingWrite) -> dict[str, Any]:
    return {
        "id": write.id,
        "operation": write.operation,
        "state": write.state,
        "attempts": write.attempts,
        "createdAt": write.created_at,
        "changedAt": write.changed_at,
        "error": write.last_error,
    }


@pending.command("show")
@collection_argument
@click.argument("id")
@pass_settings
def show(settings: Settings, collection: str, id: str) -> None:
    """Show one write: its entity, the version it started from, and the backend's version."""
    with settings.collection(collection) as store:
        settings.out.document(detail_row(store.pending.get(id)))


def detail_row(write: PendingDetail[Any]) -> dict[str, Any]:
    """Return a write with its three versions."""
    versions = {"entity": write.entity, "base": write.base, "remote": write.remote}
    return {**_row(write), **versions}


@pending.command("retry")
@collection_argument
@ids_argument
@all_option
@state_option
@pass_settings
def retry(
    settings: Settings, collection: str, ids: tuple[str, ...], everything: bool, state: str | None
) -> int:
    """Send writes now. After a conflict, they replace the version on the backend."""
    with settings.collection(collection, online=True) as store:
        chosen = _chosen(store, ids, everything, state)
        return _each(settings, chosen, store.pending.retry, "sent")


@pending.command("edit")
@collection_argument
@click.argument("id")
@click.argument("entity", required=False, metavar="[JSON]")
@pass_settings
def edit(settings: Settings, collection: str, id: str, entity: str | None) -> None:
    """Replace the entity that a create or update would send, by JSON or in $EDITOR."""
    with settings.collection(collection) as store:
        text = entity if entity is not None else _edited(store, id)
        store.pending.edit(id, entity_from(text))
    settings.out.done("1 write edited.", edited=1)


def _edited(store: Store, id: str) -> str:
    """Let the user edit the entity that the write would send."""
    before = json.dumps(store.pending.get(id).entity, indent=2, ensure_ascii=False)
    after = click.edit(before, extension=".json")
    if after is None:
        raise Failure("Nothing was changed.")
    return after


@pending.command("revert")
@collection_argument
@ids_argument
@all_option
@state_option
@yes_option
@pass_settings
def revert(
    settings: Settings,
    collection: str,
    ids: tuple[str, ...],
    everything: bool,
    state: str | None,
    yes: bool,
) -> int:
    """Drop writes, and restore the backend's versions of the entities."""
    with settings.collection(collection) as store:
        chosen = _chosen(store, ids, everything, state)
        confirm(f"Undo {_words(chosen)} of {collection}?", yes or not everything)
        return _each(settings, chosen, store.pending.revert, "reverted")


@pending.command("drop")
@collection_argument
@ids_argument
@all_option
@yes_option
@pass_settings
def drop(
    settings: Settings, collection: str, ids: tuple[str, ...], everything: bool, yes: bool
) -> int:
    """Drop writes. The local entities stay as they are."""
    with settings.collection(collection) as store:
        chosen = _chosen(store, ids, everything)
        confirm(f"Forget {_words(chosen)} of {collection}?", yes or not everything)
        return _each(settings, chosen, store.pending.drop, "dropped")


def _chosen(
    store: Store, ids: tuple[str, ...], everything: bool, state: str | None = None
) -> list[str]:
    """Return the ids that were named, or those of all writes, of one state if one is given."""
    if bool(ids) == everything or (ids and state is not None):
        raise Failure("Give the ids of the writes, or --all.", Exit.USAGE)
    if not everything:
        return list(ids)
    return [write.id for write in store.pending if state is None or write.state == state]


def _words(chosen: list[str]) -> str:
    return counted(len(chosen), "pending write")


def confirm(question: str, yes: bool) -> None:
    """Ask the user for confirmation, unless --yes was given; "no" ends the command."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Failure(f"{question} Use --yes to confirm.", Exit.USAGE)
    if not click.confirm(question, err=True):
        raise Failure("Nothing was changed.")


def _each(settings: Settings, chosen: list[str], action: Callable[[str], object], done: str) -> int:
    """Run an action for each of the chosen writes; continue after a failure."""
    failures: list[KVError] = []
    for id in chosen:
        try:
            action(id)
        except KVError as error:
            settings.out.problem(f"{id}: {error}", id=id)
            failures.append(error)
    count = len(chosen) - len(failures)
    settings.out.done(
        f"{counted(count, 'write')} {done}.", **{done: count, "failed": len(failures)}
    )
    if not failures:
        return int(Exit.DONE)
    return int(code_of(failures[0]))
