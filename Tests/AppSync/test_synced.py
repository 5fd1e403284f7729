"""Stores of the type "synced": models that are kept in step with the API in the background."""

from __future__ import annotations

from collections.abc import Callable
from queue import Queue
from typing import Any

import kvstore
import pytest
from client import Client as Outsider
from devices import WHOLE, Open, fault, fill, synced
from standin import StandIn
from standin.auth.jwt import make
from standin.testing import SECONDS


def test_the_events_come_in_the_documented_order(device: Open, server: StandIn) -> None:
    fill(server, "Board", [{"id": "b"}])
    fill(server, "Task", [{"id": "t", "title": "T", "boardId": "b"}])
    phone = device()
    assert phone.start() == [
        "networkStatus",
        "outboxStatus",
        "networkStatus",
        "subscriptionsEstablished",
        "syncQueriesStarted",
        "modelSynced",
        "modelSynced",
        "syncQueriesReady",
        "syncStarted",
        "ready",
    ]
    started = next(e for e in phone.seen if e.event == "syncQueriesStarted")
    assert started.members["collections"] == ["Board", "Task"]
    assert synced(phone, "Task") == {
        "event": "modelSynced",
        "collection": "Task",
        "isFullSync": True,
        "isDeltaSync": False,
        "added": 1,
        "updated": 0,
        "deleted": 0,
        "isComplete": True,
        "isCapped": False,
    }
    assert phone.client.collection("Task")["t"]["boardId"] == "b"


def test_a_synced_store_starts_by_itself_and_sends_what_is_saved(
    device: Open, server: StandIn
) -> None:
    phone = device()
    tasks = phone.client.collection("Task", type="synced")
    phone.until("ready")
    saved = tasks.save({"title": "T"})
    assert phone.until("outboxMutationEnqueued").id == saved["id"]
    assert phone.until("outboxStatus").members["isEmpty"] is False
    done = phone.until("outboxMutationProcessed")
    assert (done.id, done.operation) == (saved["id"], "create")
    assert done.members["entity"] == tasks[saved["id"]]
    assert tasks[saved["id"]]["_version"] == 1
    phone.until("outboxStatus", isEmpty=True)


def test_the_events_tell_what_a_write_does(device: Open, server: StandIn) -> None:
    """A record is new also if the application has chosen its id."""
    phone = device()
    tasks = phone.client.collection("Task", type="synced")
    phone.until("ready")
    acts: list[tuple[Callable[[], object], str]] = [
        (lambda: tasks.save({"id": "t", "title": "T"}), "create"),
        (lambda: tasks.save({**tasks["t"], "title": "U"}), "update"),
        (lambda: tasks.remove_by_id("t"), "delete"),
    ]
    for act, operation in acts:
        act()
        assert phone.until("outboxMutationEnqueued", id="t").operation == operation
        assert phone.until("outboxMutationProcessed", id="t").operation == operation
    refusal = [{"errorType": "Unauthorized", "message": "no"}]
    fault(server, at="http", action="error", on="createTask", errors=refusal)
    tasks.save({"id": "u", "title": "T"})
    assert phone.until("outboxMutationFailed", id="u").operation == "create"


def test_what_another_client_writes_arrives(device: Open, server: StandIn) -> None:
    phone = device()
    tasks = phone.client.collection("Task", type="synced")
    phone.until("ready")
    outsider = Outsider(server)
    outsider.written("createTask", WHOLE, {"id": "t", "title": "T"})
    assert phone.until("syncReceived").members["changes"] == [{"id": "t", "change": "create"}]
    assert tasks["t"]["title"] == "T"
    outsider.written("deleteTask", WHOLE, {"id": "t", "_version": 1})
    assert phone.until("syncReceived").members["changes"] == [{"id": "t", "change": "delete"}]


def test_the_next_start_reads_only_what_has_changed(device: Open, server: StandIn) -> None:
    fill(server, "Task", [{"id": "t", "title": "T"}])
    phone = device(syncInterval=1e9)
    phone.start()
    phone.client.stop_sync()
    fill(server, "Task", [{"id": "u", "title": "U"}])
    phone.start()
    counts = synced(phone, "Task")
    assert (counts["isDeltaSync"], counts["added"]) == (True, 1)


def test_a_save_made_offline_is_sent_once_the_backend_answers(
    device: Open, server: StandIn
) -> None:
    phone = device()
    tasks = phone.client.collection("Task", type="synced")
    phone.until("ready")
    fault(server, at="http", action="dropBefore", on="createTask", times=2)
    tasks.save({"id": "t", "title": "T"})
    phone.until("outboxMutationProcessed", id="t")
    assert tasks["t"]["_version"] == 1


# `ready` always comes


def test_ready_comes_with_a_model_that_the_backend_refuses(device: Open, server: StandIn) -> None:
    refusal = [{"errorType": "Unauthorized", "message": "no"}]
    fault(server, at="http", action="error", on="syncBoards", errors=refusal, times=1000)
    phone = device()
    events = phone.start()
    assert events.count("modelFailed") == 1
    assert events.count("modelSynced") == 1


def test_ready_comes_with_a_record_that_cannot_be_read(device: Open, server: StandIn) -> None:
    fill(server, "Task", [{"id": "t", "title": "T"}, {"id": "u", "title": "U"}])
    fault(server, at="http", action="corrupt", on="syncTasks", members={"_version": "x"})
    phone = device()
    phone.start()
    counts = synced(phone, "Task")
    assert (counts["added"], counts["isComplete"]) == (1, False)


def test_ready_comes_with_orphans_which_are_kept(device: Open, server: StandIn) -> None:
    fill(server, "Task", [{"id": "t", "title": "T", "boardId": "nowhere"}])
    phone = device()
    phone.start()
    tasks = phone.client.collection("Task")
    assert tasks["t"]["boardId"] == "nowhere"
    fill(server, "Board", [{"id": "nowhere", "name": "late"}])
    phone.client.stop_sync()
    phone.start()
    assert list(phone.client.collection("Board").find(tasks.related("t", "board"))) != []


def test_ready_comes_with_nothing_to_read(device: Open) -> None:
    phone = device()
    phone.start()
    assert synced(phone, "Task")["added"] == 0


def test_ready_comes_with_subscriptions_that_are_refused(device: Open, server: StandIn) -> None:
    refusal = [{"errorType": "Unauthorized", "message": "no"}]
    fault(server, at="start", action="refuse", on="onCreateTask", errors=refusal, times=1000)
    phone = device(sync={"interval": 0.1})
    events = phone.start()
    assert "subscriptionsEstablished" in events
    fill(server, "Task", [{"id": "t", "title": "T"}])
    phone.until("modelSynced", collection="Task", added=1)


def test_ready_comes_when_the_right_to_read_ends_in_the_middle(
    device: Open, server: StandIn
) -> None:
    fill(server, "Task", [{"id": f"t{n}", "title": "T"} for n in range(25)])
    over = [{"errorType": "UnauthorizedException", "message": "Token has expired."}]
    fault(
        server, at="http", action="status", on="syncTasks", status=401, errors=over, skip=1, times=1
    )
    phone = device(sync={"pageSize": 10})
    events = phone.start()
    assert "modelFailed" in events
    phone.until("modelSynced", collection="Task")
    assert phone.client.collection("Task").count() == 25


def test_ready_comes_when_a_token_runs_out_in_the_middle_and_nothing_fails(
    device: Open, server: StandIn
) -> None:
    fill(server, "Task", [{"id": f"t{n}", "title": "T"} for n in range(25)])
    server.control("auth", modes=["userPools"])
    over = [{"errorType": "UnauthorizedException", "message": "Token has expired."}]
    fault(
        server, at="http", action="status", on="syncTasks", status=401, errors=over, skip=1, times=1
    )
    phone = device(auth={"userPools": None}, sync={"pageSize": 10})
    asked: list[kvstore.TokenRequest] = []

    def provide(request: kvstore.TokenRequest) -> str:
        asked.append(request)
        return make({"sub": "ana", "username": "ana", "n": len(asked)})

    phone.client.set_token_provider(provide)
    events = phone.start()
    assert "modelFailed" not in events
    assert [request.refused for request in asked] == [False, True]
    assert phone.client.collection("Task").count() == 25


def test_a_cap_is_told(device: Open, server: StandIn) -> None:
    fill(server, "Task", [{"id": f"t{n}", "title": "T"} for n in range(30)])
    phone = device(sync={"pageSize": 10, "maxRecords": 20})
    phone.start()
    counts = synced(phone, "Task")
    assert (counts["added"], counts["isCapped"], counts["isComplete"]) == (20, True, False)


# What is kept


def test_an_expression_can_change_and_keeps_unsent_work(device: Open, server: StandIn) -> None:
    fill(
        server,
        "Task",
        [{"id": f"t{n}", "title": "T", "state": "OPEN" if n % 2 else "DONE"} for n in range(10)],
    )
    phone = device(sync={"expressions": {"Task": {"state": "OPEN"}}})
    phone.start()
    tasks = phone.client.collection("Task")
    assert {task["state"] for task in tasks.find()} == {"OPEN"}
    fault(server, at="http", action="dropBefore", on="updateTask", times=1000)
    tasks.save({**tasks["t1"], "title": "mine"})
    phone.client.set_sync_expression("Task", {"state": "DONE"})
    phone.until("modelSynced", collection="Task", added=5)
    assert {task["id"] for task in tasks.find()} == {"t0", "t2", "t4", "t6", "t8", "t1"}
    assert tasks["t1"]["title"] == "mine"
    phone.client.set_sync_expression("Task", None)
    phone.until("modelSynced", collection="Task", added=4)
    assert tasks.count() == 10


def test_a_record_that_stops_matching_leaves(device: Open, server: StandIn) -> None:
    fill(server, "Task", [{"id": "t", "title": "T", "state": "OPEN"}])
    phone = device(sync={"expressions": {"Task": {"state": "OPEN"}}})
    phone.start()
    Outsider(server).written("updateTask", WHOLE, {"id": "t", "state": "DONE", "_version": 1})
    phone.until("syncReceived", changes=[{"id": "t", "change": "delete"}])
    assert phone.client.collection("Task").count() == 0


def test_clear_starts_from_nothing_and_loses_nothing_unasked(device: Open, server: StandIn) -> None:
    fill(server, "Task", [{"id": "t", "title": "T"}])
    phone = device()
    phone.start()
    phone.client.stop_sync()
    tasks = phone.client.collection("Task")
    tasks.save({"id": "u", "title": "U"})
    with pytest.raises(kvstore.PendingError):
        phone.client.clear()
    assert tasks.count() == 2
    phone.client.clear(discard_pending=True)
    assert tasks.count() == 0
    phone.start()
    assert synced(phone, "Task")["isFullSync"]
    assert [task["id"] for task in tasks.find()] == ["t"]


# Who observes


class Watching:
    """The changes of an observed query, and the result that they lead to."""

    def __init__(self) -> None:
        self._changes: Queue[kvstore.Changes[dict[str, Any]] | kvstore.KVError] = Queue()
        self.receive = self._changes.put
        self.shown: list[dict[str, Any]] = []
        self.is_synced = False
        self.told: list[tuple[str, str, str]] = []

    def until(self, wanted: Callable[[], bool]) -> None:
        """Takes changes until something is as wanted."""
        while not wanted():
            changes = self._changes.get(timeout=SECONDS)
            assert not isinstance(changes, kvstore.KVError)
            changes.apply(self.shown)
            self.is_synced = changes.is_synced
            self.told += [("create", e.entity["id"], e.source) for e in changes.insertions]
            self.told += [("update", e.entity["id"], e.source) for e in changes.modifications]
            self.told += [("delete", e.id, e.source) for e in changes.deletions]


def test_an_observer_is_told_what_changed_where_and_when_all_was_read(
    device: Open, server: StandIn
) -> None:
    fill(server, "Task", [{"id": "a", "title": "A", "rank": 2}, {"id": "z", "title": "Z"}])
    phone = device()
    tasks = phone.client.collection("Task")
    watching = Watching()
    query = kvstore.Query({"rank": {"$gt": 0}}, sort={"rank": 1})
    with tasks.observe(query, watching.receive):
        assert not watching.is_synced
        phone.start()
        watching.until(lambda: watching.is_synced)
        assert watching.told == [("create", "a", "remote")]
        watching.told = []

        # The change is sent once the observer has seen it.
        fault(server, at="http", gate="create", on="createTask")
        tasks.save({"id": "b", "title": "B", "rank": 1})
        watching.until(lambda: ("create", "b", "local") in watching.told)
        server.control("gates", open="create")
        assert [task["id"] for task in watching.shown] == ["b", "a"]
        watching.until(lambda: ("update", "b", "remote") in watching.told)

        written = Outsider(server).written
        written("updateTask", WHOLE, {"id": "a", "rank": 0, "_version": 1})
        watching.until(lambda: ("delete", "a", "remote") in watching.told)
        fault(server, at="http", gate="delete", on="deleteTask")
        tasks.remove_by_id("b")
        watching.until(lambda: ("delete", "b", "local") in watching.told)
        server.control("gates", open="delete")
        assert watching.shown == []
        phone.client.stop_sync()
        watching.until(lambda: not watching.is_synced)


def test_an_observer_of_an_empty_model_is_told_once_it_was_read(device: Open) -> None:
    phone = device()
    watching = Watching()
    with phone.client.collection("Task", type="synced").observe(None, watching.receive):
        watching.until(lambda: watching.is_synced)
    assert watching.shown == []
