"""Five devices add to the same counter and set, over a bad network: the sum is exact.

    counters.py [INCREMENTS] [kvstored|appsync]

Each device increases the counter so many times, here, for the next push, and now and then adds to
the set. Connections are cut, reset and delayed, and the server is killed. At the end the counter of
the server is what all have added, and its set has what each has added, once. With
KVSTORED_TEST_STORAGE=postgres the server is on PostgreSQL.

With a GraphQL API there is only the counter, since an API that merges appends lists: elements are
there twice for a while. Its records have no place for a token, so a client that does not hear the
answer, and then meets a write of others, cannot know whether its own has arrived. It tells what it
gives up then ("discarded"): the counter may lack that, and nothing else.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from queue import Queue
from typing import Any

# First: it finds the binding and the server.
import torture  # noqa: F401

# isort: split
import kvstore
from appsync import api
from appsync import options as api_options
from faults import KINVEY, Service, one_server
from proxy import FaultyProxy

DEVICES = 5
#: Seconds from one kill of the server to the next, at most.
KILLS = 1.0
API_SCHEMA = """
type Counter @model {
  id: ID!
  count: Int!
}
"""


@dataclass(frozen=True)
class Kind:
    """What the devices add to, and where it is."""

    serving: Callable[[Path, random.Random], AbstractContextManager[Service]]
    #: The options of a client, by the address.
    options: Callable[[str], dict[str, Any]]
    collection: str
    key: str
    #: What all add to.
    entity: dict[str, Any]
    #: Increments between two pushes, at most.
    longest: int
    #: Whether it has a set, which all add to as well.
    has_set: bool = False
    #: Whether it has accounts, and may be killed: an API that is has not answered what it has done.
    is_kvstored: bool = False


KVSTORED = Kind(
    one_server,
    KINVEY.options,
    "counters",
    "_id",
    {"_id": "shared", "count": 0, "marks": [], "_acl": {"gr": True, "gw": True}},
    longest=10,
    has_set=True,
    is_kvstored=True,
)
APPSYNC = Kind(
    partial(api, schema=API_SCHEMA),
    lambda host: api_options(host) | {"schema": API_SCHEMA},
    "Counter",
    "id",
    {"id": "shared", "count": 0},
    longest=40,
)


@dataclass
class Device:
    """One of those that add."""

    kind: Kind
    directory: Path
    number: int
    made: int = 0
    #: How many pushes have failed.
    failures: int = 0
    #: Increments that were in the queue when it was told that a write is given up.
    given_up: int = 0
    #: Increments that may be in the queue.
    queued: int = 0
    events: Queue[kvstore.SyncEvent] = field(default_factory=Queue)

    @contextmanager
    def open(
        self, host: str, **options: Any
    ) -> Iterator[tuple[kvstore.Client, kvstore.Store[Any]]]:
        """Give a client with this device's data, and its collection."""
        data = str(self.directory / str(self.number))
        with kvstore.Client(
            **self.kind.options(host) | {"data_directory": data} | options
        ) as client:
            yield client, client.collection(self.kind.collection)

    def work(self, host: str, increments: int, seed: int) -> None:
        """Increase the counter, and push it."""
        chance = random.Random(seed + self.number)
        while self.made < increments:
            # Each has connections of its own, and each connection its fate.
            with (
                self.open(host, retries=2, timeout=5) as (client, counters),
                client.observe_sync(self.events.put),
            ):
                for _ in range(chance.randint(1, 4)):
                    for _ in range(
                        min(chance.randint(1, self.kind.longest), increments - self.made)
                    ):
                        self.add(counters)
                    self.send(counters, with_pull=chance.random() < 0.3)

    def send(self, counters: kvstore.Store[Any], *, with_pull: bool, **options: Any) -> None:
        """Push what is queued, and hear what is given up."""
        try:
            result = counters.sync(**options) if with_pull else counters.push(**options)
            self.failures += len(result.errors)
        except kvstore.KVError:
            self.failures += 1
        event = self.events.get(timeout=60)
        while not (
            event.event == "finished" and event.operation == ("sync" if with_pull else "push")
        ):
            if event.event == "discarded":
                self.given_up += self.queued
            event = self.events.get(timeout=60)
        if not counters.pending:
            self.queued = 0

    def add(self, counters: kvstore.Store[Any]) -> None:
        """Increase the counter once more, here."""
        operators: dict[str, Any] = {"$inc": {"count": 1}}
        if self.kind.has_set and self.made % 10 == 0:
            operators["$addToSet"] = {"marks": f"{self.number}-{self.made // 10}"}
        assert counters.update({self.kind.key: "shared"}, operators).modified == 1
        self.made += 1
        self.queued += 1

    def finish(self, host: str) -> list[Any]:
        """Push what is left; give what stays in the queue."""
        with self.open(host) as (client, counters), client.observe_sync(self.events.put):
            self.send(counters, with_pull=True, timeout=60)
            return list(counters.pending)


def play(kind: Kind, increments: int, seed: int, directory: Path) -> list[str]:
    """Let all work; give what is wrong at the end."""
    chance = random.Random(seed)
    devices = [Device(kind, directory, number) for number in range(DEVICES)]
    with kind.serving(directory, chance) as server:
        port = int(server.host.rpartition(":")[2])
        proxy = FaultyProxy(port, random.Random(seed + 1))
        try:
            for device in devices:
                with device.open(server.host) as (client, counters):
                    if kind.is_kvstored:
                        client.signup(f"user-{device.number}", "a password")
                    if device.number == 0:
                        counters.save(kind.entity)
                    counters.sync()
            with ThreadPoolExecutor(DEVICES) as pool:
                jobs = [
                    pool.submit(device.work, proxy.host, increments, seed) for device in devices
                ]
                kills = 0
                while kind.is_kvstored and wait(jobs, chance.uniform(0, KILLS)).not_done:
                    server.kill()
                    server.start()
                    kills += 1
                for job in jobs:
                    job.result()
            left = [write for device in devices for write in device.finish(server.host)]
            with devices[0].open(server.host) as (client, _):
                found = client.collection(kind.collection, "network").find_by_id("shared")
        finally:
            proxy.close()
    failures = sum(device.failures for device in devices)
    given_up = sum(device.given_up for device in devices)
    print(
        f"{kills} kills, faults {dict(proxy.faults)}, {failures} failures, {given_up} given up",
        flush=True,
    )
    wanted = sorted(
        f"{number}-{made}" for number in range(DEVICES) for made in range((increments + 9) // 10)
    )
    problems = [f"left: {write}" for write in left]
    if kind.is_kvstored and given_up:
        problems.append(f"{given_up} given up")
    made = DEVICES * increments
    if not made - given_up <= found["count"] <= made:
        problems.append(f"counted {found['count']}, not {made}")
    if kind.has_set and sorted(found["marks"]) != wanted:
        problems.append(f"the set has {json.dumps(found['marks'])[:2000]}")
    return problems


def main(arguments: list[str]) -> int:
    """Give 0 if nothing is wrong."""
    increments = int(arguments[0]) if arguments else 1000
    kind = APPSYNC if arguments[1:] == ["appsync"] else KVSTORED
    seed = int(os.environ.get("TORTURE_SEED", time.time_ns() % 1_000_000))
    print(f"TORTURE_SEED={seed}", flush=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="kvstore-counters-") as directory:
        problems = play(kind, increments, seed, Path(directory))
    for problem in problems:
        print(f"not ok: {problem}")
    print(f"{DEVICES} devices, {increments} increments each, {time.monotonic() - begin:.1f} s")
    print(f"{len(problems)} failed, {0 if problems else DEVICES * increments} passed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
