"""Measures libkvstore against what an expert writes by hand; `make bench` runs it.

    run.py                 everything
    run.py local pull      these only; the rows of the others stay as they are

Writes docs/benchmarks.json, where the rows are kept with the day of their measurement, and the
table of docs/benchmarks.md. Exits with 1 if a goal is missed.
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
import encryption
import live
import local
import peers
import pull
import query
import results
import scale
import server
import sync
from tools import LIBRARY, ROOT, Row

PARTS: dict[str, Callable[[], list[Row]]] = {
    "local": local.rows,
    "encryption": encryption.rows,
    "query": query.rows,
    "results": results.rows,
    "peers": peers.rows,
    "scale": scale.rows,
    "pull": pull.rows,
    "server": server.rows,
    "sync": sync.rows,
    "live": live.rows,
    "cluster": cluster.rows,
    "appsync": appsync.rows,
}
RESULT = ROOT / "docs" / "benchmarks.json"
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
    today = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    if os.environ.get("KVSTORE_BENCH_CLOCK") == "processor":
        today += ", processor time"
    here = machine()
    kept: dict[str, list[dict[str, object]]] = {}
    for row in json.loads(RESULT.read_text()):
        kept.setdefault(row["part"], []).append(row)
    for part, measure in PARTS.items():
        if arguments and part not in arguments:
            continue
        kept[part] = []
        for row in measure():
            kept[part].append({"part": part, **row.as_json(), "measured": today, "machine": here})
            print(line(kept[part][-1]), flush=True)
        # A part that fails later does not lose this one.
        write([row for part in PARTS for row in kept.get(part, [])])
    result = [row for part in PARTS for row in kept.get(part, [])]
    return 1 if any(row["met"] is False for row in result) else 0


def line(row: dict[str, object]) -> str:
    """A row as a line of the Markdown table."""
    met = "" if row["met"] is None else "yes" if row["met"] else "**no**"
    ratio = "" if row["ratio"] is None else row["ratio"]
    figures = [number(row["ours"]), number(row["baseline"]), row["unit"], ratio]
    cells = [row["name"], *figures, row["goal"], met, row["against"], row["measured"]]
    return f"| {' | '.join(str(cell) for cell in cells)} |"


def number(value: object) -> str:
    """A figure with as many digits as mean something."""
    if not isinstance(value, (int, float)):
        return ""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def write(rows: list[dict[str, object]]) -> None:
    """Keeps the rows, and puts machines and table between the marks of docs/benchmarks.md."""
    RESULT.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n")
    begin, end = MARKS
    table = "\n".join(
        [
            *machines(rows),
            "",
            "| what | ours | baseline | unit | ratio | goal | met | baseline is | measured |",
            "|---|---:|---:|---|---:|---|---|---|---|",
            *(line(row) for row in rows),
        ]
    )
    text = PAGE.read_text()
    pattern = re.compile(f"{re.escape(begin)}.*{re.escape(end)}", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: f"{begin}\n{table}\n{end}", text))


def machines(rows: list[dict[str, object]]) -> list[str]:
    """The machines that the rows were measured on, with the days."""
    days: dict[object, set[str]] = {}
    for row in rows:
        days.setdefault(row["machine"], set()).add(str(row["measured"]).split(",")[0])
    return [f"* {', '.join(sorted(found))}: {name}" for name, found in days.items()]


def machine() -> str:
    """The machine, in a sentence."""
    found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    processor = found[1] if found else platform.machine()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores of {processor}, {memory:.0f} GiB, "
        f"Linux {platform.release()}, SQLite {sqlite3.sqlite_version}."
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
