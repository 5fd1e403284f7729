"""What becomes of a write whose version is not the stored one."""

from __future__ import annotations

from typing import Any

import pytest
from client import Client
from conftest import NOON
from standin import StandIn

STORED = {"id": "t", "title": "A", "tags": ["x"]}
STRATEGIES = ["AUTOMERGE", "OPTIMISTIC_CONCURRENCY", "LAMBDA"]


@pytest.fixture
def stored(client: Client) -> Client:
    """A client whose server has the task `t` with version 3."""
    client.written("createTask", "id", STORED)
    for version in (1, 2):
        client.written("updateTask", "id", {"id": "t", "_version": version})
    return client


def update(client: Client, fields: str = "title tags note _version", **members: Any) -> Any:
    return client.written("updateTask", fields, {"id": "t", **members})


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_write_with_the_stored_version_passes_whatever_the_handler(
    server: StandIn, stored: Client, strategy: str
) -> None:
    server.control("conflicts", Task=strategy)
    written = update(stored, title="B", tags=["y"], _version=3)
    assert written == {"title": "B", "tags": ["y"], "note": None, "_version": 4}
    assert stored.written("deleteTask", "_version", {"id": "t", "_version": 4})["_version"] == 5


@pytest.mark.parametrize("version", [{}, {"_version": 2}, {"_version": 4}])
@pytest.mark.parametrize("field", ["updateTask", "deleteTask"])
def test_optimistic_concurrency_refuses_and_gives_the_stored_record(
    server: StandIn, stored: Client, field: str, version: Any
) -> None:
    server.control("conflicts", Task="OPTIMISTIC_CONCURRENCY")
    fields = "id again: title __typename _version _deleted _lastChangedAt"
    error = stored.refused(field, fields, {"id": "t", **version})
    assert (error["errorType"], error["path"]) == ("ConflictUnhandled", [field])
    assert error["message"] == "Conflict resolver rejects mutation."
    assert error["errorInfo"] is None
    assert error["locations"][0]["sourceName"] is None
    assert error["data"] == {
        "id": "t",
        "title": "A",
        "__typename": "Task",
        "_version": 3,
        "_deleted": None,
        "_lastChangedAt": NOON,
    }
    assert stored.data('{ getTask(id: "t") { _version } }') == {"_version": 3}


def test_automerge_keeps_stored_scalars_and_appends_to_lists(client: Client) -> None:
    client.written("createTask", "id", STORED)
    for version in range(1, 7):
        update(client, _version=version)
    merged = update(client, title="B", tags=["x", "y"], note="n", _version=5)
    assert merged == {"title": "A", "tags": ["x", "x", "y"], "note": "n", "_version": 8}


def test_automerge_merges_embedded_values_member_by_member(client: Client) -> None:
    place = {"city": "stored", "zips": ["1"]}
    client.written("createTask", "id", {**STORED, "place": place})
    merged = update(client, "place { city zips }", place={"city": "new", "zips": ["2"]})
    assert merged == {"place": {"city": "stored", "zips": ["1", "2"]}}


def test_automerge_takes_embedded_values_and_lists_that_were_missing(client: Client) -> None:
    client.written("createTask", "id", {"id": "t", "title": "A"})
    merged = update(client, "place { city } tags", place={"city": "new"}, tags=["y"])
    assert merged == {"place": {"city": "new"}, "tags": ["y"]}


def test_under_automerge_a_second_update_with_one_version_loses_its_scalars(
    stored: Client,
) -> None:
    assert update(stored, "title", title="B", _version=3) == {"title": "B"}
    assert update(stored, "title _version", title="C", _version=3) == {"title": "B", "_version": 5}


def test_automerge_refuses_deletes_and_updates_of_tombstones(stored: Client) -> None:
    error = stored.refused("deleteTask", "id _version", {"id": "t", "_version": 2})
    assert (error["errorType"], error["data"]["_version"]) == ("ConflictUnhandled", 3)
    stored.written("deleteTask", "id", {"id": "t", "_version": 3})
    given = {"id": "t", "title": "B", "_version": 3}
    error = stored.refused("updateTask", "_version _deleted", given)
    assert error["data"] == {"_version": 4, "_deleted": True}


def test_an_update_with_the_version_of_a_tombstone_makes_it_live(stored: Client) -> None:
    stored.written("deleteTask", "id", {"id": "t", "_version": 3})
    live = update(stored, "title _version _deleted", title="B", _version=4)
    assert live == {"title": "B", "_version": 5, "_deleted": None}


def answer(server: StandIn, *answers: Any) -> None:
    server.control("conflicts", Task="LAMBDA")
    server.control("function", answers=answers)


def test_a_custom_function_resolves_by_a_record(server: StandIn, stored: Client) -> None:
    item = {"id": "other", "title": "R", "note": "n", "_version": 99, "_deleted": True}
    answer(server, {"action": "RESOLVE", "item": item})
    resolved = update(stored, "id title note tags _version _deleted", title="B", _version=1)
    wanted = {"id": "t", "title": "R", "note": "n", "tags": None, "_version": 4, "_deleted": None}
    assert resolved == wanted


def test_a_custom_function_is_told_both_records(server: StandIn, stored: Client) -> None:
    answer(server, {"action": "REJECT"})
    error = stored.refused("updateTask", "_version", {"id": "t", "title": "B", "_version": 1})
    assert (error["errorType"], error["data"]) == ("ConflictUnhandled", {"_version": 3})
    (question,) = server.control("function", "GET")["questions"]
    assert question["existingItem"]["title"] == "A"
    assert question["newItem"]["title"] == "B"
    assert question["arguments"] == {"input": {"id": "t", "title": "B", "_version": 1}}
    resolver = {"tableName": "Task", "parentType": "Mutation", "field": "updateTask"}
    assert question["resolver"].items() >= resolver.items()
    assert question["identity"]["mode"] == "apiKey"


def test_a_custom_function_may_carry_out_a_delete(server: StandIn, stored: Client) -> None:
    answer(server, {"action": "REMOVE"})
    gone = stored.written("deleteTask", "_deleted _version", {"id": "t", "_version": 1})
    assert gone == {"_deleted": True, "_version": 4}


@pytest.mark.parametrize(
    "said", [{"action": "REMOVE"}, {"action": "NONE"}, {"action": "RESOLVE"}, {}, None]
)
def test_a_custom_function_that_answers_nonsense_is_a_conflict_error(
    server: StandIn, stored: Client, said: Any
) -> None:
    answer(server, said)
    error = stored.refused("updateTask", "id", {"id": "t", "_version": 1})
    assert error["errorType"] == "ConflictError"


def test_a_custom_function_may_be_one_of_the_test(server: StandIn, stored: Client) -> None:
    def function(question: dict[str, Any]) -> Any:
        item = question["existingItem"] | {"title": question["newItem"]["title"] + "!"}
        return {"action": "RESOLVE", "item": item}

    server.control("conflicts", Task="LAMBDA")
    server.call(lambda service: setattr(service.database, "function", function))
    assert update(stored, "title", title="B", _version=1) == {"title": "B!"}


def test_each_model_has_a_handler_of_its_own(server: StandIn, stored: Client) -> None:
    stored.written("createBoard", "id", {"id": "b", "name": "x"})
    server.control("conflicts", Board="OPTIMISTIC_CONCURRENCY")
    assert stored.refused("updateBoard", "id", {"id": "b"})["errorType"] == "ConflictUnhandled"
    assert update(stored, "_version") == {"_version": 4}
