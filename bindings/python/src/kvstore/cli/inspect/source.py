"""The data of the screen: the store, its queue and its backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..._json import from_json
from ...changes import Changes
from ...client import Client
from ...errors import CorruptError, KVError
from ...query import Query
from ...results import Entity
from ...store import Store
from ...subscription import Subscription
from ..commands.queue import pending_rows
from ..damage import readable
from ..output import human_bytes
from ..parameters import query_of
from ..settings import Settings, status_of

#: The largest number of entities, and of pending writes, on the screen.
PAGE = 200

OnChanges = Callable[[Changes[Entity] | KVError], object]


@dataclass(frozen=True)
class Overview:
    """The data that is read every second."""

    #: Name, entities, pending writes.
    collections: list[tuple[str, int, int]]
    pending: list[dict[str, Any]]
    facts: dict[str, str]


class Source:
    """An open store."""

    def __init__(self, settings: Settings, client: Client) -> None:
        self.client = client
        self.location = settings.location()
        self.host = settings.host
        self._stores: dict[str, Store] = {}

    @property
    def has_backend(self) -> bool:
        """Return whether the store has a backend."""
        return self.host is not None

    def store(self, name: str) -> Store:
        """Return a collection, which is opened once."""
        if name not in self._stores:
            self._stores[name] = self.client.collection(name)
        return self._stores[name]

    def overview(self) -> Overview:
        """Read everything except the entities."""
        status = status_of(self.client)
        found = [
            (each.collection, self.store(each.collection).count(), each.pending)
            for each in status.collections
        ]
        pending = []
        for row in pending_rows(self.client, None):
            pending.append(row)
            if len(pending) == PAGE:
                break
        online = {None: "unknown", True: "yes", False: "no"}[status.online]
        size = human_bytes(self.location.file.stat().st_size)
        facts = {
            "file": f"{self.location.file}, {size}",
            "application": f"{self.location.app_key}, tag {self.location.tag}",
            "backend": self.host or "none; --host is needed to synchronise",
            "online": online if self.has_backend else "",
            "user": self._user(),
            "pending": f"{status.pending}, {status.quarantined} of them quarantined",
        }
        for activity in status.activity:
            done = f"{activity.progress.entities_done} of {activity.progress.entities_total or '?'}"
            facts[f"{activity.operation} {activity.collection}"] = done
        for each in status.collections:
            if each.last_synced is not None:
                facts[f"{each.collection} read"] = f"{each.last_synced:%Y-%m-%d %H:%M:%S} UTC"
        return Overview(found, pending, {name: text for name, text in facts.items() if text})

    def _user(self) -> str:
        if not self.has_backend:
            return ""
        user = self.client.active_user
        return "nobody" if user is None else str(user.get("username"))

    def observe(self, name: str, search: str, receive: OnChanges) -> Subscription:
        """Observe the first entities that match."""
        return self.store(name).observe(page_of(search), receive)

    def read_around_damage(self, name: str, search: str) -> tuple[list[Entity], list[str]]:
        """Return the readable entities that match, and the ids of the damaged ones."""
        entities: list[Entity] = []
        damaged: list[str] = []
        with self.store(name).find(page_of(search)) as found:
            for each in readable(found):
                if isinstance(each, CorruptError):
                    damaged.append(str(each.id))
                else:
                    entities.append(from_json(each))
        return entities, damaged

    def pending_detail(self, name: str, id: str) -> Entity | None:
        """Return the entity that a pending write would send, or None if it is damaged."""
        try:
            return self.store(name).pending.get(id).entity
        except CorruptError:
            return None


def page_of(search: str) -> Query:
    """Make a query from the search field: a filter in braces, a format, or nothing.

    >>> page_of('{"a": 1}').to_dict()["filter"], page_of("a > 1").to_dict()["filter"]
    ({'a': 1}, {'a': {'$gt': 1}})
    """
    text = search.strip()
    is_filter = text.startswith("{") or not text
    return query_of(
        text or None if is_filter else None, None if is_filter else text, (), limit=PAGE
    )


@contextmanager
def open_source(settings: Settings) -> Iterator[Source]:
    """Open the store, with its backend if one is named."""
    opened = settings.local() if settings.host is None else settings.online()
    with opened as client:
        yield Source(settings, client)
