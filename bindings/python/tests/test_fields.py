"""Expressions: ``F.population > 50_000``."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import kvstore
from kvstore import F, Query


@pytest.fixture
def cities(notes: kvstore.Store) -> kvstore.Store:
    """Give a few cities."""
    notes.save_many(
        [
            {
                "_id": "boston",
                "name": "Boston",
                "population": 650_000,
                "tags": ["port", "old"],
                "address": {"state": "MA"},
                "odd name": 1,
                "founded": "1630-09-17T00:00:00.000Z",
                "mayors": [{"name": "Wu", "since": 2021}, {"name": "Walsh", "since": 2014}],
                "_geoloc": [-71.06, 42.36],
            },
            {
                "_id": "reno",
                "name": "Reno (a.k.a. 100%*?)",
                "population": 264_000,
                "tags": [],
                "address": {"state": "NV"},
                "founded": "1868-05-09T00:00:00.000Z",
                "mayor": None,
                "_geoloc": [-119.81, 39.53],
            },
            {
                "_id": "suva",
                "name": "suva",
                "limit": 300_000,
                "low": 7,
                "_geoloc": [178.44, -18.14],
            },
        ]
    )
    return notes


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (lambda: F.population > 264_000, "boston"),
        (lambda: F.population >= 264_000, "boston reno"),
        (lambda: F.population < 264_000, ""),
        (lambda: F.population <= 264_000, "reno"),
        (lambda: F.population > 300_000, "boston"),
        (lambda: F.population == 264_000, "reno"),
        (lambda: F.population != 264_000, "boston suva"),
        (lambda: F.address.state == "MA", "boston"),
        (lambda: F["address"]["state"] == "MA", "boston"),
        (lambda: F["odd name"] == 1, "boston"),
        (lambda: F.tags[1] == "old", "boston"),
        (lambda: F.mayor == None, "boston reno suva"),  # noqa: E711
        (lambda: F.mayor.exists(), "reno"),
        (lambda: F.mayor.exists(False), "boston suva"),
        (lambda: F.population.between(1, 264_000), "reno"),
        (lambda: F.name.in_(["suva", "Boston"]), "boston suva"),
        (lambda: F.name.in_({"suva"}), "suva"),
        (lambda: F.name.not_in(["suva", "Boston"]), "reno"),
        (lambda: F.name.startswith("B"), "boston"),
        (lambda: F.name.startswith("S"), ""),
        (lambda: F.name.startswith("S", ignore_case=True), "suva"),
        (lambda: F.name.endswith("*?)"), "reno"),
        (lambda: F.name.has_text("(a.k.a. "), "reno"),
        (lambda: F.name.like("*o*n"), "boston"),
        (lambda: F.name.like("s?va"), "suva"),
        (lambda: F.name.matches("[a-z]+"), "suva"),
        (lambda: F.name.matches("[a-z]+", ignore_case=True), "boston suva"),
        (lambda: F.tags.contains("old"), "boston"),
        (lambda: F.tags.contains("old", "port"), "boston"),
        (lambda: F.tags.contains("old", "new"), ""),
        (lambda: F.tags.size(0), "reno"),
        (lambda: F.mayors.any((F.name == "Wu") & (F.since < 2020)), ""),
        (lambda: F.mayors.any((F.name == "Wu") & (F.since > 2020)), "boston"),
        (lambda: F.population > F.limit, ""),
        (lambda: F.limit > F.low, "suva"),
        (lambda: F._id == "suva", "suva"),
        (lambda: (F.population > 1) & (F.name == "Boston"), "boston"),
        (lambda: (F.name == "suva") | (F.name == "Boston"), "boston suva"),
        (lambda: ~(F.name == "suva"), "boston reno"),
        (lambda: (F.population > 1) & {"name": "Boston"}, "boston"),
        (lambda: {"name": "Boston"} | (F.name == "suva"), "boston suva"),
        (lambda: F.founded < datetime(1700, 1, 1, tzinfo=UTC), "boston"),
        (lambda: F._geoloc.within_circle(-71, 42, 100_000), "boston"),
        (lambda: F._geoloc.within_box((170, -20), (-110, 40)), "reno suva"),
        (lambda: F._geoloc.within_polygon((-80, 40), (-60, 40), (-70, 50)), "boston"),
        (lambda: F._geoloc.near(-119, 39, max_distance=150_000), "reno"),
        (lambda: F._geoloc.near(-119, 39, min_distance=5_000_000), "suva"),
    ],
)
def test_an_expression_selects(
    cities: kvstore.Store, query: Callable[[], Query], wanted: str
) -> None:
    assert sorted(found["_id"] for found in cities.find(query())) == wanted.split()


def test_the_nearest_comes_first(cities: kvstore.Store) -> None:
    assert [found["_id"] for found in cities.find(F._geoloc.near(-70, 42))][:2] == [
        "boston",
        "reno",
    ]


def test_a_query_is_sorted_paged_and_cut_step_by_step(cities: kvstore.Store) -> None:
    query = Query(F.population > 1).sort("-population", "name").skip(1).limit(5).fields("name")
    assert query.to_dict() == {
        "filter": {"population": {"$gt": 1}},
        "sort": {"population": -1, "name": 1},
        "skip": 1,
        "limit": 5,
        "fields": ["name"],
    }
    [reno] = cities.find(query)
    assert "population" not in reno
    again = query.sort("name")
    assert again.to_dict()["sort"] == {"name": 1}
    assert Query(query, limit=1).to_dict() == {"filter": {"population": {"$gt": 1}}, "limit": 1}


def test_local_conditions_keep_their_modifiers(cities: kvstore.Store) -> None:
    query = (F.population > F.limit).sort("name").limit(1)
    assert query.limit(2).to_dict()["sort"] == {"name": 1}


def test_a_moment_is_written_as_the_backend_does() -> None:
    east = timezone(timedelta(hours=2))
    query = F.t == datetime(2020, 1, 2, 1, 4, 5, 678_901, tzinfo=east)
    assert query.to_dict()["filter"] == {"t": "2020-01-01T23:04:05.678Z"}
    with pytest.raises(kvstore.InvalidError, match="time zone"):
        F.t == datetime(2020, 1, 1)  # noqa: B015


def test_values_are_never_syntax() -> None:
    assert (F.a == {"$gt": 1}).to_dict()["filter"] == {"a": {"$eq": {"$gt": 1}}}
    assert (F.acl.startswith("x")).to_dict()["filter"] == {"acl": {"$regex": "^x"}}
    with pytest.raises(kvstore.InvalidError, match="values"):
        F.a.in_([{"$gt": 1}])
    with pytest.raises(kvstore.InvalidError):
        F["$or"] == [{"a": 1}]  # noqa: B015


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: 1 < F.a < 5,
        lambda: F.a > 1 and F.b > 1,
        lambda: F.a > 1 or F.b > 1,
        lambda: not (F.a > 1),
        lambda: bool(F.a),
        lambda: 1 in F.a,
        lambda: list(F.a),
        lambda: list(F),
        lambda: F.a == (F.b > 1),
        lambda: F.a > 1 & F.b > 2,  # type: ignore[operator]
        lambda: F.a.in_("text"),
        lambda: F.a.in_([F.b]),
        lambda: F.a.startswith(5),  # type: ignore[arg-type]
        lambda: F[1.5],  # type: ignore[index]
        lambda: {F.a: 1},
    ],
)
def test_what_python_would_misread_is_a_type_error(wrong: Callable[[], Any]) -> None:
    with pytest.raises(TypeError):
        wrong()


def test_a_misread_comparison_says_what_to_write() -> None:
    with pytest.raises(TypeError, match="between"):
        bool(1 < F.a < 5)
    with pytest.raises(TypeError, match=r"F\['tags'\].contains"):
        bool("x" in F.tags)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: F[""],
        lambda: F.a[""],
        lambda: F.a[-1],
        lambda: F.a == math.nan,
        lambda: F.a == math.inf,
        lambda: F.a == "\ud800",
        lambda: F["\ud800"] == 1,
        lambda: F.a == {1, 2},
        lambda: Query().sort("-"),
        lambda: F.a.matches("["),
        lambda: F.a.size(-1),
        lambda: F.p.within_circle(0, 95, 10),
        lambda: F.p.within_circle(0, 0, -1),
        lambda: F.p.within_polygon((0, 0)),
        lambda: F.p.near(0, 95),
        lambda: F.p.near(0, 0, max_distance=math.nan),
    ],
)
def test_what_no_backend_understands_is_refused_at_once(wrong: Callable[[], Any]) -> None:
    with pytest.raises(kvstore.InvalidError):
        wrong()


def test_members_can_be_copied_and_shown() -> None:
    assert repr(copy.copy(F.a.b)) == "F['a.b']"
    assert repr(pickle.loads(pickle.dumps(F.a))) == "F['a']"
    assert repr(F) == "F"
