"""Working offline and synchronising, with a server that really stops."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import APP, Printed, open_client
from kvstored import Server

import kvstore


@pytest.fixture
def ana(own_server: Server, tmp_path: Path) -> Iterator[kvstore.Client]:
    """Give a client of a server that may stop."""
    with open_client(own_server.host, tmp_path / "ana") as client:
        client.signup("ana", "a password")
        yield client


@pytest.fixture
def other(own_server: Server, ana: kvstore.Client, tmp_path: Path) -> Iterator[kvstore.Client]:
    """Give a second client of the same user, on another machine so to speak."""
    with open_client(own_server.host, tmp_path / "other") as client:
        client.login("ana", "a password")
        yield client


def test_work_goes_on_while_the_server_is_gone(
    ana: kvstore.Client, other: kvstore.Client, own_server: Server
) -> None:
    notes = ana.collection("notes")
    notes.save({"_id": "n1", "text": "before"})
    assert notes.push() == kvstore.PushResult(1, [])

    own_server.kill()
    notes.save({"_id": "n1", "text": "offline"})
    notes.save({"text": "new"})
    with pytest.raises(kvstore.NetworkError):
        notes.push()
    assert notes["n1"]["text"] == "offline"
    assert [write.operation for write in notes.pending] == ["update", "create"]

    own_server.start()
    assert notes.push().pushed == 2
    assert len(notes.pending) == 0
    seen = other.collection("notes")
    assert seen.pull() == kvstore.PullResult(2, 0)
    assert seen["n1"]["text"] == "offline"


def test_a_pull_refuses_while_writes_are_pending(ana: kvstore.Client) -> None:
    notes = ana.collection("notes")
    notes.save({"_id": "n1"})
    with pytest.raises(kvstore.PendingError):
        notes.pull()


def test_a_pull_removes_what_is_gone(ana: kvstore.Client, other: kvstore.Client) -> None:
    mine, theirs = ana.collection("notes"), other.collection("notes")
    mine.save_many({"_id": f"n{number}"} for number in range(5))
    assert mine.sync().pushed == 5
    assert theirs.pull().pulled == 5
    mine.remove_by_id("n0")
    mine.push()
    result = theirs.pull()
    assert (result.pulled, result.removed) == (4, 1)


def test_a_pull_and_a_sync_give_the_entities(ana: kvstore.Client, other: kvstore.Client) -> None:
    mine, theirs = ana.collection("notes"), other.collection("notes")
    mine.save_many({"_id": f"n{number}", "n": number} for number in range(5))
    result, entities = mine.sync_entities({"n": {"$lt": 2}})
    assert (result.pushed, result.pulled) == (5, 2)
    assert sorted(entity["_id"] for entity in entities) == ["n0", "n1"]
    assert sorted(entity["n"] for entity in theirs.pull_entities()) == list(range(5))
    mine.save({"_id": "n5", "n": 5})
    mine.push()
    # What had not changed is given, too.
    assert len(list(theirs.pull_entities(delta_set=True))) == 6
    theirs.save({"_id": "n6"})
    with pytest.raises(kvstore.PendingError):
        theirs.pull_entities()


def test_one_refused_write_is_reported_and_the_rest_goes_through(ana: kvstore.Client) -> None:
    notes = ana.collection("notes")
    notes.save_many([{"_id": "good"}, {"_id": "bad", "_geoloc": [500, 500]}, {"_id": "also-good"}])
    result = notes.push()
    assert result.pushed == 2
    [error] = result.errors
    assert (error.id, error.error) == ("bad", "ParameterValueOutOfRange")
    [write] = notes.pending
    assert (write.id, write.attempts) == ("bad", 1)
    assert write.last_error is not None
    assert write.last_error.error == "ParameterValueOutOfRange"


def test_one_refused_entity_of_many_has_its_place(ana: kvstore.Client) -> None:
    notes = ana.collection("notes", "network")
    result = notes.save_many([{"text": "a"}, {"_geoloc": [500, 500]}, {"text": "c"}])
    assert [entity and entity.get("text") for entity in result.entities] == ["a", None, "c"]
    assert [(error.index, error.http) for error in result.errors] == [(1, 207)]
    assert result.errors[0].error == "ParameterValueOutOfRange"


def test_a_sync_pushes_and_pulls(ana: kvstore.Client, other: kvstore.Client) -> None:
    other.collection("notes", "network").save({"_id": "theirs"})
    notes = ana.collection("notes")
    notes.save({"_id": "mine"})
    result = notes.sync()
    assert (result.pushed, result.errors, result.pulled) == (1, [], 2)


def test_what_two_devices_add_adds_up(ana: kvstore.Client, other: kvstore.Client) -> None:
    notes, theirs = ana.collection("notes"), other.collection("notes")
    notes.save({"_id": "n1", "n": 0, "tags": []})
    notes.push()
    theirs.pull()
    for add in (2, 3):
        notes.update({"_id": "n1"}, {"$inc": {"n": add}, "$addToSet": {"tags": "a"}})
    theirs.update({"_id": "n1"}, {"$inc": {"n": 10}, "$push": {"tags": "b"}})
    assert notes.push().pushed == 1
    assert theirs.push().pushed == 1
    assert (theirs["n1"]["n"], theirs["n1"]["tags"]) == (15, ["a", "b"])
    notes.sync()
    assert notes["n1"] == theirs["n1"]


def test_an_auto_store_falls_back_to_local_data(ana: kvstore.Client, own_server: Server) -> None:
    notes = ana.collection("notes", "auto")
    notes.save({"_id": "n1", "text": "a"})
    assert len(notes.pending) == 0
    own_server.kill()
    assert notes["n1"]["text"] == "a"
    notes.save({"_id": "n1", "text": "b"})
    assert len(notes.pending) == 1
    own_server.start()
    assert notes.push().pushed == 1


def test_a_policy_counts_for_one_call(ana: kvstore.Client) -> None:
    notes = ana.collection("notes")
    notes.save({"_id": "n1"}, write_policy="forceNetwork")
    assert len(notes.pending) == 0
    assert notes.count(read_policy="forceNetwork") == 1
    with notes.find(read_policy="forceNetwork") as found:
        assert [entity["_id"] for entity in found] == ["n1"]
    assert notes.find_by_id("n1", read_policy="forceLocal")["_id"] == "n1"


def test_a_network_store_keeps_nothing(ana: kvstore.Client, own_server: Server) -> None:
    notes = ana.collection("notes", "network")
    saved = notes.save({"text": "a"})
    assert notes[saved["_id"]]["text"] == "a"
    with pytest.raises(kvstore.UnsupportedError):
        notes.push()
    own_server.kill()
    with pytest.raises(kvstore.NetworkError):
        notes.count()


def changed_on_both_sides(ana: kvstore.Client, other: kvstore.Client) -> kvstore.Store:
    """Give a store with an entity that was changed here and on the backend."""
    notes = ana.collection("notes")
    theirs = other.collection("notes", "network")
    theirs.save({"_id": "n1", "text": "old", "number": 1})
    notes.pull()
    theirs.save({"_id": "n1", "text": "theirs", "number": 1})
    notes.save({"_id": "n1", "text": "ours", "number": 2})
    return notes


def test_a_handler_decides_conflicts(ana: kvstore.Client, other: kvstore.Client) -> None:
    notes = changed_on_both_sides(ana, other)
    seen: list[kvstore.Conflict] = []

    def decide(conflict: kvstore.Conflict) -> kvstore.Entity:
        seen.append(conflict)
        assert conflict.local
        assert conflict.remote
        return {"text": conflict.remote["text"], "number": conflict.local["number"]}

    notes.set_conflict_handler(decide)
    assert notes.push().pushed == 1
    [conflict] = seen
    assert conflict.base
    assert conflict.base["text"] == "old"
    assert (notes["n1"]["text"], notes["n1"]["number"]) == ("theirs", 2)
    assert other.collection("notes", "network")["n1"]["number"] == 2


def test_a_handler_that_raises_leaves_the_conflict_open(
    ana: kvstore.Client, other: kvstore.Client, printed: Printed
) -> None:
    notes = changed_on_both_sides(ana, other)
    notes.set_conflict_handler(lambda conflict: {"number": int(conflict.id)})
    [error] = notes.push().errors
    assert isinstance(error, kvstore.ConflictError)
    assert "ValueError: invalid literal for int() with base 10: 'n1'" in printed()
    detail = notes.pending.get("n1")
    assert detail.state == "conflict"
    assert detail.remote
    assert detail.remote["text"] == "theirs"
    notes.pending.revert("n1")
    assert notes["n1"]["text"] == "theirs"
    assert not notes.pending


@pytest.mark.parametrize("answer", [None, 1, 2, True, object(), ()])
def test_a_handler_that_decides_nothing_leaves_the_conflict_open(
    ana: kvstore.Client, other: kvstore.Client, printed: Printed, answer: Any
) -> None:
    notes = changed_on_both_sides(ana, other)
    notes.set_conflict_handler(lambda conflict: answer)
    [error] = notes.push().errors
    assert isinstance(error, kvstore.ConflictError)
    assert "a conflict handler must return a kvstore.Decision or an entity" in printed()
    assert notes["n1"]["text"] == "ours"
    assert other.collection("notes", "network")["n1"]["text"] == "theirs"


def test_a_pumped_client_asks_where_it_waits(
    other: kvstore.Client, own_server: Server, tmp_path: Path
) -> None:
    with open_client(own_server.host, tmp_path / "pumped", callbacks="pump") as pumped:
        pumped.login("ana", "a password")
        notes = changed_on_both_sides(pumped, other)
        notes.set_conflict_handler(lambda conflict: kvstore.Decision.TAKE)
        assert notes.push().errors == []
        assert notes["n1"]["text"] == "theirs"


def test_strategies_are_options(ana: kvstore.Client, other: kvstore.Client) -> None:
    notes = changed_on_both_sides(ana, other)
    [error] = notes.push(conflicts="optimistic").errors
    assert error.id == "n1"
    assert notes.sync(conflicts="optimistic").errors == []
    notes.pending.retry("n1", conflicts="optimistic")
    assert other.collection("notes", "network")["n1"]["text"] == "ours"


def test_what_is_set_aside_is_counted_and_holds_up_nothing(online: kvstore.Client) -> None:
    notes = online.collection("set-aside")
    notes.save({"_id": "bad", "_geoloc": [500, 500]})
    online.collection("set-aside", "network").save({"_id": "theirs"})
    result = notes.sync()
    assert [error.id for error in result.errors] == ["bad"]
    assert (result.quarantined, result.pulled) == (1, 1)
    assert notes.push() == kvstore.PushResult(0, [], 1)
    notes.save({"_id": "next"})
    for status in (online.status(), online.status().collections[0]):
        assert (status.pending, status.waiting, status.quarantined) == (2, 1, 1)
    again = notes.push(retry_quarantined=True)
    assert ([error.id for error in again.errors], again.quarantined) == (["bad"], 1)


@pytest.mark.parametrize("bad", ["x" * 256, "ä" * 128, "a\nb", "a\x7fb", ".", ".."])
def test_an_id_that_no_backend_accepts_is_refused_at_the_save(
    online: kvstore.Client, bad: str
) -> None:
    notes = online.collection("ids")
    for save in (
        lambda: notes.save({"_id": bad}),
        lambda: notes.save_many([{"_id": "fine"}, {"_id": bad}]),
        lambda: online.collection("ids", "network").save({"_id": bad}),
    ):
        with pytest.raises(kvstore.InvalidError, match="at most 255 bytes") as caught:
            save()
        assert caught.value.id == bad
    with pytest.raises(kvstore.InvalidError, match="at most 255 bytes"):
        notes.observe_by_id(bad, print)
    with online.context() as ctx:
        ctx.insert("ids", {"_id": bad})
        with pytest.raises(kvstore.InvalidError, match="at most 255 bytes"):
            ctx.save()
        ctx.rollback()
    with (
        pytest.raises(kvstore.InvalidError, match="at most 255 bytes"),
        online.transaction() as changes,
    ):
        changes.save(notes, {"_id": bad})
    assert notes.count() == 0
    assert len(notes.pending) == 0


def test_an_entity_is_refused_at_the_save_if_the_server_has_told_that_it_is_too_large(
    tmp_path: Path,
) -> None:
    large, directory = {"_id": "large", "text": "x" * 4000}, tmp_path / "client"
    with (
        Server(tmp_path / "server", APP, "--max-body", "2048") as server,
        open_client(server.host, directory) as client,
    ):
        notes = client.collection("notes")
        notes.save({"_id": "first", "text": "x" * 4000})  # Nothing is known yet.
        client.signup()
        assert [error.id for error in notes.push().errors] == ["first"]
        for save in (lambda: notes.save(large), lambda: notes.save_many([{"n": 1}, large])):
            with pytest.raises(kvstore.TooLargeError, match="at most 2048") as caught:
                save()
            assert caught.value.id == "large"
        with client.context() as ctx:
            ctx.insert("notes", large)
            with pytest.raises(kvstore.TooLargeError, match="at most 2048"):
                ctx.save()
            ctx.rollback()
        notes.save({"_id": "small", "text": "x" * 1000})
        notes.push()
        for store in (notes, client.collection("notes", "network")):
            with pytest.raises(kvstore.TooLargeError, match="at most 2048") as caught:
                store.update({"_id": "small"}, {"$set": {"text": "x" * 4000}})
            assert caught.value.id == "small"
        notes.save({"_id": "next", "text": "x" * 1000})
        host = server.host
    # What was told once holds in the next run, without a server too.
    with open_client(host, directory) as client:
        notes = client.collection("notes")
        with pytest.raises(kvstore.TooLargeError), client.transaction() as changes:
            changes.save(notes, large)
        with pytest.raises(kvstore.TooLargeError), client.transaction() as changes:
            changes.update(notes, {"_id": "next"}, {"$push": {"more": large}})
        assert {write.id for write in notes.pending} == {"first", "next"}


def test_the_longest_id_is_sent(online: kvstore.Client) -> None:
    notes = online.collection("ids")
    notes.save({"_id": "ä" * 127 + "x"})
    assert notes.push().pushed == 1
