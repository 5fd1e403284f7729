"""Get, list, indexes and relations."""

from __future__ import annotations

from typing import Any

import pytest
from client import Client
from standin import StandIn

ROWS: list[dict[str, Any]] = [
    {"id": "a", "title": "apple", "rank": 1, "weight": 0.5, "done": True, "tags": ["x", "10"]},
    {"id": "b", "title": "banana", "rank": 2, "weight": 1.5, "done": False, "state": "OPEN"},
    {"id": "c", "title": "cherry", "rank": 3, "note": "n", "tags": [], "state": "DONE"},
]


@pytest.fixture
def filled(server: StandIn, client: Client) -> Client:
    server.control("tables/Task", rows=ROWS)
    return client


def ids(client: Client, filter: Any) -> str:
    """The ids of the records that pass a filter."""
    query = "query ($filter: ModelTaskFilterInput) { listTasks(filter: $filter) { items { id } } }"
    items = client.data(query, filter=filter)["items"]
    return "".join(sorted(each["id"] for each in items))


@pytest.mark.parametrize(
    ("filter", "wanted"),
    [
        ({"title": {"eq": "apple"}}, "a"),
        ({"title": {"ne": "apple"}}, "bc"),
        ({"title": {"lt": "banana"}}, "a"),
        ({"title": {"le": "banana"}}, "ab"),
        ({"rank": {"gt": 2}}, "c"),
        ({"rank": {"ge": 2}}, "bc"),
        ({"rank": {"between": [1, 2]}}, "ab"),
        ({"weight": {"lt": 1}}, "a"),
        ({"title": {"contains": "an"}}, "b"),
        ({"title": {"notContains": "an"}}, "ac"),
        ({"title": {"beginsWith": "ch"}}, "c"),
        ({"title": {"beginsWith": "CH"}}, ""),
        ({"tags": {"contains": "10"}}, "a"),
        ({"tags": {"contains": "1"}}, ""),
        ({"note": {"attributeExists": True}}, "c"),
        ({"note": {"attributeExists": False}}, "ab"),
        ({"tags": {"attributeType": "list"}}, "ac"),
        ({"title": {"size": {"eq": 6}}}, "bc"),
        ({"note": {"ne": "n"}}, "ab"),
        ({"done": {"eq": True}}, "a"),
        ({"done": {"ne": True}}, "bc"),
        ({"state": {"eq": "OPEN"}}, "b"),
        ({"id": {"beginsWith": "a"}}, "a"),
        ({"and": [{"rank": {"gt": 1}}, {"title": {"contains": "e"}}]}, "c"),
        ({"or": [{"rank": {"eq": 1}}, {"rank": {"eq": 3}}]}, "ac"),
        ({"not": {"rank": {"eq": 1}}}, "bc"),
        ({"rank": {"gt": 1, "lt": 3}}, "b"),
        ({"title": None}, "abc"),
        ({}, "abc"),
        (None, "abc"),
    ],
)
def test_filters_compare_as_dynamodb_does(filled: Client, filter: Any, wanted: str) -> None:
    assert ids(filled, filter) == wanted


def test_lists_have_pages_of_100_unless_a_limit_is_given(server: StandIn, client: Client) -> None:
    server.control("tables/Task", rows=[{"id": str(i), "title": "t"} for i in range(150)])
    query = "query ($n: String) { listTasks(nextToken: $n) { items { id } nextToken } }"
    first = client.data(query)
    second = client.data(query, n=first["nextToken"])
    assert (len(first["items"]), len(second["items"])) == (100, 50)
    assert second["nextToken"] is None
    assert len({each["id"] for page in (first, second) for each in page["items"]}) == 150


def test_a_get_of_a_missing_record_is_null(client: Client) -> None:
    assert client.run('{ getTask(id: "none") { id } }') == {"data": {"getTask": None}}


@pytest.fixture
def boards(server: StandIn, client: Client) -> Client:
    server.control("tables/Board", rows=[{"id": "x", "name": "X"}])
    rows = [
        {"id": f"t{rank}", "title": "t", "rank": rank, "boardId": "x" if rank < 4 else "y"}
        for rank in (3, 1, 2, 4)
    ]
    server.control("tables/Task", rows=rows)
    return client


def test_an_index_finds_by_its_first_field_and_orders_by_the_second(boards: Client) -> None:
    query = "query ($d: ModelSortDirection, $r: ModelIntKeyConditionInput) {"
    query += ' tasksByBoard(boardId: "x", rank: $r, sortDirection: $d) { items { rank } } }'

    def ranks(**variables: Any) -> list[int]:
        return [each["rank"] for each in boards.data(query, **variables)["items"]]

    assert ranks() == [1, 2, 3]
    assert ranks(d="DESC") == [3, 2, 1]
    assert ranks(r={"ge": 2}) == [2, 3]


def test_relations_are_followed_both_ways(boards: Client) -> None:
    task = boards.data('{ getTask(id: "t1") { board { name tasks { items { id } } } } }')
    assert task["board"]["name"] == "X"
    assert [each["id"] for each in task["board"]["tasks"]["items"]] == ["t1", "t2", "t3"]


def test_a_relation_without_its_record_is_null(boards: Client) -> None:
    assert boards.data('{ getTask(id: "t4") { board { id } } }') == {"board": None}


def test_has_many_has_pages(boards: Client) -> None:
    query = 'query ($n: String) { getBoard(id: "x") { tasks(limit: 2, nextToken: $n)'
    query += " { items { id } nextToken } } }"
    first = boards.data(query)["tasks"]
    second = boards.data(query, n=first["nextToken"])["tasks"]
    assert [len(first["items"]), len(second["items"])] == [2, 1]
    assert second["nextToken"] is None
