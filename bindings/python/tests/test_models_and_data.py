"""What a model does with data that it does not know, or that does not fit, and in each call."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pydantic
import pytest
from conftest import APP_KEY, APP_SECRET, open_client
from kvstored import Server
from model_types import (
    DUE,
    EVERYTHING,
    NEWER,
    Everything,
    Note,
    Place,
    PydanticNote,
    PydanticPlace,
    Tree,
    is_whole,
)

import kvstore
from kvstore import aio

# What a newer program has added


@pytest.mark.parametrize("type", ["sync", "auto", "cache", "network"])
@pytest.mark.parametrize(("note", "place"), [(Note, Place), (PydanticNote, PydanticPlace)])
@pytest.mark.parametrize("many", [False, True])
def test_what_a_newer_program_has_added_is_kept(
    online: kvstore.Client,
    unique: str,
    type: kvstore.StoreType,
    note: Any,
    place: Any,
    many: bool,
) -> None:
    newer = online.collection(unique, "network")
    newer.save(NEWER)
    with online.collection(unique, type, model=note) as notes:
        if type != "network":
            notes.pull()
        one = notes["a"]
        one.text, one.where = "oats", place(city="Elko")
        if many:
            result = notes.save_many([note(text="new"), one])
            if type == "network":
                # What only the backend gets is inserted.
                assert [error.id for error in result.errors] == ["a"]
                return
            assert result.errors == []
            assert result.entities[1] == one
        else:
            assert notes.save(one) == one
        if type == "sync":
            assert is_whole(online.collection(unique)["a"])
            assert notes.push().errors == []
    assert is_whole(newer["a"])


def test_what_is_known_and_empty_is_written(local: kvstore.Client) -> None:
    raw = local.collection("notes")
    raw.save(NEWER)
    with local.collection("notes", model=Note) as notes:
        notes.save(replace(notes["a"], due=None, where=None))
    assert raw["a"] == {**NEWER, "due": None, "where": None}
    with local.collection("notes", model=Note, known_members={"_id": True}) as notes:
        notes.save(Note("x", id="a"))
        assert raw["a"]["addedByNewerApp"]


class Odd(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)

    key: str = pydantic.Field(alias="_id")
    at: int = pydantic.Field(validation_alias=pydantic.AliasChoices("at", "then"))
    out: int = pydantic.Field(0, exclude=True)
    other: int = pydantic.Field(0, serialization_alias="Other")

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def twice(self) -> int:
        """Give what is not read."""
        return 2 * self.at


def test_all_names_of_a_field_are_known(local: kvstore.Client) -> None:
    raw = local.collection("odd")
    raw.save({"_id": "a", "then": 1, "out": 5, "more": 1})
    with local.collection("odd", model=Odd) as models:
        saved = models.save(models["a"])
        assert saved.at == 1
    assert raw["a"] == {"_id": "a", "at": 1, "twice": 2, "Other": 0, "out": 5, "more": 1}


# What does not fit


@pytest.mark.parametrize(
    ("member", "value", "words"),
    [
        ("count", "7", "count: '7' is not of type integer"),
        ("count", True, "count: True is not of type integer"),
        ("share", "x", "share: 'x' is not of type number"),
        ("flag", 1, "flag: 1 is not of type bool"),
        ("day", "today", "day: 'today' is not of type date"),
        ("price", "a lot", "price: 'a lot' is not of type Decimal"),
        ("colour", "blue", "colour: 'blue' is not of type Colour"),
        ("blob", "é", "blob: 'é' is not of type bytes"),
        ("kind", "c", "kind: 'c' is not of type "),
        ("either", 1.5, "either: 1.5 is none of int | str"),
        ("tags", ["a", 5], r"tags\[1\]: 5 is not of type text"),
        ("tags", "a", "tags: 'a' is not of type array"),
        ("places", [{"city": 5}], r"places\[0\]\.city: 5 is not of type text"),
        ("places", [{}], r"places\[0\]\.city: it is missing"),
        ("places", [5], r"places\[0\]: 5 is not an object, as Place needs"),
        ("pair", [1], r"pair: \[1\] is not an array of 2"),
        ("by_name", {"x": {"city": 1}}, r"by_name\.x\.city: 1 is not of type text"),
        ("by_year", {"x": "2026-01-01"}, r"by_year\.x: 'x' is not of type int"),
        ("inner", {}, "inner: city: Field required"),
        ("nothing", 1, "nothing: 1 is not of type null"),
        ("called", None, "called: None is not of type text"),
        ("count", ..., "count: it is missing"),
    ],
)
def test_what_does_not_fit_names_entity_and_member(
    local: kvstore.Client, member: str, value: Any, words: str
) -> None:
    raw = local.collection("all")
    with local.collection("all", model=Everything) as everything:
        everything.save(EVERYTHING)
        key = str(UUID(int=1))
        entity = raw[key] | {member: value}
        if value is ...:
            del entity[member]
        raw.save(entity)
        with pytest.raises(kvstore.InvalidError, match=words) as caught:
            everything[key]
    assert caught.value.id == key
    assert "does not fit Everything" in str(caught.value)


def test_a_cursor_goes_on_behind_what_does_not_fit(local: kvstore.Client) -> None:
    raw = local.collection("notes")
    raw.save_many([{"_id": "a", "text": "x"}, {"_id": "b"}, {"_id": "c", "text": "z"}])
    with local.collection("notes", model=Note) as notes, notes.find() as found:
        assert next(found).id == "a"
        with pytest.raises(kvstore.InvalidError, match="text: it is missing"):
            next(found)
        assert next(found).id == "c"


class Positive(pydantic.BaseModel):
    n: int
    deep: list[PydanticPlace] = []

    @pydantic.field_validator("n")
    @classmethod
    def is_positive(cls, n: int) -> int:
        """Refuse what is below 0."""
        if n < 0:
            raise ValueError("it is negative")
        return n


@pytest.mark.parametrize(
    ("entity", "words"),
    [
        ({"n": -1}, "n: Value error, it is negative"),
        ({"n": 1, "deep": [{}]}, r"deep\[0\]\.city: Field required"),
        ({"n": "x", "deep": 5}, r"n: Input should be .* \(and 1 more\)"),
    ],
)
def test_pydantic_says_what_does_not_fit(
    local: kvstore.Client, entity: dict[str, Any], words: str
) -> None:
    local.collection("numbers").save({"_id": "a", **entity})
    models = local.collection("numbers", model=Positive)
    with pytest.raises(kvstore.InvalidError, match=words) as caught:
        models["a"]
    assert caught.value.id == "a"


def test_what_was_saved_and_comes_back_otherwise_is_an_error_of_its_own(
    local: kvstore.Client,
) -> None:
    with local.collection("notes", model=Note) as notes:
        wrong: Any = 5
        result = notes.save_many([Note("a"), Note(wrong, id="b")])
    assert result.entities[0] is not None
    assert result.entities[1] is None
    assert [(error.index, error.id) for error in result.errors] == [(1, "b")]


@pytest.mark.parametrize("value", [{"text": "x"}, '{"text":"x"}', Place("Reno"), None])
def test_only_the_model_is_taken(local: kvstore.Client, value: Any) -> None:
    with local.collection("notes", model=Note) as notes:
        with pytest.raises(kvstore.InvalidError, match="needs Note, not"):
            notes.save(value)
        with pytest.raises(kvstore.InvalidError, match="not JSON: due: a datetime needs"):
            notes.save(Note("x", due=datetime(2026, 1, 1)))


@dataclass
class Unreadable:
    what: complex


@dataclass
class Unknown:
    what: Missing  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize("model", [Unreadable, Unknown, dict, int])
def test_what_can_not_be_read_is_refused_at_once(local: kvstore.Client, model: Any) -> None:
    with pytest.raises(TypeError, match=model.__name__):
        local.collection("notes", model=model)


# Everywhere where entities are handed out


def test_callbacks_transactions_and_folds_get_objects(local: kvstore.Client) -> None:
    with local.collection("notes", model=Note) as notes:
        given: list[Any] = []
        notes.save_async(Note("a", id="1"), on_answer=given.append).result()
        notes.save_many_async([Note("b", id="2")], on_answer=given.append).result()
        notes.find_async(on_answer=lambda answer: given.append(list(answer.value or []))).result()
        assert given[0].value == Note("a", id="1")
        assert given[1].value.entities == [Note("b", id="2")]
        assert given[2] == [Note("a", id="1"), Note("b", id="2")]
        with local.transaction() as transaction:
            assert transaction.find_by_id(notes, "1") == Note("a", id="1")
            assert transaction.get(notes, "3") is None
            assert transaction.save(notes, Note("c", id="3")).text == "c"
            assert len(list(transaction.find(notes))) == 3
        assert notes.reduce(lambda text, note: text + note.text, str) == [({}, "abc")]
        assert notes.pending.get("3").entity == Note("c", id="3")
        notes.pending.edit("3", Note("d"))
        assert notes["3"] == Note("d", id="3")


def test_observers_get_objects_until_one_does_not_fit(local: kvstore.Client) -> None:
    raw = local.collection("notes")
    with local.collection("notes", model=Note) as notes, notes.changes() as changes:
        result: list[Note] = []
        next(changes).apply(result)
        notes.save(Note("a", id="1"))
        next(changes).apply(result)
        notes.save(Note("b", id="1"))
        next(changes).apply(result)
        assert result == [Note("b", id="1")]
        raw.save({"_id": "2"})
        with pytest.raises(kvstore.InvalidError, match="text: it is missing"):
            next(changes)
        raw.save({"_id": "3", "text": "c"})
        assert list(changes) == []


def test_live_events_have_objects(server: Server, tmp_path: Path, unique: str) -> None:
    with (
        open_client(server.host, tmp_path / "reader") as reader,
        open_client(server.host, tmp_path / "writer") as writer,
    ):
        reader.signup(unique, "a password")
        writer.login(unique, "a password")
        reader.register_live()
        sent = writer.collection(unique, "network")
        with reader.collection(unique, model=Note).live() as stream:
            assert [next(stream).event, next(stream).event] == ["status", "ready"]
            sent.save({"_id": "a", "text": "milk"})
            assert next(stream).entity == Note("milk", id="a")
            sent.save({"_id": "b"})
            with pytest.raises(kvstore.InvalidError, match="text: it is missing"):
                next(stream)
            sent.save({"_id": "c", "text": "oats"})
            assert next(stream).entity == Note("oats", id="c")


def test_conflict_handlers_get_and_give_objects(online: kvstore.Client, unique: str) -> None:
    backend = online.collection(unique, "network")
    backend.save(NEWER)
    with online.collection(unique, model=Note) as notes:
        notes.pull()
        notes.save(replace(notes["a"], text="ours"))
        backend.save({**NEWER, "text": "theirs"})
        met: list[kvstore.Conflict[Note]] = []

        def decide(conflict: kvstore.Conflict[Note]) -> Note:
            met.append(conflict)
            assert conflict.local is not None
            assert conflict.remote is not None
            return replace(conflict.local, text=f"{conflict.local.text} {conflict.remote.text}")

        notes.set_conflict_handler(decide)
        assert notes.push().errors == []
        assert met[0].base is None or met[0].base.text == "milk"
    assert backend["a"]["text"] == "ours theirs"
    assert backend["a"]["addedByNewerApp"] == NEWER["addedByNewerApp"]


def test_the_same_awaited(server: Server, tmp_path: Path, unique: str) -> None:
    async def main() -> None:
        async with aio.Client(
            app_key=APP_KEY, app_secret=APP_SECRET, host=server.host, data_directory=tmp_path
        ) as client:
            await client.signup(unique, "a password")
            notes = client.collection(unique, model=Note)
            saved = await notes.save(Note("milk", due=DUE))
            assert saved.id is not None
            assert await notes.find_by_id(saved.id) == saved
            assert await notes.get(saved.id) == saved
            assert [note async for note in notes] == [saved]
            assert (await notes.save_many([saved])).entities == [saved]
            await notes.pending.edit(saved.id, replace(saved, text="oats"))
            assert (await notes.pending.get(saved.id)).entity == replace(saved, text="oats")
            assert (await notes.push()).errors == []
            async with notes.changes() as changes:
                first = await changes.__anext__()
                assert [placed.entity.text for placed in first.insertions] == ["oats"]
            await client.collection(unique).save({"_id": "b"})
            found = notes.find({"_id": "b"})
            with pytest.raises(kvstore.InvalidError, match="text: it is missing"):
                await found.__anext__()
            await found.close()

    asyncio.run(main())


def test_threads_read_one_model(local: kvstore.Client) -> None:
    with local.collection("trees", model=Tree) as trees:
        trees.save_many([Tree(str(n), [Tree("x")]) for n in range(50)])
        found: list[int] = []
        threads = [
            threading.Thread(target=lambda: found.append(len(list(trees)))) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [50] * 4
