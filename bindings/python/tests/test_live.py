"""Live data, from a backend that says what a test wants."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import kvstore


class Service(ThreadingHTTPServer):
    """Answers each poll with the next message that a test has put in."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.messages: queue.Queue[dict[str, object]] = queue.Queue()
        #: Status and body of the answer to whoever unsubscribes.
        self.farewell: tuple[int, dict[str, object]] = (200, {})

    def deliver(self, entity: dict[str, object], token: str, **more: object) -> None:
        """Put a message in."""
        position = {"t": token, "r": 1}
        channel = more.pop("channel", "k.c-notes")
        self.messages.put(
            {
                "t": position,
                "m": [{"c": channel, "p": position, "d": entity, "u": {"kvstore": more}}],
            }
        )

    def refuse(self, collection: str) -> None:
        """Refuse the poll that waits."""
        payload = {"channels": [f"k.c-{collection}"]}
        self.messages.put({"status": 403, "error": True, "payload": payload})


class Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    server: Service
    protocol_version = "HTTP/1.1"
    #: Head and body leave in one piece: apart, the second waits for the first one's receipt.
    wbufsize = -1

    def do_GET(self) -> None:
        """Answer a poll."""
        if "tt=0&" in self.path:
            return self.answer({"t": {"t": "1", "r": 1}, "m": []})
        message = self.server.messages.get()
        return self.answer(message, 403 if "error" in message else 200)

    def do_POST(self) -> None:
        """Register whoever asks."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.endswith("/unregister-realtime"):
            return self.answer({})
        if self.path.endswith("/register-realtime"):
            return self.answer({"subscribeKey": "s", "publishKey": "p", "userChannelGroup": "g"})
        if self.path.startswith("/user"):
            return self.answer({"_id": "u1", "username": "ana", "_kmd": {"authtoken": "t"}})
        if self.path.endswith("/_unsubscribe"):
            status, body = self.server.farewell
            return self.answer(body, status)
        return self.answer({})

    def answer(self, body: dict[str, object], status: int = 200) -> None:
        """Send JSON."""
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as service:
        threading.Thread(target=service.serve_forever, daemon=True).start()
        yield service
        service.shutdown()


@pytest.fixture
def client(service: Service, tmp_path: Path) -> Iterator[kvstore.Client]:
    with kvstore.Client(
        app_key="k",
        app_secret="s",
        host=f"http://127.0.0.1:{service.server_port}",
        data_directory=tmp_path,
    ) as client:
        client.signup()
        yield client


def test_iterating_gives_what_happens(service: Service, client: kvstore.Client) -> None:
    client.register_live()
    with client.collection("notes").live() as stream:
        assert next(stream).status == "connected"
        assert next(stream).event == "ready"
        service.deliver({"_id": "a", "n": 1}, "2", change="create")
        event = next(stream)
        assert (event.event, event.change, event.id) == ("change", "create", "a")
        assert event.entity == {"_id": "a", "n": 1}
        service.deliver({"_id": "a"}, "3", change="delete", channel="k.x-notes")
        assert next(stream) == kvstore.LiveEvent("change", change="delete", id="a")
        client.logout()
        assert [event.status for event in stream] == ["disconnected"]


def test_iterating_asynchronously(service: Service, client: kvstore.Client) -> None:
    async def first_change() -> kvstore.LiveEvent:
        with client.collection("notes").live() as stream:
            async for event in stream:
                if event.event == "ready":
                    service.deliver({"_id": "a"}, "2")
                if event.event == "change":
                    return event
        raise AssertionError

    client.register_live()
    assert asyncio.run(first_change()).id == "a"


def test_unsubscribing_says_what_the_backend_refuses(
    service: Service, client: kvstore.Client
) -> None:
    client.register_live()
    words = {"description": "", "debug": ""}
    refusals: list[tuple[int, str, type[kvstore.KVError]]] = [
        (403, "InsufficientCredentials", kvstore.ForbiddenError),
        (401, "InvalidCredentials", kvstore.UnauthorizedError),
    ]
    for status, error, expected in refusals:
        service.farewell = status, {"error": error, **words}
        with client.collection("notes").live() as stream:
            assert [next(stream).event, next(stream).event] == ["status", "ready"]
            assert client.status().signed_in
            with pytest.raises(expected):
                stream.end()
            assert list(stream) == []
            # It has ended all the same.
            stream.end()
    assert not client.status().signed_in


def test_who_iterates_too_slowly_is_told_that_something_is_missing(
    service: Service, client: kvstore.Client
) -> None:
    all_told = threading.Event()

    def count(event: kvstore.LiveEvent) -> None:
        if event.id == "last":
            all_told.set()

    client.register_live()
    notes = client.collection("notes")
    with notes.live() as stream, notes.subscribe(count):
        assert [next(stream).event, next(stream).event] == ["status", "ready"]
        for number in range(1100):
            service.deliver({"_id": str(number)}, str(number + 2))
        service.deliver({"_id": "last"}, "9999")
        assert all_told.wait(120)
        client.unregister_live()
        received = list(stream)
    assert [event.id for event in received[:1024]] == [str(number) for number in range(1024)]
    assert received[1024:] == [
        kvstore.LiveEvent("missed"),
        kvstore.LiveEvent("status", status="disconnected"),
    ]


def test_who_may_not_listen_is_told_so_and_then_iterating_ends(
    service: Service, client: kvstore.Client
) -> None:
    client.register_live()
    with client.collection("notes").live() as stream:
        assert [next(stream).event, next(stream).event] == ["status", "ready"]
        service.refuse("notes")
        with pytest.raises(kvstore.ForbiddenError):
            next(stream)
        assert [event.status for event in stream] == ["disconnected"]


def test_a_handler_may_close_the_client(service: Service, client: kvstore.Client) -> None:
    received = threading.Event()

    def ready(_: kvstore.LiveEvent) -> None:
        client.close()
        received.set()

    client.register_live()
    client.collection("notes").subscribe(on_ready=ready)
    assert received.wait(60)


def test_each_handler_gets_what_is_for_it(service: Service, client: kvstore.Client) -> None:
    received: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()

    def ready(event: kvstore.LiveEvent) -> None:
        received.put(("ready", event.event))
        service.deliver({"_id": "a"}, "2")

    client.register_live()
    client.collection("notes").subscribe(
        lambda event: received.put(("next", str(event.id))),
        on_ready=ready,
        on_status=lambda event: received.put(("status", str(event.status))),
    )
    expected = [("status", "connected"), ("ready", "ready"), ("next", "a")]
    assert [received.get(timeout=60) for _ in expected] == expected
    with pytest.raises(TypeError):
        client.collection("notes").subscribe()


def test_without_a_registration_it_is_misuse(client: kvstore.Client) -> None:
    with pytest.raises(kvstore.MisuseError):
        client.collection("notes").live()
