"""Queries over 200,000 entities, with indexes and without, against SQLite by hand."""

from __future__ import annotations

from tools import Row, build, limit_row, output_of, ratio_row, scratch

COUNT = 200_000
ROUNDS = 5
SCAN = "json_extract(), the same scan"
NO_INDEX = "json_extract(), no index"
INDEX = "an index on json_extract(), prepared"


def rows() -> list[Row]:
    """All rows of this file."""
    program = build(
        "query", "data.c", "raw.c", "ours.c", "query.c", libraries=("kvstore", "sqlite3")
    )
    with scratch("query") as directory:
        output = output_of(program, directory, COUNT, ROUNDS)
    rates: dict[tuple[str, str], list[float]] = {}
    for line in output.splitlines():
        workload, side, rate = line.split()
        rates.setdefault((workload, side), []).append(float(rate))

    def ratio(title: str, workload: str, against: str, goal: float | None, raw: str = "") -> Row:
        ours, theirs = rates[workload, "ours"], rates[raw or workload, "raw"]
        return ratio_row(title, "queries/s", ours, theirs, against, goal)

    parses, prepares = ([1e6 / rate for rate in rates["parse", side]] for side in ("ours", "raw"))
    return [
        ratio("equality, indexed, 1 % of the entities", "equality", INDEX, 0.85),
        ratio("range + sort + limit 20, indexed", "range", f"{INDEX}, ties by id", 0.85),
        ratio("filter without an index, 1 % of the entities", "filter", SCAN, 3),
        ratio("count without an index, 10 % of the entities", "count", SCAN, 3),
        ratio("count, indexed", "covering-count", NO_INDEX, 150, "count"),
        ratio("group-by average without an index, 100 groups", "group", SCAN, 3),
        ratio("group-by average, indexed", "covering-group", NO_INDEX, None, "group"),
        ratio("group-by average, index with totals", "totals-group", NO_INDEX, 60, "group"),
        limit_row(
            "parse, plan and compile a query", "us", parses, 20, prepares, "preparing its SQL"
        ),
    ]
