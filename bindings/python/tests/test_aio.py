"""The client for asyncio, against a real server."""

from __future__ import annotations

import asyncio
import gc
import threading
import tracemalloc
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from conftest import APP_KEY, APP_SECRET, Silence
from kvstored import Server

import kvstore
from kvstore import aio

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run in a loop that reports whatever holds it up, or is forgotten."""
    troubles: list[dict[str, Any]] = []

    async def watched() -> T:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: troubles.append(context)
        )
        try:
            return await main
        finally:
            gc.collect()

    result = asyncio.run(watched())
    assert troubles == []
    return result


@asynccontextmanager
async def opened(host: str | None, directory: Path) -> AsyncIterator[aio.Client]:
    """Open a client, with a user if there is a backend."""
    async with aio.Client(
        app_key=APP_KEY, app_secret=APP_SECRET, host=host, data_directory=directory
    ) as client:
        yield client


def test_a_program_saves_pushes_and_pulls(server: Server, tmp_path: Path, unique: str) -> None:
    async def main() -> None:
        async with opened(server.host, tmp_path / "a") as client:
            user = await client.signup(unique, "a password")
            assert client.active_user is not None
            assert (await client.me())["_id"] == user["_id"]
            assert await client.user_exists(unique)
            assert "version" in await client.ping()
            notes = client.collection(unique)
            saved = await notes.save({"text": "milk"})
            await notes.save_many([{"_id": "b", "text": "bread"}, {"_id": "w", "text": "wine"}])
            assert await notes.count() == 3
            assert await notes.pending.count() == 3
            assert {write.id async for write in notes.pending} == {saved["_id"], "b", "w"}
            assert (await notes.push()).pushed == 3
            assert await notes.remove_by_id("b") == 1
            assert await notes.remove({"text": "wine"}) == 1
            synced = await notes.sync()
            assert (synced.pushed, synced.pulled) == (2, 1)
            assert (await notes.find_by_id(saved["_id"]))["text"] == "milk"
            assert await notes.get("nothing", 5) == 5
            assert await notes.find_by_ids(
                ["nothing", saved["_id"]], read_policy="forceNetwork"
            ) == [
                None,
                await notes.find_by_id(saved["_id"]),
            ]
            assert (await notes.pull()).pulled == 1
            await client.logout()
            assert client.active_user is None

    run(main())


def test_many_operations_run_at_the_same_time(server: Server, tmp_path: Path, unique: str) -> None:
    async def main() -> None:
        async with opened(server.host, tmp_path / "a") as client:
            await client.signup()
            notes = client.collection(unique, "network")
            saved = await asyncio.gather(*(notes.save({"n": n}) for n in range(50)))
            assert [note["n"] for note in saved] == list(range(50))
            assert sorted([note["n"] async for note in notes]) == list(range(50))

    run(main())


def test_errors_are_those_of_the_blocking_calls(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(None, tmp_path) as client:
            notes = client.collection("notes")
            with pytest.raises(kvstore.NotFoundError) as caught:
                await notes.find_by_id("nothing")
            assert caught.value.id == "nothing"
            with pytest.raises(kvstore.InvalidError):
                await notes.save(b"{")
            with pytest.raises(kvstore.InvalidError):
                await anext(notes.find({"$no": 1}))
            with pytest.raises(kvstore.UnsupportedError):
                await notes.pull()

    run(main())


def test_what_python_can_not_read_is_an_error_and_no_hang(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(None, tmp_path) as client:
            notes = client.collection("notes")
            with pytest.raises(ValueError, match=r"limit|number"):
                await notes.save('{"_id":"n","n":' + "1" * 5000 + "}")

    run(asyncio.wait_for(main(), 60))


def test_cancelling_a_task_cancels_its_request(silence: Silence, tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(silence.host, tmp_path) as client:
            task = asyncio.create_task(client.ping())
            await asyncio.to_thread(silence.asked.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(silence.closed.wait)

    run(main())


def test_a_find_is_cancelled_too(silence: Silence, tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(silence.host, tmp_path) as client:
            found = client.collection("notes", "network").find()
            task = asyncio.ensure_future(anext(found))
            await asyncio.to_thread(silence.asked.wait)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(task, 0.01)
            await asyncio.to_thread(silence.closed.wait)

    run(main())


def test_closing_ends_what_waits(silence: Silence, tmp_path: Path) -> None:
    async def main() -> None:
        client = aio.Client(
            app_key=APP_KEY, app_secret=APP_SECRET, host=silence.host, data_directory=tmp_path
        )
        task = asyncio.create_task(client.ping())
        await asyncio.to_thread(silence.asked.wait)
        await client.close()
        await client.close()
        with pytest.raises((kvstore.CancelledError, kvstore.MisuseError)):
            await task

    run(main())


def test_a_client_may_be_closed_in_a_callback_of_the_loop(
    server: Server, tmp_path: Path, unique: str
) -> None:
    async def main() -> None:
        async with opened(server.host, tmp_path) as client:
            closed = asyncio.get_running_loop().create_future()

            def close(task: asyncio.Task[Any]) -> None:
                client.blocking.close()
                closed.set_result(None)

            asyncio.create_task(client.ping()).add_done_callback(close)
            await closed
            with pytest.raises(kvstore.MisuseError):
                await client.ping()

    run(main())


def test_several_loops_share_a_client(server: Server, tmp_path: Path, unique: str) -> None:
    client = aio.Client(
        app_key=APP_KEY, app_secret=APP_SECRET, host=server.host, data_directory=tmp_path
    )
    run(client.signup())
    notes = client.collection(unique, "network")

    async def save(first: int) -> None:
        for n in range(first, first + 10):
            await notes.save({"_id": f"n{n}"})

    threads = [threading.Thread(target=run, args=(save(100 * n),)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert run(notes.count()) == 40
    run(client.close())


def test_a_loop_that_is_gone_is_not_called(silence: Silence, tmp_path: Path) -> None:
    client = aio.Client(
        app_key=APP_KEY, app_secret=APP_SECRET, host=silence.host, data_directory=tmp_path
    )

    async def begin() -> None:
        task = asyncio.ensure_future(client.ping())
        await asyncio.to_thread(silence.asked.wait)
        task.cancel()

    run(begin())
    client.blocking.close()


def test_a_find_gives_every_entity_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(None, tmp_path) as client:
            notes = client.collection("notes")
            await notes.save_many({"_id": f"n{n:04}", "n": n} for n in range(2000))
            query = kvstore.Query({"n": {"$gte": 10}}, sort={"n": 1})
            assert [note["n"] async for note in notes.find(query)] == list(range(10, 2000))
            assert kvstore.live_objects("cursor") == 0
            async with notes.find() as found:
                await anext(found)
                assert kvstore.live_objects("cursor") == 1
            assert kvstore.live_objects("cursor") == 0
            assert [note async for note in found] == []

    run(main())


def test_entities_that_come_late_are_not_lost_to_a_cancelled_task(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(None, tmp_path) as client:
            notes = client.collection("notes")
            await notes.save_many({"n": n} for n in range(3000))
            seen = []
            async with notes.find(kvstore.Query(sort={"n": 1})) as found:
                seen.append((await anext(found))["n"])
                while len(seen) < 3000:
                    task = asyncio.ensure_future(anext(found))
                    await asyncio.sleep(0)
                    if not task.done() and len(seen) % 2:
                        task.cancel()
                    try:
                        seen.append((await task)["n"])
                    except asyncio.CancelledError:
                        seen.append((await anext(found))["n"])
            assert seen == list(range(3000))

    run(main())


def test_memory_follows_the_page(tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(None, tmp_path) as client:
            notes = client.collection("notes")
            await notes.save_many({"n": n, "text": "x" * 500} for n in range(20_000))
            gc.collect()
            tracemalloc.start()
            count = 0
            async for _ in notes.find():
                count += 1
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert count == 20_000
            # All of them are more than 10 MB; a page of 512 is less than one.
            assert peak < 4_000_000

    run(main())


def test_the_loop_goes_on_while_a_call_waits(silence: Silence, tmp_path: Path) -> None:
    async def main() -> None:
        async with opened(silence.host, tmp_path) as client:
            task = asyncio.create_task(client.ping())
            await asyncio.to_thread(silence.asked.wait)
            for _ in range(1000):
                await asyncio.sleep(0)
            assert not task.done()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(main())


def test_a_client_for_asyncio_is_not_pumped(tmp_path: Path) -> None:
    with pytest.raises(kvstore.InvalidError):
        aio.Client(app_key=APP_KEY, host=None, data_directory=tmp_path, callbacks="pump")


def test_indexes_and_the_queue(tmp_path: Path) -> None:
    async def main() -> None:
        async with (
            opened(None, tmp_path) as client,
            client.collection("notes") as notes,
        ):
            await notes.create_index({"n": 1})
            [index] = await notes.indexes()
            await notes.save({"_id": "n1", "n": 1})
            assert (await notes.explain({"n": 1})).access == "index"
            await notes.drop_index(index.name)
            assert (await notes.pending.get("n1")).entity is not None
            await notes.pending.edit("n1", {"_id": "n1", "n": 2})
            await notes.pending.drop("n1")
            assert await notes.purge() == 0
            assert await notes.clear() == 1
            assert "notes" in repr(notes)

    run(main())


def test_events_are_iterated_over_until_the_end(
    server: Server, tmp_path: Path, unique: str
) -> None:
    async def main() -> None:
        async with opened(server.host, tmp_path) as client:
            await client.signup()
            notes = client.collection(unique)
            await notes.save({"n": 1})
            async with client.sync_events() as events:
                await notes.push()
                async for event in events:
                    if event.event == "finished":
                        break
                assert (event.operation, event.collection) == ("push", unique)
            with pytest.raises(StopAsyncIteration):
                await anext(events)
            later = client.sync_events()
            waiting = asyncio.ensure_future(anext(later))
            await asyncio.sleep(0)
            await client.close()
            with pytest.raises(StopAsyncIteration):
                await waiting
            await later.close()

    run(main())


def test_a_pull_and_a_sync_give_the_entities(server: Server, tmp_path: Path, unique: str) -> None:
    async def main() -> None:
        async with opened(server.host, tmp_path) as client:
            await client.signup()
            notes = client.collection(unique)
            await notes.save_many([{"_id": f"n{number}"} for number in range(3)])
            result, entities = await notes.sync_entities()
            assert result.pushed == 3
            assert sorted([entity["_id"] async for entity in entities]) == ["n0", "n1", "n2"]
            entities = await notes.pull_entities({"_id": "n1"})
            assert [entity["_id"] async for entity in entities] == ["n1"]

    run(main())


def test_what_a_push_has_overwritten_is_an_event(
    server: Server, tmp_path: Path, unique: str
) -> None:
    async def main() -> None:
        async with opened(server.host, tmp_path) as client:
            await client.signup()
            notes = client.collection(unique)
            await notes.save({"_id": "a", "n": 1})
            await notes.push()
            await client.collection(unique, "network").save({"_id": "a", "n": 2})
            await notes.save({"_id": "a", "n": 3})
            async with client.sync_events() as events:
                assert (await notes.push()).overwritten == 1
                async for event in events:
                    if event.event == "overwritten":
                        break
            assert event.id == "a"
            assert event.remote is not None
            assert event.remote["n"] == 2

    run(main())


def test_events_that_nobody_takes_are_bounded() -> None:
    receivers: list[Callable[[int], object]] = []

    class Nothing(kvstore.Subscription):
        def __init__(self) -> None:
            self._handle = None

    def subscribe(receive: Callable[[int], object], ended: Callable[[], object]) -> Nothing:
        receivers.append(receive)
        return Nothing()

    async def main() -> None:
        async with aio.Events(subscribe) as events:
            for number in range(10_001):
                receivers[0](number)
            await asyncio.sleep(0)
            for number in range(10_000):
                assert await anext(events) == number
            with pytest.raises(asyncio.QueueFull):
                await anext(events)

    run(main())
