"""Predicates as the filters of AppSync: what the server is asked for, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import kvstore
import pytest
from client import Client as Outsider
from standin import StandIn

TASKS = """
  enum State { OPEN DONE }
  type Task @model { id: ID!, title: String, rank: Int, weight: Float, done: Boolean
    tags: [String], state: State }
"""

RECORDS: list[dict[str, Any]] = [
    {"id": "a", "title": "paint", "rank": 1, "weight": 0.5, "done": True, "tags": ["x", "10"]},
    {"id": "b", "title": "Paint it", "rank": 4, "weight": 4.0, "done": False, "tags": ["1"]},
    {"id": "c", "title": "repaint", "rank": 5, "state": "OPEN", "tags": []},
    {"id": "d", "title": "a.b", "rank": -3, "state": "DONE"},
    {"id": "e"},
]

#: The guide's operators: a filter here, what the server is asked for, and what that selects.
OPERATORS: list[tuple[dict[str, Any], Any, str]] = [
    ({"title": "paint"}, {"title": {"eq": "paint"}}, "a"),
    (
        {"title": {"$ne": "paint"}},
        {"or": [{"title": {"ne": "paint"}}, {"title": {"attributeExists": False}}]},
        "bcde",
    ),
    ({"rank": {"$lte": 4}}, {"rank": {"le": 4}}, "abd"),
    ({"rank": {"$lt": 4}}, {"rank": {"lt": 4}}, "ad"),
    ({"rank": {"$gte": 4}}, {"rank": {"ge": 4}}, "bc"),
    ({"weight": {"$gt": 0.5}}, {"weight": {"gt": 0.5}}, "b"),
    ({"rank": {"$gte": 1, "$lte": 4}}, {"rank": {"between": [1, 4]}}, "ab"),
    ({"title": {"$regex": "paint"}}, {"title": {"contains": "paint"}}, "ac"),
    ({"title": {"$regex": r"^a\.b"}}, {"title": {"beginsWith": "a.b"}}, "d"),
    ({"tags": "1"}, {"tags": {"contains": "1"}}, "b"),
    (
        {"tags": {"$ne": "1"}},
        {"or": [{"tags": {"notContains": "1"}}, {"tags": {"attributeExists": False}}]},
        "acde",
    ),
    ({"title": {"$exists": False}}, {"title": {"attributeExists": False}}, "e"),
    ({"done": True}, {"done": {"eq": True}}, "a"),
    (
        {"state": {"$in": ["OPEN", "DONE"]}},
        {"or": [{"state": {"eq": "OPEN"}}, {"state": {"eq": "DONE"}}]},
        "cd",
    ),
    (
        {"$or": [{"rank": {"$gt": 4}}, {"done": True}]},
        {"or": [{"rank": {"gt": 4}}, {"done": {"eq": True}}]},
        "ac",
    ),
    (
        {"$and": [{"rank": 1}, {"done": True}]},
        {"and": [{"rank": {"eq": 1}}, {"done": {"eq": True}}]},
        "a",
    ),
    ({"$nor": [{"rank": {"$gt": 0}}]}, {"not": {"rank": {"gt": 0}}}, "de"),
    # What the server's language cannot say is left out, and decided here.
    ({"rank": 1, "title": {"$regex": "P", "$options": "i"}}, {"rank": {"eq": 1}}, "a"),
    ({"title": {"$regex": "p.*t"}}, None, "ac"),
    ({"title": None}, None, "e"),
    ({"$or": [{"rank": 1}, {"title": {"$regex": "^P.i"}}]}, None, "ab"),
    ({"rank": 1 << 40}, None, ""),
]


@pytest.fixture
def tasks(serve: Callable[..., StandIn]) -> StandIn:
    """A server with the records."""
    server = serve(TASKS)
    at = "2024-05-21T12:00:00.000Z"
    rows = [{**record, "createdAt": at, "updatedAt": at} for record in RECORDS]
    server.control("tables/Task", rows=rows)
    return server


def device(server: StandIn, directory: Path) -> kvstore.Client:
    return kvstore.Client(
        app_key="tasks",
        backend="appsync",
        schema=TASKS,
        endpoint=server.endpoint,
        auth={"apiKey": "da2-standin"},
        data_directory=directory,
    )


@pytest.mark.parametrize(("filter", "sent", "selected"), OPERATORS)
def test_a_predicate_is_put_into_the_servers_words_and_finished_here(
    tasks: StandIn, tmp_path: Path, filter: dict[str, Any], sent: Any, selected: str
) -> None:
    with device(tasks, tmp_path) as client:
        found = client.collection("Task", type="network").find(filter)
        assert "".join(sorted(record["id"] for record in found)) == selected
        asked = tasks.log()[-1]["variables"].get("filter")
        if sent is None:
            assert asked is None
        else:
            assert asked in (sent, {"and": [sent]})
        # The same predicate selects the same here.
        local = client.collection("Task")
        local.pull()
        assert "".join(sorted(record["id"] for record in local.find(filter))) == selected


@pytest.mark.parametrize(
    "query", [kvstore.F.title.has_text("a.b"), kvstore.Query.from_format("title CONTAINS 'a.b'")]
)
def test_a_text_that_is_contained_is_asked_for(
    tasks: StandIn, tmp_path: Path, query: kvstore.Query
) -> None:
    with device(tasks, tmp_path) as client:
        found = client.collection("Task", type="network").find(query)
        assert [record["id"] for record in found] == ["d"]
        asked = tasks.log()[-1]["variables"].get("filter")
        assert asked == {"and": [{"title": {"contains": "a.b"}}]}
        # The same as a condition.
        local = client.collection("Task")
        local.pull()
        local.save({**local["d"], "rank": 9}, if_match=query)
        assert local.push().errors == []


def test_sort_and_page_are_taken_from_what_was_selected(tasks: StandIn, tmp_path: Path) -> None:
    with device(tasks, tmp_path) as client:
        query = kvstore.Query({"rank": {"$gt": 0}}, sort={"rank": -1}, skip=1, limit=1)
        found = client.collection("Task", type="network").find(query)
        assert [record["id"] for record in found] == ["b"]


def test_a_pull_of_a_query_reads_what_it_selects_and_deltas_tell_what_left_it(
    tasks: StandIn, tmp_path: Path
) -> None:
    with device(tasks, tmp_path) as client:
        store = client.collection("Task")
        ranked = {"rank": {"$gt": 0}}
        assert store.pull(ranked).pulled == 3
        assert store.count() == 3
        tasks.control("clock", advance=60_000)
        Outsider(tasks).written("updateTask", "id", {"id": "a", "rank": 0, "_version": 1})
        store.pull(ranked)
        assert sorted(record["id"] for record in store.find(ranked)) == ["b", "c"]
