"""A client that is going to be killed: it saves and synchronises, whatever the network does.

    worker.py OPTIONS NAME SEED [COLLECTION KEY TYPE SHARED…]

Each line that it prints is one write(2): "trying ID VERSION" before a change, "saved ID VERSION"
once it is acknowledged, "removing ID" before and "removed ID" after a removal. Past the queue, with
a network store, it increases a counter: "counter ID" once that is made, "counting ID" before and
"counted ID COUNT" after each increase. Through the queue all workers increase the SHARED counters,
which are told of in the same way. `NAME` makes the names of its entities its own; `KEY` is the
member that has their ids. A store of the TYPE "synced" changes what it keeps now and then.

Before it opens its client it may fork, and both go on. Later a child that it forks is refused.
"""

from __future__ import annotations

import json
import os
import random
import sys
from typing import Any, Literal

import kvstore

#: What a bad network or a dying server may do to a call; anything else is a defect.
WEATHER = (
    kvstore.NetworkError,
    kvstore.TimeoutError,
    kvstore.ServerError,
    kvstore.ProtocolError,
    kvstore.PendingError,
    kvstore.BusyError,
    # A server that has gone back may lack a counter.
    *((kvstore.NotFoundError,) if os.environ.get("TORTURE_GOES_BACK") else ()),
)


def report(*words: object) -> None:
    """Print a line, whole or not at all."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Worker:
    """One process with its own entities."""

    def __init__(
        self,
        options: dict[str, Any],
        name: str,
        chance: random.Random,
        *,
        collection: str,
        key: str,
        store_type: Literal["sync", "synced"],
        shared: list[str],
    ) -> None:
        """Begin without entities."""
        self.options = options
        self.client = kvstore.Client(**options)
        self.store = self.client.collection(collection, store_type)
        self.network = self.client.collection(collection, "network")
        self.collection = collection
        self.key = key
        self.is_synced = store_type == "synced"
        self.counter: str | None = None
        self.shared = shared
        self.name = name
        self.chance = chance
        self.made = 0
        self.versions: dict[str, int] = {}

    def step(self) -> None:
        """Do one thing."""
        actions = {
            self.create: 6,
            self.create_many: 1,
            self.change: 5,
            self.remove: 2,
            self.push: 4,
            self.count: 3,
            self.add: 6 if self.shared else 0,
            self.fork: 0.3,
        }
        # What a synced store keeps is read by itself.
        actions |= {self.express: 2} if self.is_synced else {self.pull: 2, self.sync: 2}
        action = self.chance.choices(list(actions), list(actions.values()))[0]
        try:
            action()
        except WEATHER as error:
            report("weather", type(error).__name__)

    def entity(self) -> dict[str, object]:
        """Make a new one."""
        self.made += 1
        text = "x" * self.chance.choice([0, 10, 3000])
        return {"name": f"{self.name}-{self.made}", "version": 1, "text": text}

    def create(self) -> None:
        """Save a new entity."""
        self.know(self.store.save(self.entity())[self.key], 1)

    def create_many(self) -> None:
        """Save several at once."""
        for entity in self.store.save_many([self.entity() for _ in range(20)]).entities:
            if entity is not None:
                self.know(entity[self.key], 1)

    def know(self, id_: str, version: int) -> None:
        """Tell that something is acknowledged."""
        self.versions[id_] = version
        report("saved", id_, version)

    def change(self) -> None:
        """Save an entity of our own again."""
        if not self.versions:
            return
        id_ = self.chance.choice(list(self.versions))
        found = self.store.get(id_)
        if found is None:
            if self.is_synced:
                # It was pushed, and the expression does not select it.
                return
            raise AssertionError(f"{id_} was saved and is not there")
        version = self.versions[id_] + 1
        report("trying", id_, version)
        self.store.save({**found, "version": version})
        self.know(id_, version)

    def remove(self) -> None:
        """Remove an entity of our own."""
        if not self.versions:
            return
        id_ = self.chance.choice(list(self.versions))
        del self.versions[id_]
        report("removing", id_)
        if self.store.remove_by_id(id_) or not self.is_synced:
            report("removed", id_)

    def push(self) -> None:
        """Push what waits."""
        self.store.push(timeout=5)

    def pull(self) -> None:
        """Pull in some way."""
        self.store.pull(
            timeout=5,
            delta_set=self.chance.random() < 0.5,
            auto_pagination=self.chance.random() < 0.5,
            max_size_per_result_set=50,
        )

    def sync(self) -> None:
        """Push and pull."""
        self.store.sync(timeout=5, auto_pagination=True, max_size_per_result_set=100)

    def count(self) -> None:
        """Increase the counter on the backend, whose answer may be lost."""
        if self.counter is None:
            self.made += 1
            id_ = f"counter-{self.name}-{self.made}"
            # One whose answer is lost may be there, and is not counted with.
            self.network.save({self.key: id_, "name": id_, "version": 0}, timeout=5)
            self.counter = id_
            report("counter", id_)
        report("counting", self.counter)
        try:
            increase = {"$inc": {"version": 1}}
            result = self.network.update({self.key: self.counter}, increase, timeout=5)
        except kvstore.NotFoundError:
            self.counter = None
            raise
        report("counted", self.counter, result.modified)

    def add(self) -> None:
        """Increase a counter that all increase, here, for the next push."""
        id_ = self.chance.choice(self.shared)
        for _ in range(self.chance.choice([1, 1, 5, 50])):
            if self.store.get(id_) is None:
                # It was not pulled yet, or the expression does not select it.
                return
            report("counting", id_)
            result = self.store.update({self.key: id_}, {"$inc": {"version": 1}})
            report("counted", id_, result.modified)

    def express(self) -> None:
        """Change what is kept."""
        self.client.set_sync_expression(
            self.collection, self.chance.choice([None, {"version": {"$lt": 3}}])
        )

    def fork(self) -> None:
        """Fork while the client is open: the child must be told that it cannot use the data."""
        child = os.fork()
        if child == 0:
            try:
                kvstore.Client(**self.options).collection(self.collection).save({"name": "child"})
            except kvstore.MisuseError:
                os._exit(0)
            finally:
                os._exit(1)
        _, status = os.waitpid(child, 0)
        if status != 0:
            raise AssertionError("a forked child used the data that its parent has open")


def main(arguments: list[str]) -> None:
    """Work until the end comes from outside."""
    options, name, seed = json.loads(arguments[0]), arguments[1], int(arguments[2])
    collection, key, store_type, *shared = arguments[3:] or ["things", "_id", "sync"]
    if seed % 3 == 0 and os.fork() == 0:
        # The child of a process that has nothing open is one like any other.
        name, seed = f"{name}f", seed + 1
    worker = Worker(
        options,
        name,
        random.Random(seed),
        collection=collection,
        key=key,
        store_type="synced" if store_type == "synced" else "sync",
        shared=shared,
    )
    while True:
        worker.step()


if __name__ == "__main__":
    main(sys.argv[1:])
