"""Following a query over local data."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import kvstore


class Mirror:
    """A copy of a result that only notifications change."""

    def __init__(self) -> None:
        self.result: list[kvstore.Entity] = []
        self._news = threading.Condition()

    def __call__(self, changes: kvstore.Changes | kvstore.KVError) -> None:
        """Take a change."""
        assert isinstance(changes, kvstore.Changes)
        with self._news:
            changes.apply(self.result)
            self._news.notify_all()

    def wait(self, names: list[str]) -> None:
        """Wait for a result."""
        with self._news:
            assert self._news.wait_for(
                lambda: [entity["name"] for entity in self.result] == names, timeout=60
            ), self.result


@pytest.fixture
def client(tmp_path: Path) -> Iterator[kvstore.Client]:
    with kvstore.Client(app_key="kid", host=None, data_directory=tmp_path) as client:
        yield client


@pytest.fixture
def notes(client: kvstore.Client) -> kvstore.Store:
    return client.collection("notes")


def test_iterating_gives_changes_until_the_client_is_closed(
    client: kvstore.Client, notes: kvstore.Store
) -> None:
    result: list[kvstore.Entity] = []
    with notes.changes({"n": {"$gt": 0}}) as changes:
        next(changes).apply(result)
        for number in range(3):
            notes.save({"_id": str(number), "n": number})
            # What is written inside of the loop comes out of it: nothing waits for the loop.
            if number > 0:
                next(changes).apply(result)
        assert [entity["n"] for entity in result] == [1, 2]
        client.close()
        assert list(changes) == []


def test_who_iterates_too_slowly_gets_the_whole_result_again(notes: kvstore.Store) -> None:
    result: list[kvstore.Entity] = []
    seen = threading.Semaphore(0)
    with notes.changes() as changes, notes.observe(None, lambda _: seen.release()):
        assert seen.acquire(timeout=60)
        for number in range(300):
            notes.save({"_id": str(number)})
            assert seen.acquire(timeout=60)
        notes.save({"_id": "last"})
        initial = 0
        for change in changes:
            initial += change.initial
            change.apply(result)
            if len(result) == 301:
                break
        assert initial == 2
        changes.close()
        assert list(changes) == []


def test_iterating_asynchronously_loses_nothing_to_a_cancelled_wait(notes: kvstore.Store) -> None:
    async def follow() -> list[int]:
        counts = []
        async with notes.changes() as changes:
            counts.append((await anext(changes)).count)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(changes), 0.05)
            notes.save({"_id": "a"})
            async for change in changes:
                counts.append(change.count)
                if change.count == 2:
                    break
                notes.save({"_id": "b"})
        return counts

    assert asyncio.run(follow()) == [0, 1, 2]


def test_a_copy_follows_writes_of_this_client_and_of_another_one(tmp_path: Path) -> None:
    with (
        kvstore.Client(app_key="kid", host=None, data_directory=tmp_path) as here,
        kvstore.Client(app_key="kid", host=None, data_directory=tmp_path) as there,
    ):
        mirror, single = Mirror(), Mirror()
        notes, others = here.collection("notes"), there.collection("notes")
        notes.save({"_id": "1", "name": "b"})
        query = kvstore.Query({"hidden": {"$ne": True}}, sort={"name": 1})
        with notes.observe(query, mirror), notes.observe_by_id("2", single):
            mirror.wait(["b"])
            others.save({"_id": "2", "name": "a"})
            mirror.wait(["a", "b"])
            single.wait(["a"])
            notes.save({"_id": "2", "name": "c"})
            mirror.wait(["b", "c"])
            others.save({"_id": "1", "name": "b", "hidden": True})
            mirror.wait(["c"])
            others.clear()
            mirror.wait([])
