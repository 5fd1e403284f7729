"""A server of the real-time protocol that sends what it must not: the library goes on."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import kvstore
import pytest
from client import Client as Outsider
from conftest import TASKS
from standin import StandIn
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

SECONDS = 30.0
ACK = '{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}'


def data(item: object) -> str:
    return json.dumps({"type": "data", "id": "ID", "payload": {"data": {"onCreateTask": item}}})


#: What is sent once a subscription runs; ID stands for its id.
HOSTILE = [
    "",
    "nonsense",
    "[1,2,3]",
    '{"type":7}',
    '{"id":"ID"}',
    '{"type":"data","id":"ID"}',
    '{"type":"data","id":"ID","payload":[]}',
    '{"type":"data","id":"ID","payload":{"data":null,"errors":"x"}}',
    '{"type":"data","id":{"a":1},"payload":{}}',
    '{"type":"data","id":"nobody","payload":{"data":{}}}',
    data(None),
    data([]),
    data({"id": None, "_version": 1}),
    data({"id": "", "_version": -9223372036854775808}),
    data({"id": "x", "_version": "1"}),
    data({"id": "x", "_version": 1e300, "title": 5}),
    data({"id": "x" * 500_000, "_version": 1}),
    '{"type":"data","id":"ID","payload":' + '{"a":' * 5000 + "1" + "}" * 5000 + "}",
    '{"type":"error"}',
    '{"type":"error","id":"ID","payload":{"errors":[]}}',
    '{"type":"error","id":"ID","payload":{"errors":[7,{"errorType":[]}]}}',
    '{"type":"complete","id":"ID"}',
    '{"type":"connection_ack","payload":{"connectionTimeoutMs":-1}}',
    '{"type":"connection_ack","payload":{"connectionTimeoutMs":1e999}}',
    '{"type":"connection_error","payload":null}',
    '{"type":"start_ack","id":"ID"}',
    '{"type":"\\u0000"}',
    "x" * (2 << 20),
]


@contextlib.contextmanager
def realtime(*messages: str) -> Iterator[tuple[str, threading.Event]]:
    """A server that agrees to everything, and sends these messages for each subscription."""
    sent = threading.Event()

    def answer(socket: ServerConnection) -> None:
        with contextlib.suppress(ConnectionClosed):
            for text in socket:
                message = json.loads(text)
                if message["type"] == "connection_init":
                    socket.send(ACK)
                elif message["type"] == "start":
                    socket.send(json.dumps({"type": "start_ack", "id": message["id"]}))
                    try:
                        for each in messages:
                            socket.send(each.replace("ID", message["id"]))
                    finally:
                        # A client may hang up in the middle of a message that is too long.
                        sent.set()

    with serve(answer, "127.0.0.1", 0, subprotocols=["graphql-ws"]) as server:  # type: ignore[list-item]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}/graphql", sent
        finally:
            server.shutdown()
            thread.join()


def wait_for(changed: threading.Condition, condition: Callable[[], bool]) -> None:
    with changed:
        assert changed.wait_for(condition, SECONDS)


@pytest.mark.parametrize("message", HOSTILE, ids=lambda message: message[:40] or "empty")
def test_what_no_api_sends_is_survived_and_polling_goes_on(
    server: StandIn, client: Outsider, tmp_path: Path, message: str
) -> None:
    changed = threading.Condition()

    def wake(_: object) -> None:
        with changed:
            changed.notify_all()

    with (
        realtime(message) as (address, sent),
        kvstore.Client(
            app_key="tasks",
            backend="appsync",
            endpoint=server.endpoint,
            realtime_endpoint=address,
            auth={"apiKey": "da2-standin"},
            schema=TASKS,
            data_directory=tmp_path,
        ) as opened,
        opened.collection("Task") as tasks,
        tasks.observe(None, wake),
        tasks.follow(None, wake, interval=0.1),
    ):
        assert sent.wait(SECONDS)
        tasks.save({"id": "mine", "title": "mine"})
        wait_for(changed, lambda: tasks["mine"].get("_version") == 1)
        ids = {task["id"] for task in tasks.find()}
        assert ids == {"mine"}
        tasks.pull()
        assert client.data('query { getTask(id: "mine") { title } }') == {"title": "mine"}


def test_a_whole_record_is_stored_and_a_record_of_another_model_is_not(
    server: StandIn, tmp_path: Path
) -> None:
    at = "2024-05-21T12:00:00.000Z"
    whole: dict[str, object] = {"id": "w", "title": "W", "createdAt": at, "updatedAt": at}
    whole |= {"_version": 1, "_lastChangedAt": 1716292800000, "_deleted": None}
    other = {"__typename": "Board", "id": "b", "name": "B", "_version": 1}
    changed = threading.Condition()

    def wake(_: object) -> None:
        with changed:
            changed.notify_all()

    with (
        realtime(data(other), data(whole)) as (address, _),
        kvstore.Client(
            app_key="tasks",
            backend="appsync",
            endpoint=server.endpoint,
            realtime_endpoint=address,
            auth={"apiKey": "da2-standin"},
            schema=TASKS,
            data_directory=tmp_path,
        ) as opened,
        opened.collection("Task") as tasks,
        tasks.observe(None, wake),
        tasks.follow(None, wake, interval=3600.0),
    ):
        wait_for(changed, lambda: [task["id"] for task in tasks.find()] == ["w"])
