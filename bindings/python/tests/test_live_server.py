"""Live data from a real server."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import APP_KEY, APP_SECRET, open_client
from kvstored import Server

import kvstore
from kvstore import aio

READY = [kvstore.LiveEvent("status", status="connected"), kvstore.LiveEvent("ready")]
Member = Callable[[str], kvstore.Client]


@pytest.fixture
def member(own_server: Server, tmp_path: Path) -> Iterator[Member]:
    """Give a function that opens a client with a new user who may listen."""
    with ExitStack() as clients:

        def open_member(name: str) -> kvstore.Client:
            client = clients.enter_context(open_client(own_server.host, tmp_path / name))
            client.signup(name, "a password")
            client.register_live()
            return client

        yield open_member


def begin(stream: kvstore.LiveStream) -> None:
    """Wait until everything is told."""
    assert [next(stream), next(stream)] == READY


def what(event: kvstore.LiveEvent) -> tuple[str | None, str | None]:
    """Say in short what happened to which entity."""
    return event.change, event.id


def test_what_another_client_does_is_told(member: Member) -> None:
    reader, writer = member("reader"), member("writer").collection("notes", "network")
    with reader.collection("notes").live() as stream:
        begin(stream)
        writer.save({"_id": "a", "n": 1})
        created = next(stream)
        assert what(created) == ("create", "a")
        assert created.entity is not None
        assert created.entity["n"] == 1
        writer.save({"_id": "a", "n": 2})
        assert what(next(stream)) == ("update", "a")
        writer.save({"_id": "large", "text": "x" * 40_000})
        large = next(stream)
        assert what(large) == ("create", "large")
        assert large.entity is not None
        assert len(large.entity["text"]) == 40_000
        writer.remove_by_id("a")
        assert next(stream) == kvstore.LiveEvent("change", change="delete", id="a")


_LISTENER = """
import sys
import kvstore

host, directory, key, secret = sys.argv[1:]
with kvstore.Client(
    app_key=key, app_secret=secret, host=host, data_directory=directory
) as client:
    client.register_live()
    with client.collection("notes").live() as stream:
        print([next(stream).event for _ in range(2)], flush=True)
        if sys.stdin.readline() == "die\\n":
            import os
            os._exit(0)
"""


@pytest.mark.parametrize("end", ["close", "die"])
def test_a_process_takes_only_its_own_subscriptions_along(
    member: Member, own_server: Server, tmp_path: Path, end: str
) -> None:
    reader, writer = member("reader"), member("writer").collection("notes", "network")
    with reader.collection("notes").live() as stream:
        begin(stream)
        arguments = [own_server.host, str(tmp_path / "reader"), APP_KEY, APP_SECRET]
        with subprocess.Popen(
            [sys.executable, "-c", _LISTENER, *arguments],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "['status', 'ready']\n"
            process.communicate(f"{end}\n", timeout=60)
            assert process.returncode == 0
        writer.save({"_id": "a"})
        assert what(next(stream)) == ("create", "a")


def test_subscribers_are_independent(member: Member) -> None:
    client = member("ana")
    notes = client.collection("notes", "network")
    with notes.live() as first, notes.live() as second, client.collection("others").live() as other:
        for stream in (first, second, other):
            begin(stream)
        notes.save({"_id": "a"})
        assert what(next(first)) == what(next(second)) == ("create", "a")
        first.close()
        notes.save({"_id": "b"})
        assert what(next(second)) == ("create", "b")
        assert list(first) == []
        client.collection("others", "network").save({"_id": "c"})
        assert what(next(other)) == ("create", "c")


def test_only_who_may_read_an_entity_is_told(member: Member) -> None:
    ana, bob, eve = member("ana"), member("bob"), member("eve")
    assert bob.active_user is not None
    with bob.collection("notes").live() as to_bob, eve.collection("notes").live() as to_eve:
        begin(to_bob)
        begin(to_eve)
        notes = ana.collection("notes", "network")
        notes.save({"_id": "secret", "_acl": {"gr": False, "r": [bob.active_user["_id"]]}})
        notes.save({"_id": "open", "_acl": {"gr": True}})
        assert what(next(to_eve)) == ("create", "open")
        assert {what(next(to_bob)), what(next(to_bob))} == {
            ("create", "secret"),
            ("create", "open"),
        }


def test_what_is_told_is_in_the_local_store_but_never_over_a_pending_write(member: Member) -> None:
    reader, writer = member("reader"), member("writer").collection("notes", "network")
    notes = reader.collection("notes")
    notes.save({"_id": "mine", "n": 7})
    with notes.live(live_to_local=True) as stream:
        begin(stream)
        writer.save({"_id": "mine", "n": 1})
        writer.save({"_id": "other", "n": 2})
        assert [what(next(stream)), what(next(stream))] == [("create", "mine"), ("create", "other")]
        assert notes["mine"]["n"] == 7
        assert notes["other"]["n"] == 2
        writer.remove_by_id("other")
        next(stream)
        assert "other" not in notes


def test_a_restart_of_the_server_ends_nothing(member: Member, own_server: Server) -> None:
    notes = member("ana").collection("notes", "network")
    with notes.live() as stream:
        begin(stream)
        own_server.kill()
        assert next(stream).status == "unexpectedDisconnect"
        own_server.start()
        assert next(stream).status == "reconnected"
        notes.save({"_id": "a"})
        assert next(stream).id == "a"


def test_a_logout_ends_it(member: Member) -> None:
    client = member("ana")
    with client.collection("notes").live() as stream:
        begin(stream)
        client.logout()
        assert [event.status for event in stream] == ["disconnected"]
    with pytest.raises(kvstore.MisuseError):
        client.collection("notes").live()


def test_a_handler_may_ask_the_backend(member: Member) -> None:
    notes = member("ana").collection("notes", "network")
    received = threading.Event()

    def react(event: kvstore.LiveEvent) -> None:
        if event.id == "a":
            notes.save({"_id": "b"})
        elif event.id == "b":
            received.set()

    with notes.subscribe(react, on_ready=lambda _: notes.save({"_id": "a"})):
        assert received.wait(60)


def test_a_handler_that_blocks_holds_up_nobody_else_and_loses_nothing(member: Member) -> None:
    ana, ben = member("ana"), member("ben").collection("notes", "network")
    ready, entered, release, done = (threading.Event() for _ in range(4))
    received: list[str | None] = []

    def block(event: kvstore.LiveEvent) -> None:
        entered.set()
        assert release.wait(60)
        received.append(event.id)
        if event.id == "last":
            done.set()

    notes = ana.collection("notes", "network")
    with (
        notes.subscribe(block, on_ready=lambda _: ready.set()),
        ben.live() as stream,
    ):
        begin(stream)
        assert ready.wait(60)
        for id_ in ("first", "second"):
            ben.save({"_id": id_, "_acl": {"gr": True}})
            assert what(next(stream)) == ("create", id_)
        assert entered.wait(60)
        # Other threads may use the client meanwhile.
        notes.save({"_id": "last", "_acl": {"gr": True}})
        assert what(next(stream)) == ("create", "last")
        assert received == []
        release.set()
        assert done.wait(60)
    assert received == ["first", "second", "last"]


def test_a_handler_may_end_its_subscription(member: Member) -> None:
    notes = member("ana").collection("notes", "network")
    ready, ended = threading.Event(), threading.Event()
    received: list[str | None] = []

    def end(event: kvstore.LiveEvent) -> None:
        received.append(event.id)
        subscription.close()
        ended.set()

    subscription = notes.subscribe(end, on_ready=lambda _: ready.set())
    assert ready.wait(60)
    notes.save({"_id": "a"})
    assert ended.wait(60)
    notes.save({"_id": "b"})
    with notes.live() as stream:
        begin(stream)
        notes.save({"_id": "c"})
        # Who comes so soon may be told of what the other one would have heard.
        assert next(event.id for event in stream if event.id != "b") == "c"
    assert received == ["a"]


def test_a_task_iterates_and_may_be_cancelled(own_server: Server, tmp_path: Path) -> None:
    async def follow() -> None:
        async with aio.Client(
            app_key=APP_KEY, app_secret=APP_SECRET, host=own_server.host, data_directory=tmp_path
        ) as client:
            await client.signup()
            await client.register_live()
            notes = client.collection("notes")
            async with notes.live(live_to_local=True) as stream, notes.changes() as changes:
                assert [await anext(stream), await anext(stream)] == READY
                assert (await anext(changes)).initial
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(anext(stream), 0.05)
                await client.collection("notes", "network").save({"_id": "a"})
                assert what(await anext(stream)) == ("create", "a")
                assert (await anext(changes)).insertions[0].entity["_id"] == "a"
                await client.unregister_live()
                assert [event.status async for event in stream] == ["disconnected"]

    asyncio.run(follow())


def test_unsubscribing_is_answered_and_nothing_comes_after_it(member: Member) -> None:
    ana = member("ana")
    notes, writer = ana.collection("notes"), member("bob").collection("notes", "network")
    told: list[str] = []
    ready, over = threading.Event(), threading.Event()
    subscription = notes.subscribe(
        lambda event: told.append(event.event), on_ready=lambda _: ready.set()
    )
    with notes.live() as other:
        begin(other)
        assert ready.wait(60)
        subscription.end(timeout=60)
        writer.save({"_id": "a"})
        assert what(next(other)) == ("create", "a")
    assert told == []
    # Nobody else listens now: the backend is told, and answers.
    with notes.live() as last:
        begin(last)
        with last.end_async(on_answer=lambda _: over.set()) as request:
            request.result(timeout=60)
        assert list(last) == []
        last.end()
        assert over.wait(60)
    subscription.close()
    with pytest.raises(kvstore.MisuseError):
        subscription.end()


def test_unsubscribing_says_that_the_backend_could_not_be_told(
    member: Member, own_server: Server
) -> None:
    with member("ana").collection("notes").live() as stream:
        begin(stream)
        own_server.stop()
        with pytest.raises(kvstore.NetworkError):
            stream.end()
        assert [event for event in stream if event.event == "change"] == []
    own_server.start()


def test_a_handler_may_end_its_own_subscription(member: Member) -> None:
    notes = member("ana").collection("notes", "network")
    with notes.live() as other:
        begin(other)
        told: list[str | None] = []
        ready, ended = threading.Event(), threading.Event()

        def hear(event: kvstore.LiveEvent) -> None:
            told.append(event.id)
            subscription.end(timeout=60)
            ended.set()

        with notes.subscribe(hear, on_ready=lambda _: ready.set()) as subscription:
            assert ready.wait(60)
            notes.save({"_id": "a"})
            assert ended.wait(60)
            notes.save({"_id": "b"})
            assert [what(next(other)), what(next(other))] == [("create", "a"), ("create", "b")]
        assert told == ["a"]


def test_unsubscribing_can_be_awaited(own_server: Server, tmp_path: Path) -> None:
    async def main() -> None:
        async with aio.Client(
            app_key=APP_KEY, app_secret=APP_SECRET, host=own_server.host, data_directory=tmp_path
        ) as client:
            await client.signup("ana", "a password")
            await client.register_live()
            notes = client.collection("notes")
            async with notes.live() as stream:
                assert [await anext(stream), await anext(stream)] == READY
                await stream.end(timeout=60)
                await notes.save({"_id": "a"})
                await notes.push()
                assert [event async for event in stream] == []
            async with notes.live() as stream:
                assert [await anext(stream), await anext(stream)] == READY
                await asyncio.to_thread(own_server.stop)
                with pytest.raises(kvstore.NetworkError):
                    await stream.end()
                await asyncio.to_thread(own_server.start)

    asyncio.run(main())
