"""What a client tells while it synchronises, and pushes that nobody asks for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from conftest import APP_KEY, APP_SECRET
from kvstored import Server

import kvstore


class Received:
    """Collects events, and waits for one."""

    def __init__(self) -> None:
        self.events: list[kvstore.SyncEvent] = []
        self._news = threading.Condition()

    def __call__(self, event: kvstore.SyncEvent) -> None:
        """Take an event."""
        with self._news:
            self.events.append(event)
            self._news.notify_all()

    def wait(self, wanted: Callable[[kvstore.SyncEvent], bool]) -> kvstore.SyncEvent:
        """Give the first that is wanted."""
        with self._news:
            found = self._news.wait_for(lambda: [e for e in self.events if wanted(e)], timeout=60)
        assert found, self.events
        event: kvstore.SyncEvent = found[0]
        return event


def test_a_listener_hears_of_a_push_with_its_progress_and_result(online: kvstore.Client) -> None:
    received = Received()
    notes = online.collection("heard")
    notes.save_many([{"n": n} for n in range(3)])
    with online.observe_sync(received):
        notes.push()
        finished = received.wait(lambda event: event.event == "finished")
    assert (finished.operation, finished.collection) == ("push", "heard")
    assert finished.result == {
        "pushed": 3,
        "errors": [],
        "quarantined": 0,
        "overwritten": 0,
        "discarded": 0,
    }
    assert received.events[0].event == "started"
    progress = [event.progress for event in received.events if event.progress is not None]
    assert progress[-1].entities_done == progress[-1].entities_total == 3
    count = len(received.events)
    notes.pull()
    assert len(received.events) == count, "nothing is heard after closing"


def test_what_a_push_has_overwritten_is_told(online: kvstore.Client, unique: str) -> None:
    received = Received()
    notes = online.collection(unique)
    notes.save({"_id": "a", "n": 1})
    assert notes.sync().overwritten == 0
    online.collection(unique, "network").save({"_id": "a", "n": 2})
    notes.save({"_id": "a", "n": 3})
    with online.observe_sync(received):
        assert notes.push().overwritten == 1
        event = received.wait(lambda event: event.event == "overwritten")
    assert (event.collection, event.id) == (unique, "a")
    assert event.remote is not None
    assert event.remote["n"] == 2
    notes.pull()
    assert notes.find_by_id("a")["n"] == 3


@pytest.mark.parametrize("conflicts", ["serverWins", "automerge"])
def test_what_a_push_has_discarded_is_told(
    online: kvstore.Client, unique: str, conflicts: Literal["serverWins", "automerge"]
) -> None:
    received = Received()
    notes = online.collection(unique, conflicts=conflicts)
    notes.save({"_id": "a", "n": 1, "tags": ["x"]})
    assert notes.sync().discarded == 0
    online.collection(unique, "network").save({"_id": "a", "n": 2, "tags": ["x", "y"]})
    notes.save({"_id": "a", "n": 3, "tags": ["x", "z"]})
    with online.observe_sync(received):
        assert notes.push().discarded == 1
        event = received.wait(lambda event: event.event == "discarded")
    assert (event.collection, event.id) == (unique, "a")
    assert event.local is not None
    assert event.remote is not None
    assert (event.local["n"], event.remote["n"]) == (3, 2)
    merged = ["x", "y", "z"] if conflicts == "automerge" else ["x", "y"]
    assert (notes["a"]["n"], notes["a"]["tags"]) == (2, merged)
    # With the option the same stays open.
    online.collection(unique, "network").save({"_id": "a", "n": 4})
    notes.save({"_id": "a", "n": 5})
    result = notes.push(keep_discarded=True)
    assert (len(result.errors), result.discarded) == (1, 0)
    assert [write.state for write in notes.pending] == ["conflict"]


def test_rules_merge_lists(online: kvstore.Client, unique: str) -> None:
    notes = online.collection(
        unique, conflicts="merge", merge_rules={"tags": "union", "l": "append"}
    )
    notes.save({"_id": "a", "tags": [], "l": []})
    notes.sync()
    theirs = {"_id": "a", "tags": ["x", "y"], "l": ["x"]}
    online.collection(unique, "network").save(theirs)
    notes.save({"_id": "a", "tags": ["x", "z"], "l": ["x"]})
    result = notes.push()
    assert (result.pushed, result.errors, result.discarded) == (1, [], 0)
    assert (notes["a"]["tags"], notes["a"]["l"]) == (["x", "y", "z"], ["x", "x"])
    # A call has rules of its own.
    online.collection(unique, "network").save(theirs)
    notes.save({**notes["a"], "tags": ["w"]})
    result = notes.push(merge_rules={"l": "append"})
    assert len(result.errors) == 1
    with pytest.raises(kvstore.InvalidError, match="mergeRules"):
        notes.push(merge_rules={"l": "sum"})  # type: ignore[dict-item]


def test_a_failure_comes_with_its_error(online: kvstore.Client) -> None:
    received = Received()
    notes = online.collection("failing")
    notes.save({})
    with online.observe_sync(received):
        with pytest.raises(kvstore.PendingError):
            notes.pull()
        finished = received.wait(lambda event: event.event == "finished")
    assert isinstance(finished.error, kvstore.PendingError)


def test_what_is_saved_is_pushed_by_itself_also_when_the_network_was_gone(
    own_server: Server, tmp_path: Path
) -> None:
    received = Received()
    with kvstore.Client(
        app_key=APP_KEY,
        app_secret=APP_SECRET,
        host=own_server.host,
        data_directory=tmp_path / "auto",
        push_automatically=True,
        retries=0,
    ) as client:
        client.signup("auto", "a password")
        client.observe_sync(received)
        notes = client.collection("notes")
        notes.save({"n": 1})
        pushed = received.wait(lambda event: (event.result or {}).get("pushed") == 1)
        assert pushed.automatic
        own_server.kill()
        notes.save({"n": 2})
        received.wait(lambda event: event.event == "offline")
        own_server.start()
        received.wait(lambda event: event.event == "online")
        received.wait(lambda event: event.task != pushed.task and event.result == pushed.result)
        assert len(notes.pending) == 0
