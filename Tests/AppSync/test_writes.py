"""Create, update and delete over HTTP."""

from __future__ import annotations

import json

import pytest
from client import SYNC, Client
from conftest import NOON
from standin import StandIn

MANAGED = ["_deleted", "_lastChangedAt", "_ttl"]


def test_the_first_write_gives_version_1_and_every_write_adds_1(client: Client) -> None:
    made = client.written("createTask", SYNC, {"id": "t", "title": "a"})
    assert made == {"_version": 1, "_deleted": None, "_lastChangedAt": NOON}
    for version in (1, 2):
        given = {"id": "t", "title": "b", "_version": version}
        assert client.written("updateTask", "_version", given) == {"_version": version + 1}
    gone = client.written("deleteTask", f"title {SYNC}", {"id": "t", "_version": 3})
    assert gone == {"title": "b", "_version": 4, "_deleted": True, "_lastChangedAt": NOON}


def test_times_of_the_first_and_last_write_are_the_service_s(
    server: StandIn, client: Client
) -> None:
    client.written("createTask", "id", {"id": "t", "title": "a"})
    server.control("clock", advance=1500)
    found = client.written("updateTask", "createdAt updatedAt", {"id": "t", "_version": 1})
    assert found == {
        "createdAt": "2024-05-21T12:00:00.000Z",
        "updatedAt": "2024-05-21T12:00:01.500Z",
    }


def test_a_create_of_a_key_that_exists_fails_its_key_condition(client: Client) -> None:
    client.written("createTask", "id", {"id": "t", "title": "a"})
    error = client.refused("createTask", "id", {"id": "t", "title": "b"})
    assert error["errorType"] == "ConditionalCheckFailedException"
    assert error["message"].startswith("The conditional request failed")
    assert client.data('{ getTask(id: "t") { title _version } }') == {"title": "a", "_version": 1}


@pytest.mark.parametrize("field", ["updateTask", "deleteTask"])
def test_a_write_of_a_record_that_does_not_exist_fails_its_key_condition(
    client: Client, field: str
) -> None:
    error = client.refused(field, "id", {"id": "none", "_version": 1})
    assert error["errorType"] == "ConditionalCheckFailedException"


def test_an_explicit_null_removes_and_what_is_left_out_stays(client: Client) -> None:
    client.written("createTask", "id", {"id": "t", "title": "a", "note": "n", "rank": 1})
    found = client.written(
        "updateTask", "title note rank", {"id": "t", "note": None, "_version": 1}
    )
    assert found == {"title": "a", "note": None, "rank": 1}


def test_embedded_values_and_lists_are_stored_as_they_are(client: Client) -> None:
    given = {"id": "t", "title": "a", "place": {"city": "c", "zips": ["1"]}, "tags": ["x", "x"]}
    made = client.written("createTask", "place { __typename city zips } tags", given)
    assert made["place"] == {"__typename": "Place", "city": "c", "zips": ["1"]}
    assert made["tags"] == ["x", "x"]


@pytest.mark.parametrize("field", ["updateTask", "deleteTask"])
def test_a_condition_that_does_not_hold_leaves_the_record(client: Client, field: str) -> None:
    client.written("createTask", "id", {"id": "t", "title": "a", "state": "OPEN"})
    given = {"id": "t", "_version": 1}
    error = client.refused(field, "id", given, condition={"state": {"eq": "DONE"}})
    assert error["errorType"] == "ConditionalCheckFailedException"
    assert client.data('{ getTask(id: "t") { _version _deleted } }')["_version"] == 1
    assert client.written(field, "_version", given, condition={"state": {"ne": "DONE"}})


def test_the_version_is_checked_before_the_condition(client: Client) -> None:
    client.written("createTask", "id", {"id": "t", "title": "a"})
    never = {"title": {"eq": "never"}}
    error = client.refused("deleteTask", "id", {"id": "t", "_version": 9}, condition=never)
    assert error["errorType"] == "ConflictUnhandled"


@pytest.mark.parametrize("name", MANAGED)
def test_a_client_that_sets_what_the_service_manages_gets_bad_request(
    client: Client, name: str
) -> None:
    given = {"id": "t", "title": "a", name: 1}
    assert client.write("createTask", "id", given)["errors"][0]["errorType"] == "BadRequest"
    literal = f'mutation {{ createTask(input: {{title: "a", {name}: 1}}) {{ id }} }}'
    assert client.error(literal)["errorType"] == "BadRequest"


def test_literals_aliases_and_fragments_do_as_variables_and_names(client: Client) -> None:
    body = client.run("""
      mutation { one: createTask(input: {id: "1", title: "a", rank: 7}) { ...shown again: rank }
                 two: createTask(input: {id: "2", title: "b"}) { ... on Task { title } } }
      fragment shown on Task { id title }
    """)
    one = {"id": "1", "title": "a", "again": 7}
    assert body == {"data": {"one": one, "two": {"title": "b"}}}


def test_the_operation_that_is_named_is_executed(client: Client) -> None:
    query = "query A { listTasks { nextToken } } query B { getTask(id: 1) { id } }"
    body = {"query": query, "operationName": "B"}
    assert client.post(json.dumps(body).encode()).body == {"data": {"getTask": None}}


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("{ listTasks { items { none } } }", "none"),
        ("{ none }", "none"),
        ("{", "Syntax Error"),
        ('mutation { createTask(input: {id: "t"}) { id } }', "title"),
        ("mutation { createTask(input: {title: null}) { id } }", "String!"),
        ('mutation { createTask(input: {title: "a", none: 1}) { id } }', "none"),
    ],
)
def test_what_does_not_fit_the_schema_is_said_without_a_path(
    client: Client, query: str, said: str
) -> None:
    answer = client.post(json.dumps({"query": query}).encode())
    error = answer.body["errors"][0]
    assert (answer.status, answer.body["data"], error["path"]) == (200, None, None)
    assert said in error["message"]
    assert error["errorType"] == "ValidationError"


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"query": 1}', b'{"query": "{a}", "variables": 1}']
)
def test_a_body_that_is_no_request_is_refused_with_400(client: Client, body: bytes) -> None:
    answer = client.post(body)
    assert answer.status == 400
    assert answer.body["errors"][0]["errorType"] == "MalformedHttpRequestException"


def test_subscriptions_are_not_executed_by_http(client: Client) -> None:
    error = client.error("subscription { onCreateTask { id } }")
    assert error["errorType"] == "BadRequest"
