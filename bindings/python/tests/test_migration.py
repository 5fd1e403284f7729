"""Handlers that make records of a former schema those of a new one."""

from __future__ import annotations

import asyncio
import gc
import signal
import subprocess
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

import kvstore
from kvstore import aio

OLD = "type Person @model { id: ID! first: String! last: String! }"
NEW = "type Person @model { id: ID! name: String! }"
RULES = {"Person": {"drop": ["first", "last"]}}


def _open(directory: Path, schema: str, handler: Any = None, **options: Any) -> kvstore.Client:
    if handler is not None:
        options["on_schema_change"] = {"migrate": RULES, "handler": handler}
    return kvstore.Client(app_key="kid", schema=schema, data_directory=directory, **options)


def _fill(directory: Path, count: int = 2, text: str = "") -> None:
    with _open(directory, OLD, durability="normal") as client:
        people = client.collection("Person")
        for start in range(0, count, 1000):
            some = range(start, min(start + 1000, count))
            people.save_many({"id": str(i), "first": f"F{i}", "last": f"L{text}"} for i in some)


def _named(record: kvstore.MigratingRecord) -> dict[str, Any]:
    return {**record.record, "name": f"{record.former['first']} {record.former['last']}"}


def test_a_handler_makes_the_records_of_the_new_schema(tmp_path: Path) -> None:
    _fill(tmp_path)
    asked: list[kvstore.MigratingRecord] = []

    def handler(record: kvstore.MigratingRecord) -> dict[str, Any]:
        asked.append(record)
        return _named(record)

    with _open(tmp_path, NEW, handler) as client:
        people = client.collection("Person")
        assert people["1"] == {"id": "1", "name": "F1 L"}
        assert [write.id for write in people.pending] == ["0", "1"]
    assert asked[0] == kvstore.MigratingRecord(
        "Person", "Person", "0", {"id": "0", "first": "F0", "last": "L"}, {"id": "0"}
    )
    with _open(tmp_path, NEW, handler):
        assert len(asked) == 2


def test_none_leaves_a_record_as_the_rules_change_it(tmp_path: Path) -> None:
    _fill(tmp_path)
    rules = {"Person": {"drop": ["last"], "rename": {"first": "name"}}}
    change = {"migrate": rules, "handler": lambda record: None}
    with _open(tmp_path, NEW, on_schema_change=change) as client:
        assert client.collection("Person")["1"] == {"id": "1", "name": "F1"}


def test_an_exception_leaves_everything_as_it_was(tmp_path: Path) -> None:
    _fill(tmp_path)

    def handler(record: kvstore.MigratingRecord) -> dict[str, Any]:
        if record.id == "1":
            raise LookupError("nobody \0 knows")
        return _named(record)

    message = (
        'The record "1" of Person .* the migration handler failed: LookupError: nobody   knows'
    )
    with pytest.raises(kvstore.ConflictError, match=message) as raised:
        _open(tmp_path, NEW, handler)
    assert isinstance(raised.value.__cause__, LookupError)
    assert raised.value.id == "1"
    with _open(tmp_path, OLD) as client:
        assert client.collection("Person")["0"]["first"] == "F0"


def test_what_interrupts_a_handler_interrupts_the_opening(tmp_path: Path) -> None:
    _fill(tmp_path)

    def handler(record: kvstore.MigratingRecord) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _open(tmp_path, NEW, handler)


@pytest.mark.parametrize("answer", [7, "text", ["a"], {"name": object()}, {"name": 7}, {}])
def test_an_answer_that_is_no_record_is_refused(tmp_path: Path, answer: Any) -> None:
    _fill(tmp_path)
    with pytest.raises(kvstore.ConflictError, match='The record "0" of Person'):
        _open(tmp_path, NEW, lambda record: answer)
    with _open(tmp_path, OLD) as client:
        assert client.collection("Person").count() == 2


def test_a_handler_cannot_be_async(tmp_path: Path) -> None:
    async def handler(record: kvstore.MigratingRecord) -> None: ...

    with pytest.raises(TypeError, match="migration handler cannot be an async function"):
        _open(tmp_path, NEW, handler)


def test_a_handler_cannot_open_or_write_local_data(tmp_path: Path) -> None:
    _fill(tmp_path)
    refused = []

    def handler(record: kvstore.MigratingRecord) -> dict[str, Any]:
        with pytest.raises(kvstore.MisuseError, match="migration handler"):
            _open(tmp_path, OLD)
        refused.append(record.id)
        return _named(record)

    _open(tmp_path, NEW, handler).close()
    assert refused == ["0", "1"]


def test_a_handler_goes_with_its_client(tmp_path: Path) -> None:
    class Handler:
        def __call__(self, record: kvstore.MigratingRecord) -> dict[str, Any]:
            return _named(record)

    handler = Handler()
    gone = weakref.ref(handler)
    client = _open(tmp_path, OLD, handler)
    with _open(tmp_path, OLD) as former:
        tagged = former.collection("Person", tag="t")
        tagged.save({"id": "a", "first": "F", "last": "L"})
    del handler
    gc.collect()
    assert gone() is not None
    client.close()
    gc.collect()
    assert gone() is None


def test_a_client_for_asyncio_migrates_where_it_is_opened(tmp_path: Path) -> None:
    _fill(tmp_path)

    async def main() -> None:
        change = {"migrate": RULES, "handler": _named}
        client = await asyncio.to_thread(
            aio.Client,
            app_key="kid",
            schema=NEW,
            data_directory=tmp_path,
            on_schema_change=change,
        )
        person = await client.collection("Person").get("1")
        assert person is not None
        assert person["name"] == "F1 L"
        await client.close()

    asyncio.run(main())


#: Opens the data with a handler, which says at which record it is, and perhaps waits there.
#: Then tells what that took.
PROGRAM = """
import resource, sys, time
import kvstore

directory, stop = sys.argv[1], int(sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
asked = 0

def handler(record):
    global asked
    asked += 1
    if asked == stop:
        print("here", flush=True)
        time.sleep(600)
    return {"name": record.former["first"] + record.former["last"]}

rules = {"Person": {"drop": ["first", "last"]}}
change = {"migrate": rules, "handler": handler}
schema = "type Person @model { id: ID! name: String! }"
with kvstore.Client(
    app_key="kid", schema=schema, data_directory=directory, on_schema_change=change
) as client:
    assert client.collection("Person").count({"name": {"$exists": False}}) == 0
    print(asked, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_20_000_records_need_the_memory_of_a_page(tmp_path: Path) -> None:
    _fill(tmp_path, 20_000, text="x" * 1000)
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path, "0"], capture_output=True, text=True, check=True
    )
    asked, grown = map(int, run.stdout.split())
    assert asked == 20_000
    assert grown < 16 * 1024, f"{grown} KiB"


def test_a_process_that_is_killed_in_the_middle_has_changed_nothing(tmp_path: Path) -> None:
    _fill(tmp_path, 1000, text="x" * 1000)
    for stop in (1, 201, 777, 1000):
        run = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, tmp_path, str(stop)], stdout=subprocess.PIPE, text=True
        )
        assert run.stdout is not None
        with run.stdout:
            assert run.stdout.readline() == "here\n"
            run.kill()
            assert run.wait() == -signal.SIGKILL
        with _open(tmp_path, OLD) as client:
            people = list(client.collection("Person").find())
            assert len(people) == 1000
            assert all(set(person) == {"id", "first", "last"} for person in people)
    asked = 0

    def handler(record: kvstore.MigratingRecord) -> dict[str, Any]:
        nonlocal asked
        asked += 1
        return _named(record)

    with _open(tmp_path, NEW, handler) as client:
        assert asked == 1000
        assert len(client.collection("Person").pending) == 1000
