"""Groups, distinct values, and combined queries."""

from __future__ import annotations

import pytest

import kvstore
from kvstore import Query


@pytest.fixture
def cities(local: kvstore.Client) -> kvstore.Store:
    cities = local.collection("cities")
    cities.save_many(
        [
            {"name": "Boston", "state": "MA", "people": 650, "tags": ["port", "old"]},
            {"name": "Salem", "state": "MA", "people": 44, "tags": ["old"]},
            {"name": "Reno", "state": "NV", "people": 264},
        ]
    )
    return cities


def test_groups_have_the_numbers_that_were_asked_for(cities: kvstore.Store) -> None:
    assert cities.group(["state"], {"n": "count", "mean": {"avg": "people"}}) == [
        {"state": "MA", "n": 2, "mean": 347},
        {"state": "NV", "n": 1, "mean": 264},
    ]
    assert cities.group(aggregates={"most": {"max": "people"}}, query={"state": "MA"}) == [
        {"most": 650}
    ]
    assert cities.group_async(["state"]).finish() == [{"state": "MA"}, {"state": "NV"}]


def test_a_grouping_that_is_none_is_refused(cities: kvstore.Store) -> None:
    with pytest.raises(kvstore.InvalidError) as caught:
        cities.group(["state"], {"n": {"median": "people"}})
    assert caught.value.position == 32
    with pytest.raises(TypeError):
        cities.group("state")
    with pytest.raises(kvstore.UnsupportedError):
        cities.group(["state"], reduce="function(doc,out){ out.n++; }", initial={"n": 0})


def test_a_function_folds_each_group(cities: kvstore.Store) -> None:
    def longest(name: str, city: kvstore.Entity) -> str:
        return max(name, str(city["name"]), key=len)

    assert cities.reduce(longest, str, ["state"], Query(sort={"people": 1})) == [
        ({"state": "MA"}, "Boston"),
        ({"state": "NV"}, "Reno"),
    ]
    assert cities.reduce(lambda n, city: n + 1, int) == [({}, 3)]


def test_what_the_function_raises_comes_out(cities: kvstore.Store) -> None:
    with pytest.raises(ZeroDivisionError):
        cities.reduce(lambda n, city: n // 0, int)
    cursors = kvstore.live_objects("cursor")
    assert cities.reduce(lambda n, city: n + cities.count(), int) == [({}, 9)]
    assert kvstore.live_objects("cursor") == cursors


def test_the_function_may_close_the_client(local: kvstore.Client, cities: kvstore.Store) -> None:
    def close(n: int, city: kvstore.Entity) -> int:
        local.close()
        return n

    with pytest.raises(kvstore.MisuseError):
        cities.reduce(close, int)


def test_distinct_values_are_in_order(cities: kvstore.Store) -> None:
    assert cities.distinct("tags") == ["old", "port"]
    assert cities.distinct("state", {"people": {"$lt": 100}}) == ["MA"]
    with pytest.raises(kvstore.InvalidError):
        cities.distinct("")


def test_queries_are_combined(cities: kvstore.Store) -> None:
    old = Query({"tags": "old"}, limit=1)
    big = Query.from_format("people > %d", 200)
    assert cities.count(old & big) == 1
    assert cities.count(old | big) == 3
    assert cities.count(~old) == 1
    assert cities.count({"state": "MA"} & ~big) == 1
    assert [
        city["name"] for city in cities.find((old | big).with_modifiers(sort={"name": -1}))
    ] == [
        "Salem",
        "Reno",
        "Boston",
    ]
    with pytest.raises(TypeError):
        bool(old and big)
