"""Encrypted local data against the same work on data that is not, and against SQLCipher by hand."""

from __future__ import annotations

import sys
from pathlib import Path

from local import ROUNDS, Workload, workload_row
from tools import SOURCES, Row, build, output_of, ratio_row, scratch

PLAIN = "the same, not encrypted"
WORKLOADS = [
    Workload("bulk", "encrypted: bulk save, 1,000 a transaction", 100_000, 0.85, PLAIN),
    Workload("single-full", "encrypted: single saves, FULL", 4_000, 0.9, PLAIN),
    Workload("find", "encrypted: find by id, cold", 100_000, 0.8, PLAIN),
    Workload("find-cached", "encrypted: find by id, from the cache", 100_000, 0.95, PLAIN),
    Workload("scan", "encrypted: look at all entities", 100_000, 0.8, PLAIN),
]
SQLCIPHER = "SQLCipher by hand, same rows"


def rows() -> list[Row]:
    """All rows of this file."""
    program = build(
        *("encryption", "data.c", "raw.c", "ours.c", "encryption.c"),
        libraries=("kvstore", "sqlite3", "pthread"),
    )
    plain = [workload_row(program, workload) for workload in WORKLOADS]
    # Its process has SQLCipher, which has SQLite's functions.
    library = build(
        "sqlcipher.so", "data.c", "raw.c", "sqlcipher.c", libraries=(), flags=("-shared", "-fPIC")
    )
    return plain + [sqlcipher_row(program, library, workload) for workload in WORKLOADS]


def sqlcipher_row(program: Path, library: Path, workload: Workload) -> Row:
    """Runs ours and SQLCipher in turns; each begins every other round."""
    rates: dict[str, list[float]] = {"ours": [], "raw": []}
    for round_ in range(ROUNDS):
        for side in ("ours", "raw") if round_ % 2 else ("raw", "ours"):
            with scratch(f"{workload.name}-{side}") as directory:
                words = (workload.name, directory, workload.count)
                if side == "ours":
                    output = output_of(program, *words, 1)
                else:
                    driver = SOURCES.parent / "sqlcipher.py"
                    output = output_of(sys.executable, driver, library, *words)
            rates[side] += [
                float(line.split()[1]) for line in output.splitlines() if line.startswith(side)
            ]
    title = workload.title.replace("encrypted", "beside SQLCipher")
    return ratio_row(title, "entities/s", rates["ours"], rates["raw"], SQLCIPHER, 1)
