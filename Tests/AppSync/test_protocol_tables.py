"""The tables of DataStore's behaviour, row by row: merging, reconciliation, errors, conflicts."""

from __future__ import annotations

import time
from typing import Any

import kvstore
import pytest
from client import Client as Outsider
from standin import StandIn
from test_library import Open, device, fill, inputs, rows

__all__ = ["device"]

Change = tuple[str, dict[str, Any]]

SAVE_A: Change = ("save", {"title": "A"})
SAVE_B: Change = ("save", {"note": "b"})
REMOVE: Change = ("remove", {})


def apply(tasks: kvstore.Store, change: Change) -> None:
    """Saves the task `t` with other members, or removes it."""
    kind, members = change
    if kind == "remove":
        tasks.remove_by_id("t")
    else:
        before = next(iter(tasks.find({"id": "t"})), {"id": "t", "title": "t"})
        tasks.save({**before, **members})


def sent(server: StandIn) -> list[tuple[str, dict[str, Any]]]:
    """The mutations of tasks in the server's log: the kind of each, and what was sent."""
    found = []
    for entry in server.log():
        for kind in ("create", "update", "delete"):
            if f"{kind}Task(" in entry.get("query", ""):
                found.append((kind, entry["variables"]["input"]))
    return found


@pytest.mark.parametrize(
    ("waiting", "new", "wanted"),
    [
        # Nothing waits.
        ((), SAVE_A, [("update", {"title": "A"})]),
        ((), REMOVE, [("delete", {})]),
        # An update waits.
        ((SAVE_A,), SAVE_B, [("update", {"title": "A", "note": "b"})]),
        ((SAVE_A,), ("save", {"title": "C"}), [("update", {"title": "C"})]),
        ((SAVE_A,), REMOVE, [("delete", {})]),
        ((SAVE_A, SAVE_B), REMOVE, [("delete", {})]),
        # A deletion waits: what is saved under its key afterwards is the record's next state.
        ((REMOVE,), SAVE_B, [("update", {"note": "b"})]),
    ],
)
def test_a_change_of_a_record_of_the_backend_merges_with_what_waits(
    device: Open, server: StandIn, waiting: tuple[Change, ...], new: Change, wanted: list[Change]
) -> None:
    fill(server, "t")
    tasks = device().collection("Task")
    tasks.pull()
    server.control("log", "DELETE")
    for change in (*waiting, new):
        apply(tasks, change)
    assert tasks.push().errors == []
    [(kind, given)] = sent(server)
    ((wanted_kind, members),) = wanted
    assert (kind, given.pop("id"), given.pop("_version")) == (wanted_kind, "t", 1)
    assert given == members


@pytest.mark.parametrize(
    ("waiting", "new", "wanted"),
    [
        ((), SAVE_A, {"title": "A"}),
        ((SAVE_A,), SAVE_B, {"title": "A", "note": "b"}),
        ((SAVE_A, SAVE_B), ("save", {"title": "C"}), {"title": "C", "note": "b"}),
        ((SAVE_A,), REMOVE, None),
        ((SAVE_A, SAVE_B), REMOVE, None),
        ((SAVE_A, REMOVE), SAVE_B, {"title": "t", "note": "b"}),
    ],
)
def test_a_change_of_a_record_that_was_never_sent_merges_into_its_creation(
    device: Open,
    server: StandIn,
    waiting: tuple[Change, ...],
    new: Change,
    wanted: dict[str, Any] | None,
) -> None:
    tasks = device().collection("Task")
    for change in (*waiting, new):
        apply(tasks, change)
    assert tasks.push().errors == []
    assert sent(server) == ([] if wanted is None else [("create", {"id": "t", **wanted})])


def test_a_merged_write_keeps_its_place_in_the_queue(device: Open, server: StandIn) -> None:
    tasks = device().collection("Task")
    for name in ("t", "u"):
        tasks.save({"id": name, "title": name})
    apply(tasks, SAVE_A)
    tasks.push()
    assert [given["id"] for _, given in sent(server)] == ["t", "u"]


def test_what_is_saved_while_its_write_is_sent_is_sent_after_it(
    device: Open, server: StandIn
) -> None:
    tasks = device().collection("Task")
    apply(tasks, SAVE_A)
    # The answer is lost, so that the creation counts as sent, with its first content.
    server.control("faults", at="http", on="createTask", action="dropAfter", times=20)
    with pytest.raises(kvstore.NetworkError):
        tasks.push()
    server.control("faults", "DELETE")
    apply(tasks, SAVE_B)
    assert tasks.push().errors == []
    assert (rows(server)["t"]["title"], rows(server)["t"]["note"]) == ("A", "b")
    assert len(tasks.pending) == 0


# Reconciliation: what comes is compared with the version that is known.


def test_a_record_that_is_not_known_is_created(device: Open, server: StandIn) -> None:
    fill(server, "t")
    tasks = device().collection("Task")
    assert tasks.pull().pulled == 1
    assert tasks["t"]["_version"] == 1


def test_a_deletion_of_what_is_not_known_is_dropped(device: Open, server: StandIn) -> None:
    fill(server, "t")
    Outsider(server).written("deleteTask", "id", {"id": "t", "_version": 1})
    tasks = device().collection("Task")
    result = tasks.pull()
    assert (result.pulled, result.removed, tasks.count()) == (0, 0, 0)


@pytest.mark.parametrize("deleted", [False, True])
def test_a_newer_version_is_applied(device: Open, server: StandIn, deleted: bool) -> None:
    fill(server, "t")
    tasks = device().collection("Task")
    tasks.pull()
    field = "deleteTask" if deleted else "updateTask"
    change = {"id": "t", "_version": 1, **({} if deleted else {"title": "new"})}
    Outsider(server).written(field, "id", change)
    tasks.pull()
    assert [task["title"] for task in tasks.find()] == ([] if deleted else ["new"])


@pytest.mark.parametrize("deleted", [None, True])
def test_a_version_that_is_no_newer_is_dropped(
    device: Open, server: StandIn, deleted: bool | None
) -> None:
    # How old a read is the device tells by its own clock.
    server.control("clock", now=int(time.time()) * 1000)
    fill(server, "t")
    Outsider(server).written("updateTask", "id", {"id": "t", "_version": 1, "title": "new"})
    tasks = device().collection("Task")
    tasks.pull()
    Outsider(server).written("createTask", "id", {"id": "u", "title": "u"})
    stale = {"id": "t", "_version": 1, "title": "old", "_deleted": deleted}
    server.control("faults", at="http", on="syncTasks", action="corrupt", index=0, members=stale)
    tasks.pull()
    assert (tasks["t"]["title"], tasks["t"]["_version"]) == ("new", 2)


def test_a_read_that_is_behind_brings_back_nothing_that_was_deleted(
    device: Open, server: StandIn
) -> None:
    server.control("clock", now=int(time.time()) * 1000)
    fill(server, "t")
    tasks = device().collection("Task")
    tasks.pull()
    tasks.remove_by_id("t")
    assert tasks.push().errors == []
    stale = {"id": "t", "_version": 1, "title": "old", "_deleted": None}
    server.control("faults", at="http", on="syncTasks", action="corrupt", index=0, members=stale)
    tasks.pull()
    assert list(tasks.find()) == []
    # Somebody makes it again, which goes on with its versions.
    Outsider(server).written("updateTask", "id", {"id": "t", "_version": 2, "title": "again"})
    tasks.pull()
    assert tasks["t"]["title"] == "again"


@pytest.mark.parametrize("turned", [False, True])
def test_of_several_versions_in_one_page_the_highest_counts(
    device: Open, server: StandIn, turned: bool
) -> None:
    fill(server, "t", "u")
    double = {"id": "t", "title": "newest", "_version": 5}
    fault: dict[str, Any] = {"at": "http", "on": "syncTasks", "action": "corrupt", "index": 1}
    server.control("faults", **fault, members=double)
    if turned:
        server.control("faults", at="http", on="syncTasks", action="reverse")
    tasks = device().collection("Task")
    tasks.pull()
    assert (tasks["t"]["title"], tasks["t"]["_version"]) == ("newest", 5)


def test_what_is_read_of_a_record_with_a_waiting_write_does_not_replace_it(
    device: Open, server: StandIn
) -> None:
    fill(server, "t")
    tasks = device().collection("Task")
    tasks.pull()
    apply(tasks, ("save", {"note": "mine"}))
    Outsider(server).written("updateTask", "id", {"id": "t", "_version": 1, "title": "theirs"})
    with pytest.raises(kvstore.PendingError):
        tasks.pull()
    tasks.find(read_policy="forceNetwork")
    assert (tasks["t"]["title"], tasks["t"]["note"]) == ("t", "mine")
    assert tasks.sync().errors == []
    assert (tasks["t"]["title"], tasks["t"]["note"]) == ("theirs", "mine")
    assert rows(server)["t"].items() >= {"title": "theirs", "note": "mine"}.items()


def test_a_record_whose_parent_is_not_there_is_stored(device: Open, server: StandIn) -> None:
    fill(server, "t")
    Outsider(server).written("updateTask", "id", {"id": "t", "_version": 1, "boardId": "nowhere"})
    client = device()
    tasks = client.collection("Task")
    assert tasks.pull().pulled == 1
    assert tasks["t"]["boardId"] == "nowhere"
    # The parent may come later.
    Outsider(server).written("createBoard", "id", {"id": "nowhere", "name": "late"})
    client.collection("Board").pull()
    assert client.collection("Board")["nowhere"]["name"] == "late"


# Errors of mutations.


def strike(server: StandIn, **fault: Any) -> None:
    """Has the next update fail."""
    server.control("faults", **{"at": "http", "on": "updateTask", **fault})


def error_of_type(kind: str) -> dict[str, Any]:
    return {"action": "error", "errors": [{"errorType": kind, "message": "No."}]}


@pytest.fixture
def changed(device: Open, server: StandIn) -> kvstore.Store:
    """A device with a record of the backend that was changed here."""
    fill(server, "t")
    tasks = device().collection("Task")
    tasks.pull()
    apply(tasks, ("save", {"note": "mine"}))
    return tasks


@pytest.mark.parametrize(
    "fault",
    [
        {"action": "dropBefore"},
        {"action": "dropAfter"},
        {"action": "status", "status": 429, "retryAfter": 0},
        {"action": "status", "status": 500},
        {"action": "status", "status": 503, "retryAfter": 0},
    ],
)
def test_what_may_pass_is_sent_again(
    changed: kvstore.Store, server: StandIn, fault: dict[str, Any]
) -> None:
    strike(server, **fault)
    assert changed.push().errors == []
    assert rows(server)["t"]["note"] == "mine"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"action": "status", "status": 401}, kvstore.UnauthorizedError),
        ({"action": "status", "status": 403}, kvstore.UnauthorizedError),
        (error_of_type("UnauthorizedException"), kvstore.UnauthorizedError),
    ],
)
def test_who_is_refused_keeps_the_write_and_sends_it_later(
    changed: kvstore.Store, server: StandIn, fault: dict[str, Any], error: type[kvstore.KVError]
) -> None:
    strike(server, **fault)
    with pytest.raises(error):
        changed.push()
    assert [write.id for write in changed.pending] == ["t"]
    assert changed.push().errors == []
    assert rows(server)["t"]["note"] == "mine"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"action": "status", "status": 400}, kvstore.InvalidError),
        (error_of_type("Unauthorized"), kvstore.ForbiddenError),
        (error_of_type("OperationDisabled"), kvstore.InvalidError),
        (error_of_type("BadRequest"), kvstore.InvalidError),
        ({"action": "error", "errors": [{"message": "1"}, {"message": "2"}]}, kvstore.InvalidError),
    ],
)
def test_what_is_refused_is_set_aside_and_the_record_stays_as_it_was_written(
    changed: kvstore.Store, server: StandIn, fault: dict[str, Any], error: type[kvstore.KVError]
) -> None:
    changed.save({"id": "u", "title": "behind it"})
    strike(server, **fault)
    (told,) = changed.push().errors
    assert isinstance(told, error)
    assert changed["t"]["note"] == "mine"
    assert rows(server)["u"]["title"] == "behind it"
    assert [write.id for write in changed.pending] == ["t"]


# `ConflictUnhandled`: by what was done here, and what the backend has.

STRICT = "OPTIMISTIC_CONCURRENCY"


def overtake(server: StandIn, deleted: bool) -> None:
    """Has somebody else change the record, or delete it, where the backend merges nothing."""
    server.control("conflicts", Task=STRICT)
    field = "deleteTask" if deleted else "updateTask"
    members = {} if deleted else {"note": "theirs"}
    Outsider(server).written(field, "id", {"id": "t", "_version": 1, **members})


def test_a_local_deletion_of_what_was_deleted_is_done(
    changed: kvstore.Store, server: StandIn
) -> None:
    overtake(server, deleted=True)
    changed.remove_by_id("t")
    assert changed.push().errors == []
    assert (changed.count(), len(changed.pending)) == (0, 0)


def test_a_local_update_of_what_was_deleted_deletes_it_here(
    changed: kvstore.Store, server: StandIn
) -> None:
    overtake(server, deleted=True)
    assert changed.push(conflicts="serverWins").errors == []
    assert (changed.count(), len(changed.pending)) == (0, 0)


@pytest.mark.parametrize("removed", [False, True])
@pytest.mark.parametrize("answer", ["take", "remote", "local", "record"])
def test_the_handler_decides_what_becomes_of_a_conflict(
    changed: kvstore.Store, server: StandIn, removed: bool, answer: str
) -> None:
    overtake(server, deleted=False)
    if removed:
        changed.remove_by_id("t")
    server.control("log", "DELETE")

    def decide(met: kvstore.Conflict) -> Any:
        assert met.remote is not None
        assert (met.local is None) == removed
        if answer == "take":
            return kvstore.Decision.TAKE
        if answer == "remote":
            return met.remote
        if answer == "record":
            return {**met.remote, "note": "both"}
        return kvstore.Decision.KEEP

    changed.set_conflict_handler(decide)
    assert changed.push(conflicts="handler").errors == []
    row = rows(server)["t"]
    if answer in ("take", "remote"):
        assert (row["note"], row["_version"], changed["t"]["note"]) == ("theirs", 2, "theirs")
    elif answer == "local" and removed:
        assert row["_deleted"] is True and changed.count() == 0
    else:
        note = "both" if answer == "record" else "mine"
        assert (row["note"], row["_version"], changed["t"]["note"]) == (note, 3, note)
        assert inputs(server, "updateTask")[-1]["_version"] == 2
    assert len(changed.pending) == 0
