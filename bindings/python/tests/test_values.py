"""Values that JSON has not, in entities, filters, formats and orders."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest

import kvstore
from kvstore import F, Query, to_json_value

EAST = timezone(timedelta(hours=5, minutes=30))
MOMENT = datetime(2026, 2, 3, 9, 35, 6, 789_999, tzinfo=EAST)
WRITTEN = "2026-02-03T04:05:06.789Z"


class Colour(Enum):
    RED = "red"
    LATE = MOMENT


class Size(IntEnum):
    LARGE = 3


class Kind(StrEnum):
    NOTE = "note"


@dataclasses.dataclass
class Place:
    name: str
    seen: datetime


VALUES: list[tuple[Any, Any]] = [
    (MOMENT, WRITTEN),
    (datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC), "2026-02-03T04:05:06.000Z"),
    (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000Z"),
    (datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC), "1969-12-31T23:59:59.999Z"),
    (date(2026, 2, 3), "2026-02-03"),
    (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    (Decimal("12.50"), 12.5),
    (Decimal("9007199254740993"), 9007199254740993),
    (Decimal("1E+3"), 1000),
    (Colour.RED, "red"),
    (Colour.LATE, WRITTEN),
    (Size.LARGE, 3),
    (Kind.NOTE, "note"),
    (b"\xff\x00", "/wA="),
    (bytearray(b"ab"), "YWI="),
    (PurePosixPath("/a/b"), "/a/b"),
    (MappingProxyType({"a": MOMENT}), {"a": WRITTEN}),
    (Place("here", MOMENT), {"name": "here", "seen": WRITTEN}),
    ((1, MOMENT), [1, WRITTEN]),
]


@pytest.mark.parametrize(("value", "written"), VALUES)
def test_entities_and_queries_have_the_same_form(
    notes: kvstore.Store, value: Any, written: Any
) -> None:
    saved = notes.save({"_id": "n", "at": value, "deep": {"list": [value]}})
    assert (saved["at"], saved["deep"]["list"]) == (written, [written])
    assert [note["_id"] for note in notes.find({"at": value})] == ["n"]
    assert notes.count(F.at == value) == 1
    assert notes.count({"deep.list": {"$in": [value]}}) == 1
    if not isinstance(written, (dict, list)):
        assert notes.count(Query.from_format("at == %@", value)) == 1
        assert notes.count(Query.from_format("at == $it", variables={"it": value})) == 1
        assert notes.count(F.at.in_([value]) & (F.at >= value) & (F.at <= value)) == 1
        assert notes.count(F.at > value) == notes.count(F.at < value) == 0


def test_an_index_and_an_order_follow_the_moments(notes: kvstore.Store) -> None:
    moments = [MOMENT + timedelta(milliseconds=step, hours=-step) for step in range(5)]
    zones = [EAST, UTC, timezone(timedelta(hours=-11)), EAST, UTC]
    notes.save_many(
        {"_id": str(index), "at": moment.astimezone(zone)}
        for index, (moment, zone) in enumerate(zip(moments, zones, strict=True))
    )
    for _ in range(2):
        found = notes.find((F.at >= moments[3]).sort("at"))
        assert [note["_id"] for note in found] == ["3", "2", "1", "0"]
        notes.create_index({"at": 1})


@dataclasses.dataclass
class Stamped:
    at: datetime


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"at": datetime(2026, 2, 3)}, "at: a datetime needs a time zone"),
        ({"a": [1, {"b": datetime(2026, 2, 3)}]}, r"a\[1\]\.b: a datetime needs a time zone"),
        ({"a": Stamped(datetime(2026, 2, 3))}, r"a\.at: a datetime needs a time zone"),
        ({"at": datetime.max.replace(tzinfo=timezone(timedelta(hours=-1)))}, "at: .* 1 to 9999"),
        (
            {"a": {"tags": {1, 2}}},
            r"a\.tags: a set cannot be written as JSON; kvstore\.register_type",
        ),
        ({"a": [0.5, float("nan")]}, r"a\[1\]: Out of range"),
        ({"a": Decimal("NaN")}, "a: .* store it as text"),
        ({"a": Decimal("0.12345678901234567890")}, "a: .* store it as text"),
        ({"a": "\ud800"}, "a: .*surrogates"),
        ({"a": {(1, 2): 3}}, "a: keys must be"),
        ({"a": 10**5000}, "a: Exceeds"),
        ({"a": object()}, "a: a object cannot be written as JSON"),
    ],
)
def test_what_is_wrong_is_named(notes: kvstore.Store, value: Any, message: str) -> None:
    uses: list[Callable[[], object]] = [
        lambda: notes.save(value),
        lambda: notes.save_many([value]),
        lambda: Query(value),
        lambda: notes.count({"n": value}),
        lambda: Query.from_format("x == %@", value),
    ]
    for use in uses:
        with pytest.raises(kvstore.InvalidError, match=message):
            use()
    assert notes.count() == 0


def test_what_goes_round_in_a_circle_is_refused(notes: kvstore.Store) -> None:
    circle: dict[str, Any] = {}
    circle["a"] = [circle]
    with pytest.raises(kvstore.InvalidError, match="Circular"):
        notes.save(circle)


class Money:
    """A type of somebody's own."""

    def __init__(self, cents: int) -> None:
        self.cents = cents


@pytest.fixture
def money() -> Iterator[None]:
    """Let money be written."""
    kvstore.register_type(Money, lambda money: {"cents": money.cents, "at": MOMENT})
    yield
    kvstore.to_json_value.register(Money)(lambda _: NotImplemented)


@pytest.mark.usefixtures("money")
def test_types_of_ones_own_are_registered(notes: kvstore.Store) -> None:
    class Coin(Money):
        pass

    assert notes.save({"price": Money(5)})["price"] == {"cents": 5, "at": WRITTEN}
    assert notes.count(F.price == Coin(5)) == 1


def test_options_take_paths(tmp_path: Path) -> None:
    kvstore.Client(app_key="k", host=None, data_directory=tmp_path).close()


def test_a_value_that_json_has_stays_what_it_is() -> None:
    value: Any
    for value in ("", 1, 1.5, True, None, [MOMENT], {"a": 1}, (1,)):
        assert to_json_value(value) is value
