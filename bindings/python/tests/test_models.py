"""Collections that give and take objects of dataclasses, models of pydantic, and others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, assert_type
from uuid import UUID

import pydantic
import pytest
from model_types import (
    DUE,
    EVERYTHING,
    AttrsModel,
    AttrsNote,
    Colour,
    Everything,
    Note,
    Place,
    PydanticNote,
    Tree,
)

import kvstore

# Dataclasses


def test_a_saved_object_comes_back_with_its_id(local: kvstore.Client) -> None:
    with local.collection("notes", model=Note) as notes:
        assert_type(notes, kvstore.Store[Note])
        new = Note("milk", due=DUE, where=Place("Reno", DUE))
        saved = notes.save(new)
        assert_type(saved, Note)
        assert_type(notes.find(), kvstore.Cursor[Note])
        assert new.id is None
        assert saved.id is not None
        assert saved == replace(new, id=saved.id)
        assert notes[saved.id] == saved
        assert notes.get(saved.id) == saved
        assert saved.id in notes
        assert list(notes) == list(notes.find({"due": DUE})) == [saved]
        assert notes.find_by_id_async(saved.id).result() == saved
        assert local.collection("notes")[saved.id] == {
            "_id": saved.id,
            "text": "milk",
            "due": "2026-02-03T04:05:06.789Z",
            "where": {"city": "Reno", "seen": "2026-02-03T04:05:06.789Z"},
        }


def test_every_type_comes_back_as_itself(local: kvstore.Client) -> None:
    with local.collection("all", model=Everything) as everything:
        assert everything.save(EVERYTHING) == EVERYTHING
        assert everything[str(UUID(int=1))] == EVERYTHING
    stored = local.collection("all")[str(UUID(int=1))]
    assert stored["called"] == "yes"
    assert stored["_acl"] == {"gr": True}
    assert stored["calculated"] == 7
    assert "_kmd" not in stored


def test_a_type_may_have_itself_inside(local: kvstore.Client) -> None:
    tree = Tree("a", [Tree("b", [Tree("c")])], Tree("z"))
    with local.collection("trees", model=Tree) as trees:
        assert trees.save(tree) == tree
        assert list(trees) == [tree]


@dataclass
class Both:
    id: int
    _id: str | None = None


def test_a_field_id_beside_one_that_is_the_id_is_a_member(local: kvstore.Client) -> None:
    with local.collection("both", model=Both) as both:
        saved = both.save(Both(7))
        assert saved.id == 7
        assert saved._id is not None
        assert local.collection("both")[saved._id] == {"id": 7, "_id": saved._id}


class Money:
    def __init__(self, cents: int) -> None:
        self.cents = cents

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Money) and other.cents == self.cents

    __hash__ = None  # type: ignore[assignment]


@dataclass
class Bill:
    sum: Money | None
    tags: frozenset[str] = frozenset()


def test_registered_types_are_read(local: kvstore.Client) -> None:
    kvstore.register_type(Money, lambda money: money.cents, Money)
    kvstore.register_type(frozenset, sorted)
    with local.collection("bills", model=Bill) as bills:
        assert bills.save(Bill(Money(5), frozenset("ba"))) == Bill(Money(5), frozenset("ab"))


# Pydantic


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(
        strict=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )

    key: UUID = pydantic.Field(alias="_id")
    at: datetime
    price: Decimal
    colour: Colour
    blob: bytes
    tags: tuple[str, ...]
    acl: dict[str, Any] | None = pydantic.Field(default=None, alias="_acl")
    note: Note | None = None


def test_a_model_of_pydantic_comes_back_as_itself(local: kvstore.Client) -> None:
    strict = Strict(
        _id=UUID(int=2),
        at=DUE,
        price=Decimal("12.5"),
        colour=Colour.RED,
        blob=b"\xff",
        tags=("a",),
        note=Note("x", due=DUE),
    )
    with local.collection("strict", model=Strict) as models:
        assert models.save(strict) == strict
        assert list(models.find({"at": DUE, "price": Decimal("12.5")})) == [strict]
    with local.collection("notes", model=PydanticNote) as notes:
        saved = notes.save(PydanticNote(text="milk", due=DUE))
        assert saved.id is not None
        assert notes[saved.id] == saved
        assert "id" not in local.collection("notes")[saved.id]


def test_forbidden_members_are_those_of_others(online: kvstore.Client, unique: str) -> None:
    with online.collection(unique, "network", model=Strict) as models:
        strict = Strict(
            _id=UUID(int=3), at=DUE, price=Decimal(1), colour=Colour.RED, blob=b"", tags=()
        )
        saved = models.save(strict)
        assert saved.acl is not None
        assert saved.acl["creator"]
    online.collection(unique, "network").update({}, {"$set": {"other": 1}})
    with pytest.raises(kvstore.InvalidError, match="other: Extra inputs are not permitted"):
        list(online.collection(unique, "network", model=Strict))


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")

    id: str | None = None


def test_a_model_that_keeps_all_members_replaces_all(local: kvstore.Client) -> None:
    raw = local.collection("open")
    raw.save({"_id": "a", "x": 1, "y": 2})
    with local.collection("open", model=Open) as models:
        one = models["a"]
        assert one.model_extra == {"x": 1, "y": 2}
        assert one.model_extra is not None
        del one.model_extra["x"]
        models.save(one)
    assert raw["a"] == {"_id": "a", "y": 2}


# Others


def test_another_library_is_plugged_in_by_its_model(local: kvstore.Client) -> None:
    raw = local.collection("notes")
    raw.save({"_id": "a", "text": "milk", "addedByNewerApp": 1})
    with local.collection("notes", model=AttrsModel()) as notes:
        one = notes["a"]
        assert one == AttrsNote("milk", "a")
        one.text = "oats"
        assert notes.save(one) == one
        raw.save({"_id": "b"})
        with pytest.raises(kvstore.InvalidError, match="does not fit AttrsModel: 'text'"):
            notes["b"]
    assert raw["a"] == {"_id": "a", "text": "oats", "addedByNewerApp": 1}
