"""The base table of a model and its delta table."""

from __future__ import annotations

import bisect
import hashlib
import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..clock import Clock
from .record import Record

#: A position in the order of a scan.
Position = tuple[str, str]


@dataclass
class Lifetimes:
    """How long tombstones stay in the base table, and writes in the delta table; milliseconds."""

    tombstones: int = 30 * 24 * 3600 * 1000
    deltas: int = 30 * 60 * 1000


@dataclass(frozen=True)
class Change:
    """A row of the delta table: a record as one write left it."""

    sequence: int
    time: int
    record: Record


class Table:
    """The records of a model with their versions; `on_write` hears of each row that is written."""

    def __init__(
        self, clock: Clock, lifetimes: Lifetimes, on_write: Callable[[str, Record], None]
    ) -> None:
        self._clock = clock
        self._lifetimes = lifetimes
        self._on_write = on_write
        self._rows: dict[str, Record] = {}
        self._order: list[Position] = []
        self._deltas: deque[Change] = deque()
        self._expiries: list[tuple[int, str]] = []
        self._sequence = 0

    def get(self, key: str) -> Record | None:
        self._expire()
        return self._rows.get(key)

    def write(self, key: str, record: Record) -> Record:
        """Stores the next version of a record, alive, in both tables, and gives it."""
        return self._write(key, record, deleted=False)

    def write_tombstone(self, key: str, record: Record) -> Record:
        """Stores a record's next version as a tombstone."""
        return self._write(key, record, deleted=True)

    def restore(self, key: str, row: Record) -> None:
        """Takes a row back that `on_write` was given, as it is."""
        self._put(key, row)

    def scan(self, after: Position | None = None) -> Iterator[tuple[Position, Record]]:
        """The rows after a position, tombstones too, in an order that looks like none.

        It is that of the keys' hashes, as in DynamoDB: children come before parents, and a row
        that is written during a scan is met or not.
        """
        self._expire()
        start = 0 if after is None else bisect.bisect_right(self._order, after)
        for position in self._order[start:]:
            yield position, self._rows[position[1]]

    def changes(self, since: int, after: int = 0) -> Iterator[Change]:
        """The writes from a time on, to the second, that follow a number of the log."""
        self._expire()
        for change in self._deltas:
            if change.sequence > after and change.time // 1000 >= since // 1000:
                yield change

    def _write(self, key: str, record: Record, *, deleted: bool) -> Record:
        self._expire()
        stored, now = self._rows.get(key), self._clock.now()
        row = {name: value for name, value in record.items() if value is not None}
        row.pop("_deleted", None)
        row.pop("_ttl", None)
        row["_version"] = 1 if stored is None else stored["_version"] + 1
        row["_lastChangedAt"] = now
        if deleted:
            row["_deleted"] = True
            row["_ttl"] = (now + self._lifetimes.tombstones) // 1000
        self._put(key, row)
        self._on_write(key, row)
        return row

    def _put(self, key: str, row: Record) -> None:
        if key not in self._rows:
            bisect.insort(self._order, position_of(key))
        self._rows[key] = row
        if "_ttl" in row:
            heapq.heappush(self._expiries, (row["_ttl"], key))
        self._sequence += 1
        self._deltas.append(Change(self._sequence, row["_lastChangedAt"], row))
        self._expire()

    def _expire(self) -> None:
        """Drops tombstones and deltas whose time has come."""
        now = self._clock.now()
        while self._expiries and self._expiries[0][0] * 1000 <= now:
            time, key = heapq.heappop(self._expiries)
            if self._rows.get(key, {}).get("_ttl") == time:
                del self._rows[key]
                del self._order[bisect.bisect_left(self._order, position_of(key))]
        while self._deltas and self._deltas[0].time + self._lifetimes.deltas < now:
            self._deltas.popleft()


def position_of(key: str) -> Position:
    return hashlib.sha1(key.encode(), usedforsecurity=False).hexdigest(), key
