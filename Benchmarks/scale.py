"""How costs grow with the number of entities, and what an idle library takes.

From 10,000 entities to 1,000,000; with KVSTORE_BENCH_LARGEST=10000000 in the
environment also ten million.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator
from pathlib import Path

import chart
import sync
from tools import ROOT, Row, build, limit_row, output_of, scratch

LARGEST = int(os.environ.get("KVSTORE_BENCH_LARGEST", "1000000"))
SIZES = [count for count in (10_000, 100_000, 1_000_000, 10_000_000) if count <= LARGEST]
OPENS = 9
#: The largest collections with ten indexes; larger ones have two: scale_indexes.
TEN_INDEXES = 1_000_000
#: How many entities are looked at by scans whose memory is measured.
SCANNED = 10_000_000
CHANGES = 100
CHART = ROOT / "docs" / "images" / "scale-costs.svg"

#: What the programs print, in the order of the rows.
WORKS = {
    "save": "bulk save, 1,000 a transaction",
    "index": "entry of an index that is made",
    "find": "find by id",
    "query": "range + sort + limit 20, indexed",
    "page": "page of 100 in the middle, indexed",
    "open": "open with ten indexes, to the first entity",
    "peak": "peak memory of finds, queries and pages",
    "pull": "entity of a full pull from kvstored",
    "pull memory": "peak memory of that pull",
    "delta": f"pull of {CHANGES} changes",
}
RAW = "SQLite by hand, same rows"

Figures = dict[tuple[str, str], float]


def rows() -> list[Row]:
    """All rows of this file; the chart is drawn from them."""
    programs = {
        "ours": build(
            *("scale_ours", "data.c", "scale.c", "raw.c", "ours.c", "scale_ours.c"),
            libraries=("kvstore", "sqlite3"),
        ),
        "raw": build(
            *("scale_raw", "data.c", "scale.c", "raw.c", "scale_raw.c"),
            libraries=("sqlite3", "curl", "jansson"),
        ),
    }
    figures = {count: measure(programs, count) for count in SIZES}
    chart.draw(CHART, {title: line(figures, key) for key, title in WORKS.items()})
    made = [row(figures[count], key, count) for key in WORKS for count in SIZES]
    return [*made, *scan_rows(programs["ours"]), idle_row(programs)]


def measure(programs: dict[str, Path], count: int) -> Figures:
    """Runs both programs on collections of one size, then pulls one from a server."""
    figures: Figures = {}
    for side, program in programs.items():
        with scratch(f"scale-{side}") as directory:
            for name, figure in run(program, directory, "fill", count):
                figures[side, name] = figure
            warm(directory)
            opens = [dict(run(program, directory, "open", count))["open"] for _ in range(OPENS)]
            figures[side, "open"] = statistics.median(opens)
            for name, figure in run(program, directory, "work", count):
                figures[side, name] = figure
    with sync.world("scale") as measured:
        full, changed = sync.Runs(), sync.Runs()
        options = '{"autoPagination":true,"deltaSet":true}'
        measured.fill(entity(number) for number in range(count))
        measured.run(full, "client", "pull", options, expected=count)
        for number in range(CHANGES):
            path = f"/appdata/kid_bench/cities/{number:012d}"
            measured.session.request("PUT", path, json.loads(entity(number)) | {"changed": 1})
        measured.run(changed, "client", "pull", options, expected=CHANGES)
    figures["ours", "pull"] = full.seconds[0] * 1e6 / count
    figures["ours", "pull memory"] = full.peak_mib[0] * 1024
    figures["ours", "delta"] = changed.seconds[0] * 1e6
    return figures


def entity(number: int) -> str:
    """What the server has: entities of the size of those of scale.c."""
    return json.dumps({"_id": f"{number:012d}", "number": number, "text": "x" * 300})


def run(program: Path, directory: Path, stage: str, count: int) -> Iterator[tuple[str, float]]:
    """What a program prints."""
    for text in output_of(program, directory, stage, count, limit=3600).splitlines():
        name, figure = text.split()
        yield name, float(figure)


def warm(directory: Path) -> None:
    """Have the kernel hold all files, of which it may have given up what was written long ago."""
    for path in directory.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                while file.read(1 << 20):
                    pass


def line(figures: dict[int, Figures], key: str) -> dict[str, list[tuple[int, float]]]:
    """The points of a work, for each side that does it."""
    points: dict[str, list[tuple[int, float]]] = {}
    for count, found in figures.items():
        for side in ("ours", "raw"):
            if (side, key) in found:
                points.setdefault(side, []).append((count, found[side, key]))
    return points


def row(figures: Figures, key: str, count: int) -> Row:
    """The row of a work at one size."""
    title = WORKS[key] if count <= TEN_INDEXES else WORKS[key].replace("ten", "two")
    name, ours = f"{count:,} entities: {title}", figures["ours", key]
    baseline = figures.get(("raw", key))
    unit = "KiB" if key in ("peak", "pull memory") else "us"
    if key == "open" and baseline is not None and count == 1_000_000:
        return limit_row(name, unit, [ours], baseline + 10_000, [baseline], RAW)
    ratio = None if baseline is None else round(ours / baseline, 3)
    return Row(name, ours, baseline, ratio, unit, "", None, "" if baseline is None else RAW)


def scan_rows(program: Path) -> list[Row]:
    """Memory of a process that looks at all of many entities, against one that looks at a tenth."""
    figures: dict[int, Figures] = {}
    for count in (SCANNED // 10, SCANNED):
        with scratch("scale-scan") as directory:
            dict(run(program, directory, "rows", count))
            warm(directory)
            figures[count] = {("ours", k): v for k, v in run(program, directory, "scan", count)}
    few, many = figures[SCANNED // 10], figures[SCANNED]
    works = {"count": "count", "scan": "find", "peak": "peak memory of both"}
    return [
        Row(
            f"{SCANNED:,} entities: {title}, no index",
            many["ours", key],
            few["ours", key],
            round(many["ours", key] / few["ours", key], 3),
            "KiB" if key == "peak" else "us",
            "",
            None,
            f"{SCANNED // 10:,} entities",
        )
        for key, title in works.items()
    ]


def idle_row(programs: dict[str, Path]) -> Row:
    """Memory of a process that has opened an empty store, against the same libraries."""
    peaks: dict[str, list[float]] = {}
    for _ in range(OPENS):
        for side, program in programs.items():
            with scratch("scale-idle") as directory:
                peaks.setdefault(side, []).append(dict(run(program, directory, "open", 0))["peak"])
    most = statistics.median(peaks["raw"]) + 6 * 1024
    against = "SQLite by hand, with libcurl and jansson loaded"
    return limit_row("memory, open and idle", "KiB", peaks["ours"], most, peaks["raw"], against)
