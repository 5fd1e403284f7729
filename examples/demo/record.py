"""The events of the demo: printed line by line, and kept for the picture at its end."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum


class Kind(Enum):
    """The kind of an event."""

    RUNS = "runs"
    PULLED = "pulled"
    SAVED = "saved"
    PUSHED = "pushed"
    MERGED = "merged"
    REFUSED = "refused"
    LEFT = "left"


@dataclass(frozen=True)
class Event:
    """An action of a program, with its number of entities."""

    lane: str
    kind: Kind
    #: Seconds since the demo began.
    begin: float
    end: float
    count: int = 1

    def __str__(self) -> str:
        seconds = f"in {self.end - self.begin:.2f} s"
        if self.kind is Kind.RUNS:
            return f"{self.lane} runs for {self.end - self.begin:.1f} s"
        if self.kind is Kind.LEFT:
            return f"{self.lane} logged out {seconds}"
        if self.kind is Kind.MERGED:
            return f"{self.lane} met {self.count} changed by others, and merged them"
        if self.kind is Kind.REFUSED:
            return f"{self.lane}: the server refused {self.count}"
        return f"{self.lane} {self.kind.value} {self.count:,} {seconds}"


@dataclass(frozen=True)
class Chapter:
    """A part of the story, which is a column of the picture."""

    title: str
    begin: float
    end: float


@dataclass
class Record:
    """The story so far."""

    _begin: float = field(default_factory=time.monotonic)
    events: list[Event] = field(default_factory=list)
    _titles: list[tuple[str, float]] = field(default_factory=list)
    _running: dict[str, float] = field(default_factory=dict)

    def now(self) -> float:
        """Return the seconds since the demo began."""
        return time.monotonic() - self._begin

    def note(self, who: object, what: str) -> None:
        """Print a line."""
        print(f"{self.now():6.1f} s  {who!s:16}{what}", flush=True)

    def heading(self, text: str, title: str | None = None) -> None:
        """Print a heading. With a short title it is also the head of a column."""
        print(f"\n{text}", flush=True)
        if title is not None:
            self._titles.append((title, self.now()))

    def add(self, lane: object, kind: Kind, seconds: float, count: int = 1) -> None:
        """Add an event that has just ended."""
        if count == 0:
            return
        end = self.now()
        self.events.append(Event(str(lane), kind, end - seconds, end, count))

    def starts(self, lane: str) -> None:
        """Add the start of a server."""
        self._running[lane] = self.now()

    def stops(self, lane: str) -> None:
        """Add the end of a server."""
        self.add(lane, Kind.RUNS, self.now() - self._running.pop(lane))

    @property
    def chapters(self) -> list[Chapter]:
        """Return the columns. The last one ends with the last event."""
        last = max((event.end for event in self.events), default=0.0)
        ends = [begin for _, begin in self._titles[1:]] + [last]
        return [
            Chapter(title, begin, end)
            for (title, begin), end in zip(self._titles, ends, strict=True)
        ]

    @property
    def lanes(self) -> list[str]:
        """Return the programs: servers first, the others in the order in which they acted."""
        servers = (event.lane for event in self.events if event.kind is Kind.RUNS)
        others = (event.lane for event in self.events if event.kind is not Kind.RUNS)
        return list(dict.fromkeys([*servers, *others]))
