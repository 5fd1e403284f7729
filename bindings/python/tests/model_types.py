"""Types that collections of the tests give and take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from typing import Any, Literal, NewType
from uuid import UUID

import attrs
import pydantic

import kvstore


class Colour(Enum):
    RED = "red"
    BOX = (1, 2)


class Size(IntEnum):
    LARGE = 3


@dataclass
class Place:
    city: str
    seen: datetime | None = None


@dataclass
class Note:
    """What an older program knows."""

    text: str
    id: str | None = None
    due: datetime | None = None
    where: Place | None = None


class PydanticPlace(pydantic.BaseModel):
    city: str
    seen: datetime | None = None


class PydanticNote(pydantic.BaseModel):
    text: str
    id: str | None = None
    due: datetime | None = None
    where: PydanticPlace | None = None


@attrs.define
class AttrsNote:
    text: str
    id: str | None = None


class AttrsModel(kvstore.Model[AttrsNote]):
    """What another library needs."""

    def from_entity(self, entity: kvstore.Entity) -> AttrsNote:
        """Read a note."""
        return AttrsNote(entity["text"], entity["_id"])

    def to_entity(self, value: AttrsNote) -> Mapping[str, Any]:
        """Write a note."""
        return {"text": value.text} | ({} if value.id is None else {"_id": value.id})

    def members(self) -> Mapping[str, Any]:
        """Name what a note has."""
        return {"_id": True, "text": True}


DUE = datetime(2026, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)
NEWER = {
    "_id": "a",
    "text": "milk",
    "due": "2026-02-03T04:05:06.789Z",
    "where": {"city": "Reno", "zip": "89501"},
    "addedByNewerApp": {"deep": [1, 2]},
}


def is_whole(entity: kvstore.Entity) -> bool:
    """Tell whether an entity has what was saved, and what only a newer program knows."""
    return bool(
        entity["text"] == "oats"
        and entity["where"] == {"city": "Elko", "zip": "89501", "seen": None}
        and entity["addedByNewerApp"] == {"deep": [1, 2]}
    )


Slug = NewType("Slug", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    _id: UUID
    count: int
    share: float
    flag: bool
    day: date
    price: Decimal
    exact: Decimal
    colour: Colour
    box: Colour
    size: Size
    blob: bytes
    path: PurePosixPath
    slug: Slug
    kind: Literal["a", "b"]
    either: int | str
    moment_or_text: datetime | str
    tags: list[str]
    places: Sequence[Place]
    pair: tuple[int, Place]
    row: tuple[int, ...]
    by_name: dict[str, Place]
    by_year: Mapping[int, date]
    anything: Any
    inner: PydanticPlace
    raw: dict[str, Any]
    nothing: None = None
    calculated: int = field(init=False, default=7)
    _acl: dict[str, Any] | None = None
    _kmd: dict[str, Any] | None = None
    renamed: str = field(default="", metadata={"alias": "called"})


EVERYTHING = Everything(
    _id=UUID(int=1),
    count=2**62,
    share=0.5,
    flag=True,
    day=date(2026, 2, 3),
    price=Decimal("12.5"),
    exact=Decimal(9007199254740993),
    colour=Colour.RED,
    box=Colour.BOX,
    size=Size.LARGE,
    blob=b"\xff\x00",
    path=PurePosixPath("/a/b"),
    slug=Slug("s"),
    kind="b",
    either="x",
    moment_or_text=DUE,
    tags=["a", "b"],
    places=[Place("Reno"), Place("Elko", DUE)],
    pair=(1, Place("Ely")),
    row=(1, 2, 3),
    by_name={"home": Place("Reno")},
    by_year={2026: date(2026, 1, 1)},
    anything=[1, {"x": None}],
    inner=PydanticPlace(city="Reno", seen=DUE),
    raw={"a": {"b": 1}},
    _acl={"gr": True},
    renamed="yes",
)


@dataclass
class Tree:
    name: str
    children: list[Tree] = field(default_factory=list)
    parent: Tree | None = None
