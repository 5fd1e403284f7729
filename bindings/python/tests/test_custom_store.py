"""Stores of the program's own, in place of the local database."""

from __future__ import annotations

import asyncio
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import kvstore
import kvstore.aio
from kvstore.backend import (
    Change,
    Conflicts,
    Fetch,
    Integer,
    Location,
    Metadata,
    Page,
    Record,
    Save,
    Saved,
)


class Box(kvstore.CustomStore):
    """Records in memory, with revisions."""

    version = Integer("rev")

    def __init__(self) -> None:
        self.records: dict[tuple[str, Any], Record] = {}
        self.saves: list[Save] = []
        self.location: Location | None = None
        #: Runs in place of a method.
        self.instead: dict[str, Callable[[], Any]] = {}

    def _answer(self, name: str, right: Callable[[], Any]) -> Any:
        return self.instead.get(name, right)()

    def load(self, location: Location) -> Any:
        """Note the location."""
        self.location = location
        return self._answer("load", lambda: Metadata("box", "box-1"))

    def fetch(self, request: Fetch) -> Any:
        """Give everything on one page."""
        return self._answer(
            "fetch",
            lambda: Page(
                [r for (name, _), r in self.records.items() if name == request.collection]
            ),
        )

    def values(self, collection: str, ids: Sequence[Any]) -> Any:
        """Give these records."""
        return self._answer(
            "values",
            lambda: [
                self.records[collection, id] for id in ids if (collection, id) in self.records
            ],
        )

    def save(self, save: Save) -> Any:
        """Note the save, and carry it out."""
        self.saves.append(save)
        return self._answer("save", lambda: self._saved(save))

    def _saved(self, save: Save) -> Saved | Conflicts:
        def stored(change: Change) -> Record | None:
            return self.records.get((change.collection, change.id))

        changes = [*save.inserted, *save.updated, *save.deleted]
        conflicts = [
            (change, stored(change))
            for change in changes
            if not change.may_replace((stored(change) or {}).get("rev"))
        ]
        if conflicts:
            return Conflicts(conflicts)
        for change in (*save.inserted, *save.updated):
            revision = (stored(change) or {"rev": 0})["rev"] + 1
            self.records[change.collection, change.id] = {**(change.record or {}), "rev": revision}
        existed = [
            self.records.pop((change.collection, change.id), None) is not None
            for change in save.deleted
        ]
        return Saved(
            [
                self.records[change.collection, change.id]
                for change in changes[: len(changes) - len(existed)]
            ],
            existed,
        )


@contextmanager
def opened(box: Box, directory: Path, **options: Any) -> Iterator[kvstore.Client]:
    """Yield a client of a store."""
    with (
        kvstore.register_store("box", box),
        kvstore.Client(app_key="kid", store="box", data_directory=directory, **options) as client,
    ):
        yield client


def test_what_is_saved_is_in_the_store_alone(tmp_path: Path) -> None:
    box = Box()
    with opened(box, tmp_path, store_options={"shelf": 3}) as client:
        notes = client.collection("notes")
        saved = notes.save({"n": 1})
        assert saved["rev"] == 1
        assert notes.save({**saved, "n": 2})["rev"] == 2
        result = notes.save_many([{"_id": f"k{n:02}", "n": n} for n in range(20)])
        assert not result.errors
        # All of them in one step.
        assert [len(save.inserted) for save in box.saves if save.inserted] == [1, 20]
        query = kvstore.Query({"n": {"$gte": 5}}, sort={"n": -1}, limit=3)
        assert [note["n"] for note in notes.find(query)] == [19, 18, 17]
        with notes.results(kvstore.Query(sort={"n": 1})) as found:
            assert len(found) == 21
            assert found[-1]["n"] == 19
        assert notes.count() == 21
        assert notes.group(aggregates={"n": "count", "sum": {"sum": "n"}}) == [
            {"n": 21, "sum": 192}
        ]
        with pytest.raises(kvstore.UnsupportedError):
            notes.group(["n"], reduce="function(doc, out) { out.n++; }", initial={"n": 0})
        assert notes.remove_by_id("k00") == 1
        assert notes.remove_by_id("k00") == 0
        assert notes.remove({"n": {"$lt": 10}}) == 10
        assert len(box.records) == 10
        with pytest.raises(kvstore.UnsupportedError):
            notes.push()
    assert box.location is not None
    assert (box.location.app_key, box.location.options) == ("kid", {"shelf": 3})
    assert not list(tmp_path.rglob("kinvey.kvs"))


def test_each_of_many_has_a_result_if_one_is_refused(tmp_path: Path) -> None:
    with opened(Box(), tmp_path) as client:
        notes = client.collection("notes")
        notes.save({"_id": "b"})
        result = notes.save_many([{"_id": "a"}, {"_id": "b"}, {"_id": "c"}])
        assert [error.index for error in result.errors] == [1]
        assert notes.count() == 3


def test_a_condition_is_checked_by_the_store(tmp_path: Path) -> None:
    with opened(Box(), tmp_path) as client:
        notes = client.collection("notes")
        notes.save({"_id": "a"})
        with pytest.raises(kvstore.ConflictError):
            notes.insert({"_id": "a"})


@pytest.mark.parametrize(
    "metadata", [Metadata("other", "a"), Metadata("box", ""), Metadata("box", "a b")]
)
def test_metadata_is_validated_when_a_client_is_opened(tmp_path: Path, metadata: Any) -> None:
    box = Box()
    box.instead["load"] = lambda: metadata
    with (
        kvstore.register_store("box", box),
        pytest.raises(kvstore.ProtocolError),
    ):
        kvstore.Client(app_key="kid", store="box", data_directory=tmp_path)


@pytest.mark.parametrize(
    "answers",
    [
        {"save": lambda: 7},
        {"save": lambda: Saved([{"_id": "a", "n": float("nan")}])},
        {"save": lambda: Saved([])},
        {"save": lambda: Saved([{"_id": "z"}])},
        {"save": lambda: Saved([{"_id": "a"}], [True])},
        {"save": lambda: Conflicts([])},
        {"save": lambda: Conflicts([(Change("other", "z", None), None)])},
    ],
)
def test_a_malformed_answer_fails_the_save(
    tmp_path: Path, answers: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    box = Box()
    box.instead = answers
    with opened(box, tmp_path, retries=0) as client, pytest.raises(kvstore.ProtocolError):
        client.collection("notes").save({"_id": "a"})


class _HangingBox(Box):
    """One that answers no fetch until it is released."""

    def __init__(self) -> None:
        super().__init__()
        #: The collections that somebody waits for.
        self.hanging = {"late": threading.Event(), "notes": threading.Event()}
        self.released = threading.Event()

    def fetch(self, request: Fetch) -> Page:
        """Hang."""
        self.hanging[request.collection].set()
        self.released.wait(60)
        return Page([])


def test_a_store_that_hangs_ends_with_the_deadline_and_with_the_client(tmp_path: Path) -> None:
    box = _HangingBox()
    try:
        with opened(box, tmp_path, retries=0) as client:
            # The store may be called only when the deadline is over.
            with pytest.raises(kvstore.TimeoutError):
                client.collection("late").count(timeout=0.05)
            notes = client.collection("notes")
            failures: list[BaseException] = []

            def count() -> None:
                try:
                    notes.count()
                except kvstore.KVError as error:
                    failures.append(error)

            thread = threading.Thread(target=count)
            thread.start()
            assert box.hanging["notes"].wait(60)
            client.close()
            thread.join(60)
            assert [type(failure) for failure in failures] == [kvstore.CancelledError]
    finally:
        box.released.set()


def test_a_store_may_call_the_library(tmp_path: Path) -> None:
    box = Box()
    with opened(box, tmp_path) as client:
        notes = client.collection("notes")
        notes.save({"_id": "a"})
        counts: list[int] = []

        def call_back() -> list[Record]:
            counts.append(notes.count())
            return list(box.records.values())

        box.instead["values"] = call_back
        assert notes.find_by_id("a")["rev"] == 1
        assert counts == [1]


def test_stores_and_backends_share_their_names(tmp_path: Path) -> None:
    with (
        kvstore.register_store("box", Box()),
        pytest.raises(kvstore.ConflictError),
    ):
        kvstore.register_store("box", Box())
    with pytest.raises(kvstore.ConflictError):
        kvstore.register_store("local", Box())
    with pytest.raises(kvstore.InvalidError, match="box"):
        kvstore.Client(app_key="kid", store="box", data_directory=tmp_path)
    with kvstore.Client(app_key="kid", store="local", data_directory=tmp_path) as client:
        client.collection("notes").save({"_id": "a"})
        assert client.collection("notes").count() == 1


RELATIONSHIPS: dict[str, dict[str, dict[str, Any]]] = {
    "notes": {"bug": {"to": "bugs", "key": "bugId"}},
    "bugs": {"notes": {"to": "notes", "inverseKey": "bugId"}},
}


def test_a_context_has_the_store_of_its_client(tmp_path: Path) -> None:
    box = Box()
    with opened(box, tmp_path) as client:
        with client.context(relationships=RELATIONSHIPS) as ctx:
            bug = ctx.insert("bugs", {"_id": "b", "title": "It crashes"})
            ctx.insert("notes", {"_id": "n", "bugId": bug.id})
        assert len(box.saves) == 1
        assert box.records["bugs", "b"] == {"_id": "b", "title": "It crashes", "rev": 1}
        # The same code, whatever type of stores it names for the local data.
        with client.context(type="sync", relationships=RELATIONSHIPS) as ctx:
            assert [note.id for note in ctx.get("bugs", "b").notes] == ["n"]
            assert ctx.get("notes", "n").bug.title == "It crashes"
            ctx.get("bugs", "b").title = "It hangs"
            box.records["bugs", "b"] |= {"title": "It burns", "rev": 7}
            with pytest.raises(kvstore.ConflictError):
                ctx.save()
            [conflict] = ctx.conflicts()
            assert (conflict.read_version, conflict.stored_version) == (1, 7)
            ctx.resolve(conflict, "object")
        assert box.records["bugs", "b"]["title"] == "It hangs"
        with pytest.raises(kvstore.InvalidError, match="box"):
            client.context(store="local")
        with pytest.raises(kvstore.InvalidError, match="tag"):
            client.context(tag="other")


class ChoosingBox(Box):
    """Chooses the ids of new records."""

    def obtain_ids(self, objects: Sequence[tuple[str, Record]]) -> Any:
        """Name the records by their titles."""
        return [f"chosen-{record['title']}" for _, record in objects]


def test_a_store_chooses_ids_and_references_follow(tmp_path: Path) -> None:
    box = ChoosingBox()
    with opened(box, tmp_path) as client, client.context(relationships=RELATIONSHIPS) as ctx:
        bug = ctx.insert("bugs", {"title": "b"})
        temporary = bug.id
        ctx.insert("notes", {"title": "n", "bugId": temporary})
        obtained = ctx.obtain_permanent_ids()
        assert ("bugs", temporary, "chosen-b") in obtained
        assert len(obtained) == 2
        assert ctx.save().inserted == [("bugs", "chosen-b"), ("notes", "chosen-n")]
        assert box.records["notes", "chosen-n"]["bugId"] == "chosen-b"
        assert ctx.get("bugs", temporary).title == "b"
        late = ctx.insert("bugs", {"title": "late"}).id
        assert ctx.save().permanent_ids == [("bugs", late, "chosen-late")]
        assert ctx.get("bugs", late).title == "late"


class CountedBox(Box):
    """Has integers for ids."""

    id = Integer("_id")


def test_an_object_with_an_integer_id_has_an_integer_reference(tmp_path: Path) -> None:
    box = CountedBox()
    with opened(box, tmp_path) as client, client.context() as ctx:
        ctx.insert("notes", {"_id": 7, "text": "milk"})
        ctx.save()
        assert ctx.get("notes", 7).reference == 7
        assert ctx.at_uri(ctx.get("notes", 7).uri).reference == 7
    assert ("notes", 7) in box.records


class TellingBox(Box):
    """Finds by itself what a relationship leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, Sequence[Any]]] = []

    def relationship(
        self, name: str, collection: str, target: str, keys: Sequence[str], ids: Sequence[Any]
    ) -> Any:
        """Give the same note for each."""
        self.asked.append((name, list(ids)))
        return [["n"] for _ in ids]


def test_a_store_finds_what_a_relationship_leads_to(tmp_path: Path) -> None:
    box = TellingBox()
    with opened(box, tmp_path) as client, client.context(relationships=RELATIONSHIPS) as ctx:
        client.collection("bugs").save({"_id": "b"})
        client.collection("notes").save({"_id": "n", "text": "seen"})
        assert [note.text for note in ctx.get("bugs", "b").notes] == ["seen"]
        assert box.asked == [("notes", ["b"])]


def test_a_uri_names_an_object_of_the_same_place_and_of_no_other(tmp_path: Path) -> None:
    box = Box()
    with opened(box, tmp_path / "one") as client, client.context() as ctx:
        uri = ctx.object("notes", "a").uri
    with opened(box, tmp_path / "one") as client, client.context() as ctx:
        assert ctx.at_uri(uri).id == "a"
    box.instead["load"] = lambda: Metadata("box", "box-2")
    with (
        opened(box, tmp_path / "two") as client,
        client.context() as ctx,
        pytest.raises(kvstore.NotFoundError),
    ):
        ctx.at_uri(uri)


def test_a_task_obtains_ids_and_decides_conflicts(tmp_path: Path) -> None:
    async def run() -> None:
        box = ChoosingBox()
        options: dict[str, Any] = {"store": "box", "data_directory": tmp_path}
        with kvstore.register_store("box", box):
            async with kvstore.aio.Client(app_key="kid", **options) as client:
                ctx = await client.context()
                bug = await ctx.insert("bugs", {"title": "b"})
                temporary = bug.id
                obtained = await ctx.obtain_permanent_ids()
                assert obtained == [("bugs", temporary, "chosen-b")]
                await ctx.save()
                await ctx.update(bug, title="mine")
                box.records["bugs", "chosen-b"].update(title="theirs", rev=7)
                with pytest.raises(kvstore.ConflictError):
                    await ctx.save()
                (conflict,) = await ctx.conflicts()
                await ctx.resolve(conflict, {**(conflict.stored or {}), "title": "both"})
                await ctx.save()
                assert box.records["bugs", "chosen-b"]["title"] == "both"
                await ctx.close()

    asyncio.run(run())


def test_a_context_fetches_from_its_store_with_its_changes(tmp_path: Path) -> None:
    box = Box()
    with opened(box, tmp_path) as client:
        client.collection("notes").save_many([{"_id": f"k{n}", "n": n} for n in range(5)])
        with client.context() as ctx:
            ctx.get("notes", "k1").n = 9
            ctx.insert("notes", {"_id": "new", "n": 7})
            query = kvstore.Query({"n": {"$gte": 3}}, sort={"n": -1})
            assert [note.id for note in ctx.fetch("notes", query)] == ["k1", "new", "k4", "k3"]
            ctx.rollback()
            assert [note.id for note in ctx.fetch("notes", query)] == ["k4", "k3"]


def test_a_list_follows_what_the_store_announces(tmp_path: Path) -> None:
    box = Box()
    with kvstore.register_store("box", box) as registration:
        client = kvstore.Client(app_key="kid", store="box", data_directory=tmp_path)
        with client, client.context() as ctx:
            ctx.insert("notes", {"_id": "a", "n": 1})
            ctx.save()
            query = kvstore.Query({"n": {"$gt": 0}}, sort={"n": 1})
            told: queue.Queue[object] = queue.Queue()

            def shown() -> list[int] | None:
                try:
                    return [note.n for note in found]
                except kvstore.ObjectGoneError:
                    return None  # The list is about to lose it.

            def becomes(*wanted: int) -> None:
                while shown() != list(wanted):
                    told.get(timeout=30)

            with ctx.fetch("notes", query) as found, found.observe(told.put):
                becomes(1)
                # Another program writes to the store.
                box.records["notes", "b"] = {"_id": "b", "n": 2, "rev": 1}
                registration.announce({"notes": ["b"], "others": None})
                becomes(1, 2)
                box.records["notes", "a"] = {"_id": "a", "n": 3, "rev": 2}
                registration.announce({"notes": None})
                becomes(2, 3)
                del box.records["notes", "b"]
                registration.announce()
                becomes(3)
            with pytest.raises(kvstore.InvalidError):
                registration.announce({"notes": [1]})
    with pytest.raises(kvstore.NotFoundError):
        registration.announce()


def test_a_client_keeps_its_store_when_the_name_is_unregistered(tmp_path: Path) -> None:
    box = Box()
    registration = kvstore.register_store("box", box)
    with kvstore.Client(app_key="kid", store="box", data_directory=tmp_path) as client:
        registration.close()
        for context in (client.context(), client.context(store="box")):
            with context as ctx:
                ctx.insert("notes", {"n": 1})
        assert box.location is not None
        assert (box.location.app_key, box.location.data_directory) == ("kid", tmp_path)
        assert len(box.records) == 2


def test_closing_a_client_ends_what_its_context_waits_for(tmp_path: Path) -> None:
    box = Box()
    released, hanging = threading.Event(), threading.Event()

    def hang() -> list[Record]:
        hanging.set()
        released.wait(60)
        return []

    box.instead["values"] = hang
    failures: list[BaseException] = []
    try:
        with opened(box, tmp_path) as client:
            ctx = client.context()

            def read() -> None:
                try:
                    ctx.get("notes", "a")
                except kvstore.KVError as error:
                    failures.append(error)

            thread = threading.Thread(target=read)
            thread.start()
            assert hanging.wait(60)
            client.close()
            thread.join(60)
        assert [type(failure) for failure in failures] == [kvstore.CancelledError]
    finally:
        released.set()
