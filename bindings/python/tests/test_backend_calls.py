"""How methods of backends are called: futures, coroutines, live data, cancellation."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from backends import SECONDS, Diary, Opened, Shelf, ids

import kvstore
from kvstore import register_backend
from kvstore.backend import (
    Fetch,
    LivePage,
    Page,
    Result,
    Write,
    is_cancelled,
)
from kvstore.backend.host import Host


def test_what_nobody_waits_for_is_cancelled(opened: Opened) -> None:
    shelf = Shelf()
    never: list[Future[Any]] = []

    def fetch(_: Fetch) -> Future[Any]:
        never.append(Future())
        return never[-1]

    shelf.instead["fetch"] = fetch
    store = opened(shelf, retries=0).collection("notes")
    pull_too_long(store, lambda: bool(never))
    assert all(cancelled(future) for future in never)


def test_a_request_that_was_cancelled_before_its_method_is_cancelled_in_it() -> None:
    never: Future[Any] = Future()
    told: list[bool] = []
    shelf = Shelf()

    def fetch(_: Fetch) -> Future[Any]:
        told.append(is_cancelled())
        return never

    shelf.instead["fetch"] = fetch
    host = Host(shelf, None)
    nobody = 2**63
    host.cancel(nobody)
    host.carry_out("fetch", nobody, b'{"collection":"notes","pageSize":10}')
    assert told == [True]
    assert never.cancelled()


def pull_too_long(store: kvstore.Store, called: Callable[[], bool]) -> None:
    """Pull with timeouts, until the backend's method was called within one of them."""
    timeout = 0.1
    while not called():
        assert timeout < SECONDS
        with pytest.raises(kvstore.TimeoutError):
            store.pull(timeout=timeout)
        timeout *= 2


def cancelled(future: Future[Any]) -> bool:
    """Wait until a future is cancelled."""
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    return done.wait(SECONDS) and future.cancelled()


def test_a_method_that_works_itself_can_ask_whether_somebody_waits(opened: Opened) -> None:
    shelf = Shelf()
    called, ended = threading.Event(), threading.Event()

    def work(_: str) -> None:
        called.set()
        pause = threading.Event()
        while not is_cancelled():
            pause.wait(0.001)
        ended.set()

    shelf.before = work
    store = opened(shelf, retries=0).collection("notes")
    pull_too_long(store, called.is_set)
    assert ended.wait(SECONDS)
    assert not is_cancelled()


def test_a_future_may_be_completed_by_any_thread(opened: Opened) -> None:
    shelf = Shelf()
    threads: list[threading.Thread] = []

    def later(request: Fetch) -> Future[Any]:
        future: Future[Any] = Future()
        threads.append(threading.Thread(target=lambda: future.set_result(shelf.page(request))))
        threads[-1].start()
        return future

    shelf.instead["fetch"] = later
    shelf.put("notes", {"_id": "a"})
    assert opened(shelf).collection("notes").pull().pulled == 1
    for thread in threads:
        thread.join()


class _Service(Shelf):
    """One whose methods are awaited."""

    async def fetch(self, request: Fetch) -> Page:
        await asyncio.sleep(0)
        page: Page = super().fetch(request)
        return page

    async def write(self, collection: str, writes: Sequence[Write]) -> Any:
        await asyncio.sleep(0)
        return super().write(collection, writes)


def test_async_methods_run_on_the_loop(tmp_path: Path) -> None:
    async def work() -> int:
        service = _Service()
        service.put("notes", {"_id": "a"})
        loop = asyncio.get_running_loop()
        with (
            register_backend("awaited", service, loop=loop),
            kvstore.Client(app_key="k", backend="awaited", data_directory=tmp_path) as client,
        ):
            notes = client.collection("notes")
            notes.save({"_id": "b"})
            return (await asyncio.to_thread(notes.sync)).pulled

    assert asyncio.run(work()) == 2


def test_async_methods_without_a_loop_are_a_defect(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    store = opened(_Service(), retries=0).collection("notes")
    with pytest.raises(kvstore.ServerError, match="registered with a loop"):
        store.pull()


def test_a_method_may_use_the_library(opened: Opened) -> None:
    shelf, other = Shelf(), Shelf()
    inner = opened(other).collection("notes")
    shelf.before = lambda _: inner.save({"_id": "from inside"})
    store = opened(shelf).collection("notes")
    store.save({"_id": "a"})
    store.sync()
    assert ids(inner) == ["from inside"]


def test_a_method_may_close_the_client_that_asks(opened: Opened) -> None:
    shelf = Shelf()
    client = opened(shelf)
    store = client.collection("notes")
    closed = threading.Event()

    def close(_: str) -> None:
        client.close()
        closed.set()

    shelf.before = close
    with pytest.raises((kvstore.CancelledError, kvstore.MisuseError)):
        store.pull()
    assert closed.wait(SECONDS)


def test_what_needs_users_is_unsupported(opened: Opened) -> None:
    client = opened(Shelf())
    with pytest.raises(kvstore.UnsupportedError):
        client.signup("ana", "password")


class _Wire(Diary):
    """One that tells of changes when they happen."""

    def __init__(self) -> None:
        super().__init__()
        self.news = threading.Condition(self.lock)

    def carry_out(self, collection: str, write: Write) -> Result:
        result = super().carry_out(collection, write)
        self.news.notify_all()
        return result

    def live(self, collections: Sequence[str], after: Any) -> Any:
        with self.news:
            if after is None:
                return LivePage([], len(self.history))
            while len(self.history) == after and not is_cancelled():
                self.news.wait(0.02)
            news = [change for change in self.history[after:] if change[0] in collections]
            return LivePage(news, len(self.history))


def test_what_happens_is_told_when_it_happens(opened: Opened) -> None:
    wire = _Wire()
    ours, theirs = (opened(wire) for _ in range(2))
    ours.register_live()
    listening = ours.collection("notes")
    with listening.live() as stream:
        assert [next(stream).event for _ in range(2)] == ["status", "ready"]
        theirs.collection("other", "network").save({"_id": "x"})
        notes = theirs.collection("notes", "network")
        notes.save({"_id": "a", "n": 1})
        assert next(stream).id == "a"
        notes.remove_by_id("a")
        assert next(stream).id == "a"


def test_live_data_of_a_backend_that_has_none_is_unsupported(opened: Opened) -> None:
    client = opened(Shelf())
    with pytest.raises(kvstore.UnsupportedError):
        client.register_live()
    with pytest.raises(kvstore.UnsupportedError):
        client.collection("notes").live()
