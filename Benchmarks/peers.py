"""The work that stores of this kind are compared by, over 200,000 books."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import peers_data
from tools import SCRATCH, Row, build, output_of, ratio_row, scratch

COUNT = 200_000
ROUNDS = 3


@dataclass(frozen=True)
class Work:
    """A line of what the programs print, and what other stores reached on it."""

    name: str
    title: str
    unit: str
    goal: float | None
    #: Ratios of Realm, ObjectBox and LiteCore to the same program by hand: docs/benchmarks.md.
    peers: tuple[float, float, float] | None = None
    #: The line of the program by hand, where it has another name.
    raw: str = ""


WORKS = [
    Work("W1", "bulk save, 1,000 a transaction", "entities/s", 0.6, (0.49, 0.30, 0.37)),
    Work("W2", "single saves", "entities/s", 0.6, (0.03, 0.06, 0.53)),
    Work("W3", "find by id", "entities/s", 0.95, (0.89, 2.24, 0.74)),
    Work("W3 lists", "find 1,000 by their ids, raw one by one", "entities/s", 2, None, "W3"),
    Work("W4", "equality, no index, 1 %", "queries/s", 5, (14.8, 4.5, 2.15)),
    Work("W4 automatic", "the same once automatic, raw has no index", "queries/s", 100, None, "W4"),
    Work("W5", "equality, indexed, 1 %", "queries/s", 0.95, (0.27, 2.58, 0.33)),
    Work("W6", "range + sort + limit 20, indexed", "queries/s", 0.8, (0.01, 0.001, 0.35)),
    Work("W7", "count, no index", "queries/s", 5, (131, 4.6, 2.25)),
    Work("W7 automatic", "the same once automatic", "queries/s", 440, None, "W7"),
    Work("W7 indexed", "count, indexed, raw has none", "queries/s", 440, None, "W7"),
    Work("W8", "average of 10 groups, no index", "queries/s", 8, (49.5, 1.42, 1.95)),
    Work("W8 automatic", "the same once automatic", "queries/s", 170, None, "W8"),
    Work("W8 indexed", "average, indexed, raw has none", "queries/s", 170, None, "W8"),
    Work("page", "first page of 100, indexed", "queries/s", 0.8),
    Work("deep page", "page at 199,900, indexed", "queries/s", 0.8),
    Work("first", "first of all in order, indexed", "queries/s", 0.5),
    Work("W9", "change one member of 20,000", "entities/s", 1, (9.1, 2.7, 0.86)),
    Work("W10", "remove 20,130 by a filter", "entities/s", 0.9, (2.28, 2.69, 0.85)),
    Work(
        "W3 lists",
        "find 1,000 by their ids, both so",
        "entities/s",
        None,
        None,
        "W3 together",
    ),
    Work("W1", "bulk save, both with a queue", "entities/s", None, None, "W1 queued"),
    Work("W2", "single saves, both with a queue", "entities/s", None, None, "W2 queued"),
    Work("W9", "change one member, both with a queue", "entities/s", None, None, "W9 queued"),
    Work(
        "W10",
        "remove 20,130 by a filter, both with a queue",
        "entities/s",
        None,
        None,
        "W10 queued",
    ),
    Work("W4", "equality, no index, and raw compares nothing", "queries/s", None, None, "bodies"),
    Work("W7", "count, no index, and raw compares nothing", "queries/s", None, None, "bodies"),
    Work(
        "W4",
        "equality, no index, and two threads by hand compare nothing",
        "queries/s",
        None,
        None,
        "bodies halves",
    ),
    Work("W5", "equality, indexed, 1 %, both safe", "queries/s", None, None, "W5 safe"),
    Work("W6", "range + sort + limit 20, both safe", "queries/s", None, None, "W6 safe"),
    Work("page", "first page of 100, both safe", "queries/s", None, None, "page safe"),
    Work("peak", "peak memory of all that, above the books", "KiB", None),
]


#: What the program by hand does, by the last word of its work.
AGAINST = {
    "together": "1,000 in a transaction",
    "queued": "with a queue",
    "bodies": "reading all bodies",
    "halves": "two threads that read half of the bodies each",
    "safe": "each body copied, its checksum computed",
}


def rows() -> list[Row]:
    """All rows of this file."""
    raw = build("peers_raw", "data.c", "raw.c", "books.c", "peers_raw.c", libraries=("sqlite3",))
    ours = build(
        *("peers_ours", "data.c", "raw.c", "ours.c", "books.c", "peers_ours.c"),
        libraries=("kvstore", "sqlite3"),
    )
    books = SCRATCH / f"books-{COUNT}"
    if not (books / peers_data.FILES[-1]).exists():
        peers_data.write(books, COUNT)
    figures: dict[tuple[str, str], list[float]] = {}
    for round_ in range(ROUNDS):
        # Each begins every other round.
        for side, program in sorted({"ours": ours, "raw": raw}.items(), reverse=round_ % 2 == 1):
            figured = run(program, books)
            figured += run(program, books, "queue" if side == "raw" else "automatic")
            for name, figure in figured:
                figures.setdefault((side, name), []).append(figure)
    return [row(work, figures) for work in WORKS]


def run(program: Path, books: Path, *more: str) -> list[tuple[str, float]]:
    """What a program prints that works in an empty directory."""
    with scratch("peers") as directory:
        lines = output_of(program, books, directory / "store", *more).splitlines()
    return [(name, float(figure)) for name, figure in (line.rsplit(" ", 1) for line in lines)]


def row(work: Work, figures: dict[tuple[str, str], list[float]]) -> Row:
    """A row whose last column has the ratios of others."""
    ours, raw = figures["ours", work.name], figures["raw", work.raw or work.name]
    names = ("Realm", "ObjectBox", "LiteCore")
    ratios = zip(names, work.peers, strict=True) if work.peers else ()
    peers = "; ".join(f"{name} {ratio:g}" for name, ratio in ratios)
    kind = AGAINST.get(work.raw.rpartition(" ")[2], "no queue")
    against = f"SQLite by hand, {kind}{f' ({peers})' if peers else ''}"
    return ratio_row(f"peers: {work.title}", work.unit, ours, raw, against, work.goal)
