"""Prints how many records a second a migration of the schema rewrites; each waits to be sent.

migrate.py DIRECTORY COUNT
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import kvstore

OLD = "type Person @model { id: ID! first: String! last: String! }"
NEW = "type Person @model { id: ID! name: String! }"
RULES = {"Person": {"rename": {"first": "name"}, "drop": ["last"]}}


def open_client(directory: Path, schema: str, **options: Any) -> kvstore.Client:
    """Opens the data of a directory as the records of a schema."""
    return kvstore.Client(
        app_key="kid", schema=schema, data_directory=directory, durability="normal", **options
    )


def main(directory: Path, count: int) -> None:
    """Saves the records, and opens their data again with another schema."""
    with open_client(directory, OLD) as client:
        people = client.collection("Person")
        for start in range(0, count, 1000):
            people.save_many(
                {"id": f"{number:06}", "first": f"F{number}", "last": "L" * 300}
                for number in range(start, start + 1000)
            )
    before = time.perf_counter()
    with open_client(directory, NEW, on_schema_change={"migrate": RULES}) as client:
        seconds = time.perf_counter() - before
        people = client.collection("Person")
        assert people.count({"name": {"$exists": True}}) == len(people.pending) == count
    print(count / seconds)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
