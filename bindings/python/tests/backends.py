"""A backend of the program's own in memory, and one with a history."""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import kvstore
from kvstore import Backend
from kvstore.backend import (
    ChangedPage,
    Conflicting,
    Delete,
    Deleted,
    Fetch,
    Integer,
    Page,
    Record,
    Result,
    Stored,
    Upsert,
    Write,
)

SECONDS = 60
_names = itertools.count(1)


class Shelf(Backend):
    """Records in memory, with versions and a history."""

    version: Any = Integer("rev")
    page_size = 3

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.records: dict[str, dict[str, Record]] = {}
        self.history: list[tuple[str, Upsert | Delete]] = []
        #: What methods were called.
        self.called: list[str] = []
        #: Runs before each method, and may raise.
        self.before: Callable[[str], object] = lambda _: None
        #: Runs in place of a method.
        self.instead: dict[str, Callable[..., Any]] = {}

    def begin(self, name: str) -> None:
        """Note the call, and do what a test wants before it."""
        self.called.append(name)
        self.before(name)

    def put(self, collection: str, record: Record) -> Record:
        """Store a record as somebody else would."""
        stored = {**record, "rev": len(self.history) + 1}
        self.records.setdefault(collection, {})[record["_id"]] = stored
        self.history.append((collection, Upsert(stored)))
        return stored

    def fetch(self, request: Fetch) -> Any:
        """Give a page, or what a test wants instead."""
        self.begin("fetch")
        if "fetch" in self.instead:
            return self.instead["fetch"](request)
        return self.page(request)

    def page(self, request: Fetch) -> Page:
        """Give a page of a collection."""
        with self.lock:
            after = request.after or ""
            names = sorted(n for n in self.records.get(request.collection, {}) if n > after)
            page = names[: request.page_size]
            following = page[-1] if len(names) > len(page) else None
            records = [self.records[request.collection][name] for name in page]
            return Page(records, following, str(len(self.history)))

    def fetch_ids(self, collection: str, ids: Sequence[Any]) -> Any:
        """Give some records."""
        self.begin("fetch_ids")
        with self.lock:
            there = self.records.get(collection, {})
            return [there[name] for name in ids if name in there]

    def write(self, collection: str, writes: Sequence[Write]) -> Any:
        """Carry out writes, or do what a test wants instead."""
        self.begin("write")
        if "write" in self.instead:
            return self.instead["write"](collection, writes)
        return self.carry_out_all(collection, writes)

    def carry_out_all(self, collection: str, writes: Sequence[Write]) -> list[Result]:
        """Carry out writes, one after the other."""
        with self.lock:
            return [self.carry_out(collection, write) for write in writes]

    def carry_out(self, collection: str, write: Write) -> Result:
        """Carry out a write, if its condition holds."""
        found = self.records.get(collection, {}).get(write.id)
        if not write.may_replace(found and found["rev"]):
            return Conflicting(found)
        if write.record is not None:
            return Stored(self.put(collection, write.record))
        if found is None:
            return Deleted(existed=False)
        del self.records[collection][write.id]
        self.history.append((collection, Delete(write.id)))
        return Deleted()


class Diary(Shelf):
    """One that can tell what has changed."""

    def changes(self, collection: str, since: str) -> Any:
        """Give what has changed; None if the token is of other data."""
        self.begin("changes")
        with self.lock:
            if int(since) > len(self.history):
                return None
            news = [change for name, change in self.history[int(since) :] if name == collection]
            return ChangedPage(news, str(len(self.history)))


def ids(records: Iterable[Record]) -> list[str]:
    return sorted(record["_id"] for record in records)


def wait_for(events: queue.SimpleQueue[str], wanted: str) -> None:
    """Wait until an event is heard."""
    while events.get(timeout=SECONDS) != wanted:
        pass


Opened = Callable[..., kvstore.Client]
