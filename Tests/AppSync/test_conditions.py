"""Conditions of saves and removals: checked here, queued, and decided by the server."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kvstore
import pytest
from client import Client as Outsider
from conftest import TASKS
from standin import StandIn
from test_library import Open, device, rows

__all__ = ["device"]


def conditions(server: StandIn, field: str) -> list[Any]:
    """The conditions of the mutations of a field, in their order."""
    return [
        entry["variables"].get("condition")
        for entry in server.log()
        if entry.get("variables") and field in entry.get("query", "")
    ]


def stored(client: kvstore.Client, **task: Any) -> kvstore.Store:
    """A store whose task "t" the server has."""
    tasks = client.collection("Task")
    tasks.save({"id": "t", "title": "A", "rank": 4, **task})
    tasks.push()
    return tasks


def edit(server: StandIn, **members: Any) -> None:
    """What somebody else changes."""
    version = rows(server)["t"]["_version"]
    given = {"id": "t", "_version": version, **members}
    Outsider(server).written("updateTask", "id", given)


def heard(client: kvstore.Client, act: Callable[[], Any]) -> list[kvstore.SyncEvent]:
    """The events of failed conditions during an action."""
    events: list[kvstore.SyncEvent] = []
    done = threading.Event()

    def receive(event: kvstore.SyncEvent) -> None:
        events.append(event)
        if event.event == "finished":
            done.set()

    with client.observe_sync(receive):
        act()
        assert done.wait(60)
    return [event for event in events if event.event == "conditionFailed"]


def test_a_condition_that_holds_here_and_there_lets_the_write_through(
    device: Open, server: StandIn
) -> None:
    tasks = stored(device())
    tasks.save({**tasks["t"], "title": "B"}, if_match={"rank": {"$gt": 3}})
    assert tasks.push().errors == []
    assert rows(server)["t"]["title"] == "B"
    assert conditions(server, "updateTask") == [{"rank": {"gt": 3}}]


def test_a_condition_that_fails_here_changes_nothing(device: Open, server: StandIn) -> None:
    tasks = stored(device())
    with pytest.raises(kvstore.ConflictError):
        tasks.save({**tasks["t"], "title": "B"}, if_match={"rank": {"$gt": 4}})
    with pytest.raises(kvstore.ConflictError):
        tasks.remove_by_id("t", if_match={"rank": {"$lt": 4}})
    assert tasks["t"]["title"] == "A"
    assert len(tasks.pending) == 0


def test_what_the_server_refuses_becomes_the_servers_record(device: Open, server: StandIn) -> None:
    """The server would merge the change: only the condition keeps it out."""
    client = device()
    tasks = stored(client)
    edit(server, rank=1)
    tasks.save({**tasks["t"], "title": "B"}, if_match={"rank": {"$gt": 3}})
    (event,) = heard(client, tasks.push)
    assert (event.collection, event.id) == ("Task", "t")
    assert event.local is not None and event.local["title"] == "B"
    assert (tasks["t"]["title"], tasks["t"]["rank"]) == ("A", 1)
    assert rows(server)["t"]["title"] == "A"
    assert len(tasks.pending) == 0


def test_with_another_strategy_a_failed_condition_is_set_aside(
    device: Open, server: StandIn
) -> None:
    tasks = stored(device())
    edit(server, rank=1)
    tasks.save({**tasks["t"], "title": "B"}, if_match={"rank": {"$gt": 3}})
    (error,) = tasks.push(conflicts="clientWins").errors
    assert isinstance(error, kvstore.ConflictError)
    (write,) = tasks.pending
    assert (write.state, write.condition) == ("conflict", {"rank": {"$gt": 3}})
    # Who has seen it may want it all the same.
    tasks.pending.retry("t")
    assert rows(server)["t"]["title"] == "B"


def test_a_removal_on_a_condition_leaves_what_does_not_meet_it(
    device: Open, server: StandIn
) -> None:
    client = device()
    tasks = stored(client)
    edit(server, rank=9)
    # The stand-in merges no deletion: with its version alone the record would be refused as well.
    tasks.pull()
    edit(server, rank=1)
    tasks.remove_by_id("t", if_match={"rank": 9})
    (event,) = heard(client, tasks.push)
    assert event.local is None
    assert tasks["t"]["rank"] == 1
    tasks.remove_by_id("t", if_match={"rank": 1})
    assert tasks.push().errors == []
    assert rows(server)["t"]["_deleted"] is True
    assert conditions(server, "deleteTask")[-1] == {"rank": {"eq": 1}}


def test_own_changes_are_not_asked_of_the_server(device: Open, server: StandIn) -> None:
    tasks = stored(device())
    tasks.save({**tasks["t"], "rank": 7})
    tasks.save({**tasks["t"], "title": "B"}, if_match={"rank": 7, "note": {"$exists": False}})
    assert tasks.push().errors == []
    assert (rows(server)["t"]["title"], rows(server)["t"]["rank"]) == ("B", 7)
    assert conditions(server, "updateTask") == [{"note": {"attributeExists": False}}]


def test_a_new_record_needs_nothing_of_the_server(device: Open, server: StandIn) -> None:
    tasks = device().collection("Task")
    tasks.save({"id": "t", "title": "A", "rank": 4})
    tasks.save({**tasks["t"], "title": "B"}, if_match={"rank": 4})
    assert tasks.push().errors == []
    assert rows(server)["t"]["title"] == "B"


def test_a_lost_answer_does_not_make_the_condition_fail(device: Open, server: StandIn) -> None:
    """The first attempt has made it false."""
    tasks = stored(device())
    tasks.save({**tasks["t"], "rank": 5}, if_match={"rank": 4})
    server.control("faults", at="http", on="updateTask", action="dropAfter")
    with pytest.raises(kvstore.KVError):
        tasks.push(retries=0)
    # Another change on a condition, before anybody knows what has become of the first.
    tasks.save({**tasks["t"], "title": "B"}, if_match={"rank": 5})
    assert tasks.push().errors == []
    assert (rows(server)["t"]["title"], rows(server)["t"]["rank"]) == ("B", 5)
    assert len(tasks.pending) == 0


def test_a_network_store_asks_the_server(device: Open, server: StandIn) -> None:
    client = device()
    stored(client)
    tasks = client.collection("Task", "network")
    tasks.save({**tasks["t"], "title": "B"}, if_match={"rank": 4})
    assert conditions(server, "updateTask") == [{"rank": {"eq": 4}}]
    with pytest.raises(kvstore.ConflictError):
        tasks.remove_by_id("t", if_match={"rank": 5})


def test_a_removal_by_a_query_removes_what_still_matches(device: Open, server: StandIn) -> None:
    client = device()
    stored(client)
    tasks = client.collection("Task", "network")
    tasks.save({"id": "u", "title": "A", "rank": 4})
    assert tasks.remove({"rank": 4}) == 2
    assert conditions(server, "deleteTask") == [{"rank": {"eq": 4}}] * 2


@pytest.mark.parametrize(
    "filter", [{"id": "t"}, {"rank": {"$mod": [2, 0]}}, {"place.city": "Reno"}]
)
def test_what_the_api_cannot_decide_is_refused_at_once(
    device: Open, filter: dict[str, Any]
) -> None:
    tasks = stored(device(), place={"city": "Reno"})
    with pytest.raises(kvstore.UnsupportedError):
        tasks.save({**tasks["t"], "title": "B"}, if_match=filter)
    with pytest.raises(kvstore.UnsupportedError):
        tasks.remove_by_id("t", if_match=filter)
    assert len(tasks.pending) == 0


PROGRAM = """
import json, os, signal, sys
import kvstore

options = json.loads(sys.argv[1])
client = kvstore.Client(**options)
tasks = client.collection("Task")
with client.transaction() as transaction:
    task = transaction.find_by_id(tasks, "t")
    transaction.save(tasks, {**task, "title": "B"}, if_match={"rank": 4})
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("rank", [4, 1])
def test_a_condition_survives_a_kill(
    device: Open, server: StandIn, tmp_path: Path, rank: int
) -> None:
    client = device()
    stored(client)
    client.close()
    options = {
        "app_key": "tasks",
        "backend": "appsync",
        "endpoint": server.endpoint,
        "auth": {"apiKey": "da2-standin"},
        "schema": TASKS,
        "data_directory": str(tmp_path / "a"),
    }
    ended = subprocess.run([sys.executable, "-c", PROGRAM, json.dumps(options)], check=False)
    assert ended.returncode == -9
    if rank != 4:
        edit(server, rank=rank)
    tasks = device().collection("Task")
    (write,) = tasks.pending
    assert write.condition == {"rank": 4}
    tasks.push()
    assert conditions(server, "updateTask")[-1] == {"rank": {"eq": 4}}
    assert rows(server)["t"]["title"] == tasks["t"]["title"] == ("B" if rank == 4 else "A")
