"""Simulated worlds: clients of one API, over a network and with a service that fail, by a seed.

`KV_APPSYNC_WORLDS` says how many there are for each strategy, `KV_APPSYNC_SEED` repeats one.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import kvstore
import pytest
from conftest import TASKS, Serve
from devices import fault
from standin import StandIn

WORLDS = int(os.environ.get("KV_APPSYNC_WORLDS", "6"))
STEPS = 60
#: What goes wrong, and for which operations.
TROUBLES: list[dict[str, Any]] = [
    {"action": "dropBefore"},
    {"action": "dropAfter"},
    {"action": "status", "status": 500},
    {"action": "status", "status": 429},
    {"action": "emptyPage"},
    {"action": "reverse"},
]
FIELDS = ["syncTasks", "createTask", "updateTask", "deleteTask"]
SHARED = ["s0", "s1"]


class Member:
    """A client that changes and deletes only its own records, and the shared ones."""

    def __init__(self, name: str, server: StandIn, directory: Path) -> None:
        self.name = name
        self._server = server
        self._directory = directory
        #: What its own records must be at the end; None: deleted.
        self.expected: dict[str, dict[str, Any] | None] = {}
        self.open()

    def open(self) -> None:
        self._client = kvstore.Client(
            app_key="tasks",
            backend="appsync",
            endpoint=self._server.endpoint,
            auth={"apiKey": "da2-standin"},
            schema=TASKS,
            data_directory=self._directory,
            retries=0,
        )
        self.tasks = self._client.collection("Task")

    def close(self) -> None:
        self._client.close()

    def act(self, chance: random.Random) -> None:
        own = [id for id, record in self.expected.items() if record is not None]
        kind = chance.choice(["new", "edit", "edit", "edit", "shared", "delete", "sync", "push"])
        if kind == "new":
            self._save({"note": f"{self.name}-{len(self.expected)}"}, chance)
        elif kind == "edit" and own:
            self._save(self.tasks[chance.choice(own)], chance)
        elif kind == "shared":
            id = chance.choice(SHARED)
            known = self.tasks.get(id)
            if known is not None:
                self.tasks.save({**known, "rank": chance.randrange(1000)})
        elif kind == "delete" and own:
            id = chance.choice(own)
            self.tasks.remove_by_id(id)
            self.expected[id] = None
        elif chance.random() < 0.15:
            self.close()
            self.open()
        else:
            self._exchange(self.tasks.push if kind == "push" else self.tasks.sync)

    def _save(self, record: dict[str, Any], chance: random.Random) -> None:
        changed: dict[str, Any] = {
            "title": f"t{chance.randrange(1000)}",
            "tags": [f"g{chance.randrange(9)}"],
        }
        if chance.random() < 0.5:
            changed["rank"] = chance.randrange(1000)
        saved = self.tasks.save({**record, **changed})
        self.expected[saved["id"]] = saved

    @staticmethod
    def _exchange(call: Any) -> None:
        try:
            call()
        except kvstore.KVError as error:
            assert error.name in ("KV_NETWORK", "KV_SERVER", "KV_UNAVAILABLE", "KV_PENDING"), error

    def contents(self) -> dict[str, Any]:
        return {task["id"]: shown(task) for task in self.tasks.find()}


def shown(task: dict[str, Any]) -> dict[str, Any]:
    """The members that the application has given."""
    return {key: task.get(key) for key in ("title", "note", "rank", "tags")}


class World:
    def __init__(self, seed: int, server: StandIn, directory: Path) -> None:
        self.chance = random.Random(seed)
        self.server = server
        rows = [{"id": id, "title": "S", "rank": 0} for id in SHARED]
        at = "2024-05-21T12:00:00.000Z"
        given = [{"createdAt": at, "updatedAt": at, **row} for row in rows]
        server.control("tables/Task", rows=given)
        count = self.chance.randint(2, 4)
        self.members = [Member(f"m{n}", server, directory / f"{n}") for n in range(count)]

    def run(self) -> None:
        for _ in range(STEPS):
            if self.chance.random() < 0.25:
                trouble = dict(self.chance.choice(TROUBLES))
                fault(self.server, at="http", on=self.chance.choice(FIELDS), **trouble)
            self.chance.choice(self.members).act(self.chance)
        self.server.control("faults", "DELETE")
        # Twice: what one pushes after another has pulled is pulled the next time.
        for _ in range(2):
            for member in self.members:
                assert member.tasks.sync().errors == []

    def check(self) -> None:
        stored = self.server.control("tables/Task", "GET")["rows"]
        live = {row["id"]: shown(row) for row in stored if not row.get("_deleted")}
        names = [row["note"] for row in live.values() if row["note"]]
        assert len(names) == len(set(names)), "doubled"
        for member in self.members:
            assert member.tasks.pending.count() == 0, "wedged"
            assert member.contents() == live, "divergent"
            for id, record in member.expected.items():
                assert live.get(id) == (record and shown(record)), "lost"


@pytest.mark.parametrize("strategy", ["AUTOMERGE", "OPTIMISTIC_CONCURRENCY"])
def test_nothing_is_lost_or_doubled_and_all_are_of_one_mind(
    serve: Serve, tmp_path: Path, strategy: str
) -> None:
    given = os.environ.get("KV_APPSYNC_SEED")
    seeds = [int(given)] if given else [random.randrange(1 << 32) for _ in range(WORLDS)]
    server = serve()
    server.control("conflicts", Task=strategy)
    for seed in seeds:
        world = World(seed, server, tmp_path / str(seed))
        try:
            world.run()
            world.check()
        except Exception as problem:
            raise AssertionError(f"{problem}: KV_APPSYNC_SEED={seed}") from problem
        finally:
            for member in world.members:
                member.close()
            server.control("reset")
            server.control("conflicts", Task=strategy)
