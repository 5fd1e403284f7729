"""Sync queries: base table, delta table, tombstones and pages."""

from __future__ import annotations

import random
from typing import Any

import pytest
from client import Client
from conftest import NOON
from standin import StandIn

DAY = 24 * 3600 * 1000
HALF_HOUR = 30 * 60 * 1000


def create(client: Client, *identifiers: str, **members: Any) -> None:
    for each in identifiers:
        client.written("createTask", "id", {"id": each, "title": "t", **members})


def sync(client: Client, **arguments: Any) -> Any:
    return client.sync("syncTasks", "id rank", **arguments)


def versions(page: Any) -> list[tuple[str, int]]:
    """Ids and versions, sorted."""
    return sorted((each["id"], each["_version"]) for each in page["items"])


def test_a_base_query_gives_all_rows_and_tombstones_once(client: Client) -> None:
    create(client, "a", "b")
    client.written("updateTask", "id", {"id": "a", "rank": 1, "_version": 1})
    client.written("deleteTask", "id", {"id": "b", "_version": 1})
    page = sync(client)
    assert versions(page) == [("a", 2), ("b", 2)]
    assert {each["id"]: each["_deleted"] for each in page["items"]} == {"a": None, "b": True}


def test_a_delta_query_gives_a_row_for_each_write(server: StandIn, client: Client) -> None:
    create(client, "old")
    server.control("clock", advance=5000)
    create(client, "a")
    client.written("updateTask", "id", {"id": "a", "rank": 1, "_version": 1})
    client.written("deleteTask", "id", {"id": "a", "_version": 2})
    page = sync(client, lastSync=NOON + 1000)
    assert versions(page) == [("a", 1), ("a", 2), ("a", 3)]
    assert page["startedAt"] == NOON + 5000


def test_the_comparison_with_last_sync_is_inclusive_to_the_second(
    server: StandIn, client: Client
) -> None:
    create(client, "a")
    server.control("clock", now=NOON + 999)
    assert versions(sync(client, lastSync=NOON + 999)) == [("a", 1)]
    server.control("clock", now=NOON + 2000)
    assert versions(sync(client, lastSync=NOON + 1000)) == []


def test_a_last_sync_older_than_the_delta_table_gets_the_base_table(
    server: StandIn, client: Client
) -> None:
    create(client, "a")
    client.written("updateTask", "id", {"id": "a", "rank": 1, "_version": 1})
    server.control("clock", advance=HALF_HOUR)
    assert versions(sync(client, lastSync=NOON)) == [("a", 1), ("a", 2)]
    server.control("clock", advance=1)
    assert versions(sync(client, lastSync=NOON)) == [("a", 2)]


def test_tombstones_stay_until_their_time_has_come(server: StandIn, client: Client) -> None:
    create(client, "a")
    client.written("deleteTask", "id", {"id": "a", "_version": 1})
    query = '{ getTask(id: "a") { _deleted } }'
    server.control("clock", advance=30 * DAY - 1000)
    assert client.data(query) == {"_deleted": True}
    assert len(client.data("{ listTasks { items { id } } }")["items"]) == 1
    server.control("clock", advance=1000)
    assert client.data(query) is None
    assert sync(client)["items"] == []


def test_a_create_that_meets_a_tombstone_is_a_duplicate(server: StandIn, client: Client) -> None:
    create(client, "a")
    client.written("deleteTask", "id", {"id": "a", "_version": 1})
    error = client.refused("createTask", "id", {"id": "a", "title": "t"})
    assert error["errorType"] == "ConditionalCheckFailedException"
    server.control("clock", advance=31 * DAY)
    assert client.written("createTask", "_version", {"id": "a", "title": "t"}) == {"_version": 1}


def test_a_record_that_lives_again_outlasts_its_tombstone(server: StandIn, client: Client) -> None:
    create(client, "a")
    client.written("deleteTask", "id", {"id": "a", "_version": 1})
    client.written("updateTask", "id", {"id": "a", "_version": 2})
    server.control("clock", advance=31 * DAY)
    assert versions(sync(client)) == [("a", 3)]


def test_with_no_lifetime_a_tombstone_is_gone_at_once(server: StandIn, client: Client) -> None:
    server.control("lifetimes", tombstones=0)
    create(client, "a")
    assert client.written("deleteTask", "_deleted", {"id": "a", "_version": 1})["_deleted"]
    assert sync(client)["items"] == []
    assert versions(sync(client, lastSync=NOON)) == [("a", 1), ("a", 2)]


def test_started_at_is_that_of_the_first_page_on_every_page(
    server: StandIn, client: Client
) -> None:
    create(client, "a", "b", "c")
    first = page = sync(client, limit=1)
    for _ in range(2):
        server.control("clock", advance=7000)
        page = sync(client, limit=1, nextToken=page["nextToken"])
        assert page["startedAt"] == NOON
    create(client, "d")
    assert versions(sync(client, lastSync=first["startedAt"])) == [(x, 1) for x in "abcd"]


def test_a_run_stays_with_the_table_it_began_in(server: StandIn, client: Client) -> None:
    create(client, "a", "b", "c")
    first = sync(client, limit=1, lastSync=NOON)
    server.control("clock", advance=HALF_HOUR)
    client.written("updateTask", "id", {"id": "c", "rank": 1, "_version": 1})
    server.control("clock", advance=1)
    second = sync(client, lastSync=NOON, nextToken=first["nextToken"])
    assert versions(second) == [("c", 2)]


@pytest.mark.parametrize(
    "other",
    [
        {"filter": {"rank": {"eq": 1}}},
        {"lastSync": NOON},
        {"nextToken": "no token"},
        {"nextToken": "bm8gdG9rZW4="},
    ],
)
def test_a_token_is_good_for_its_run_and_filter_only(client: Client, other: Any) -> None:
    create(client, "a", "b")
    token = sync(client, limit=1)["nextToken"]
    query = "query ($filter: ModelTaskFilterInput, $nextToken: String, $lastSync: AWSTimestamp) {"
    query += " syncTasks(filter: $filter, nextToken: $nextToken, lastSync: $lastSync)"
    error = client.error(f"{query} {{ nextToken }} }}", **{"nextToken": token, **other})
    assert error["errorType"] == "BadRequest"


def test_a_token_of_another_table_is_refused(client: Client) -> None:
    create(client, "a", "b")
    token = sync(client, limit=1)["nextToken"]
    query = "query ($n: String) { syncBoards(nextToken: $n) { nextToken } }"
    assert client.error(query, n=token)["message"] == "Invalid pagination token given."


def test_the_limit_counts_rows_examined_not_rows_that_pass(client: Client) -> None:
    create(client, *"abcdef", rank=1)
    pages, token = [], None
    for _ in range(3):
        page = sync(client, limit=2, filter={"rank": {"eq": 2}}, nextToken=token)
        pages.append(page["items"])
        token = page["nextToken"]
    assert (pages, token) == ([[], [], []], None)


def test_a_filter_on_an_index_key_in_an_and_examines_only_its_rows(client: Client) -> None:
    create(client, *"abcdef", boardId="x")
    create(client, "g", boardId="y")
    page = sync(client, limit=1, filter={"and": [{"boardId": {"eq": "y"}}]})
    assert (versions(page), page["nextToken"]) == ([("g", 1)], None)


def test_without_a_limit_a_page_is_of_100(server: StandIn, client: Client) -> None:
    server.control("tables/Task", rows=[{"id": str(i), "title": "t"} for i in range(101)])
    page = sync(client)
    assert len(page["items"]) == 100
    assert len(sync(client, nextToken=page["nextToken"])["items"]) == 1


def test_a_limit_must_be_positive(client: Client) -> None:
    assert client.error("{ syncTasks(limit: 0) { nextToken } }")["errorType"] == "BadRequest"


def test_rows_may_be_filtered_by_deletion(client: Client) -> None:
    create(client, "a", "b")
    client.written("deleteTask", "id", {"id": "a", "_version": 1})
    assert versions(sync(client, filter={"_deleted": {"ne": True}})) == [("b", 1)]


def read_all(client: Client, limit: int, **arguments: Any) -> tuple[list[Any], int]:
    """The items of all pages, and when the run started."""
    items: list[Any] = []
    page = sync(client, limit=limit, **arguments)
    while True:
        items += page["items"]
        if page["nextToken"] is None:
            return items, page["startedAt"]
        page = sync(client, limit=limit, nextToken=page["nextToken"], **arguments)


class Copy:
    """What a client that only syncs knows."""

    def __init__(self) -> None:
        self.rows: dict[str, Any] = {}
        self.last_sync: int | None = None

    def sync(self, client: Client, limit: int) -> None:
        given = {} if self.last_sync is None else {"lastSync": self.last_sync}
        items, self.last_sync = read_all(client, limit, **given)
        for item in items:
            known = self.rows.get(item["id"])
            if known is None or known["_version"] < item["_version"]:
                self.rows[item["id"]] = item


def write_something(client: Client, choice: random.Random, model: dict[str, Any]) -> None:
    """One random write to the server, and to the model of what it has."""
    identifier = str(choice.randrange(12))
    known = model.get(identifier)
    if known is None:
        given = {"id": identifier, "title": "t", "rank": choice.randrange(100)}
        field = "createTask"
    elif known["_deleted"]:
        return
    else:
        given = {"id": identifier, "_version": known["_version"]}
        field = choice.choice(["updateTask", "updateTask", "deleteTask"])
        if field == "updateTask":
            given["rank"] = choice.randrange(100)
    fields = "id rank _version _deleted _lastChangedAt"
    model[identifier] = row = client.written(field, fields, given)
    assert row["_version"] == (1 if known is None else known["_version"] + 1)
    assert row["rank"] == given.get("rank", known and known["rank"])


def test_base_and_deltas_always_make_up_the_table(server: StandIn, client: Client) -> None:
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")
    choice = random.Random(seed)
    model: dict[str, Any] = {}
    copies = [Copy() for _ in range(3)]
    for _ in range(250):
        action = choice.random()
        if action < 0.55:
            write_something(client, choice, model)
        elif action < 0.75:
            # From under a second to longer than the delta table remembers.
            server.control("clock", advance=choice.choice([1, 300, 1000, 60_000, HALF_HOUR + 1]))
        else:
            copy = choice.choice(copies)
            copy.sync(client, choice.choice([1, 3, 100]))
            assert copy.rows == model
    for copy in copies:
        copy.sync(client, 2)
        assert copy.rows == model
