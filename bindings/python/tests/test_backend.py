"""Backends of the program's own: what a client does with one, and with one that misbehaves."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import queue
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

import kvstore
from kvstore import Backend, register_backend
from kvstore.backend import (
    ChangedPage,
    Conflicting,
    Delete,
    Deleted,
    Fetch,
    Integer,
    Later,
    LivePage,
    Ordered,
    Page,
    Record,
    Refused,
    Result,
    Stored,
    Upsert,
    Write,
    is_cancelled,
)

SECONDS = 20
_names = itertools.count(1)


class _Shelf(Backend):
    """Records in memory, with versions and a history."""

    version: Any = Integer("rev")
    page_size = 3

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.records: dict[str, dict[str, Record]] = {}
        self.history: list[tuple[str, Upsert | Delete]] = []
        #: What methods were called.
        self.called: list[str] = []
        #: Runs before each method, and may raise.
        self.before: Callable[[str], object] = lambda _: None
        #: Runs in place of a method.
        self.instead: dict[str, Callable[..., Any]] = {}

    def begin(self, name: str) -> None:
        self.called.append(name)
        self.before(name)

    def put(self, collection: str, record: Record) -> Record:
        stored = {**record, "rev": len(self.history) + 1}
        self.records.setdefault(collection, {})[record["_id"]] = stored
        self.history.append((collection, Upsert(stored)))
        return stored

    def fetch(self, request: Fetch) -> Any:
        self.begin("fetch")
        if "fetch" in self.instead:
            return self.instead["fetch"](request)
        return self.page(request)

    def page(self, request: Fetch) -> Page:
        with self.lock:
            after = request.after or ""
            names = sorted(n for n in self.records.get(request.collection, {}) if n > after)
            page = names[: request.page_size]
            following = page[-1] if len(names) > len(page) else None
            records = [self.records[request.collection][name] for name in page]
            return Page(records, following, str(len(self.history)))

    def fetch_ids(self, collection: str, ids: Sequence[Any]) -> Any:
        self.begin("fetch_ids")
        with self.lock:
            there = self.records.get(collection, {})
            return [there[name] for name in ids if name in there]

    def write(self, collection: str, writes: Sequence[Write]) -> Any:
        self.begin("write")
        if "write" in self.instead:
            return self.instead["write"](collection, writes)
        return self.carry_out_all(collection, writes)

    def carry_out_all(self, collection: str, writes: Sequence[Write]) -> list[Result]:
        with self.lock:
            return [self.carry_out(collection, write) for write in writes]

    def carry_out(self, collection: str, write: Write) -> Result:
        found = self.records.get(collection, {}).get(write.id)
        if not write.may_replace(found and found["rev"]):
            return Conflicting(found)
        if write.record is not None:
            return Stored(self.put(collection, write.record))
        if found is None:
            return Deleted(existed=False)
        del self.records[collection][write.id]
        self.history.append((collection, Delete(write.id)))
        return Deleted()


class _Diary(_Shelf):
    """One that can tell what has changed."""

    def changes(self, collection: str, since: str) -> Any:
        self.begin("changes")
        with self.lock:
            if int(since) > len(self.history):
                return None
            news = [change for name, change in self.history[int(since) :] if name == collection]
            return ChangedPage(news, str(len(self.history)))


Opened = Callable[..., kvstore.Client]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Open clients of a backend, each with a data directory of its own."""
    names: dict[int, kvstore.backend.Registration] = {}
    clients: list[kvstore.Client] = []

    def open_client(backend: Backend, **options: Any) -> kvstore.Client:
        if id(backend) not in names:
            names[id(backend)] = register_backend(f"backend {next(_names)}", backend)
        client = kvstore.Client(
            app_key="kid",
            backend=names[id(backend)].name,
            data_directory=tmp_path / str(len(clients)),
            **options,
        )
        clients.append(client)
        return client

    yield open_client
    for client in clients:
        client.close()
    for registration in names.values():
        registration.close()


def ids(records: Iterable[Record]) -> list[str]:
    return sorted(record["_id"] for record in records)


def test_two_clients_share_what_one_pushes(opened: Opened) -> None:
    shelf = _Shelf()
    ours, theirs = (opened(shelf).collection("notes") for _ in range(2))
    for number in range(10):
        ours.save({"_id": f"{number}", "n": number})
    assert ours.push().pushed == 10
    assert theirs.pull().pulled == 10
    assert [
        note["n"] for note in theirs.find(kvstore.Query({"n": {"$gte": 7}}, sort={"n": 1}))
    ] == [7, 8, 9]
    theirs.remove_by_id("3")
    theirs.save({"_id": "4", "n": 44})
    assert theirs.sync().pushed == 2
    ours.pull()
    assert ours["4"]["n"] == 44
    assert "3" not in ours


@pytest.mark.parametrize("type", ["auto", "cache", "network"])
def test_every_type_of_store_reads_and_writes(opened: Opened, type: Any) -> None:
    shelf = _Shelf()
    store = opened(shelf).collection("notes", type)
    store.save({"_id": "a", "n": 1})
    store.save_many([{"_id": "b", "n": 2}, {"_id": "c", "n": 3}])
    if store.type != "network":
        store.push()
    assert ids(shelf.records["notes"].values()) == ["a", "b", "c"]
    assert ids(store.find(kvstore.Query({"n": {"$gt": 1}}, sort={"n": 1}))) == ["b", "c"]
    assert store.find_by_id("a")["n"] == 1
    assert store.count() == 3
    assert store.remove({"n": 3}) == 1


def test_what_has_changed_is_all_that_is_read(opened: Opened) -> None:
    diary = _Diary()
    store = opened(diary).collection("notes", delta_set=True)
    for number in range(10):
        diary.put("notes", {"_id": f"{number}"})
    assert store.pull().pulled == 10
    diary.called.clear()
    diary.put("notes", {"_id": "new"})
    diary.carry_out("notes", Write("delete", "5", None))
    store.pull()
    assert diary.called == ["changes"]
    assert "new" in store
    assert "5" not in store
    diary.history.clear()
    diary.called.clear()
    store.pull()
    assert diary.called[:2] == ["changes", "fetch"]


@pytest.mark.parametrize(
    ("strategy", "there", "here"),
    [
        ("clientWins", "ours", "ours"),
        ("serverWins", "theirs", "theirs"),
        ("optimistic", "theirs", "ours"),
    ],
)
def test_a_conflict_is_decided_by_the_strategy(
    opened: Opened, strategy: Any, there: str, here: str
) -> None:
    shelf = _Shelf()
    store = opened(shelf).collection("notes", conflicts=strategy)
    store.save({"_id": "a", "by": "both"})
    store.push()
    shelf.put("notes", {"_id": "a", "by": "theirs"})
    store.save({"_id": "a", "by": "ours"})
    result = store.push()
    assert shelf.records["notes"]["a"]["by"] == there
    assert store["a"]["by"] == here
    assert bool(result.errors) == (strategy == "optimistic")


def test_observers_hear_what_a_pull_brings(opened: Opened) -> None:
    shelf = _Shelf()
    store = opened(shelf).collection("notes")
    with store.changes({"n": {"$gt": 1}}) as told:
        assert not next(told).insertions
        for number in range(4):
            shelf.put("notes", {"_id": f"{number}", "n": number})
        store.pull()
        found: list[str] = []
        while len(found) < 2:
            found += [placed.entity["_id"] for placed in next(told).insertions]
        assert sorted(found) == ["2", "3"]


def test_what_waits_is_pushed_when_the_backend_is_back(opened: Opened) -> None:
    shelf = _Shelf()
    client = opened(shelf, push_automatically=True, retries=0)
    store = client.collection("notes")
    heard: queue.SimpleQueue[str] = queue.SimpleQueue()

    def cut(_: str) -> None:
        raise ConnectionError("cut")

    shelf.before = cut
    with client.observe_sync(lambda event: heard.put(event.event)):
        store.save({"_id": "a"})
        with pytest.raises(kvstore.NetworkError):
            client.collection("notes", "network").count()
        wait_for(heard, "offline")
        shelf.before = lambda _: None
        assert client.collection("other", "network").count() == 0
        wait_for(heard, "online")
        while store.pending:
            wait_for(heard, "finished")
    assert ids(shelf.records["notes"].values()) == ["a"]


def wait_for(heard: queue.SimpleQueue[str], wanted: str) -> None:
    """Wait until an event is heard."""
    while heard.get(timeout=SECONDS) != wanted:
        pass


def test_a_write_that_is_refused_is_set_aside_and_one_that_is_late_waits(opened: Opened) -> None:
    shelf = _Shelf()
    answers: dict[str, Result] = {"bad": Refused("not here", 16), "slow": Later("busy", 0.01)}
    shelf.instead["write"] = lambda _, writes: [
        answers.get(write.id) or Stored(write.record) for write in writes
    ]
    store = opened(shelf, retries=0).collection("notes")
    for name in ("bad", "good", "slow"):
        store.save({"_id": name})
    errors = {error.id: error for error in store.push().errors}
    assert isinstance(errors["bad"], kvstore.ForbiddenError)
    assert "not here" in errors["bad"].message
    assert {write.id: write.state for write in store.pending} == {
        "bad": "refused",
        "slow": "waiting",
    }
    answers.clear()
    assert store.push().pushed == 1
    store.pending.retry("bad")
    assert len(store.pending) == 0


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ConnectionError("cut"), kvstore.NetworkError),
        (TimeoutError("slow"), kvstore.TimeoutError),
        (PermissionError("no"), kvstore.ForbiddenError),
        (kvstore.TooLargeError({"status": 25, "message": "too much"}), kvstore.TooLargeError),
    ],
)
def test_what_a_method_raises_is_the_error_and_loses_nothing(
    opened: Opened, raised: Exception, expected: type[kvstore.KVError]
) -> None:
    shelf = _Shelf()
    client = opened(shelf, retries=0)
    store = client.collection("notes")
    store.save({"_id": "a"})

    def fail(_: str) -> None:
        raise raised

    shelf.before = fail
    with pytest.raises(expected):
        list(client.collection("notes", "network").find())
    with contextlib.suppress(expected):
        assert [type(error) for error in store.push().errors] == [expected]
    assert len(store.pending) == 1
    shelf.before = lambda _: None
    store.pending.retry("a")
    assert len(store.pending) == 0


def test_a_defect_of_a_backend_is_shown_with_its_traceback(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = _Shelf()
    shown: list[BaseException | None] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: shown.append(told.exc_value))
    store = opened(shelf, retries=0).collection("notes", "network")

    def fail(_: str) -> None:
        raise LookupError("my defect")

    shelf.before = fail
    with pytest.raises(kvstore.ServerError, match="LookupError: my defect"):
        list(store.find())
    assert [str(error) for error in shown] == ["my defect"]


_WRONG: list[Any] = [7, object(), {"_id": 5}]


@pytest.mark.parametrize("given", [None, 7, *(Page([wrong]) for wrong in _WRONG)])
def test_an_answer_that_is_none_is_an_error(
    opened: Opened, given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    shelf = _Shelf()
    shelf.instead["fetch"] = lambda _: given
    store = opened(shelf, retries=0).collection("notes")
    with pytest.raises((kvstore.ProtocolError, kvstore.ServerError, kvstore.InvalidError)):
        store.pull()
    assert store.count() == 0


def test_what_cannot_be_json_is_a_defect_and_no_refusal(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    shelf = _Shelf()
    store = opened(shelf, retries=0).collection("notes")
    store.save({"_id": "a"})
    shelf.instead["write"] = lambda _, writes: [
        Stored({**(write.record or {}), "n": float("nan")}) for write in writes
    ]
    with pytest.raises(kvstore.ServerError):
        store.push()
    assert [write.state for write in store.pending] == ["waiting"]
    shelf.instead.clear()
    assert store.push().pushed == 1


def test_a_network_store_gives_ids_to_what_has_none(opened: Opened) -> None:
    shelf = _Shelf()
    saved = opened(shelf).collection("notes", "network").save({"n": 1})
    assert shelf.records["notes"][saved["_id"]]["n"] == 1


def test_fewer_results_than_writes_leave_the_others_pending(opened: Opened) -> None:
    shelf = _Shelf()
    shelf.instead["write"] = lambda name, writes: shelf.carry_out_all(name, writes[:1])
    store = opened(shelf, retries=0).collection("notes")
    store.save_many({"_id": name} for name in "abc")
    store.push()
    assert len(store.pending) == 2
    shelf.instead.clear()
    store.push()
    assert ids(shelf.records["notes"].values()) == ["a", "b", "c"]
    assert len(store.pending) == 0


def test_what_nobody_waits_for_is_cancelled(opened: Opened) -> None:
    shelf = _Shelf()
    never: Future[Any] = Future()
    shelf.instead["fetch"] = lambda _: never
    store = opened(shelf, retries=0).collection("notes")
    with pytest.raises(kvstore.TimeoutError):
        store.pull(timeout=0.1)
    assert cancelled(never)


def cancelled(future: Future[Any]) -> bool:
    """Wait until a future is cancelled."""
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    return done.wait(SECONDS) and future.cancelled()


def test_a_method_that_works_itself_can_ask_whether_somebody_waits(opened: Opened) -> None:
    shelf = _Shelf()
    ended = threading.Event()

    def work(_: str) -> None:
        pause = threading.Event()
        while not is_cancelled():
            pause.wait(0.001)
        ended.set()

    shelf.before = work
    store = opened(shelf, retries=0).collection("notes")
    with pytest.raises(kvstore.TimeoutError):
        store.pull(timeout=0.1)
    assert ended.wait(SECONDS)
    assert not is_cancelled()


def test_a_future_may_be_completed_by_any_thread(opened: Opened) -> None:
    shelf = _Shelf()
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


class _Service(_Shelf):
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
    shelf, other = _Shelf(), _Shelf()
    inner = opened(other).collection("notes")
    shelf.before = lambda _: inner.save({"_id": "from inside"})
    store = opened(shelf).collection("notes")
    store.save({"_id": "a"})
    store.sync()
    assert ids(inner) == ["from inside"]


def test_a_method_may_close_the_client_that_asks(opened: Opened) -> None:
    shelf = _Shelf()
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
    client = opened(_Shelf())
    with pytest.raises(kvstore.UnsupportedError):
        client.signup("ana", "password")


class _Numbers(_Shelf):
    """One whose records are known by a tenant's number, and whose versions are texts."""

    id = ("tenant", Integer("number"))
    version = Ordered(("meta", "version"))

    def put(self, collection: str, record: Record) -> Record:
        stored = {**record, "meta": {"version": f"{len(self.history):08}"}}
        self.records.setdefault(collection, {})[name_of(stored)] = stored
        self.history.append((collection, Upsert(stored)))
        return stored

    def fetch_ids(self, collection: str, ids: Sequence[Any]) -> Any:
        there = self.records.get(collection, {})
        names = [f"{tenant} {number}" for tenant, number in ids]
        return [there[name] for name in names if name in there]

    def carry_out(self, collection: str, write: Write) -> Result:
        tenant, number = write.id
        name = f"{tenant} {number}"
        found = self.records.get(collection, {}).get(name)
        if not write.may_replace(found and found["meta"]["version"]):
            return Conflicting(found)
        if write.record is not None:
            return Stored(self.put(collection, write.record))
        return Deleted(self.records.get(collection, {}).pop(name, None) is not None)


def name_of(record: Record) -> str:
    return f"{record['tenant']} {record['number']}"


def test_records_are_known_by_several_members(opened: Opened) -> None:
    numbers = _Numbers()
    ours, theirs = (opened(numbers).collection("orders", conflicts="merge") for _ in range(2))
    for number in (9, 10):
        ours.save({"tenant": "a", "number": number, "total": number})
    ours.save({"tenant": "b", "number": 9, "total": 1})
    assert ours.push().pushed == 3
    assert theirs.pull().pulled == 3
    assert theirs['["a",10]']["total"] == 10
    assert theirs.count({"number": {"$gt": 9}}) == 1
    theirs.save({"tenant": "a", "number": 9, "total": 9, "by": "theirs"})
    theirs.push()
    ours.save({"tenant": "a", "number": 9, "total": 99})
    assert not ours.push().errors
    assert numbers.records["orders"]["a 9"]["total"] == 99
    assert numbers.records["orders"]["a 9"]["by"] == "theirs"
    with pytest.raises(kvstore.InvalidError, match="number"):
        ours.save({"tenant": "a", "total": 5})


class _Wire(_Diary):
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
    client = opened(_Shelf())
    with pytest.raises(kvstore.UnsupportedError):
        client.register_live()
    with pytest.raises(kvstore.UnsupportedError):
        client.collection("notes").live()


def test_a_name_is_given_once_and_a_backend_lives_as_long_as_its_clients(tmp_path: Path) -> None:
    shelf = _Shelf()
    shelf.put("notes", {"_id": "a"})
    alive = weakref.ref(shelf)
    first = register_backend("the name", shelf)
    with pytest.raises(kvstore.ConflictError):
        register_backend("the name", _Shelf())
    client = kvstore.Client(app_key="k", backend="the name", data_directory=tmp_path)
    first.close()
    first.close()
    with pytest.raises(kvstore.KVError, match="the name"):
        kvstore.Client(app_key="k", backend="the name", data_directory=tmp_path / "other")
    del shelf
    gc.collect()
    assert client.collection("notes").pull().pulled == 1
    client.close()
    gc.collect()
    assert alive() is None


def test_what_is_no_backend_is_refused() -> None:
    with pytest.raises(TypeError):
        register_backend("x", object())  # type: ignore[arg-type]
    with pytest.raises(kvstore.InvalidError):
        register_backend("", _Shelf())
