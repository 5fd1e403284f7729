"""Queries and cursors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import APP_KEY, APP_SECRET
from kvstored import Server

import kvstore


@pytest.fixture
def numbers(notes: kvstore.Store) -> kvstore.Store:
    """Give a collection of a thousand numbers."""
    notes.save_many({"_id": f"n{number:03}", "number": number} for number in range(1000))
    return notes


def test_a_limit_of_0_is_none(numbers: kvstore.Store) -> None:
    everything = numbers.count()
    assert len(list(numbers.find(kvstore.Query(limit=0)))) == everything
    assert numbers.count(kvstore.Query().limit(0)) == everything
    assert "limit" not in kvstore.Query(limit=0).to_dict()


def test_a_filter_chooses(numbers: kvstore.Store) -> None:
    assert [found["number"] for found in numbers.find({"number": {"$lt": 3}})] == [0, 1, 2]
    assert numbers.count({"$or": [{"number": 1}, {"number": {"$gt": 997}}]}) == 3


def test_a_query_sorts_and_pages(numbers: kvstore.Store) -> None:
    query = kvstore.Query({"number": {"$gte": 10}}, sort={"number": -1}, skip=5, limit=3)
    assert [found["number"] for found in numbers.find(query)] == [994, 993, 992]


def test_a_query_chooses_members(numbers: kvstore.Store) -> None:
    numbers.save({"_id": "x", "a": 1, "b": 2})
    [found] = numbers.find(kvstore.Query({"_id": "x"}, fields=["a"]))
    assert found["a"] == 1
    assert "b" not in found


def test_a_query_tells_what_it_is() -> None:
    query = kvstore.Query({"a": 1}, sort={"b": -1, "a": 1}, limit=2)
    printed = query.to_dict()
    assert list(printed["sort"]) == ["b", "a"]
    assert (printed["filter"], printed["limit"]) == ({"a": 1}, 2)
    assert "limit" in repr(query)


def test_a_query_sorts_and_compares_as_a_language_does(notes: kvstore.Store) -> None:
    notes.save_many([{"_id": name, "name": name} for name in ("Zoe", "Ärger", "anna", "ärger")])
    by_name = kvstore.Query(sort={"name": 1}, collation="de")
    assert [found["_id"] for found in notes.find(by_name)] == ["anna", "ärger", "Ärger", "Zoe"]
    swedish = kvstore.Query(sort={"name": 1}).collated("sv").limit(3)
    assert [found["_id"] for found in notes.find(swedish)] == ["anna", "Zoe", "ärger"]
    loose = kvstore.Query({"name": "arger"}).collated("de", ignore_case=True, ignore_accents=True)
    assert notes.count(loose) == 2
    assert notes.count(kvstore.Query(loose.to_dict()["filter"])) == 2
    assert notes.group(["name"], query=loose) == [{"name": "Ärger"}, {"name": "ärger"}]
    groups = notes.group(["name"], {"n": "count"}, collation={"locale": "de", "ignoreCase": True})
    assert groups == [
        {"name": "anna", "n": 1},
        {"name": "Ärger", "n": 2},
        {"name": "Zoe", "n": 1},
    ]
    with pytest.raises(kvstore.InvalidError, match="no order is known for the locale xx"):
        notes.group(["name"], collation="xx")
    with pytest.raises(kvstore.InvalidError, match="no order is known for the locale xx"):
        kvstore.Query(collation="xx")
    with pytest.raises(kvstore.InvalidError, match="1, -1"):
        notes.create_index({"name": {"$collation": "de"}})  # type: ignore[dict-item]


def test_orders_by_language_are_the_same_from_the_network(
    online: kvstore.Client, unique: str
) -> None:
    names = ["Zoe", "Ärger", "anna", "ärger", "Öl", "zon"]
    synced, network = online.collection(unique), online.collection(unique, "network")
    synced.save_many({"_id": str(number), "name": name} for number, name in enumerate(names))
    synced.push()
    low = kvstore.Query({"name": {"$lt": "zom"}}, collation="de")
    page = kvstore.Query(low.to_dict()["filter"], sort={"name": 1}, skip=1, limit=3, collation="de")
    loose = {"locale": "de", "ignoreCase": True, "ignoreAccents": True}
    for store in (synced, network):
        assert [found["name"] for found in store.find(page)] == ["ärger", "Ärger", "Öl"]
        assert store.count(low) == 5
        groups = store.group(["name"], {"n": "count"}, low, collation=loose)
        assert [(group["name"], group["n"]) for group in groups] == [
            ("anna", 1),
            ("Ärger", 2),
            ("Öl", 1),
            ("Zoe", 1),
        ]
    assert network.remove(low) == 5
    assert [found["name"] for found in network.find()] == ["zon"]


def test_a_bad_filter_is_refused_when_it_is_made() -> None:
    with pytest.raises(kvstore.InvalidError):
        kvstore.Query({"a": {"$noSuchOperator": 1}})
    with pytest.raises(ValueError, match="JSON"):
        kvstore.Query({"a": {1, 2}})


def test_a_cursor_gives_all_entities_once(numbers: kvstore.Store) -> None:
    found = [entity["number"] for entity in numbers.find()]
    assert sorted(found) == list(range(1000))


def test_a_cursor_shows_the_moment_of_its_find(numbers: kvstore.Store) -> None:
    with numbers.find() as cursor:
        first = next(cursor)
        numbers.remove(all=True)
        assert len([first, *cursor]) == 1000
    assert list(numbers.find()) == []


def test_a_cursor_can_be_left_early(numbers: kvstore.Store) -> None:
    cursor = numbers.find()
    next(cursor)
    assert kvstore.live_objects("cursor") == 1
    cursor.close()
    cursor.close()
    assert kvstore.live_objects("cursor") == 0
    assert list(cursor) == []


def test_a_cursor_closes_itself_at_its_end(numbers: kvstore.Store) -> None:
    cursor = numbers.find({"number": {"$lt": 2}})
    assert len(list(cursor)) == 2
    assert kvstore.live_objects("cursor") == 0
    assert list(cursor) == []


def test_a_cursor_gives_raw_json(numbers: kvstore.Store) -> None:
    cursor = numbers.find(kvstore.Query(sort={"number": 1}))
    first = next(cursor)
    rest = [json.loads(text)["number"] for text in cursor.raw()]
    assert [first["number"], *rest] == list(range(1000))


def test_iterating_over_a_store_gives_all(numbers: kvstore.Store) -> None:
    assert len(list(numbers)) == 1000


def test_a_cursor_of_a_closed_client_is_misuse(local: kvstore.Client) -> None:
    store = local.collection("notes")
    store.save({"_id": "n1"})
    cursor = store.find()
    local.close()
    with pytest.raises(kvstore.MisuseError):
        next(cursor)


def test_a_predicate_format_chooses(numbers: kvstore.Store) -> None:
    query = kvstore.Query.from_format("%K BETWEEN {%d, $high}", "number", 3, variables={"high": 5})
    assert [found["number"] for found in numbers.find(query)] == [3, 4, 5]
    local_only = kvstore.Query.from_format("number * 2 = number + 7", sort={"number": 1})
    assert [found["number"] for found in numbers.find(local_only)] == [7]


def test_a_format_prints_and_reads_back() -> None:
    query = kvstore.Query.from_format("a = %@ OR NOT b IN {1,2}", {"x": 1})
    text, arguments = query.to_format()
    assert kvstore.Query.from_format(text, *arguments).to_dict() == query.to_dict()


def test_a_wrong_format_says_where() -> None:
    with pytest.raises(kvstore.InvalidError, match="expected") as caught:
        kvstore.Query.from_format("a = 1 AND")
    assert caught.value.position == 9


def test_a_store_may_give_members_other_names(local: kvstore.Client) -> None:
    with local.collection("books", key_map={"title": "t", "pages": "p"}) as books:
        books.save_many([{"_id": "1", "t": "b", "p": 2}, {"_id": "2", "t": "a", "p": 1}])
        wanted = kvstore.Query.from_format("title != %@", "x", sort={"title": 1}, fields=["pages"])
        # Entities keep the backend's names.
        assert [(book["_id"], book["p"], "t" in book) for book in books.find(wanted)] == [
            ("2", 1, False),
            ("1", 2, False),
        ]
        assert books.count({"title": "b"}) == 1
        [group] = books.group(aggregates={"sum": {"sum": "pages"}})
        assert group == {"sum": 3}
        assert books.distinct("title") == ["a", "b"]
    with pytest.raises(kvstore.InvalidError):
        local.collection("books", key_map={"a": ""})


@pytest.mark.parametrize(("original", "found"), [(False, "x"), (True, "/x/")])
def test_a_client_may_send_what_the_original_one_sends(
    server: Server, tmp_path: Path, unique: str, original: bool, found: str
) -> None:
    with kvstore.Client(
        app_key=APP_KEY,
        app_secret=APP_SECRET,
        host=server.host,
        data_directory=tmp_path / "client",
        original_forms=original,
    ) as client:
        client.signup(unique, "a password")
        books = client.collection(unique, "network")
        books.save_many([{"t": "x"}, {"t": "xy"}, {"t": "/x/"}])
        query = kvstore.Query.from_format("t LIKE %@", "x")
        assert [book["t"] for book in books.find(query)] == [found]
