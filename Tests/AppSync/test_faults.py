"""Faults on demand, the request log, and the other calls of the control endpoint."""

from __future__ import annotations

import json
import threading
import urllib.error
from http.client import RemoteDisconnected
from typing import Any

import pytest
from client import Client
from conftest import NOON
from socket_client import Socket, by_query
from standin import StandIn
from standin.testing import SECONDS
from websockets.exceptions import ConnectionClosed, InvalidMessage

CREATED = "subscription { onCreateTask { id } }"
LIST = json.dumps({"query": "{ listTasks { items { id } nextToken } }"}).encode()
LOST = (RemoteDisconnected, ConnectionResetError, urllib.error.URLError)


def create(client: Client, identifier: str) -> Any:
    return client.written("createTask", "id", {"id": identifier, "title": "t"})


def ids(client: Client) -> list[str]:
    return sorted(each["id"] for each in client.data("{ listTasks { items { id } } }")["items"])


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_status_is_answered_in_place_of_the_operation(
    server: StandIn, client: Client, status: int
) -> None:
    server.control("faults", at="http", action="status", status=status)
    answer = client.post(LIST)
    assert answer.status == status
    assert "Retry-After" not in answer.headers
    assert client.post(LIST).status == 200


def test_a_status_may_say_when_to_come_again(server: StandIn, client: Client) -> None:
    server.control("faults", at="http", action="status", status=429, retryAfter=7)
    assert client.post(LIST).headers["Retry-After"] == "7"


def test_a_fault_strikes_its_operation_so_many_times_after_so_many(
    server: StandIn, client: Client
) -> None:
    server.control("faults", at="http", action="status", on="listTasks", times=2, skip=1)
    create(client, "a")
    assert [client.post(LIST).status for _ in range(4)] == [200, 500, 500, 200]


def test_an_answer_is_dropped_before_the_write(server: StandIn, client: Client) -> None:
    server.control("faults", at="http", action="dropBefore", on="createTask")
    with pytest.raises(LOST):
        create(client, "a")
    assert ids(client) == []


def test_an_answer_is_dropped_after_the_write(server: StandIn, client: Client) -> None:
    server.control("faults", at="http", action="dropAfter", on="createTask")
    with pytest.raises(LOST):
        create(client, "a")
    assert ids(client) == ["a"]
    error = client.refused("createTask", "id", {"id": "a", "title": "t"})
    assert error["errorType"] == "ConditionalCheckFailedException"


def test_an_error_of_any_type_is_answered_and_nothing_is_written(
    server: StandIn, client: Client
) -> None:
    errors = [{"errorType": "DynamoDB:ConditionalCheckFailedException", "message": "m"}]
    server.control("faults", at="http", action="error", on="createTask", errors=errors)
    error = client.refused("createTask", "id", {"id": "a", "title": "t"})
    assert error == {"path": ["createTask"], **errors[0]}
    assert ids(client) == []


@pytest.mark.parametrize(
    "kind",
    [
        "ConflictError",
        "MaxConflicts",
        "DynamoDB:ConditionalCheckFailedException",
        "Unauthorized",
        "OperationDisabled",
        "DeltaSyncWriteError",
        "InternalFailure",
        "UnsupportedOperation",
    ],
)
def test_an_error_of_any_type_may_follow_the_write(
    server: StandIn, client: Client, kind: str
) -> None:
    errors = [{"errorType": kind, "message": "m"}]
    server.control("faults", at="http", action="errorAfter", on="createTask", errors=errors)
    assert client.refused("createTask", "id", {"id": "a", "title": "t"})["errorType"] == kind
    assert ids(client) == ["a"]


def test_data_may_come_with_errors(server: StandIn, client: Client) -> None:
    create(client, "a")
    server.control("faults", at="http", action="partial")
    body = client.post(LIST).body
    assert body["data"]["listTasks"]["items"] == [{"id": "a"}]
    assert len(body["errors"]) == 1


def test_a_page_may_be_empty_and_have_a_token(server: StandIn, client: Client) -> None:
    create(client, "a")
    server.control("faults", at="http", action="emptyPage", on="syncTasks", times=2)
    page: Any = {"nextToken": None}
    for _ in range(2):
        page = client.sync("syncTasks", "id", nextToken=page["nextToken"])
        assert page["items"] == []
    page = client.sync("syncTasks", "id", nextToken=page["nextToken"])
    assert [each["id"] for each in page["items"]] == ["a"]
    assert page["nextToken"] is None


def test_an_item_may_be_undecodable(server: StandIn, client: Client) -> None:
    create(client, "a")
    server.control("faults", at="http", action="corrupt", members={"_version": "x", "id": None})
    (item,) = client.sync("syncTasks", "id")["items"]
    assert (item["_version"], item["id"], item["_deleted"]) == ("x", None, None)


def test_items_may_come_in_the_other_order(server: StandIn, client: Client) -> None:
    for identifier in "abc":
        create(client, identifier)
    usual = client.post(LIST).body["data"]["listTasks"]["items"]
    server.control("faults", at="http", action="reverse")
    assert client.post(LIST).body["data"]["listTasks"]["items"] == usual[::-1]


def test_a_slow_answer_comes_when_its_gate_is_opened(server: StandIn, client: Client) -> None:
    server.control("faults", at="http", gate="slow", on="createTask")
    answers: list[Any] = []
    thread = threading.Thread(target=lambda: answers.append(create(client, "a")))
    thread.start()
    server.log(count=1)
    assert ids(client) == []
    server.control("gates", open="slow")
    thread.join(SECONDS)
    assert answers == [{"id": "a"}]


def test_a_delay_is_only_a_delay(server: StandIn, client: Client) -> None:
    server.control("faults", at="http", delay=0.001)
    assert create(client, "a") == {"id": "a"}
    assert server.log()[0]["fault"] == "delay"


def test_a_connection_is_refused_or_dropped(server: StandIn) -> None:
    errors = [{"errorType": "LimitExceededError", "errorCode": 429}]
    server.control("faults", at="connect", action="refuse", errors=errors)
    with by_query(server.realtime, {"x-api-key": "da2-standin"}) as connection:
        connection.send('{"type":"connection_init"}')
        refusal = json.loads(connection.recv(timeout=SECONDS))
        assert refusal == {"type": "connection_error", "payload": {"errors": errors}}
    server.control("faults", at="connect", action="dropBefore")
    with pytest.raises((OSError, InvalidMessage)), Socket(server):
        pass
    with Socket(server):
        pass


@pytest.mark.parametrize(
    "kind", ["MaxSubscriptionsReachedError", "Unauthorized", "OperationDisabled"]
)
def test_a_subscription_is_refused(server: StandIn, kind: str) -> None:
    with Socket(server) as socket:
        errors = [{"errorType": kind, "message": "m"}]
        server.control("faults", at="start", action="refuse", on="onCreateTask", errors=errors)
        assert socket.refused(CREATED) == errors[0]
        socket.subscribe(CREATED)


def test_a_start_is_ignored_or_ends_the_socket(server: StandIn) -> None:
    with Socket(server) as socket:
        server.control("faults", at="start", action="ignore")
        socket.send({"type": "start", "id": "s", "payload": start()})
        socket.nothing_came()
        server.control("faults", at="start", action="close")
        socket.send({"type": "start", "id": "s", "payload": start()})
        with pytest.raises(ConnectionClosed):
            socket.receive()


def start() -> dict[str, Any]:
    authorization = {"authorization": {"x-api-key": "da2-standin"}}
    return {"data": json.dumps({"query": CREATED}), "extensions": authorization}


@pytest.mark.parametrize(
    ("action", "wanted"),
    [("lose", "bc"), ("duplicate", "aabc"), ("reorder", "bac")],
)
def test_events_are_lost_duplicated_and_reordered(
    server: StandIn, client: Client, action: str, wanted: str
) -> None:
    with Socket(server) as socket:
        socket.subscribe(CREATED)
        server.control("faults", at="event", action=action, on="onCreateTask")
        for identifier in "abc":
            create(client, identifier)
        assert "".join(socket.event()["id"] for _ in wanted) == wanted
        socket.nothing_came()


def test_an_event_comes_late_when_its_gate_is_opened(server: StandIn, client: Client) -> None:
    with Socket(server) as socket:
        socket.subscribe("subscription { alias: onCreateTask { id } }")
        server.control("faults", at="event", gate="late", on="onCreateTask")
        create(client, "a")
        create(client, "b")
        assert socket.event() == {"id": "b"}
        socket.nothing_came()
        server.control("gates", open="late")
        assert socket.event() == {"id": "a"}


def test_an_event_ends_the_socket(server: StandIn, client: Client) -> None:
    with Socket(server) as socket:
        socket.subscribe(CREATED)
        server.control("faults", at="event", action="close")
        create(client, "a")
        with pytest.raises(ConnectionClosed):
            socket.receive()


@pytest.mark.parametrize(("action", "code"), [("cut", 1006), ("close", 1000)])
def test_sockets_are_cut_or_closed(server: StandIn, action: str, code: int) -> None:
    with Socket(server) as socket:
        assert server.control("sockets", action=action) == {"count": 1}
        with pytest.raises(ConnectionClosed):
            socket.receive()
        assert socket.connection.close_code == code


def test_a_silent_socket_stays_open_and_says_nothing(server: StandIn, client: Client) -> None:
    with Socket(server) as socket:
        socket.subscribe(CREATED)
        server.control("sockets", action="silence")
        create(client, "a")
        server.control("sockets", action="keepAlive")
        # The server still answers to the ping of WebSocket, after which nothing else came.
        assert socket.connection.ping().wait(SECONDS)
        server.control("sockets", action="close")
        with pytest.raises(ConnectionClosed):
            socket.receive()


def test_a_keep_alive_is_sent_when_a_test_asks_for_it(server: StandIn) -> None:
    with Socket(server) as socket:
        server.control("sockets", action="keepAlive")
        assert socket.receive() == {"type": "ka"}


def test_the_log_has_every_request_in_order(server: StandIn, client: Client) -> None:
    create(client, "a")
    server.control("clock", advance=5)
    client.refused("updateTask", "id", {"id": "none", "_version": 4})
    client.post(b"{")
    made, refused, broken = server.log()
    assert [each["number"] for each in (made, refused, broken)] == [1, 2, 3]
    assert (made["fields"], made["status"], made["mode"]) == (["createTask"], 200, "apiKey")
    assert (made["time"], refused["time"]) == (NOON, NOON + 5)
    assert made["operation"] == "mutation"
    assert refused["variables"]["input"] == {"id": "none", "_version": 4}
    assert refused["error_types"] == ["ConditionalCheckFailedException"]
    assert broken["status"] == 400
    assert server.log(after=2) == [broken]


def test_the_log_has_what_sockets_do(server: StandIn, client: Client) -> None:
    with Socket(server) as socket:
        socket.subscribe(CREATED, "one")
        socket.send({"type": "stop", "id": "one"})
        socket.receive()
    entries = server.log(count=6)
    wanted = ["connect", "connection_init", "start", "start_ack", "stop", "close"]
    assert [each["kind"] for each in entries] == wanted
    assert {each["connection"] for each in entries} == {1}
    acknowledged = entries[3]
    assert (acknowledged["subscription"], acknowledged["fields"]) == ("one", ["onCreateTask"])


def test_the_log_is_waited_for(server: StandIn, client: Client) -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.extend(server.log(count=1)))
    thread.start()
    create(client, "a")
    thread.join(SECONDS)
    assert [each["fields"] for each in found] == [["createTask"]]


def test_rows_may_be_written_from_elsewhere(server: StandIn, client: Client) -> None:
    with Socket(server) as socket:
        socket.subscribe(CREATED)
        server.control("tables/Task", rows=[{"id": "a", "title": "t"}])
        server.control("tables/Task", rows=[{"id": "a", "title": "u"}])
        socket.nothing_came()
    (row,) = server.control("tables/Task", "GET")["rows"]
    assert (row["title"], row["_version"]) == ("u", 2)
    assert client.data('{ getTask(id: "a") { title } }') == {"title": "u"}


def test_a_reset_forgets_everything_between_two_tests(server: StandIn, client: Client) -> None:
    create(client, "a")
    server.control("faults", at="http", action="status")
    server.control("conflicts", Task="OPTIMISTIC_CONCURRENCY")
    with Socket(server) as socket:
        server.control("reset")
        with pytest.raises(ConnectionClosed):
            socket.receive()
    assert ids(client) == []
    assert client.written("createTask", "_version", {"id": "a", "title": "t"}) == {"_version": 1}
    assert client.written("updateTask", "_version", {"id": "a"}) == {"_version": 2}


def test_the_clock_follows_the_machine_s_again(server: StandIn) -> None:
    assert server.control("clock", "GET") == {"now": NOON}
    assert server.control("clock")["now"] > NOON
    ahead = server.control("clock", advance=10**9)["now"]
    assert ahead > server.control("clock")["now"] + 10**8


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("faults", {"at": "nowhere"}),
        ("faults", {"at": "http", "action": "lose"}),
        ("faults", {"at": "http", "none": 1}),
        ("sockets", {"action": "none"}),
        ("conflicts", {"Task": "NONE"}),
        ("clock", {"now": "x"}),
        ("auth", {"modes": ["none"]}),
        ("gates", {}),
    ],
)
def test_a_control_call_that_makes_no_sense_is_refused(
    server: StandIn, path: str, given: dict[str, Any]
) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        server.control(path, **given)
    with refused.value as error:
        assert error.code == 400
