"""The data of the screen: the store, its queue and its backend."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ..._json import from_json
from ...changes import Changes
from ...client import Client
from ...errors import CorruptError, KVError, NotFoundError
from ...query import Query
from ...results import Entity, PendingDetail
from ...store import Store
from ...subscription import Subscription
from ..commands.queue import pending_rows
from ..damage import readable
from ..output import human_bytes
from ..parameters import query_of
from ..settings import Settings, status_of

#: The largest number of entities, and of pending writes, on the screen.
PAGE = 200

_VERSIONS = {
    "ours": "the version that a push would send",
    "base": "the version that the change started from",
    "theirs": "the version on the backend",
}
_DECISIONS = (
    "A conflict. r: ours replaces theirs. v: theirs replaces ours. e: an edited version replaces "
    "both. d: the write is forgotten, and the next pull brings theirs."
)

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
            "pending": f"{status.waiting} waiting, {status.quarantined} quarantined",
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
        return "no user" if user is None else str(user.get("username"))

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

    def pending_detail(self, name: str, id: str) -> PendingDetail[Entity] | None:
        """Return a pending write with its versions, or None if it is damaged or gone."""
        try:
            return self.store(name).pending.get(id)
        except (CorruptError, NotFoundError):
            return None


def words_about(write: PendingDetail[Entity]) -> str:
    """Describe a pending write: its error, its versions, and how to decide a conflict."""
    parts: list[str] = []
    if write.last_error is not None:
        facts = {"error": str(write.last_error), **_answer_of(write.last_error)}
        width = max(map(len, facts))
        parts.append("\n".join(f"{name:<{width}}  {fact}" for name, fact in facts.items()))
    is_conflict = write.state in ("conflict", "backendWentBack")
    if is_conflict:
        parts.append(_DECISIONS)
    versions = {"ours": write.entity, "base": write.base, "theirs": write.remote}
    for name, version in versions.items():
        if version is not None or is_conflict:
            parts.append(f"{name}: {_VERSIONS[name]}\n{_version(version, name)}")
    return "\n\n".join(parts)


def _answer_of(error: KVError) -> dict[str, str]:
    """Return what the backend said."""
    facts = {
        "status": error.http,
        "name": error.error,
        "description": error.description,
        "debug": error.debug,
        "request": error.request_id,
    }
    return {name: str(fact) for name, fact in facts.items() if fact is not None}


def _version(entity: Entity | None, name: str) -> str:
    if entity is not None:
        return json.dumps(entity, indent=2, ensure_ascii=False)
    return {"ours": "deleted here", "base": "unknown, or there was none"}.get(name, "deleted there")


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
