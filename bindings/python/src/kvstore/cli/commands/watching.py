"""Commands that print events: local changes, live data, and the status of a follow."""

from __future__ import annotations

import itertools
import queue
from collections.abc import Iterable
from typing import Any

import click

from ...changes import Changes
from ...errors import KVError
from ...live import LiveEvent
from ...results import Entity
from ...status import FollowStatus
from ..output import encoded
from ..parameters import Command, collection_argument, query_of
from ..settings import Settings, pass_settings
from .syncing import filter_option, where_option

#: An event: as members, and in words.
Event = tuple[dict[str, Any], str]

count_option = click.option(
    "-n", "--count", type=click.IntRange(min=1), help="End after this many events."
)


@click.command("watch", cls=Command)
@collection_argument
@filter_option
@where_option
@count_option
@pass_settings
def watch(
    settings: Settings, collection: str, filter: str | None, where: str | None, count: int | None
) -> None:
    """Print changes of the local data, by any process, until Ctrl-C."""
    query = query_of(filter, where, ())
    with settings.collection(collection, new=True) as store, store.changes(query) as changes:
        events = itertools.chain.from_iterable(map(change_events, changes))
        _print(settings, events, count)


def change_events(changes: Changes[Entity]) -> list[Event]:
    """Return the changes, entity by entity; for the first result, only its size."""
    if changes.initial:
        row: dict[str, Any] = {"event": "initial", "count": changes.count}
        return [(row, f"{changes.count} here")]
    events = [({"event": "removed", "id": gone.id}, f"- {gone.id}") for gone in changes.deletions]
    for sign, event, placed in (
        ("+", "added", changes.insertions),
        ("~", "changed", changes.modifications),
    ):
        for each in placed:
            entity = each.entity
            row = {"event": event, "id": entity.get("_id"), "entity": entity}
            events.append((row, f"{sign} {entity.get('_id')}  {encoded(entity).decode()}"))
    return events


@click.command("live", cls=Command)
@collection_argument
@count_option
@click.option(
    "--local", "to_local", is_flag=True, help="Write arriving changes to the store as well."
)
@pass_settings
def live(settings: Settings, collection: str, count: int | None, to_local: bool) -> None:
    """Print changes of a collection on the backend (live data), until Ctrl-C."""
    with settings.online() as client, client.collection(collection) as store:
        client.register_live()
        with store.live(live_to_local=to_local) as events:
            _print(settings, map(live_event, events), count)


def live_event(event: LiveEvent[Entity]) -> Event:
    """Return an event of a subscription."""
    row = {
        "event": event.event,
        "status": event.status,
        "change": event.change,
        "id": event.id,
        "entity": event.entity,
    }
    words = [event.event, event.status, event.change, event.id]
    text = " ".join(word for word in words if word is not None)
    if event.entity is not None:
        text += f"  {encoded(event.entity).decode()}"
    return {name: value for name, value in row.items() if value is not None}, text


@click.command("follow", cls=Command)
@collection_argument
@filter_option
@where_option
@count_option
@click.option("--until-current", is_flag=True, help="End when the local data is up to date.")
@pass_settings
def follow(
    settings: Settings,
    collection: str,
    filter: str | None,
    where: str | None,
    count: int | None,
    until_current: bool,
) -> None:
    """Keep a collection in sync with the backend, and print its status, until Ctrl-C."""
    query = query_of(filter, where, ())
    waiting: queue.SimpleQueue[Event | KVError] = queue.SimpleQueue()

    def on_status(status: FollowStatus) -> None:
        waiting.put(follow_event(status))

    def on_change(changes: Changes[Entity] | KVError) -> None:
        if isinstance(changes, KVError):
            waiting.put(changes)
            return
        for event in change_events(changes):
            waiting.put(event)

    with (
        settings.online() as client,
        client.collection(collection) as store,
        store.observe(query, on_change),
        store.follow(query, on_status),
    ):
        _print(settings, iter(lambda: _next(waiting), None), count, until_current)


def follow_event(status: FollowStatus) -> Event:
    """Return the status of a follow."""
    row = {
        "event": "status",
        "state": status.state,
        "live": status.live,
        "lastSynced": status.last_synced,
        "error": status.error,
    }
    text = f"{status.state}{', live' if status.live else ''}"
    if status.error is not None:
        text += f": {status.error}"
    return {name: value for name, value in row.items() if value is not None}, text


def _next(waiting: queue.SimpleQueue[Event | KVError]) -> Event | None:
    event = waiting.get()
    if isinstance(event, KVError):
        raise event
    return event


def _print(
    settings: Settings, events: Iterable[Event], count: int | None, until_current: bool = False
) -> None:
    for row, words in itertools.islice(events, count):
        settings.out.event(row, words)
        if until_current and row.get("state") == "current":
            return
