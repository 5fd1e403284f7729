"""Backends of the program's own: what a client does with one."""

from __future__ import annotations

import gc
import queue
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from backends import Diary, Opened, Shelf, ids, wait_for

import kvstore
from kvstore import register_backend
from kvstore.backend import (
    Conflicting,
    Deleted,
    Integer,
    Ordered,
    Record,
    Result,
    Stored,
    Upsert,
    Write,
)


def test_two_clients_share_what_one_pushes(opened: Opened) -> None:
    shelf = Shelf()
    ours, theirs = (opened(shelf).collection("notes") for _ in range(2))
    for number in range(10):
        ours.save({"_id": f"{number}", "n": number})
    assert ours.push().pushed == 10
    assert theirs.pull().pulled == 10
    assert [
        note["n"] for note in theirs.find(kvstore.Query({"n": {"$gte": 7}}, sort={"n": 1}))
    ] == [7, 8, 9]
    theirs.remove_by_id("3")
    theirs.save({"_id": "4", "n": 44})
    assert theirs.sync().pushed == 2
    ours.pull()
    assert ours["4"]["n"] == 44
    assert "3" not in ours


@pytest.mark.parametrize("type", ["auto", "cache", "network"])
def test_every_type_of_store_reads_and_writes(opened: Opened, type: Any) -> None:
    shelf = Shelf()
    store = opened(shelf).collection("notes", type)
    store.save({"_id": "a", "n": 1})
    store.save_many([{"_id": "b", "n": 2}, {"_id": "c", "n": 3}])
    if store.type != "network":
        store.push()
    assert ids(shelf.records["notes"].values()) == ["a", "b", "c"]
    assert ids(store.find(kvstore.Query({"n": {"$gt": 1}}, sort={"n": 1}))) == ["b", "c"]
    assert store.find_by_id("a")["n"] == 1
    assert store.count() == 3
    assert store.remove({"n": 3}) == 1


def test_what_has_changed_is_all_that_is_read(opened: Opened) -> None:
    diary = Diary()
    store = opened(diary).collection("notes", delta_set=True)
    for number in range(10):
        diary.put("notes", {"_id": f"{number}"})
    assert store.pull().pulled == 10
    diary.called.clear()
    diary.put("notes", {"_id": "new"})
    diary.carry_out("notes", Write("delete", "5", None))
    store.pull()
    assert diary.called == ["changes"]
    assert "new" in store
    assert "5" not in store
    diary.history.clear()
    diary.called.clear()
    store.pull()
    assert diary.called[:2] == ["changes", "fetch"]


@pytest.mark.parametrize(
    ("strategy", "there", "here"),
    [
        ("clientWins", "ours", "ours"),
        ("serverWins", "theirs", "theirs"),
        ("optimistic", "theirs", "ours"),
    ],
)
def test_a_conflict_is_decided_by_the_strategy(
    opened: Opened, strategy: Any, there: str, here: str
) -> None:
    shelf = Shelf()
    store = opened(shelf).collection("notes", conflicts=strategy)
    store.save({"_id": "a", "by": "both"})
    store.push()
    shelf.put("notes", {"_id": "a", "by": "theirs"})
    store.save({"_id": "a", "by": "ours"})
    result = store.push()
    assert shelf.records["notes"]["a"]["by"] == there
    assert store["a"]["by"] == here
    assert bool(result.errors) == (strategy == "optimistic")


def test_observers_hear_what_a_pull_brings(opened: Opened) -> None:
    shelf = Shelf()
    store = opened(shelf).collection("notes")
    with store.changes({"n": {"$gt": 1}}) as received:
        assert not next(received).insertions
        for number in range(4):
            shelf.put("notes", {"_id": f"{number}", "n": number})
        store.pull()
        found: list[str] = []
        while len(found) < 2:
            found += [placed.entity["_id"] for placed in next(received).insertions]
        assert sorted(found) == ["2", "3"]


def test_what_waits_is_pushed_when_the_backend_is_back(opened: Opened) -> None:
    shelf = Shelf()
    client = opened(shelf, push_automatically=True, retries=0)
    store = client.collection("notes")
    events: queue.SimpleQueue[str] = queue.SimpleQueue()

    def cut(_: str) -> None:
        raise ConnectionError("cut")

    shelf.before = cut
    with client.observe_sync(lambda event: events.put(event.event)):
        store.save({"_id": "a"})
        with pytest.raises(kvstore.NetworkError):
            client.collection("notes", "network").count()
        wait_for(events, "offline")
        shelf.before = lambda _: None
        assert client.collection("other", "network").count() == 0
        wait_for(events, "online")
        while store.pending:
            wait_for(events, "finished")
    assert ids(shelf.records["notes"].values()) == ["a"]


class _Numbers(Shelf):
    """One whose records are known by a tenant's number, and whose versions are texts."""

    id = ("tenant", Integer("number"))
    version = Ordered(("meta", "version"))

    def put(self, collection: str, record: Record) -> Record:
        stored = {**record, "meta": {"version": f"{len(self.history):08}"}}
        self.records.setdefault(collection, {})[name_of(stored)] = stored
        self.history.append((collection, Upsert(stored)))
        return stored

    def fetch_ids(self, collection: str, ids: Sequence[Any]) -> Any:
        there = self.records.get(collection, {})
        names = [f"{tenant} {number}" for tenant, number in ids]
        return [there[name] for name in names if name in there]

    def carry_out(self, collection: str, write: Write) -> Result:
        tenant, number = write.id
        name = f"{tenant} {number}"
        found = self.records.get(collection, {}).get(name)
        if not write.may_replace(found and found["meta"]["version"]):
            return Conflicting(found)
        if write.record is not None:
            return Stored(self.put(collection, write.record))
        return Deleted(self.records.get(collection, {}).pop(name, None) is not None)


def name_of(record: Record) -> str:
    return f"{record['tenant']} {record['number']}"


def test_records_are_known_by_several_members(opened: Opened) -> None:
    numbers = _Numbers()
    ours, theirs = (opened(numbers).collection("orders", conflicts="merge") for _ in range(2))
    for number in (9, 10):
        ours.save({"tenant": "a", "number": number, "total": number})
    ours.save({"tenant": "b", "number": 9, "total": 1})
    assert ours.push().pushed == 3
    assert theirs.pull().pulled == 3
    assert theirs['["a",10]']["total"] == 10
    assert theirs.count({"number": {"$gt": 9}}) == 1
    theirs.save({"tenant": "a", "number": 9, "total": 9, "by": "theirs"})
    theirs.push()
    ours.save({"tenant": "a", "number": 9, "total": 99})
    assert not ours.push().errors
    assert numbers.records["orders"]["a 9"]["total"] == 99
    assert numbers.records["orders"]["a 9"]["by"] == "theirs"
    with pytest.raises(kvstore.InvalidError, match="number"):
        ours.save({"tenant": "a", "total": 5})


def test_a_name_is_given_once_and_a_backend_lives_as_long_as_its_clients(tmp_path: Path) -> None:
    shelf = Shelf()
    shelf.put("notes", {"_id": "a"})
    alive = weakref.ref(shelf)
    first = register_backend("the name", shelf)
    with pytest.raises(kvstore.ConflictError):
        register_backend("the name", Shelf())
    client = kvstore.Client(app_key="k", backend="the name", data_directory=tmp_path)
    first.close()
    first.close()
    with pytest.raises(kvstore.KVError, match="the name"):
        kvstore.Client(app_key="k", backend="the name", data_directory=tmp_path / "other")
    del shelf
    gc.collect()
    assert client.collection("notes").pull().pulled == 1
    client.close()
    gc.collect()
    assert alive() is None


def test_what_is_no_backend_is_refused() -> None:
    with pytest.raises(TypeError):
        register_backend("x", object())  # type: ignore[arg-type]
    with pytest.raises(kvstore.InvalidError):
        register_backend("", Shelf())
