"""Commands that synchronise a store with its backend."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from rich.progress import Progress as Bar

from ...client import Client
from ...errors import KVError
from ...request import Request
from ...results import Progress
from ...store import Store
from ..failures import Exit, Failure
from ..output import note, progress_bar
from ..parameters import Command, complete_collection, query_of
from ..settings import Settings, names_of_collections, pass_settings

T = TypeVar("T")

collections_argument = click.argument(
    "collections", nargs=-1, metavar="[COLLECTION]...", shell_complete=complete_collection
)
filter_option = click.option("--filter", metavar="JSON", help="Only entities that match.")
where_option = click.option(
    "-w", "--where", metavar="FORMAT", help="Only entities that match a predicate format."
)
changes_option = click.option(
    "--changes", is_flag=True, help="Fetch only the changes since the last read."
)
conflicts_option = click.option(
    "--conflicts",
    type=click.Choice(["clientWins", "serverWins", "merge", "automerge", "optimistic"]),
    help="How conflicts are resolved. [default: clientWins, with AppSync automerge]",
)
retry_option = click.option(
    "--retry-quarantined", is_flag=True, help="Send quarantined writes as well."
)


@click.command("pull", cls=Command)
@collections_argument
@filter_option
@where_option
@changes_option
@pass_settings
def pull(
    settings: Settings,
    collections: tuple[str, ...],
    filter: str | None,
    where: str | None,
    changes: bool,
) -> int:
    """Pull collections from the backend; without a name, all local ones."""
    query = query_of(filter, where, ())
    options = _given(delta_set=changes or None)

    def start(store: Store) -> Request[Any]:
        return store.pull_async(query, **options)

    return _run(settings, collections, "pull", start, ["pulled", "removed"])


@click.command("push", cls=Command)
@collections_argument
@conflicts_option
@retry_option
@pass_settings
def push(
    settings: Settings, collections: tuple[str, ...], conflicts: str | None, retry_quarantined: bool
) -> int:
    """Send the pending writes of collections; without a name, of all."""
    options = _given(conflicts=conflicts, retry_quarantined=retry_quarantined or None)

    def start(store: Store) -> Request[Any]:
        return store.push_async(**options)

    return _run(settings, collections, "push", start, ["pushed", "quarantined", "discarded"])


@click.command("sync", cls=Command)
@collections_argument
@filter_option
@where_option
@changes_option
@conflicts_option
@retry_option
@pass_settings
def sync(
    settings: Settings,
    collections: tuple[str, ...],
    filter: str | None,
    where: str | None,
    changes: bool,
    conflicts: str | None,
    retry_quarantined: bool,
) -> int:
    """Push collections, then pull them; without a name, all local ones."""
    query = query_of(filter, where, ())
    options = _given(
        delta_set=changes or None,
        conflicts=conflicts,
        retry_quarantined=retry_quarantined or None,
    )

    def start(store: Store) -> Request[Any]:
        return store.sync_async(query, **options)

    members = ["pushed", "pulled", "removed", "quarantined", "discarded"]
    return _run(settings, collections, "sync", start, members)


def _given(**options: Any) -> Any:
    """Leave out options that were not given."""
    return {name: value for name, value in options.items() if value is not None}


def _run(
    settings: Settings,
    collections: Iterable[str],
    operation: str,
    start: Callable[[Store], Request[Any]],
    members: list[str],
) -> int:
    """Run an operation for each collection, print its result, and name refused writes."""
    rows: list[dict[str, Any]] = []
    errors: list[KVError] = []
    with settings.online() as client, progress_bar() as bar:
        for name in _chosen(client, collections):
            with client.collection(name) as store:
                result = finish(start(store), bar, f"{operation} {name}")
            refused = list(getattr(result, "errors", []))
            errors += refused
            counts = {member: getattr(result, member) for member in members}
            rows.append({"collection": name, **counts, "errors": len(refused)})
    settings.out.rows(rows, ["collection", *members, "errors"])
    for error in errors:
        note(f"kvstore: {error}")
    return int(Exit.UNSETTLED if errors else Exit.DONE)


def _chosen(client: Client, collections: Iterable[str]) -> list[str]:
    chosen = list(collections) or names_of_collections(client)
    if not chosen:
        raise Failure("The store has no collections yet; name one.", Exit.USAGE)
    return chosen


def finish(request: Request[T], bar: Bar, what: str) -> T:
    """Wait for a request and show its progress; Ctrl-C cancels it."""
    task = bar.add_task(what, total=None)
    try:
        while not request.done():
            _show(bar, task, request.progress())
            request.wait(0.1)
        return request.result()
    except KeyboardInterrupt:
        request.cancel()
        raise
    finally:
        bar.remove_task(task)
        request.close()


def _show(bar: Bar, task: Any, progress: Progress) -> None:
    bar.update(task, completed=progress.entities_done, total=progress.entities_total or None)
