"""Five devices add to the same counter and set, over a bad network: the sum is exact.

    counters.py [INCREMENTS] [kvstored|appsync]

Each device increases the counter so many times, here, for the next push, and now and then adds to
the set. Connections are cut, reset and delayed, and the server is killed. At the end the counter of
the server is what all have added, and its set has what each has added, once. With
KVSTORED_TEST_STORAGE=postgres the server is on PostgreSQL.

With a GraphQL API there is only the counter, and no answer of a write is lost. Its records have no
place for a token, so a client that does not hear the answer, and then meets a write of others,
cannot know. And an API that merges appends lists: elements are there twice for a while.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

# First: it finds the binding and the server.
from torture import APP_KEY, APP_SECRET

# isort: split
import kvstore
from appsync import Api
from appsync import options as api_options
from faults import KINVEY, Service
from kvstored import Server
from proxy import FATES, FaultyProxy

DEVICES = 5
#: Seconds from one kill of the server to the next, at most.
KILLS = 1.0
API_SCHEMA = """
type Counter @model {
  id: ID!
  count: Int!
}
"""


class Kinvey:
    """kvstored."""

    collection, key = "counters", "_id"
    fates: ClassVar = FATES
    has_set = True
    #: Increments between two pushes, at most.
    longest = 10

    @contextmanager
    def serve(self, directory: Path) -> Iterator[Service]:
        """Give a server of its own."""
        with Server(directory / "server", f"{APP_KEY}:{APP_SECRET}") as server:
            yield server

    def options(self, host: str) -> dict[str, Any]:
        """Give the options of a client."""
        return KINVEY.options(host)

    def entity(self) -> dict[str, Any]:
        """Give what all add to, which all may write."""
        return {"_id": "shared", "count": 0, "marks": [], "_acl": {"gr": True, "gw": True}}


class AppSync:
    """A GraphQL API."""

    collection, key = "Counter", "id"
    fates: ClassVar = {
        fate: share for fate, share in FATES.items() if fate not in {"cut answer", "reset"}
    }
    has_set = False
    longest = 40

    @contextmanager
    def serve(self, directory: Path) -> Iterator[Service]:
        """Give an API of its own."""
        (directory / "api").mkdir()
        api = Api(directory / "api", API_SCHEMA)
        try:
            yield api
        finally:
            api.kill()

    def options(self, host: str) -> dict[str, Any]:
        """Give the options of a client."""
        return api_options(host) | {"schema": API_SCHEMA}

    def entity(self) -> dict[str, Any]:
        """Give what all add to."""
        return {"id": "shared", "count": 0}


def work(
    backend: Kinvey | AppSync, directory: Path, host: str, number: int, increments: int, seed: int
) -> int:
    """Increase the counter on one device; give how many pushes failed."""
    chance = random.Random(seed)
    only = {backend.key: "shared"}
    options = backend.options(host) | {
        "data_directory": str(directory / str(number)),
        "retries": 2,
        "timeout": 5,
    }
    failures = made = 0
    while made < increments:
        # Each has connections of its own, and each connection its fate.
        with kvstore.Client(**options) as client:
            counters = client.collection(backend.collection)
            for _ in range(chance.randint(1, 4)):
                for _ in range(min(chance.randint(1, backend.longest), increments - made)):
                    operators: dict[str, Any] = {"$inc": {"count": 1}}
                    if backend.has_set and made % 10 == 0:
                        operators["$addToSet"] = {"marks": f"{number}-{made // 10}"}
                    assert counters.update(only, operators).modified == 1
                    made += 1
                try:
                    result = counters.push() if chance.random() < 0.7 else counters.sync()
                    failures += len(result.errors)
                except kvstore.KVError:
                    failures += 1
    return failures


def finish(backend: Kinvey | AppSync, directory: Path, host: str) -> list[Any]:
    """Push what is left; give what stays in the queues."""
    left = []
    for number in range(DEVICES):
        options = backend.options(host) | {"data_directory": str(directory / str(number))}
        with kvstore.Client(**options) as client:
            counters = client.collection(backend.collection)
            counters.sync(timeout=60)
            left += list(counters.pending)
    return left


def play(backend: Kinvey | AppSync, increments: int, seed: int, directory: Path) -> list[str]:
    """Let all work; give what is wrong at the end."""
    chance = random.Random(seed)
    with backend.serve(directory) as server:
        port = int(server.host.rpartition(":")[2])
        proxy = FaultyProxy(port, random.Random(seed + 1), backend.fates)
        try:
            for number in range(DEVICES):
                options = backend.options(server.host)
                with kvstore.Client(
                    **options | {"data_directory": str(directory / str(number))}
                ) as client:
                    if isinstance(backend, Kinvey):
                        client.signup(f"user-{number}", "a password")
                    counters = client.collection(backend.collection)
                    if number == 0:
                        counters.save(backend.entity())
                    counters.sync()
            with ThreadPoolExecutor(DEVICES) as pool:
                jobs: list[Future[int]] = [
                    pool.submit(work, backend, directory, proxy.host, number, increments, seed)
                    for number in range(DEVICES)
                ]
                kills = 0
                while not all(job.done() for job in jobs):
                    time.sleep(chance.uniform(0, KILLS))
                    # An API that is killed has not answered what it has carried out.
                    if isinstance(backend, Kinvey):
                        server.kill()
                        server.start()
                        kills += 1
                failures = sum(job.result() for job in jobs)
            left = finish(backend, directory, server.host)
            with kvstore.Client(
                **backend.options(server.host) | {"data_directory": str(directory / "0")}
            ) as client:
                found = client.collection(backend.collection, "network").find_by_id("shared")
        finally:
            proxy.close()
    print(f"{kills} kills, faults {dict(proxy.faults)}, {failures} failures", flush=True)
    wanted = sorted(
        f"{number}-{made}" for number in range(DEVICES) for made in range((increments + 9) // 10)
    )
    problems = [f"left: {write}" for write in left]
    if found["count"] != DEVICES * increments:
        problems.append(f"counted {found['count']}, not {DEVICES * increments}")
    if backend.has_set and sorted(found["marks"]) != wanted:
        problems.append(f"the set has {json.dumps(found['marks'])[:2000]}")
    return problems


def main(arguments: list[str]) -> int:
    """Give 0 if nothing is wrong."""
    increments = int(arguments[0]) if arguments else 1000
    backend = AppSync() if arguments[1:] == ["appsync"] else Kinvey()
    seed = int(os.environ.get("TORTURE_SEED", time.time_ns() % 1_000_000))
    print(f"TORTURE_SEED={seed}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kvstore-counters-") as directory:
        problems = play(backend, increments, seed, Path(directory))
    for problem in problems:
        print(f"not ok: {problem}")
    print(f"{DEVICES} devices, {increments} increments each, {time.monotonic() - begin:.1f} s")
    print(f"{len(problems)} failed, {0 if problems else DEVICES * increments} passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
