"""The real-time protocol."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from client import API_KEY, Client
from conftest import Serve
from socket_client import PROTOCOL, Opening, Socket, by_headers, by_query, by_subprotocol, encoded
from standin import StandIn
from standin.testing import SECONDS
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

CREATED = "subscription { onCreateTask { id title _version } }"
FILTERED = "subscription ($filter: ModelSubscriptionTaskFilterInput) {"
FILTERED += " onCreateTask(filter: $filter) { id } }"
DAY = 24 * 3600 * 1000


@pytest.fixture
def socket(server: StandIn) -> Iterator[Socket]:
    with Socket(server) as socket:
        yield socket


def create(client: Client, identifier: str, fields: str = "id title _version", **more: Any) -> None:
    given = {"id": identifier, "title": "t", **more}
    client.written("createTask", fields, given)


def receive(connection: ClientConnection) -> Any:
    return json.loads(connection.recv(timeout=SECONDS))


def assert_closed(connection: ClientConnection) -> None:
    """Reads until the connection ends."""
    with pytest.raises(ConnectionClosed):
        while True:
            connection.recv(timeout=SECONDS)


@pytest.mark.parametrize("path", ["/graphql", "/graphql/realtime"])
@pytest.mark.parametrize("style", [by_query, by_subprotocol, by_headers])
def test_an_upgrade_authorizes_in_any_of_three_styles(
    server: StandIn, path: str, style: Callable[..., Opening]
) -> None:
    url = f"ws://{server.host}{path}"
    with style(url, {"host": server.host, **API_KEY}) as connection:
        assert connection.subprotocol == PROTOCOL
        connection.send('{"type":"connection_init"}')
        ack = {"type": "connection_ack", "payload": {"connectionTimeoutMs": 300_000}}
        assert receive(connection) == ack
        assert receive(connection) == {"type": "ka"}


@pytest.mark.parametrize("style", [by_query, by_subprotocol, by_headers])
def test_bad_credentials_get_connection_error_and_the_end(
    server: StandIn, style: Callable[..., Opening]
) -> None:
    with style(server.realtime, {"host": server.host, "x-api-key": "bad"}) as connection:
        connection.send('{"type":"connection_init"}')
        error = {"errorType": "UnauthorizedException", "errorCode": 401}
        assert receive(connection) == {"type": "connection_error", "payload": {"errors": [error]}}
        assert_closed(connection)


@pytest.mark.parametrize("header", ["%%%", "bm8=", "W10="])
def test_headers_that_are_no_object_in_base64_are_a_bad_request(
    server: StandIn, header: str
) -> None:
    with connect(f"{server.realtime}?header={header}", subprotocols=[PROTOCOL]) as connection:
        connection.send('{"type":"connection_init"}')
        (error,) = receive(connection)["payload"]["errors"]
        assert error == {"errorType": "BadRequestException", "errorCode": 400}


def test_a_plus_in_the_query_need_not_be_escaped(server: StandIn) -> None:
    header = encoded({"x-note": "~>>>>>>", **API_KEY})
    assert "+" in header
    with connect(f"{server.realtime}?header={header}", subprotocols=[PROTOCOL]) as connection:
        connection.send('{"type":"connection_init"}')
        assert receive(connection)["type"] == "connection_ack"


def test_an_upgrade_without_the_protocol_is_refused(server: StandIn) -> None:
    with pytest.raises(InvalidStatus) as refused, connect(server.realtime):
        pass
    assert refused.value.response.status_code == 400


def test_the_timeout_of_the_acknowledgement_is_an_option(serve: Serve) -> None:
    server = serve(connection_timeout=1234)
    with by_query(server.realtime, API_KEY) as connection:
        connection.send('{"type":"connection_init"}')
        assert receive(connection)["payload"] == {"connectionTimeoutMs": 1234}


def test_a_mutation_notifies_its_subscribers(client: Client, socket: Socket) -> None:
    socket.subscribe(CREATED)
    create(client, "a")
    assert socket.event() == {"id": "a", "title": "t", "_version": 1}


def test_each_operation_has_its_subscription(client: Client, socket: Socket) -> None:
    for kind in ("Create", "Update", "Delete"):
        socket.subscribe(f"subscription {{ on{kind}Task {{ id _version _deleted }} }}", kind)
    fields = "id title _version _deleted"
    create(client, "a", fields)
    client.written("updateTask", fields, {"id": "a", "_version": 1})
    client.written("deleteTask", fields, {"id": "a", "_version": 2})
    assert socket.event("Create") == {"id": "a", "_version": 1, "_deleted": None}
    assert socket.event("Update") == {"id": "a", "_version": 2, "_deleted": None}
    assert socket.event("Delete") == {"id": "a", "_version": 3, "_deleted": True}


def test_a_subscriber_sees_only_what_the_mutation_selected(client: Client, socket: Socket) -> None:
    socket.subscribe("subscription { onCreateTask { id note tags place { city } board { name } } }")
    client.written("createBoard", "id", {"id": "b", "name": "B"})
    given: dict[str, Any] = {"id": "a", "title": "t", "note": "n", "boardId": "b"}
    given |= {"tags": ["x"], "place": {"city": "c"}}
    nulls = {"note": None, "tags": None, "place": None, "board": None}
    client.written("createTask", "id", given)
    assert socket.event() == {"id": "a", **nulls}
    fields = "id alias: note tags place { city } board { name }"
    client.written("createTask", fields, {**given, "id": "c"})
    shown = {"note": "n", "tags": ["x"], "place": {"city": "c"}, "board": {"name": "B"}}
    assert socket.event() == {"id": "c", **shown}


def test_what_may_not_be_null_makes_the_event_an_error(client: Client, socket: Socket) -> None:
    socket.subscribe(CREATED)
    create(client, "a", "id")
    payload = socket.receive()["payload"]
    assert payload["data"] == {"onCreateTask": None}
    assert payload["errors"][0]["path"] == ["onCreateTask", "title"]


def test_aliases_and_fragments_of_a_subscription_are_its_own(
    client: Client, socket: Socket
) -> None:
    socket.subscribe(
        "subscription { made: onCreateTask { ...f } } fragment f on Task { key: id __typename }"
    )
    create(client, "a")
    assert socket.event() == {"key": "a", "__typename": "Task"}


def test_a_failed_write_notifies_no_one(client: Client, socket: Socket) -> None:
    socket.subscribe(CREATED)
    create(client, "a")
    client.refused("createTask", "id title _version", {"id": "a", "title": "t"})
    socket.event()
    socket.nothing_came()


def test_several_subscriptions_of_one_socket_are_told_by_their_ids(
    client: Client, socket: Socket
) -> None:
    socket.subscribe(CREATED, "one")
    socket.subscribe(CREATED, "two")
    create(client, "a")
    assert socket.event("one") == socket.event("two")


def test_stop_ends_a_subscription_with_complete(client: Client, socket: Socket) -> None:
    socket.subscribe(CREATED)
    socket.send({"type": "stop", "id": "s"})
    assert socket.receive() == {"type": "complete", "id": "s"}
    create(client, "a")
    socket.nothing_came()


@pytest.mark.parametrize(
    ("filter", "comes"),
    [
        ({"rank": {"eq": 1}}, True),
        ({"rank": {"gt": 1}}, False),
        ({"rank": {"in": [1, 2]}}, True),
        ({"rank": {"notIn": [1, 2]}}, False),
        ({"title": {"beginsWith": "t"}, "rank": {"le": 1}}, True),
        ({"or": [{"rank": {"eq": 2}}, {"title": {"eq": "t"}}]}, True),
        ({"and": [{"rank": {"eq": 1}}, {"title": {"eq": "u"}}]}, False),
        ({"note": {"ne": "n"}}, False),
    ],
)
def test_events_are_filtered(client: Client, socket: Socket, filter: Any, comes: bool) -> None:
    socket.subscribe(FILTERED, filter=filter)
    create(client, "a", "id title rank note", rank=1)
    if comes:
        assert socket.event() == {"id": "a"}
    socket.nothing_came()


def test_a_filter_on_what_the_mutation_did_not_select_does_not_match(
    client: Client, socket: Socket
) -> None:
    socket.subscribe(FILTERED, filter={"rank": {"eq": 1}})
    create(client, "a", "id", rank=1)
    create(client, "b", "id rank", rank=1)
    assert socket.event() == {"id": "b"}


@pytest.mark.parametrize(
    ("filter", "said"),
    [
        ({"not": {"rank": {"eq": 1}}}, "not"),
        ({"none": {"eq": 1}}, "none"),
        ({"or": [{"rank": {"eq": 1}}] * 11}, "combination exceed maximum limit"),
        ({"and": [{"rank": {"gt": 1}}, {"rank": {"lt": 3}}]}, "same fieldName multiple time"),
        (
            {each: {"eq": None} for each in ("id", "title", "note", "rank", "weight", "done")},
            "maximum attributes limit",
        ),
    ],
)
def test_filters_that_the_service_cannot_do_are_refused(
    socket: Socket, filter: Any, said: str
) -> None:
    assert said in socket.refused(FILTERED, filter=filter)["message"]


def test_a_document_that_does_not_fit_is_refused(socket: Socket) -> None:
    message = socket.begin("subscription { onCreateTask { none } }")
    assert (message["type"], message["id"]) == ("error", "s")
    assert message["payload"]["errors"][0]["errorType"] == "ValidationError"


def test_queries_are_not_executed_by_a_socket(socket: Socket) -> None:
    assert socket.refused("{ listTasks { nextToken } }")["errorType"] == "BadRequest"


def test_every_start_carries_its_own_authorization(socket: Socket) -> None:
    error = socket.refused(CREATED, headers={"x-api-key": "bad"})
    assert error["errorType"] == "UnauthorizedException"
    socket.subscribe(CREATED)


def test_an_id_is_used_once_at_a_time(socket: Socket) -> None:
    socket.subscribe(CREATED)
    assert socket.refused(CREATED)["errorType"] == "DuplicatedOperationError"


def test_a_socket_has_a_limit_of_subscriptions(server: StandIn, socket: Socket) -> None:
    server.control("limits", subscriptions=1)
    socket.subscribe(CREATED, "one")
    assert socket.refused(CREATED)["errorType"] == "MaxSubscriptionsReachedError"
    socket.send({"type": "stop", "id": "one"})
    socket.receive()
    socket.subscribe(CREATED)


def test_a_server_has_a_limit_of_connections(server: StandIn, socket: Socket) -> None:
    server.control("limits", connections=1)
    with by_query(server.realtime, API_KEY) as connection:
        connection.send('{"type":"connection_init"}')
        (error,) = receive(connection)["payload"]["errors"]
        assert error["errorType"] == "LimitExceededError"
        assert_closed(connection)


def test_nothing_is_started_before_the_connection_is_acknowledged(server: StandIn) -> None:
    with by_query(server.realtime, API_KEY) as connection:
        connection.send('{"type":"start","id":"s","payload":{}}')
        message = receive(connection)
        assert message["type"] == "error"
        assert "id" not in message


@pytest.mark.parametrize(
    "text", ["{", "1", "[]", "{}", '{"type":"none"}', '{"type":"stop","id":1}']
)
def test_a_message_that_is_not_understood_is_answered_by_an_error(
    socket: Socket, text: str
) -> None:
    socket.connection.send(text)
    assert socket.receive()["type"] == "error"
    socket.nothing_came()


@pytest.mark.parametrize(
    "payload", [None, {}, {"data": {}}, {"data": "{", "extensions": {}}, {"data": "{}"}]
)
def test_a_start_that_is_not_understood_is_answered_by_an_error(
    socket: Socket, payload: Any
) -> None:
    socket.send({"type": "start", "id": "s", "payload": payload})
    message = socket.receive()
    assert (message["type"], message["id"]) == ("error", "s")


def test_keep_alive_goes_on_while_there_are_events(serve: Serve) -> None:
    server = serve(keep_alive=0.01)
    client = Client(server)
    with Socket(server) as socket:
        socket.send({"type": "stop", "id": "none"})
        kinds = set()
        for i in range(1000):
            create(client, str(i))
            kinds.add(socket.receive()["type"])
            if kinds == {"ka", "complete"}:
                return
    raise AssertionError(kinds)


def test_an_event_that_is_too_large_is_dropped_without_notice(
    client: Client, socket: Socket
) -> None:
    socket.subscribe(CREATED)
    create(client, "a", title="x" * (240 * 1024))
    create(client, "b")
    assert socket.event()["id"] == "b"


def test_there_is_no_replay(server: StandIn, client: Client) -> None:
    create(client, "a")
    with Socket(server) as socket:
        socket.subscribe(CREATED)
        create(client, "b")
        assert socket.event()["id"] == "b"


def test_a_connection_ends_after_a_day(server: StandIn, socket: Socket) -> None:
    server.control("clock", advance=DAY - 1)
    socket.nothing_came()
    server.control("clock", advance=1)
    assert_closed(socket.connection)


def test_deliveries_precede_the_answer_to_the_mutation(client: Client, socket: Socket) -> None:
    socket.subscribe(CREATED)
    create(client, "a")
    message = json.loads(socket.connection.recv(timeout=SECONDS))
    assert message["payload"]["data"]["onCreateTask"]["id"] == "a"
