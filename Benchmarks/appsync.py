"""Models: a first pull from AppSync's pages, and relations in the local data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools import Row, build, free_port, limit_row, nginx, output_of, ratio_row, scratch

ROUNDS = 3
RECORDS = 100_000
PAGE = 1_000
SCHEMA = (
    "type Task @model { id: ID! title: String! note: String rank: Int weight: Float done: Boolean"
    ' tags: [String] boardId: ID @index(name: "byBoard") }'
)

#: nginx has a request's body only once it is passed on: a second server gives the page.
LOCATIONS = """
    location = /graphql {
      client_body_buffer_size 64k;
      client_max_body_size 1m;
      proxy_pass http://127.0.0.1:%(pages)d/pages/;
      proxy_method GET;
      proxy_pass_request_body off;
      proxy_set_header X-Page $page;
      proxy_set_header Content-Length "";
      proxy_buffers 64 64k;
    }
    location = /user/kid_bench/login {
      return 200 '{"_id":"bench","username":"bench","_kmd":{"authtoken":"bench"}}';
    }
    location = /appdata/kid_bench/tasks { try_files /tasks.json =404; }
    location = /appdata/kid_bench/tasks/ { try_files /tasks.json =404; }
  }
  map $request_body $page {
    default 0;
    "~nextToken.:.(?<number>[0-9]+)" $number;
  }
  server {
    listen 127.0.0.1:%(pages)d;
    root %(root)s;
    location = /pages/ { try_files /page-$http_x_page.json =404; }
"""


def rows() -> list[Row]:
    """All rows of this file."""
    return [*pull_rows(), *relation_rows()]


def pull_rows() -> list[Row]:
    """A first pull of pages of AppSync, against our own pull of the same records from Kinvey."""
    program = build(
        "appsync_pull",
        "data.c",
        "raw.c",
        "ours.c",
        "appsync_pull.c",
        libraries=("kvstore", "sqlite3"),
    )
    wall: dict[str, list[float]] = {"ours": [], "kinvey": []}
    cpu: dict[str, list[float]] = {"ours": [], "kinvey": []}
    peak: dict[str, list[float]] = {"ours": [], "kinvey": []}
    with scratch("appsync") as directory:
        write_records(directory)
        locations = LOCATIONS % {"pages": free_port(), "root": directory}
        with nginx(directory, locations) as address:
            for round_ in range(ROUNDS):
                sides = clients(address, directory, round_)
                for side in sorted(sides, reverse=round_ % 2 == 1):
                    collection, options = sides[side]
                    output = output_of(
                        program, json.dumps(options, separators=(",", ":")), collection
                    )
                    count, seconds, processor, peak_kib = output.split()
                    if int(count) != RECORDS:
                        raise RuntimeError(f"{side} pulled {count} of {RECORDS} records")
                    wall[side].append(RECORDS / float(seconds))
                    cpu[side].append(float(processor) / RECORDS * 1e6)
                    peak[side].append(int(peak_kib) / 1024)
    against = "our pull of the same records from Kinvey, one answer"
    return [
        ratio_row(
            f"first pull of {RECORDS:,} records from AppSync, {PAGE:,} a page",
            "records/s",
            wall["ours"],
            wall["kinvey"],
            against,
            0.6,
        ),
        ratio_row(
            "processor time of that pull", "µs/record", cpu["ours"], cpu["kinvey"], against, None
        ),
        limit_row("peak memory of that pull", "MiB", peak["ours"], 40, peak["kinvey"], against),
    ]


def clients(address: str, directory: Path, round_: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """The collections and the options of both clients."""
    data = {side: directory / f"{side}-{round_}" for side in ("ours", "kinvey")}
    for path in data.values():
        path.mkdir()
    return {
        "ours": (
            "Task",
            {
                "appKey": "kid_bench",
                "backend": "appsync",
                "endpoint": f"{address}/graphql",
                "auth": {"apiKey": "da2-bench"},
                "schema": SCHEMA,
                "pageSize": PAGE,
                "dataDirectory": str(data["ours"]),
            },
        ),
        "kinvey": (
            "tasks",
            {
                "appKey": "kid_bench",
                "appSecret": "secret",
                "host": address,
                "dataDirectory": str(data["kinvey"]),
            },
        ),
    }


def record(number: int) -> dict[str, Any]:
    """A record as AppSync gives it: every member, null where there is nothing."""
    return {
        "title": f"Task number {number} of all that there are to do",
        "note": None
        if number % 3
        else f"A note about task {number}, which somebody has written down.",
        "rank": number % 100,
        "weight": number / 7,
        "done": number % 2 == 0,
        "tags": ["home", "garden", f"tag {number % 13}"],
        "boardId": f"board-{number % 500}",
        "createdAt": "2024-05-21T10:15:00.123Z",
        "updatedAt": "2024-05-21T11:15:00.123Z",
        "__typename": "Task",
        "_version": number % 9 + 1,
        "_deleted": None,
        "_lastChangedAt": 1716290000000 + number,
    }


def write_records(directory: Path) -> None:
    """Writes the pages of a sync query, and the same records as Kinvey's answer."""
    for start in range(0, RECORDS, PAGE):
        items = [{"id": f"task-{n:08}", **record(n)} for n in range(start, start + PAGE)]
        token = str(start // PAGE + 1) if start + PAGE < RECORDS else None
        page = {"items": items, "nextToken": token, "startedAt": 1716292800000}
        text = json.dumps({"data": {"syncTasks": page}}, separators=(",", ":"))
        (directory / f"page-{start // PAGE}.json").write_text(text)
    with (directory / "tasks.json").open("w") as out:
        separator = "["
        for entity in entities():
            out.write(separator + json.dumps(entity, separators=(",", ":")))
            separator = ","
        out.write("]")


def entities() -> Iterator[dict[str, Any]]:
    for number in range(RECORDS):
        kmd = {"lmt": "2024-05-21T11:15:00.123Z", "ect": "2024-05-21T10:15:00.123Z"}
        yield {"_id": f"task-{number:08}", **record(number), "_kmd": kmd}


def relation_rows() -> list[Row]:
    """What relations cost in the local data, in processor time."""
    program = build(
        "models", "data.c", "raw.c", "ours.c", "models.c", libraries=("kvstore", "sqlite3")
    )
    return [
        relation_row(
            program,
            ("save", 50_000, 5),
            "save of related records, 1,000 a transaction",
            "our plain collection with the same index",
            0.8,
        ),
        relation_row(
            program,
            ("query", 50_000, 7),
            "records of a relation, 100 of each",
            "join by hand in SQLite, bytes borrowed",
            0.8,
        ),
        relation_row(
            program,
            ("cascade", 10_000, 5),
            "removal of a record with 10,000 that belong to it",
            "SQLite by hand, same index and queue",
            0.5,
        ),
    ]


def relation_row(
    program: Path, workload: tuple[str, int, int], title: str, against: str, at_least: float
) -> Row:
    """Runs both sides of a workload in turns, in one process."""
    name, count, rounds = workload
    with scratch(f"models-{name}") as directory:
        output = output_of(program, name, directory, count, rounds)
    rates: dict[str, list[float]] = {"ours": [], "raw": []}
    for line in output.splitlines():
        side, rate = line.split()
        rates[side].append(float(rate))
    return ratio_row(title, "records/CPU s", rates["ours"], rates["raw"], against, at_least)
