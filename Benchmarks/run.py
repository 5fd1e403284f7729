"""Measures libkvstore against what an expert writes by hand; `make bench` runs it.

    run.py                 everything
    run.py local pull      these only; rows of the others are kept from the last run

Writes build/bench.json and the table of docs/benchmarks.md. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import appsync
import cluster
import live
import local
import peers
import pull
import query
import results
import server
import sync
from tools import BUILD, LIBRARY, ROOT, Row

PARTS: dict[str, Callable[[], list[Row]]] = {
    "local": local.rows,
    "query": query.rows,
    "results": results.rows,
    "peers": peers.rows,
    "pull": pull.rows,
    "server": server.rows,
    "sync": sync.rows,
    "live": live.rows,
    "cluster": cluster.rows,
    "appsync": appsync.rows,
}
RESULT = BUILD / "bench.json"
PAGE = ROOT / "docs" / "benchmarks.md"
MARKS = ("<!-- measured -->", "<!-- /measured -->")


def main(arguments: list[str]) -> int:
    unknown = set(arguments) - set(PARTS)
    if unknown:
        print(f"no such part: {', '.join(sorted(unknown))} (there are {', '.join(PARTS)})")
        return 2
    # The Python binding is measured from its sources, with the library that was just built.
    os.environ["PYTHONPATH"] = str(ROOT / "bindings" / "python" / "src")
    os.environ["KVSTORE_LIBRARY"] = str(LIBRARY)
    kept: dict[str, list[dict[str, object]]] = {}
    if RESULT.exists():
        for row in json.loads(RESULT.read_text()):
            kept.setdefault(row["part"], []).append(row)
    for part, measure in PARTS.items():
        if arguments and part not in arguments:
            continue
        kept[part] = []
        for row in measure():
            kept[part].append({"part": part, **row.as_json()})
            print(line(kept[part][-1]), flush=True)
    result = [row for part in PARTS for row in kept.get(part, [])]
    RESULT.write_text(json.dumps(result, indent=2) + "\n")
    write_page(result)
    return 1 if any(row["met"] is False for row in result) else 0


def line(row: dict[str, object]) -> str:
    """A row as a line of the Markdown table."""
    met = "" if row["met"] is None else "yes" if row["met"] else "**no**"
    ratio = "" if row["ratio"] is None else row["ratio"]
    figures = [number(row["ours"]), number(row["baseline"]), row["unit"], ratio]
    cells = [row["name"], *figures, row["goal"], met, row["against"]]
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def number(value: object) -> str:
    """A figure with as many digits as mean something."""
    if not isinstance(value, (int, float)):
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def write_page(rows: list[dict[str, object]]) -> None:
    """Puts machine and table between the marks of docs/benchmarks.md."""
    begin, end = MARKS
    table = "\n".join(
        [
            machine(),
            "",
            "| what | ours | baseline | unit | ratio | goal | met | baseline is |",
            "|---|---:|---:|---|---:|---|---|---|",
            *(line(row) for row in rows),
        ]
    )
    text = PAGE.read_text()
    pattern = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: f"{begin}\n{table}\n{end}", text))


def machine() -> str:
    """The machine, in a sentence."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    processor = found[1] if found else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return (
        f"Measured on {today}: {os.cpu_count()} cores of {processor}, {memory:.0f} GiB, "
        f"Linux {platform.release()}, SQLite {sqlite3.sqlite_version}."
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
