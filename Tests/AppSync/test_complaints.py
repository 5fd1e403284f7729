"""What users of other clients of AppSync complain about, and does not happen here."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Literal

import kvstore
import pytest
from client import SYNC
from client import Client as Outsider
from conftest import TASKS, Serve
from devices import WHOLE, Device, Open, fault, fill, synced
from standin import StandIn

GROWN = TASKS.replace("note: String", "note: String extra: String")


def rows(server: StandIn, model: str = "Task") -> dict[str, dict[str, Any]]:
    """What the server has of a model that was not deleted."""
    found = server.control(f"tables/{model}", "GET")["rows"]
    return {row["id"]: row for row in found if not row.get("_deleted")}


def until_sent(device: Device) -> None:
    """Waits until no write waits."""
    while device.client.collection("Task").pending.count() > 0:
        device.until("outboxStatus")


def test_1_a_change_of_the_schema_keeps_data_and_unsent_changes(
    device: Open, server: StandIn, serve: Serve
) -> None:
    fill(server, "Task", [{"id": "t", "title": "T"}])
    with device().client as client:
        phone = Device(client)
        phone.start()
        client.stop_sync()
        tasks = client.collection("Task")
        tasks.save({**tasks["t"], "title": "mine"})
        tasks.save({"id": "new", "title": "N"})
    other = serve(GROWN)
    fill(other, "Task", [{"id": "t", "title": "T"}])
    grown = device(schema=GROWN, endpoint=other.endpoint)
    tasks = grown.client.collection("Task")
    assert {task["id"]: task["title"] for task in tasks.find()} == {"t": "mine", "new": "N"}
    assert [write.id for write in tasks.pending] == ["t", "new"]
    grown.start()
    until_sent(grown)
    assert {id: row["title"] for id, row in rows(other).items()} == {"t": "mine", "new": "N"}


def test_2_missing_parents_stop_neither_the_first_sync_nor_later_changes(
    device: Open, server: StandIn
) -> None:
    fill(server, "Task", [{"id": f"t{n}", "title": "T", "boardId": f"b{n}"} for n in range(20)])
    fill(server, "Board", [{"id": "b1"}])
    phone = device()
    phone.start()
    assert synced(phone, "Task")["added"] == 20
    outsider = Outsider(server)
    outsider.written("createTask", WHOLE, {"id": "late", "title": "L", "boardId": "none"})
    phone.until("syncReceived", collection="Task")
    boards, tasks = phone.client.collection("Board"), phone.client.collection("Task")
    assert tasks["late"]["boardId"] == "none"
    outsider.written("createBoard", f"id name createdAt updatedAt {SYNC}", {"id": "none"})
    phone.until("syncReceived", collection="Board")
    assert [board["id"] for board in boards.find(tasks.related("late", "board"))] == ["none"]


def test_3_the_outbox_goes_on_after_a_restart_and_after_a_start_without_a_network(
    device: Open, server: StandIn
) -> None:
    fault(server, at="http", action="dropBefore", on="createTask", times=1000)
    with device().client as client:
        Device(client).start()
        for number in range(5):
            client.collection("Task").save({"id": f"t{number}", "title": "T"})
    server.control("faults", "DELETE")
    fault(server, at="http", action="dropBefore", on="*", times=3)
    phone = device()
    phone.client.collection("Task", type="synced")
    phone.until("ready")
    until_sent(phone)
    assert sorted(rows(server)) == [f"t{n}" for n in range(5)]
    assert {row["_version"] for row in rows(server).values()} == {1}


def test_4_a_failed_mutation_is_told_and_the_application_decides(
    device: Open, server: StandIn
) -> None:
    refusal = [{"errorType": "Unauthorized", "message": "Not Authorized to access createTask"}]
    fault(server, at="http", action="error", on="createTask", errors=refusal, times=2)
    phone = device()
    phone.start()
    tasks = phone.client.collection("Task")
    again, away = (tasks.save({"title": "T"})["id"] for _ in range(2))
    for id in (again, away):
        failed = phone.until("outboxMutationFailed", id=id)
        assert (failed.collection, failed.operation) == ("Task", "create")
        assert failed.error is not None and failed.error.error == "Unauthorized"
    # What was refused blocks nothing that comes after it, and nothing of it is lost.
    tasks.save({"id": "next", "title": "T"})
    phone.until("outboxMutationProcessed", id="next")
    assert sorted(task["id"] for task in tasks.find()) == sorted([again, away, "next"])
    tasks.pending.retry(again)
    tasks.pending.revert(away)
    assert sorted(rows(server)) == sorted([again, "next"])
    assert sorted(task["id"] for task in tasks.find()) == sorted([again, "next"])


def test_5_ready_and_the_events_before_it_come_once_each_whatever_goes_wrong(
    device: Open, server: StandIn
) -> None:
    refusal = [{"errorType": "Unauthorized", "message": "no"}]
    fault(server, at="http", action="error", on="syncBoards", errors=refusal, times=1000)
    fault(server, at="start", action="refuse", on="onUpdateTask", errors=refusal, times=1000)
    fault(server, at="http", action="corrupt", on="syncTasks", members={"_version": "x"})
    fault(server, at="http", action="dropBefore", on="syncTasks", times=1)
    fill(server, "Task", [{"id": f"t{n}", "title": "T", "boardId": "none"} for n in range(3)])
    phone = device()
    events = phone.start()
    assert events.count("ready") == events.count("syncQueriesReady") == 1
    assert events.index("syncQueriesReady") < events.index("syncStarted") < events.index("ready")
    assert [e.collection for e in phone.seen if e.event == "modelSynced"] == ["Task"]
    assert {e.collection for e in phone.seen if e.event == "modelFailed"} == {"Board"}
    counts = synced(phone, "Task")
    assert (counts["added"], counts["isComplete"]) == (2, False)


@pytest.mark.parametrize("strategy", ["AUTOMERGE", "OPTIMISTIC_CONCURRENCY"])
def test_6_rapid_saves_lose_no_edit_and_double_no_list(
    device: Open, server: StandIn, strategy: str
) -> None:
    server.control("conflicts", Task=strategy)
    fill(server, "Task", [{"id": "t", "title": "0", "tags": ["a"], "rank": 0}])
    phone = device()
    phone.start()
    tasks = phone.client.collection("Task")
    for number in range(1, 61):
        member: dict[str, Any] = {"rank": number} if number % 2 else {"title": str(number)}
        tasks.save({**tasks["t"], **member})
    until_sent(phone)
    stored = rows(server)["t"]
    assert (stored["title"], stored["rank"], stored["tags"]) == ("60", 59, ["a"])
    assert {**tasks["t"], "tags": ["a"]} == tasks["t"]


def test_6_rapid_saves_of_two_devices_lose_no_edit_of_either(device: Open, server: StandIn) -> None:
    # (Under Automerge the service itself keeps the stored value of a member that both have.)
    server.control("conflicts", Task="OPTIMISTIC_CONCURRENCY")
    fill(server, "Task", [{"id": "t", "title": "0", "tags": ["a"], "rank": 0}])
    phones = [device("first", conflicts="merge"), device("second", conflicts="merge")]
    for phone in phones:
        phone.start()

    def change(
        tasks: kvstore.Store, members: dict[str, Any], transaction: kvstore.Transaction
    ) -> None:
        # What the other device has changed does not come between the two.
        task = transaction.find_by_id(tasks, "t")
        transaction.save(tasks, {**task, **members})

    def edit(phone: Device, member: str, values: list[Any]) -> None:
        tasks = phone.client.collection("Task")
        for value in values:
            phone.client.transact(partial(change, tasks, {member: value}))

    titles, ranks = [str(n) for n in range(1, 31)], list(range(1, 31))
    threads = [
        threading.Thread(target=edit, args=(phones[0], "title", titles)),
        threading.Thread(target=edit, args=(phones[1], "rank", ranks)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for phone in phones:
        until_sent(phone)
    stored = rows(server)["t"]
    assert (stored["title"], stored["rank"], stored["tags"]) == ("30", 30, ["a"])


@pytest.mark.parametrize("strict", [False, True])
def test_6_edits_of_two_devices_are_merged_and_what_is_discarded_is_told(
    device: Open, server: StandIn, strict: bool
) -> None:
    if strict:
        server.control("conflicts", Task="OPTIMISTIC_CONCURRENCY")
    fill(server, "Task", [{"id": "t", "title": "old", "tags": ["x"], "rank": 1, "weight": 1.0}])
    phones = [device(name) for name in ("a", "b")]
    one, other = (phone.client.collection("Task") for phone in phones)
    for tasks in (one, other):
        tasks.pull()
    one.save({**one["t"], "title": "new", "tags": ["x", "z"]})
    assert one.push().pushed == 1
    # Members that the other device has not changed; the API keeps its own against an old version.
    other.save({**other["t"], "tags": ["x", "y"], "rank": 2})
    assert other.push() == kvstore.PushResult(pushed=1)
    other.save({**other["t"], "weight": 2.0})
    assert other.push() == kvstore.PushResult(pushed=1)
    row = rows(server)["t"]
    assert (row["title"], row["tags"], row["rank"]) == ("new", ["x", "z", "y"], 2)
    # A scalar alone from an older version: the API would take the write and keep what it has.
    one.save({**one["t"], "note": "one", "weight": 4.0})
    result = one.push()
    assert (result.pushed, result.errors, result.discarded) == (1, [], 1)
    told = phones[0].until("discarded")
    assert told.local is not None and told.remote is not None
    assert (told.local["weight"], told.remote["weight"]) == (4.0, 2.0)
    assert one["t"]["note"] == "one"
    assert one["t"]["weight"] == 2.0
    other.pull()
    assert one["t"] == other["t"]
    other.save({**other["t"], "note": "n"})
    other.push()
    one.save({**one["t"], "done": True})
    assert one.push() == kvstore.PushResult(pushed=1)
    one.save({**one["t"], "title": "newer"})
    assert one.push() == kvstore.PushResult(pushed=1)
    other.save({**other["t"], "state": "DONE"})
    assert other.push() == kvstore.PushResult(pushed=1)
    assert other["t"]["title"] == "newer" and other["t"]["done"] is True


def test_6_a_scalar_from_an_older_version_is_not_lost_where_nobody_else_changed_it(
    device: Open, server: StandIn
) -> None:
    fill(server, "Task", [{"id": "t", "title": "old", "rank": 1}])
    one, other = (device(name).client.collection("Task") for name in ("a", "b"))
    for tasks in (one, other):
        tasks.pull()
    one.save({**one["t"], "title": "new"})
    one.push()
    other.save({**other["t"], "rank": 2})
    assert other.push() == kvstore.PushResult(pushed=1)
    row = rows(server)["t"]
    assert (row["title"], row["rank"]) == ("new", 2)
    assert other["t"]["title"] == "new"


@pytest.mark.parametrize("conflicts", ["serverWins", "automerge"])
def test_6_what_would_be_discarded_can_be_kept_as_an_open_conflict(
    device: Open, server: StandIn, conflicts: Literal["serverWins", "automerge"]
) -> None:
    fill(server, "Task", [{"id": "t", "title": "old", "rank": 1}])
    one, other = (device(name).client.collection("Task") for name in ("a", "b"))
    for tasks in (one, other):
        tasks.pull()
    one.save({**one["t"], "title": "one"})
    one.push()
    other.save({**other["t"], "title": "other"})
    result = other.push(conflicts=conflicts, keep_discarded=True)
    assert [type(error) for error in result.errors] == [kvstore.ConflictError]
    assert (result.discarded, other["t"]["title"]) == (0, "other")
    kept = other.pending.get("t")
    assert kept.remote is not None and kept.remote["title"] == "one"
    other.pending.retry("t")
    other.push()
    assert rows(server)["t"]["title"] == "other"


def test_7_start_stop_and_clear_are_safe_from_any_thread(device: Open, server: StandIn) -> None:
    fill(server, "Task", [{"id": f"t{n}", "title": "T"} for n in range(50)])
    phone = device(sync={"pageSize": 10})
    tasks = phone.client.collection("Task", type="synced")
    calls: list[Callable[[], object]] = [
        phone.client.start_sync,
        phone.client.stop_sync,
        lambda: phone.client.clear(discard_pending=True),
        lambda: tasks.save({"title": "new"}),
        tasks.count,
    ]
    seed = random.randrange(1 << 32)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        chosen = random.Random(seed + number)
        try:
            for _ in range(40):
                chosen.choice(calls)()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [], f"seed {seed}"
    phone.client.stop_sync()
    phone.client.clear(discard_pending=True)
    phone.start()
    kept = {task["id"] for task in tasks.find()}
    assert {f"t{n}" for n in range(50)} <= kept, f"seed {seed}"


def test_8_models_may_be_local_only_and_what_is_synchronised_can_change(
    device: Open, server: StandIn, tmp_path: Path
) -> None:
    fill(server, "Task", [{"id": f"t{n}", "title": "T", "rank": n} for n in range(10)])
    local = tmp_path / "local"
    with kvstore.Client(app_key="drafts", host=None, schema=TASKS, data_directory=local) as drafts:
        drafts.collection("Task").save({"id": "draft", "title": "D"})
        phone = device(sync={"expressions": {"Task": {"rank": {"$lt": 3}}}})
        phone.start()
        tasks = phone.client.collection("Task")
        assert tasks.count() == 3
        phone.client.set_sync_expression("Task", {"rank": {"$gte": 8}})
        phone.until("modelSynced", collection="Task", added=2, deleted=3)
        assert sorted(task["id"] for task in tasks.find()) == ["t8", "t9"]
        assert "draft" not in rows(server)


def test_9_a_first_sync_of_100_000_records_asks_for_each_page_once(
    device: Open, serve: Serve
) -> None:
    sdl = "type Note @model { id: ID! }"
    server = serve(sdl)
    fill(server, "Note", [{"id": f"n{n}"} for n in range(100_000)])
    phone = device(schema=sdl, endpoint=server.endpoint, page_size=1000, sync={"pageSize": 1000})
    phone.start()
    assert synced(phone, "Note")["added"] == 100_000
    assert phone.client.collection("Note").count() == 100_000
    asked = [e for e in server.log() if e["kind"] == "http"]
    assert 100 <= len(asked) <= 101


def test_10_a_batch_is_saved_as_one_and_a_bad_record_does_not_fail_its_page(
    device: Open, server: StandIn
) -> None:
    fill(server, "Task", [{"id": f"t{n}", "title": "T"} for n in range(20)])
    fault(server, at="http", action="corrupt", on="syncTasks", index=7, members={"_version": None})
    phone = device()
    phone.start()
    tasks = phone.client.collection("Task")
    assert tasks.count() == 19
    with pytest.raises(kvstore.KVError):
        tasks.save_many([{"id": "u0", "title": "U"}, {"id": "u1", "rank": "no number"}])
    assert tasks.count() == 19
    tasks.save_many([{"id": f"u{n}", "title": "U"} for n in range(10)])
    until_sent(phone)
    assert {f"u{n}" for n in range(10)} <= set(rows(server))


def test_a_schema_that_does_not_fit_the_api_is_told_by_a_ping(
    device: Open, server: StandIn
) -> None:
    assert device().client.ping() == {"models": ["Board", "Task"]}
    assert not any("Sync" in str(entry.get("query")) for entry in server.log())
    grown = device("b", schema=GROWN).client
    with pytest.raises(kvstore.InvalidError, match=r"Task does not fit the API.*extra"):
        grown.ping()
    fewer = device("c", schema="type Board @model { id: ID! name: String }").client
    assert fewer.ping() == {"models": ["Board"]}
