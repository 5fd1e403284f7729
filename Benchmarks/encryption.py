"""Encrypted local data against the same work on data that is not encrypted."""

from __future__ import annotations

from local import Workload, workload_row
from tools import Row, build

PLAIN = "the same, not encrypted"
WORKLOADS = [
    Workload("bulk", "encrypted: bulk save, 1,000 a transaction", 100_000, 0.85, PLAIN),
    Workload("single-full", "encrypted: single saves, FULL", 4_000, 0.9, PLAIN),
    Workload("find", "encrypted: find by id, cold", 100_000, 0.8, PLAIN),
    Workload("find-cached", "encrypted: find by id, from the cache", 100_000, 0.95, PLAIN),
    Workload("scan", "encrypted: look at all entities", 100_000, 0.8, PLAIN),
]


def rows() -> list[Row]:
    """All rows of this file."""
    program = build(
        *("encryption", "data.c", "raw.c", "ours.c", "encryption.c"),
        libraries=("kvstore", "sqlite3", "pthread"),
    )
    return [workload_row(program, workload) for workload in WORKLOADS]
