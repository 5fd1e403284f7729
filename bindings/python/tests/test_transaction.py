"""Transactions, updates of members, versions, and salvage."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from conftest import APP_KEY, open_client
from damage import damage
from kvstored import Server

import kvstore
from kvstore import aio


def test_a_transaction_writes_everything_at_the_end_of_its_block(local: kvstore.Client) -> None:
    accounts, journal = local.collection("accounts"), local.collection("journal")
    accounts.save_many([{"_id": "a", "n": 10}, {"_id": "b", "n": 0}])
    with local.transaction() as transaction:
        transaction.update(accounts, {"_id": "a"}, {"$inc": {"n": -3}})
        transaction.save(accounts, {"_id": "b", "n": 3})
        transaction.save(journal, {"moved": 3})
        assert transaction.find_by_id(accounts, "a")["n"] == 7
        assert accounts["a"]["n"] == 10
        assert [entity["_id"] for entity in transaction.find(accounts, {"n": {"$lt": 5}})] == ["b"]
        assert transaction.count(journal) == 1
        assert transaction.get(journal, "none") is None
    assert [entity["n"] for entity in accounts] == [7, 3]
    assert journal.count() == 1


def test_an_exception_undoes_a_transaction(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.save({"_id": "a"})
    ended: list[kvstore.Transaction] = []

    def fail() -> None:
        with local.transaction() as transaction:
            ended.append(transaction)
            transaction.remove_by_id(notes, "a")
            assert transaction.remove(notes, {}) == 0
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert "a" in notes
    with pytest.raises(kvstore.MisuseError):
        ended[0].count(notes)


def test_a_commit_fails_when_what_was_read_has_changed(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.save({"_id": "a", "n": 1})

    def interfere() -> None:
        with local.transaction() as transaction:
            transaction.find_by_id(notes, "a")
            transaction.save(notes, {"_id": "b"})
            notes.save({"_id": "a", "n": 2})

    with pytest.raises(kvstore.ConflictError):
        interfere()
    assert "b" not in notes


def test_a_function_runs_again_until_nobody_was_faster(local: kvstore.Client) -> None:
    notes = local.collection("notes")
    notes.save({"_id": "a", "n": 0})

    def add_one(transaction: kvstore.Transaction) -> int:
        n = int(transaction.find_by_id(notes, "a")["n"]) + 1
        transaction.save(notes, {"_id": "a", "n": n})
        return n

    def add_often() -> None:
        for _ in range(200):
            local.transact(add_one, retries=100_000)

    threads = [threading.Thread(target=add_often) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert notes["a"]["n"] == 800


def test_what_the_function_raises_comes_out_and_nothing_is_written(local: kvstore.Client) -> None:
    notes = local.collection("notes")

    def fail(transaction: kvstore.Transaction) -> None:
        transaction.save(notes, {"_id": "a"})
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        local.transact(fail)
    assert notes.count() == 0

    async def wrong(transaction: kvstore.Transaction) -> None: ...

    with pytest.raises(TypeError, match="async"):
        local.transact(wrong)  # type: ignore[unused-coroutine]


def test_an_update_changes_members_and_raises_versions(notes: kvstore.Store) -> None:
    notes.save_many([{"_id": "a", "n": 1, "tags": ["x"]}, {"_id": "b", "n": 5}])
    before = notes.version("a")
    result = notes.update({"n": {"$lt": 5}}, {"$inc": {"n": 1}, "$push": {"tags": "y"}})
    assert result == kvstore.UpdateResult(matched=1, modified=1)
    assert notes["a"] == {"_id": "a", "n": 2, "tags": ["x", "y"]}
    assert notes.version("a") == before + 1
    with pytest.raises(kvstore.InvalidError) as caught:
        notes.update(None, {"$inc": {"tags": 1}})
    assert caught.value.id == "a"
    with pytest.raises(kvstore.NotFoundError):
        notes.version("nobody")


def test_the_same_for_asyncio(tmp_path: Path) -> None:
    async def work() -> None:
        async with aio.Client(app_key=APP_KEY, host=None, data_directory=tmp_path) as client:
            notes = client.collection("notes")
            await notes.save({"_id": "a", "n": 1})
            version = await notes.version("a")
            assert (await notes.update({"_id": "a"}, {"$inc": {"n": 1}})).modified == 1
            assert await notes.version("a") == version + 1
            await client.transact(lambda t: t.update(notes.blocking, {}, {"$inc": {"n": 5}}))
            assert (await notes.find_by_id("a"))["n"] == 7

    asyncio.run(work())


@pytest.mark.plain_file
def test_a_damaged_entity_is_an_error_and_the_others_can_be_read(tmp_path: Path) -> None:
    options: dict[str, Any] = {"app_key": APP_KEY, "host": None, "data_directory": tmp_path}
    with kvstore.Client(**options) as client:
        for name in "a", "b", "c":
            client.collection("notes").save({"_id": name, "text": f"milk {name}"})
    damage(tmp_path, "milk b", "silk b")
    with kvstore.Client(**options) as client:
        notes = client.collection("notes")
        with pytest.raises(kvstore.CorruptError) as caught:
            notes.find_by_id("b")
        assert caught.value.id == "b"
        cursor = notes.find()
        assert next(cursor)["_id"] == "a"
        with pytest.raises(kvstore.CorruptError):
            next(cursor)
        assert [note["_id"] for note in cursor] == ["c"]
        report = client.repair()
        assert report["damaged"] == 1
        assert [one["_id"] for one in report["quarantined"]] == ["b"]
        notes.save({"_id": "b", "text": "bread"})
        assert client.repair()["damaged"] == 0
        assert len(list(notes.find())) == 3

    async def work() -> None:
        async with aio.Client(**options) as client:
            assert (await client.repair())["entities"] == 3

    asyncio.run(work())


def test_space_is_given_back_when_nobody_reads_an_older_state(
    local: kvstore.Client, tmp_path: Path
) -> None:
    notes = local.collection("notes")
    notes.save_many({"text": "x" * 2000, "n": number} for number in range(500))
    cursor = notes.find()
    assert next(cursor)["n"] == 0
    notes.clear()
    # Writing the file anew has to be over before that.
    with pytest.raises(kvstore.BusyError):
        local.compact(timeout=2)
    assert sum(1 for _ in cursor) == 499
    notes.save({"_id": "last"})
    sizes = local.compact()
    assert 0 < sizes["after"] < 300_000
    assert local.compact() == {"before": sizes["after"], "after": sizes["after"]}
    assert [note["_id"] for note in notes] == ["last"]

    async def work() -> None:
        async with aio.Client(app_key=APP_KEY, host=None, data_directory=tmp_path) as client:
            assert set(await client.compact()) == {"before", "after"}

    asyncio.run(work())


@pytest.mark.plain_file
def test_a_damaged_entity_is_not_sent_and_pulled_again(
    server: Server, tmp_path: Path, unique: str
) -> None:
    with open_client(server.host, tmp_path) as client:
        client.signup(unique, "a password")
        notes = client.collection(unique)
        notes.save_many([{"_id": "a", "text": "milk a"}, {"_id": "b", "text": "milk b"}])
        notes.sync()
        notes.save_many([{"_id": "c", "text": "milk c"}, {"_id": "d", "text": "milk d"}])
    damage(tmp_path, "milk b", "silk b")
    damage(tmp_path, "milk c", "silk c")
    with open_client(server.host, tmp_path) as client:
        notes = client.collection(unique)
        pushed = notes.push()
        assert (pushed.pushed, pushed.quarantined) == (1, 1)
        assert [(type(error), error.id) for error in pushed.errors] == [(kvstore.CorruptError, "c")]
        report = client.repair()
        assert [one["_id"] for one in report["removed"]] == ["b"]
        assert [one["_id"] for one in report["quarantined"]] == ["c"]
        notes.save({"_id": "c", "text": "bread"})
        result = notes.sync()
        assert (result.pushed, result.quarantined) == (1, 0)
        assert {note["_id"]: note["text"] for note in notes.find()} == {
            "a": "milk a",
            "b": "milk b",
            "c": "bread",
            "d": "milk d",
        }


@pytest.mark.plain_file
def test_a_data_file_is_salvaged_by_call_and_by_command(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with kvstore.Client(app_key=APP_KEY, host=None, data_directory=data) as client:
        client.collection("notes").save({"_id": "a", "text": "milk"})
    report = kvstore.salvage(tmp_path / "saved", app_key=APP_KEY, host=None, data_directory=data)
    assert report["collections"]["notes"]["lines"] == 1
    line = json.loads((tmp_path / "saved" / "pending.ndjson").read_text())
    assert line["entity"] == {"_id": "a", "text": "milk"}
    command = [sys.executable, "-m", "kvstore", "salvage", str(data), str(tmp_path / "again")]
    done = subprocess.run(
        [*command, "--app-key", APP_KEY], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == report
    failed = subprocess.run(
        [*command, "--app-key", "other"], capture_output=True, text=True, check=False
    )
    assert failed.returncode == 1
    assert "does not exist" in failed.stderr
