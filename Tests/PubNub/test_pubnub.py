"""A real client that we did not write: PubNub's own package, with kvstored as its origin."""

from __future__ import annotations

import base64
import json
import queue
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kvstored import Server
from pubnub.callbacks import SubscribeCallback  # type: ignore[import-untyped]
from pubnub.enums import PNReconnectionPolicy, PNStatusCategory  # type: ignore[import-untyped]
from pubnub.pnconfiguration import PNConfiguration  # type: ignore[import-untyped]
from pubnub.pubnub import PubNub  # type: ignore[import-untyped]

APP = "kid:secret"
SECONDS = 60


class Backend:
    """A server, and the calls of a Kinvey client."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.authorization = "Basic " + base64.b64encode(APP.encode()).decode()
        user = self.call("POST", "/user/kid", {"username": "ana", "password": "p"})
        self.id, self.token = user["_id"], user["_kmd"]["authtoken"]
        self.authorization = f"Kinvey {self.token}"
        path = f"/user/kid/{self.id}/register-realtime"
        self.keys = self.call("POST", path, {"deviceId": "device"})
        self.call("POST", "/appdata/kid/notes/_subscribe", {"deviceId": "device"})

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        headers = {"Authorization": self.authorization, "X-Kinvey-API-Version": "5"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.server.host + path, data=data, headers=headers, method=method
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.loads(answer.read() or b"null")

    def save(self, identifier: str, **members: Any) -> None:
        self.call("PUT", f"/appdata/kid/notes/{identifier}", members)


class Listener(SubscribeCallback):  # type: ignore[misc]
    """Keeps the events that it receives."""

    def __init__(self) -> None:
        self.messages: queue.Queue[Any] = queue.Queue()
        self.statuses: queue.Queue[Any] = queue.Queue()

    def status(self, pubnub: PubNub, status: Any) -> None:
        self.statuses.put(status)

    def message(self, pubnub: PubNub, message: Any) -> None:
        self.messages.put(message)

    def presence(self, pubnub: PubNub, presence: Any) -> None:
        raise AssertionError("kvstored tells no presence")

    def wait_for(self, category: PNStatusCategory) -> Any:
        while True:
            status = self.statuses.get(timeout=SECONDS)
            if status.category == category:
                return status


class Ear:
    """PubNub's client on a channel group."""

    def __init__(self, backend: Backend, token: str | None = None) -> None:
        configuration = PNConfiguration()
        configuration.subscribe_key = backend.keys["subscribeKey"]
        configuration.publish_key = backend.keys["publishKey"]
        configuration.origin = backend.server.host.removeprefix("http://")
        configuration.ssl = False
        configuration.uuid = "device"
        configuration.auth_key = token or backend.token
        configuration.reconnect_policy = PNReconnectionPolicy.LINEAR
        configuration.daemon = True  # a poll that outlives stop() must not hold up the interpreter
        self.group = backend.keys["userChannelGroup"]
        self.listener = Listener()
        self.client = PubNub(configuration)
        self.client.add_listener(self.listener)

    def start(self, time: int | None = None) -> None:
        builder = self.client.subscribe().channel_groups([self.group])
        if time is not None:
            builder = builder.with_timetoken(time)
        builder.execute()

    def next(self) -> Any:
        return self.listener.messages.get(timeout=SECONDS)

    def stop(self) -> None:
        """End it; a client that was denied, or that is stopped already, has nothing to leave."""
        if self.client.get_subscribed_channel_groups():
            self.client.unsubscribe_all()
            self.client.stop()


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[Backend]:
    with Server(tmp_path / "data", APP) as server:
        yield Backend(server)


@pytest.fixture
def ear(backend: Backend) -> Iterator[Ear]:
    ear = Ear(backend)
    yield ear
    ear.stop()


def test_receives_entities(backend: Backend, ear: Ear) -> None:
    ear.start()
    ear.listener.wait_for(PNStatusCategory.PNConnectedCategory)
    for number in range(20):
        backend.save("a", n=number)
    for number in range(20):
        message = ear.next()
        assert message.channel == "kid.c-notes"
        assert message.subscription == ear.group
        assert message.message["n"] == number
        assert message.message["_kmd"]["lmt"]
        assert message.publisher == "kvstored"


def test_goes_on_from_a_time_token(backend: Backend, ear: Ear) -> None:
    ear.start()
    ear.listener.wait_for(PNStatusCategory.PNConnectedCategory)
    backend.save("a", n=1)
    seen = ear.next()
    ear.stop()
    backend.save("b", n=2)
    backend.save("c", n=3)
    again = Ear(backend)
    again.start(seen.timetoken)
    try:
        assert [again.next().message["n"], again.next().message["n"]] == [2, 3]
    finally:
        again.stop()


def test_goes_on_from_a_time_token_after_a_crash(backend: Backend, ear: Ear) -> None:
    ear.start()
    ear.listener.wait_for(PNStatusCategory.PNConnectedCategory)
    backend.save("a", n=1)
    seen = ear.next()
    ear.stop()
    backend.save("b", n=2)
    backend.server.kill()
    backend.server.start()
    backend.save("c", n=3)
    again = Ear(backend)
    again.start(seen.timetoken)
    try:
        assert [again.next().message["n"], again.next().message["n"]] == [2, 3]
    finally:
        again.stop()


def test_reconnects_after_a_restart(backend: Backend, ear: Ear) -> None:
    ear.start()
    ear.listener.wait_for(PNStatusCategory.PNConnectedCategory)
    backend.server.kill()
    ear.listener.wait_for(PNStatusCategory.PNUnexpectedDisconnectCategory)
    backend.server.start()
    ear.listener.wait_for(PNStatusCategory.PNReconnectedCategory)
    backend.save("a", n=1)
    assert ear.next().message["n"] == 1


def test_is_denied_without_a_session(backend: Backend) -> None:
    ear = Ear(backend, token="wrong")
    ear.start()
    try:
        status = ear.listener.wait_for(PNStatusCategory.PNAccessDeniedCategory)
        assert status.status_code == 403
    finally:
        ear.stop()


def test_time_presence_and_publish_are_answered(backend: Backend, ear: Ear) -> None:
    assert int(str(ear.client.time().sync().result)) > 0
    ear.start()
    ear.listener.wait_for(PNStatusCategory.PNConnectedCategory)
    ear.client.unsubscribe().channel_groups([ear.group]).execute()
    ear.listener.wait_for(PNStatusCategory.PNAcknowledgmentCategory)
    with pytest.raises(Exception, match="403"):  # a collection's channel is the server's
        ear.client.publish().channel("kid.c-notes").message({"_id": "x"}).sync()


@pytest.mark.parametrize("by_post", [False, True])
def test_a_stream_carries_messages(backend: Backend, ear: Ear, by_post: bool) -> None:
    stream = f"/stream/kid/chat/{backend.id}"
    channel = backend.call("POST", f"{stream}/subscribe", {"deviceId": "device"})
    ear.start()
    ear.listener.wait_for(PNStatusCategory.PNConnectedCategory)
    sent = {"text": "50 % / ü?"}
    publish = ear.client.publish().channel(channel["substreamChannelName"]).message(sent)
    result = publish.use_post(by_post).sync().result
    message = ear.next()
    assert message.message == sent
    assert message.channel == f"kid.s-chat.u-{backend.id}"
    assert message.publisher == backend.id
    assert message.timetoken == result.timetoken
