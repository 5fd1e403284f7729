"""Results that load little by little, over the cities, against SQLite by hand."""

from __future__ import annotations

import json

from sync import load_cities
from tools import Row, build, limit_row, output_of, ratio_row, scratch

ROUNDS = 5
SAVES = 15
ICU = "json_extract(), sort keys of ICU"
ICU_INDEX = "an index of ICU's sort keys, prepared"
STEPPING = "stepping through the same index, prepared"


def rows() -> list[Row]:
    """All rows of this file."""
    sources = ("data.c", "raw.c", "ours.c", "results.c")
    program = build("results", *sources, libraries=("kvstore", "sqlite3", "icui18n", "icuuc", "m"))
    cities = load_cities()
    with scratch("results") as directory:
        lines = directory / "cities"
        with lines.open("w") as file:
            for key, city in cities.items():
                file.write(json.dumps({"_id": key, **city}) + "\n")
        output_of(program, "fill", directory, lines)
        output = output_of(program, "run", directory, ROUNDS)
        output += output_of(program, "save", directory, SAVES)
        peaks = [float(output_of(program, "memory", directory)) / 1024 for _ in range(3)]
    rates: dict[tuple[str, str], list[float]] = {}
    for line in output.splitlines():
        workload, side, rate = line.split()
        rates.setdefault((workload, side), []).append(float(rate))

    def ratio(title: str, workload: str, against: str, goal: float | None) -> Row:
        ours, theirs = rates[workload, "ours"], rates[workload, "raw"]
        return ratio_row(title, "1/s", ours, theirs, against, goal)

    many = f"{len(cities):,} cities"
    return [
        ratio(f"first row of {many}, sorted, indexed", "first", STEPPING, 0.5),
        ratio(f"a list of {many}, sorted, and its first row", "list", "row numbers by hand", None),
        ratio(f"scrolling through {many} in batches of 100", "scroll", STEPPING, 0.6),
        ratio(
            "the same without a snapshot on either side",
            "pages",
            "row numbers in an array, bodies by these, 100 a transaction",
            None,
        ),
        ratio("the page at 234,800", "end", "a covering index", 0.8),
        ratio(f"{many} sorted by name as Swedish has it, no index", "swedish", ICU, 0.8),
        ratio("100 cities by name from a letter on, German, indexed", "german", ICU_INDEX, 0.6),
        ratio("a record by its position, at random", "position", "by primary key", 0.5),
        ratio("the save of a context, 1,000 changed objects", "save", "kv_store_save_many", 0.8),
        limit_row("peak memory of scrolling", "MB", peaks, 16, [0.0], "the open library"),
    ]
