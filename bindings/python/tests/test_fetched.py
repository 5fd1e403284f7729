"""Results: sequences that load little by little."""

from __future__ import annotations

import asyncio
import gc
import queue
import random
from pathlib import Path
from typing import Any

import pytest
from conftest import APP_KEY

import kvstore
from kvstore import Query, RecordState, aio


def ordered() -> Query:
    """Order by the number; a query that is kept would keep a handle open."""
    return Query(sort={"n": 1})


@pytest.fixture
def numbers(notes: kvstore.Store) -> kvstore.Store:
    notes.save_many({"_id": str(n), "n": n, "odd": n % 2 == 1} for n in range(300))
    return notes


def test_results_are_a_sequence(numbers: kvstore.Store) -> None:
    with numbers.results(ordered()) as found:
        assert len(found) == 300
        assert found[0]["n"] == 0
        assert found[-1]["n"] == 299
        assert [note["n"] for note in found[100:110:3]] == [100, 103, 106, 109]
        assert found[10:200][5:][0]["n"] == 15
        assert len(found[290:400]) == 10
        assert [note["n"] for note in found] == list(range(300))
        assert [note["n"] for note in reversed(found[:3])] == [2, 1, 0]
        for index in (300, -301):
            with pytest.raises(IndexError):
                found[index]
    with pytest.raises(kvstore.MisuseError):
        found[0]
    assert "closed" in repr(found)


def test_a_batch_is_read_when_it_is_asked_for(numbers: kvstore.Store) -> None:
    with numbers.results(ordered(), batch_size=50) as found:
        assert found.statistics()["reads"] == 0
        assert [found[n]["n"] for n in (120, 149, 100)] == [120, 149, 100]
        assert found.statistics()["reads"] == 1
        assert len(list(found)) == 300
        assert found.statistics()["reads"] == 6


def test_results_tell_what_was_changed_and_deleted(numbers: kvstore.Store) -> None:
    with numbers.results(ordered()) as found:
        numbers.save({"_id": "1", "n": 1000})
        numbers.remove_by_id("2")
        assert found.state(0) is RecordState.UNCHANGED
        assert found.state(1) is RecordState.CHANGED
        assert found.state(2) is RecordState.DELETED
        with pytest.raises(kvstore.NotFoundError):
            found[2]
        assert [note["n"] for note in found[:4]] == [0, 1000, 3]
        numbers.save({"_id": "0", "n": 7})
        assert found[0]["n"] == 0
        found.refresh()
        assert found[0]["n"] == 7


def test_ids_and_rows(numbers: kvstore.Store) -> None:
    with numbers.ids(ordered()) as ids:
        assert ids[299] == "299"
    rows = numbers.rows(Query(sort={"n": -1}, fields=["n"]))
    assert rows[0] == {"n": 299}
    query = Query(sort={"odd": -1}, fields=["odd"])
    assert list(numbers.rows(query, distinct=True)) == [
        {"odd": True},
        {"odd": False},
    ]
    groups = numbers.rows(
        {"n": {"$lt": 5}},
        group_by=["odd"],
        aggregates={"many": "count"},
        having={"many": {"$gt": 2}},
    )
    assert list(groups) == [{"odd": False, "many": 3}]
    with pytest.raises(kvstore.InvalidError):
        numbers.rows(having={"n": 1})


def test_results_of_the_backend(online: kvstore.Client, unique: str) -> None:
    with online.collection(unique, type="network") as notes, online.collection(unique) as synced:
        notes.save_many({"_id": str(n), "n": n} for n in range(20))
        with notes.results(ordered()) as found:
            assert [note["n"] for note in found] == list(range(20))
        with synced.results(ordered(), read_policy="forceNetwork") as found:
            assert found[19]["n"] == 19


def test_a_slice_keeps_results_store_and_client_alive(tmp_path: Path) -> None:
    def some() -> object:
        client = kvstore.Client(app_key=APP_KEY, host=None, data_directory=tmp_path)
        notes = client.collection("notes")
        notes.save_many({"n": n} for n in range(10))
        return notes.results(ordered())[3:5]

    kept = some()
    gc.collect()
    assert [note["n"] for note in kept] == [3, 4]  # type: ignore[attr-defined]


def test_results_in_a_loop(tmp_path: Path) -> None:
    async def main() -> None:
        async with aio.Client(app_key=APP_KEY, host=None, data_directory=tmp_path) as client:
            notes = client.collection("notes")
            await notes.save_many({"_id": str(n), "n": n} for n in range(300))
            async with await notes.results(ordered(), batch_size=7) as found:
                assert len(found) == 300
                assert (await found.get(42))["n"] == 42
                assert [note["n"] for note in await found.between(5, 8)] == [5, 6, 7]
                assert [note["n"] async for note in found] == list(range(300))
                await notes.remove_by_id("1")
                found.refresh()
                assert await found.state(1) is RecordState.DELETED
            async with await notes.ids(ordered()) as ids:
                assert await ids.get(0) == "0"
            async with await notes.rows(aggregates={"n": "count"}) as rows:
                assert await rows.get(0) == {"n": 299}

    asyncio.run(main())


class Shown:
    """What an application shows of a list, kept up to date by its changes alone."""

    def __init__(self, results: kvstore.Results[dict[str, Any]]) -> None:
        self.results = results
        self.rows = [note["n"] for note in results]
        self.events: queue.Queue[kvstore.ListChanges | kvstore.KVError] = queue.Queue()

    def __call__(self, changes: kvstore.ListChanges | kvstore.KVError) -> None:
        """Apply changes; what is new is read from the list, which has it at these positions."""
        if isinstance(changes, kvstore.ListChanges):
            coming = {index: self.results[index]["n"] for index in changes.insertions}
            coming |= {move.index: self.rows[move.origin] for move in changes.moves}
            going = [*changes.deletions, *(move.origin for move in changes.moves)]
            for index in sorted(going, reverse=True):
                del self.rows[index]
            for index in sorted(coming):
                self.rows.insert(index, coming[index])
            for index in changes.modifications:
                self.rows[index] = self.results[index]["n"]
            assert len(self.rows) == changes.count == len(self.results)
        self.events.put(changes)


def test_an_observed_list_follows_its_query(numbers: kvstore.Store) -> None:
    query = Query({"n": {"$gte": 10}}, sort={"n": 1}, fields=["n"])
    with numbers.results(query, batch_size=7) as found:
        shown = Shown(found)
        numbers.remove_by_id("20")
        with found.observe(shown):
            first = shown.events.get(timeout=60)
            assert isinstance(first, kvstore.ListChanges)
            assert (first.deletions, first.count) == ([10], 289)
            with pytest.raises(kvstore.MisuseError, match="followed already"):
                found.observe(shown)
            dice = random.Random(seed := random.randrange(1 << 32))
            for _ in range(30):
                for _ in range(dice.randrange(1, 4)):
                    id = str(dice.randrange(400))
                    if dice.random() < 0.3:
                        numbers.remove_by_id(id)
                    else:
                        numbers.save({"_id": id, "n": dice.randrange(400)})
                now = [note["n"] for note in numbers.find(query)]
                while shown.rows != now:
                    assert shown.events.get(timeout=60), seed
                assert [note["n"] for note in found] == now, seed
        numbers.save({"_id": "a", "n": 10})
        assert [note["n"] for note in found] == shown.rows


def test_a_large_change_of_a_list_is_one_event(numbers: kvstore.Store) -> None:
    with numbers.results(ordered()) as found:
        shown = Shown(found)
        with found.observe(shown):
            numbers.remove({})
            while shown.rows:
                shown.events.get(timeout=60)
            assert len(found) == 0
            numbers.save_many({"_id": f"x{n}", "n": n} for n in range(5))
            while shown.rows != list(range(5)):
                shown.events.get(timeout=60)
            with pytest.raises(IndexError):
                found[5]


def test_only_lists_of_local_records_are_observed(numbers: kvstore.Store) -> None:
    with (
        numbers.rows(group_by=["odd"]) as groups,
        pytest.raises(kvstore.UnsupportedError),
    ):
        groups.observe(lambda _: None)
