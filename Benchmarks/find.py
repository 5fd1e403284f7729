"""Finds by id from Python in a store that local.c filled; prints finds per second.

    find.py DIRECTORY

The ids are read before the clock starts; each find gives the entity's bytes.
"""

from __future__ import annotations

import random
import sys
import time

import kvstore

FINDS = 20_000


def main(directory: str) -> None:
    with kvstore.Client(app_key="kid_bench", host=None, data_directory=directory) as client:
        store = client.collection("cities", "sync")
        ids = [str(entity["_id"]) for entity in store.find()]
        wanted = random.Random(7).choices(ids, k=FINDS)
        start = time.perf_counter()
        for id_ in wanted:
            store.get_bytes(id_)
        print(FINDS / (time.perf_counter() - start))


if __name__ == "__main__":
    main(sys.argv[1])
