"""Encrypted local data against the same work on data that is not encrypted."""

from __future__ import annotations

from dataclasses import dataclass

from tools import Row, build, output_of, ratio_row, scratch

ROUNDS = 5


@dataclass(frozen=True)
class Workload:
    """A workload of encryption.c with its goal."""

    name: str
    title: str
    count: int
    at_least: float


WORKLOADS = [
    Workload("bulk", "encrypted: bulk save, 1,000 a transaction", 100_000, 0.85),
    Workload("single-full", "encrypted: single saves, FULL", 4_000, 0.9),
    Workload("find", "encrypted: find by id, cold", 100_000, 0.8),
    Workload("find-cached", "encrypted: find by id, from the cache", 100_000, 0.95),
    Workload("scan", "encrypted: look at all entities", 100_000, 0.8),
]


def rows() -> list[Row]:
    """All rows of this file."""
    program = build(
        *("encryption", "data.c", "raw.c", "ours.c", "encryption.c"),
        libraries=("kvstore", "sqlite3", "pthread"),
    )
    made = []
    for workload in WORKLOADS:
        with scratch(f"encrypted-{workload.name}") as directory:
            output = output_of(program, workload.name, directory, workload.count, ROUNDS)
        rates: dict[str, list[float]] = {"encrypted": [], "plain": []}
        for line in output.splitlines():
            side, rate = line.split()
            rates[side].append(float(rate))
        made.append(
            ratio_row(
                workload.title,
                "entities/s",
                rates["encrypted"],
                rates["plain"],
                "the same, not encrypted",
                workload.at_least,
            )
        )
    return made
