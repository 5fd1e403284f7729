"""Saves and removals that happen only if the stored entity is what the caller says."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from conftest import open_client
from kvstored import Server

import kvstore
from kvstore import F, aio


def test_an_insert_never_replaces_what_is_there(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.insert({"_id": "a", "n": 1})
    with pytest.raises(kvstore.ConflictError) as raised:
        notes.insert({"_id": "a", "n": 2})
    assert raised.value.id == "a"
    with pytest.raises(kvstore.ConflictError):
        notes.save_many([{"_id": "b"}, {"_id": "a"}], if_missing=True)
    assert list(notes.find()) == [{"_id": "a", "n": 1}]
    assert notes.insert({"n": 3})["n"] == 3
    notes.save({"_id": "a", "n": 4}, if_missing=False)


def test_a_version_is_met_once(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.save({"_id": "a", "n": 1})
    version = notes.version("a")
    notes.save({"_id": "a", "n": 2}, if_version=version)
    with pytest.raises(kvstore.ConflictError):
        notes.save({"_id": "a", "n": 3}, if_version=version)
    with pytest.raises(kvstore.ConflictError):
        notes.remove_by_id("a", if_version=version)
    assert notes.remove_by_id("a", if_version=version + 1) == 1


def test_a_filter_is_asked_of_what_is_stored(local: kvstore.Client) -> None:
    tasks = local.collection("tasks")
    tasks.save({"_id": "a", "state": "open"})
    tasks.save({"_id": "a", "state": "taken"}, if_match={"state": "open"})
    with pytest.raises(kvstore.ConflictError):
        tasks.save({"_id": "a", "state": "mine"}, if_match={"state": "open"})
    with pytest.raises(kvstore.InvalidError, match="one condition"):
        tasks.save({"_id": "a"}, if_match={}, if_version=1)
    with pytest.raises(kvstore.InvalidError):
        tasks.save({"_id": "a"}, if_version=0)


def test_a_query_is_a_condition_by_its_filter(local: kvstore.Client) -> None:
    tasks = local.collection("tasks")
    tasks.save({"_id": "a", "n": 4, "title": "a task"})
    tasks.save({"_id": "a", "n": 5, "title": "a task"}, if_match=F.n > 3)
    tasks.save({"_id": "a", "n": 6}, if_match=(F.n == 5) & F.title.has_text("task"))
    format = kvstore.Query.from_format("n > %d", 6)
    with pytest.raises(kvstore.ConflictError):
        tasks.save({"_id": "a", "n": 7}, if_match=format)
    with local.transaction() as transaction, pytest.raises(kvstore.ConflictError):
        transaction.remove_by_id(tasks, "a", if_match=F.n < 6)
    assert tasks.remove_by_id("a", if_match=kvstore.Query(F.n == 6, limit=1)) == 1


def test_conditions_hold_in_transactions(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.save({"_id": "a", "n": 1})
    with local.transaction() as transaction:
        with pytest.raises(kvstore.ConflictError):
            transaction.save(notes, {"_id": "a"}, if_missing=True)
        transaction.save(notes, {"_id": "b"}, if_missing=True)
        transaction.remove_by_id(notes, "a", if_match={"n": 1})
    assert [note["_id"] for note in notes.find()] == ["b"]


def test_conditions_hold_in_coroutines(tmp_path: Path) -> None:
    async def insert() -> int:
        async with aio.Client(app_key="kid", host=None, data_directory=tmp_path) as client:
            notes = client.collection("notes")
            results = await asyncio.gather(
                *(notes.insert({"_id": "a", "by": number}) for number in range(8)),
                return_exceptions=True,
            )
            with pytest.raises(kvstore.ConflictError):
                await notes.remove_by_id("a", if_version=1)
        assert all(isinstance(result, dict | kvstore.ConflictError) for result in results)
        return sum(isinstance(result, dict) for result in results)

    assert asyncio.run(insert()) == 1


def _insert_all(notes: kvstore.Store, won: list[int]) -> None:
    for number in range(100):
        try:
            notes.insert({"_id": str(number)})
        except kvstore.ConflictError:
            continue
        won.append(number)


def test_of_four_threads_one_wins_each(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    won: list[list[int]] = [[], [], [], []]
    threads = [threading.Thread(target=_insert_all, args=(notes, some)) for some in won]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for some in won for number in some) == list(range(100))


def _insert_in_a_process(directory: Path, won: Any) -> None:
    with kvstore.Client(app_key="kid", host=None, data_directory=directory) as client:
        some: list[int] = []
        _insert_all(client.collection("notes"), some)
    won.put(some)


def test_of_four_processes_one_wins_each(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    won = context.Queue()
    processes = [
        context.Process(target=_insert_in_a_process, args=(tmp_path, won)) for _ in range(4)
    ]
    for process in processes:
        process.start()
    all_won = [number for _ in processes for number in won.get(timeout=60)]
    for process in processes:
        process.join()
    assert sorted(all_won) == list(range(100))


def test_a_pending_insert_survives_a_restart_and_replaces_nothing(
    server: Server, tmp_path: Path, unique: str
) -> None:
    """An ordinary write replaces what another device has made; an insert must not."""
    with open_client(server.host, tmp_path / "here") as client:
        client.signup(unique, "a password")
        notes = client.collection(unique, "sync")
        notes.insert({"_id": "taken", "by": "us"})
        notes.insert({"_id": "free", "by": "us"})
        notes.save({"_id": "plain", "by": "us"})
    with open_client(server.host, tmp_path / "there") as other:
        other.login(unique, "a password")
        theirs = other.collection(unique, "network")
        theirs.save_many([{"_id": "taken", "by": "them"}, {"_id": "plain", "by": "them"}])
    with open_client(server.host, tmp_path / "here") as client:
        notes = client.collection(unique, "sync")
        pushed = notes.push()
        assert pushed.pushed == 2
        assert [(error.id, type(error)) for error in pushed.errors] == [
            ("taken", kvstore.ConflictError)
        ]
        assert notes.pending.get("taken").state == "conflict"
        assert len(notes.pending) == 1
        stored = {note["_id"]: note["by"] for note in client.collection(unique, "network").find()}
        assert stored == {"taken": "them", "free": "us", "plain": "us"}
        # Who has looked at it may decide it.
        notes.pending.retry("taken")
        assert not notes.pending


def test_a_version_that_was_met_here_is_met_there(
    server: Server, online: kvstore.Client, tmp_path: Path, unique: str
) -> None:
    notes = online.collection(unique, "sync")
    with open_client(server.host, tmp_path / "there") as other:
        other.login(unique, "a password")
        theirs = other.collection(unique, "network")
        theirs.save_many([{"_id": "a", "n": 1}, {"_id": "b", "n": 1}])
        notes.pull()
        notes.save({"_id": "a", "n": 2}, if_version=notes.version("a"))
        notes.remove_by_id("b", if_match={"n": 1})
        for id in ("a", "b"):
            theirs.save({"_id": id, "n": 3})
        assert [error.id for error in notes.push().errors] == ["a", "b"]
        assert [write.state for write in notes.pending] == ["conflict", "conflict"]
        assert [note["n"] for note in theirs.find()] == [3, 3]


def test_a_network_store_inserts(online: kvstore.Client, unique: str) -> None:
    notes = online.collection(unique, "network")
    notes.insert({"_id": "e1", "n": 1})
    with pytest.raises(kvstore.ConflictError) as raised:
        notes.insert({"_id": "e1", "n": 2})
    assert raised.value.id == "e1"
    result = notes.save_many([{"_id": "e1", "n": 2}, {"_id": "e2", "n": 2}])
    assert [entity and entity["_id"] for entity in result.entities] == [None, "e2"]
    assert [(error.index, error.id) for error in result.errors] == [(0, "e1")]
    assert notes.find_by_id("e1")["n"] == 1
    notes.save({"_id": "e1", "n": 5}, if_match={"n": 1})
    with pytest.raises(kvstore.ConflictError):
        notes.remove_by_id("e1", if_match={"n": 1})
    with pytest.raises(kvstore.UnsupportedError):
        notes.save({"_id": "e1"}, if_version=1)


def test_of_four_clients_that_insert_at_the_backend_one_wins_each(
    server: Server, tmp_path: Path, unique: str
) -> None:
    won: list[list[int]] = [[], [], [], []]
    with ExitStack() as stack:
        clients = [
            stack.enter_context(open_client(server.host, tmp_path / str(number)))
            for number in range(4)
        ]
        clients[0].signup(unique, "a password")
        for client in clients[1:]:
            client.login(unique, "a password")
        threads = [
            threading.Thread(target=_insert_all, args=(client.collection(unique, "network"), some))
            for client, some in zip(clients, won, strict=True)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(number for some in won for number in some) == list(range(100))
