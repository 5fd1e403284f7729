"""Queries that are kept in sync, and the status of a client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

import pytest
from conftest import APP_KEY, APP_SECRET, open_client
from kvstored import Server
from test_events import Received

import kvstore
import kvstore.aio

T = TypeVar("T")


class Latest(Generic[T]):
    """The last that was told, and a wait for what is wanted."""

    def __init__(self) -> None:
        self.all: list[T] = []
        self._news = threading.Condition()

    def __call__(self, status: T) -> None:
        """Take a status."""
        with self._news:
            self.all.append(status)
            self._news.notify_all()

    def wait(self, wanted: Callable[[T], bool]) -> T:
        """Wait until the last is as wanted."""
        with self._news:
            assert self._news.wait_for(lambda: self.all and wanted(self.all[-1]), 60), self.all[-3:]
            return self.all[-1]


def synced(status: kvstore.ClientStatus) -> bool:
    """Tell whether nothing is to be done."""
    return status.pending == 0 and all(follow.state == "current" for follow in status.follows)


def test_what_is_followed_is_pulled_kept_live_and_pushed(
    server: Server, online: kvstore.Client, tmp_path: Path, unique: str
) -> None:
    received, statuses = Latest[kvstore.FollowStatus](), Latest[kvstore.ClientStatus]()
    with open_client(server.host, tmp_path / "other") as other:
        other.signup()
        theirs = other.collection(unique, "network")
        theirs.save({"_id": "a", "n": 1})
        notes = online.collection(unique)
        changes, events = Latest[kvstore.Changes | kvstore.KVError](), Received()
        with (
            notes.observe(None, changes),
            online.observe_status(statuses),
            online.observe_sync(events),
            notes.follow({"n": {"$lt": 10}}, received),
        ):
            received.wait(lambda status: status.state == "current" and status.live)
            assert notes.find_by_id("a")["n"] == 1
            theirs.save({"_id": "b", "n": 2})
            changes.wait(
                lambda received: isinstance(received, kvstore.Changes) and received.count == 2
            )
            notes.save({"_id": "c", "n": 3})
            # The last status may be older than the save.
            events.wait(lambda event: (event.result or {}).get("pushed") == 1)
            statuses.wait(lambda status: bool(status.follows) and synced(status))
            assert theirs.find_by_id("c")["n"] == 3
            follow = online.status().follows[0]
            assert (follow.collection, follow.filter) == (unique, {"n": {"$lt": 10}})
            assert follow.last_synced is not None
            assert follow.error is None
        assert online.status().follows == []
        # What it did may end a moment later.
        with online.observe_status(statuses):
            status = statuses.wait(lambda status: not status.follows and not status.activity)
        assert (status.online, status.signed_in, status.activity) == (True, True, [])
        kept = next(one for one in status.collections if one.collection == unique)
        assert kept.last_synced is not None
        assert (kept.tag, kept.pending, kept.quarantined) == ("kinvey", 0, 0)


def test_a_follow_says_why_it_is_behind_and_goes_on(own_server: Server, tmp_path: Path) -> None:
    received = Latest[kvstore.FollowStatus]()
    with open_client(own_server.host, tmp_path / "client") as client:
        notes = client.collection("notes")
        with notes.follow(None, received, interval=5):
            behind = received.wait(lambda status: status.state == "behind")
            assert isinstance(behind.error, kvstore.NoUserError)
            client.signup()
            received.wait(lambda status: status.state == "current")
            own_server.stop()
            offline = received.wait(lambda status: status.state == "offline")
            assert isinstance(offline.error, kvstore.NetworkError)
            own_server.start()
            received.wait(lambda status: status.state == "current")
        with notes.follow():
            pass


def test_a_page_cannot_be_followed_nor_a_network_store(
    local: kvstore.Client, online: kvstore.Client
) -> None:
    with pytest.raises(kvstore.InvalidError, match="limit"):
        online.collection("notes").follow(kvstore.Query(limit=3))
    with pytest.raises(kvstore.UnsupportedError):
        online.collection("notes", "network").follow()
    with pytest.raises(kvstore.UnsupportedError):
        local.collection("notes").follow()
    with pytest.raises(kvstore.InvalidError, match="interval"):
        online.collection("notes").follow(interval=0)
    with pytest.raises(kvstore.InvalidError, match=r"interval.*0\.1 or more"):
        online.collection("notes").follow(interval=1e-9)


def test_asyncio_gives_the_states_of_follows_and_clients(
    server: Server, tmp_path: Path, unique: str
) -> None:
    async def run() -> None:
        options: kvstore.ClientOptions = {
            "app_key": APP_KEY,
            "app_secret": APP_SECRET,
            "host": server.host,
            "data_directory": tmp_path / "aio",
        }
        async with kvstore.aio.Client(**options) as client:
            await client.signup()
            async with client.collection(unique) as notes:
                await notes.save({"_id": "a"})
                async with notes.follow() as states, client.statuses() as statuses:
                    async for state in states:
                        if state.state == "current":
                            break
                    async for status in statuses:
                        if status.follows and synced(status):
                            break
                assert (await client.status()).pending == 0

    asyncio.run(asyncio.wait_for(run(), 60))


def test_more_than_one_answer_may_have_is_followed_whole(
    server: Server, online: kvstore.Client, tmp_path: Path, unique: str
) -> None:
    received = Latest[kvstore.FollowStatus]()
    with open_client(server.host, tmp_path / "other") as other:
        other.signup()
        other.collection(unique, "network").save_many({"n": n} for n in range(10_050))
    notes = online.collection(unique)
    with notes.follow(None, received):
        received.wait(lambda status: status.state == "current")
        assert notes.count() == 10_050
