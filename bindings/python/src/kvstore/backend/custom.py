"""Stores that a program implements itself, in place of the library's local database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .requests import Fetch, Integer, Ordered, Record, Unconditional


@dataclass(frozen=True, slots=True)
class Location:
    """Where a store is to look for its data: what the client was opened with."""

    app_key: str
    data_directory: Path
    tag: str
    #: The option ``store_options``.
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Metadata:
    """What identifies a store."""

    #: The name that the store is registered by.
    type: str
    #: 1 to 64 letters, digits and hyphens, the same each time that the same data is opened.
    uuid: str


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a save."""

    collection: str
    id: Any
    #: The whole record. None for a deletion.
    record: Record | None
    #: The version that must be stored. None: no such record may be stored.
    condition: Any = Unconditional.ALWAYS

    def may_replace(self, version: Any) -> bool:
        """Return whether the change may replace this version; None stands for no such record."""
        return self.condition is Unconditional.ALWAYS or bool(self.condition == version)


@dataclass(frozen=True, slots=True)
class Save:
    """Changes that are made all at once, or not at all."""

    inserted: Sequence[Change]
    updated: Sequence[Change]
    deleted: Sequence[Change]


@dataclass(frozen=True, slots=True)
class Saved:
    """The answer to a save that was carried out."""

    #: The inserted and then the updated records as they are now, each None if it is as sent.
    records: Sequence[Record | None] | None = None
    #: Whether each record to be deleted existed.
    deleted: Sequence[bool] | None = None


@dataclass(frozen=True, slots=True)
class Conflicts:
    """The answer to a save of which nothing was written, because conditions do not hold."""

    #: Each such change, with the stored record; None if there is none.
    changes: Sequence[tuple[Change, Record | None]]


class CustomStore(ABC):
    """A store of records that the program keeps itself: in a file, a database, a service.

    Clients are opened with ``store="<name>"``; nothing else of their code changes. The library
    keeps nothing of the store's data. Threads, futures, ``async def`` and exceptions are those of
    a :class:`Backend`, but no write waits: a failed save fails the call that saves.
    """

    #: As of a :class:`Backend`.
    id: str | Integer | Sequence[str | Integer] = "_id"
    version: str | Sequence[str] | Integer | Ordered | None = None
    backend_members: Sequence[str] = ()
    permissions: str | None = None
    creator: str | None = None
    queries: bool = False
    #: Whether ``save`` checks conditions; otherwise the library reads the records first.
    conditions: bool = True
    page_size: int = 1000
    ids_per_request: int = 100
    writes_per_request: int = 100
    requests_at_once: int = 4
    max_answer_bytes: int = 100 << 20

    @abstractmethod
    def load(self, location: Location) -> Any:
        """Open the store's data, and return its :class:`Metadata`."""

    @abstractmethod
    def fetch(self, request: Fetch) -> Any:
        """Return a :class:`Page` of a collection."""

    @abstractmethod
    def values(self, collection: str, ids: Sequence[Any]) -> Any:
        """Return the records that exist of these ids, in any order."""

    @abstractmethod
    def save(self, save: Save) -> Any:
        """Make changes all at once; return None, :class:`Saved` or :class:`Conflicts`."""

    def relationship(
        self, name: str, collection: str, target: str, keys: Sequence[str], ids: Sequence[Any]
    ) -> Any:
        """Return, for each of the ids, the ids that a relationship leads to.

        Without this method, the targets whose `keys` have the ids are fetched.
        """
        raise NotImplementedError

    def obtain_ids(self, objects: Sequence[tuple[str, Record]]) -> Any:
        """Return an id for each of these new records of collections.

        Without this method, the library makes the ids.
        """
        raise NotImplementedError


def _load(store: CustomStore, asked: dict[str, Any]) -> Any:
    return store.load(
        Location(
            app_key=asked["appKey"],
            data_directory=Path(asked["dataDirectory"]),
            tag=asked["tag"],
            options=asked["options"],
        )
    )


def _values(store: CustomStore, asked: dict[str, Any]) -> Any:
    return store.values(asked["collection"], asked["ids"])


def _save(store: CustomStore, asked: dict[str, Any]) -> Any:
    return store.save(
        Save(
            inserted=[_change(change) for change in asked["inserted"]],
            updated=[_change(change) for change in asked["updated"]],
            deleted=[_change(change) for change in asked["deleted"]],
        )
    )


def _change(change: dict[str, Any]) -> Change:
    return Change(
        collection=change["collection"],
        id=change["id"],
        record=change.get("record"),
        condition=change.get("if", Unconditional.ALWAYS),
    )


def _relationship(store: CustomStore, asked: dict[str, Any]) -> Any:
    return store.relationship(
        asked["relationship"], asked["collection"], asked["target"], asked["keys"], asked["ids"]
    )


def _obtain_ids(store: CustomStore, asked: dict[str, Any]) -> Any:
    return store.obtain_ids(
        [(object["collection"], object["record"]) for object in asked["objects"]]
    )


REQUESTS: Final[dict[str, Callable[[Any, dict[str, Any]], Any]]] = {
    "load": _load,
    "values": _values,
    "save": _save,
    "relationship": _relationship,
    "obtain_ids": _obtain_ids,
}


def _loaded(given: Metadata) -> dict[str, Any]:
    return {"type": given.type, "uuid": given.uuid}


def _records(given: Iterable[Record]) -> dict[str, Any]:
    return {"records": list(given)}


def _saved(given: Saved | Conflicts | None) -> dict[str, Any]:
    if isinstance(given, Conflicts):
        return {
            "conflicts": [
                {"collection": change.collection, "id": change.id, "record": record}
                for change, record in given.changes
            ]
        }
    answer: dict[str, Any] = {}
    if given is not None and given.records is not None:
        answer["saved"] = list(given.records)
    if given is not None and given.deleted is not None:
        answer["deleted"] = list(given.deleted)
    return answer


def _related(given: Iterable[Iterable[Any]]) -> dict[str, Any]:
    return {"related": [list(ids) for ids in given]}


def _ids(given: Iterable[Any]) -> dict[str, Any]:
    return {"ids": list(given)}


RESPONSES: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    "load": _loaded,
    "values": _records,
    "save": _saved,
    "relationship": _related,
    "obtain_ids": _ids,
}
