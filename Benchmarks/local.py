"""The local store against SQLite by hand: saving, finding, loading, migrating; Python against C."""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from tools import LIBRARY, SOURCES, Row, build, limit_row, output_of, ratio_row, scratch

ROUNDS = 5


@dataclass(frozen=True)
class Workload:
    """A workload of a C program that prints the rates of both sides, with its goal."""

    name: str
    title: str
    count: int
    at_least: float
    against: str


WORKLOADS = [
    Workload("bulk", "bulk save, 1,000 a transaction", 100_000, 0.8, "SQLite by hand, same rows"),
    Workload("single-full", "single saves, FULL", 4_000, 0.9, "SQLite by hand, same rows"),
    Workload("single-normal", "single saves, NORMAL", 20_000, 0.9, "SQLite by hand, same rows"),
    Workload("threads", "8 threads save singly, FULL", 16_000, 3.0, "one thread by hand, FULL"),
    Workload("find", "find by id", 100_000, 0.8, "SQLite by hand, bytes borrowed"),
]


def rows() -> list[Row]:
    """All rows of this file."""
    program = build(
        "local", "data.c", "raw.c", "ours.c", "local.c", libraries=("kvstore", "sqlite3", "pthread")
    )
    return [
        *(workload_row(program, workload) for workload in WORKLOADS),
        python_row(program),
        load_row(),
        migration_row(),
    ]


def workload_row(program: Path, workload: Workload) -> Row:
    """Runs both sides of a workload in turns, in one process."""
    with scratch(workload.name) as directory:
        output = output_of(program, workload.name, directory, workload.count, ROUNDS)
    rates: dict[str, list[float]] = {"ours": [], "raw": []}
    for line in output.splitlines():
        side, rate = line.split()
        rates[side].append(float(rate))
    title, against = workload.title, workload.against
    return ratio_row(title, "entities/s", rates["ours"], rates["raw"], against, workload.at_least)


def python_row(program: Path) -> Row:
    """Finds by id from Python, returning bytes, in turns with the same finds from C."""
    python: list[float] = []
    c: list[float] = []
    for _ in range(ROUNDS):
        with scratch("python-find") as directory:
            output = output_of(program, "find", directory, 20_000, 1)
            c += [float(line.split()[1]) for line in output.splitlines() if line.startswith("ours")]
            python.append(
                float(output_of(sys.executable, SOURCES.parent / "find.py", directory / "ours-0"))
            )
    return ratio_row("find by id from Python, as bytes", "entities/s", python, c, "the C ABI", 0.5)


def load_row() -> Row:
    """Loads the library in a fresh process each time; the baseline loads what it depends on."""
    program = build("load", "data.c", "load.c", libraries=("dl",))
    ours: list[float] = []
    theirs: list[float] = []
    needed = ("libsqlite3.so.0", "libcurl.so.4", "libjansson.so.4")
    for round_ in range(21):
        for is_ours in (round_ % 2 == 0, round_ % 2 == 1):
            if is_ours:
                ours.append(float(output_of(program, LIBRARY)))
            else:
                theirs.append(float(output_of(program, *needed)))
    limit = round(statistics.median(theirs) + 3, 2)
    return limit_row(
        "load the library", "ms", ours, limit, theirs, "loading SQLite, libcurl, jansson"
    )


def migration_row() -> Row:
    """Migrates the schema of many unsent writes, in turns with a tenth of them."""
    rates: dict[int, list[float]] = {20_000: [], 2_000: []}
    for _ in range(ROUNDS):
        for count, measured in rates.items():
            with scratch("migration") as directory:
                program = SOURCES.parent / "migrate.py"
                measured.append(float(output_of(sys.executable, program, directory, count)))
    name = "migration of the schema, 20,000 unsent writes"
    return ratio_row(name, "records/s", rates[20_000], rates[2_000], "the same, 2,000", 0.8)
