"""A client that is going to be killed: it saves and synchronises, whatever the network does.

    worker.py OPTIONS NAME SEED [COLLECTION KEY]

Each line that it prints is one write(2): "trying ID VERSION" before a change, "saved ID VERSION"
once it is acknowledged, "removing ID" before and "removed ID" after a removal. `NAME` makes the
names of its entities its own; `KEY` is the member that has their ids.
"""

from __future__ import annotations

import json
import os
import random
import sys

import kvstore

#: What a bad network or a dying server may do to a call; anything else is a defect.
WEATHER = (
    kvstore.NetworkError,
    kvstore.TimeoutError,
    kvstore.ServerError,
    kvstore.ProtocolError,
    kvstore.PendingError,
    kvstore.BusyError,
)


def report(*words: object) -> None:
    """Print a line, whole or not at all."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Worker:
    """One process with its own entities."""

    def __init__(
        self, store: kvstore.Store, name: str, chance: random.Random, key: str = "_id"
    ) -> None:
        """Begin without entities."""
        self.store = store
        self.key = key
        self.name = name
        self.chance = chance
        self.made = 0
        self.versions: dict[str, int] = {}

    def step(self) -> None:
        """Do one thing."""
        action = self.chance.choices(
            [
                self.create,
                self.create_many,
                self.change,
                self.remove,
                self.push,
                self.pull,
                self.sync,
            ],
            [6, 1, 5, 2, 4, 2, 2],
        )[0]
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
        self.store.remove_by_id(id_)
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


def main(arguments: list[str]) -> None:
    """Work until the end comes from outside."""
    options, name, seed = json.loads(arguments[0]), arguments[1], int(arguments[2])
    collection, key = arguments[3:] or ["things", "_id"]
    client = kvstore.Client(**options)
    worker = Worker(client.collection(collection), name, random.Random(seed), key)
    while True:
        worker.step()


if __name__ == "__main__":
    main(sys.argv[1:])
