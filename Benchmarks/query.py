"""Queries over 200,000 entities, with indexes and without, against SQLite by hand."""

from __future__ import annotations

from collections.abc import Callable

from tools import Row, build, limit_row, output_of, ratio_row, scratch

COUNT = 200_000
ROUNDS = 5
SCAN = "json_extract(), the same scan"
NO_INDEX = "json_extract(), no index"
INDEX = "an index that covers it, prepared"
TOTALS = "a table of totals"


def rows() -> list[Row]:
    """All rows of this file."""
    sources = ("data.c", "raw.c", "ours.c", "query.c")
    program = build("query", *sources, libraries=("kvstore", "sqlite3", "m"))
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
        ratio("equality, indexed, 1 % of the entities", "equality", "an index, prepared", 0.85),
        ratio("range + sort + limit 20, indexed", "range", f"{INDEX}, ties by id", 0.85),
        ratio("filter without an index, 1 % of the entities", "filter", SCAN, 3),
        ratio("count without an index, 10 % of the entities", "count", SCAN, 3),
        ratio("count, indexed", "covering-count", NO_INDEX, 150, "count"),
        ratio("count, indexed, both sides", "covering-count", INDEX, None),
        *group_rows(ratio, "integers", "group"),
        *group_rows(ratio, "real numbers", "average"),
        limit_row(
            "parse, plan and compile a query", "us", parses, 20, prepares, "preparing its SQL"
        ),
    ]


def group_rows(ratio: Callable[..., Row], of: str, workload: str) -> list[Row]:
    """Averages of 100 groups: a scan, an index, totals; the latter also by hand."""
    title = f"group-by average of {of}"
    covering, totals = f"covering-{workload}", f"totals-{workload}"
    return [
        ratio(f"{title}, no index, 100 groups", workload, SCAN, 3),
        ratio(f"{title}, indexed", covering, NO_INDEX, None, workload),
        ratio(f"{title}, indexed, both sides", covering, INDEX, None),
        ratio(f"{title}, index with totals", totals, NO_INDEX, 60, workload),
        ratio(f"{title}, totals on both sides", totals, TOTALS, None),
    ]
