"""Clients that write to a cluster and listen to it all the time, and know what must be there."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Self
from urllib.parse import quote

KEY, SECRET, MASTER = "kid", "secret", "master"
APP = f"{KEY}:{SECRET}:{MASTER}"
#: How long anything may take to go on after a fault.
SECONDS = 60


class Answer:
    """What a server has answered."""

    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        """Keep an answer."""
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        """The value of the body."""
        return json.loads(self.body)


class Caller:
    """One connection of a client to a server or balancer. Use it from one thread."""

    def __init__(self, host: str, authorization: str = "", timeout: float = SECONDS) -> None:
        """Connect at the first call; `authorization`: by default that of the app."""
        self.authorization = authorization or basic(SECRET)
        self._connection = http.client.HTTPConnection(host.partition("//")[2], timeout=timeout)

    def call(self, method: str, path: str, body: object = None) -> Answer:
        """Ask once. OSError or HTTPException: there was no answer."""
        headers = {
            "Authorization": self.authorization,
            "Content-Type": "application/json",
            "X-Kinvey-API-Version": "5",
        }
        data = None if body is None else json.dumps(body)
        try:
            self._connection.request(method, path, data, headers)
            answer = self._connection.getresponse()
            lower = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, lower, answer.read())
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def expect(self, status: int, method: str, path: str, body: object = None) -> Any:
        """Ask once, and give the value of an answer with this status."""
        answer = self.call(method, path, body)
        if answer.status != status:
            raise AssertionError(f"{method} {path}: {answer.status} {answer.body!r}")
        return json.loads(answer.body or b"null")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def basic(secret: str) -> str:
    """Give the credentials of the app."""
    return "Basic " + base64.b64encode(f"{KEY}:{secret}".encode()).decode()


class User:
    """A user with a device that listens to the collection `notes`."""

    def __init__(self, host: str, name: str) -> None:
        """Sign up and subscribe."""
        caller = Caller(host)
        user = caller.expect(201, "POST", f"/user/{KEY}", {"username": name, "password": "p"})
        self.id, self.token = user["_id"], user["_kmd"]["authtoken"]
        self.authorization = caller.authorization = f"Kinvey {self.token}"
        device = {"deviceId": "device"}
        keys = caller.expect(200, "POST", f"/user/{KEY}/{self.id}/register-realtime", device)
        self.key, self.group = keys["subscribeKey"], keys["userChannelGroup"]
        caller.expect(200, "POST", f"/appdata/{KEY}/notes/_subscribe", device)
        caller.close()

    def caller(self, host: str) -> Caller:
        """Give a connection of this user."""
        return Caller(host, self.authorization)

    def poll_path(self, position: Any = None) -> str:
        """Give the path of a long poll from a position, or for the present position."""
        position = position or {"t": "0"}
        region = f"&tr={position['r']}" if "r" in position else ""
        return (
            f"/v2/subscribe/{self.key}/,/0?channel-group={quote(self.group)}&tt={position['t']}"
            f"{region}&auth={quote(self.token)}&uuid=device"
        )


class Load:
    """Writers and a listener of a cluster, which start with the block and end with it.

    Each writer creates entities, each with a name of its own, and never repeats a request that was
    not answered. After the block `check` says what is wrong.
    """

    def __init__(self, host: str, writers: int = 3) -> None:
        """Sign up; `host`: where the clients connect."""
        self.host = host
        self.user = User(host, f"user{time.monotonic_ns()}")
        #: The names of the entities that were acknowledged, and how often each was heard of.
        self.acknowledged: set[str] = set()
        self.heard: Counter[str] = Counter()
        #: How often a request was answered with this status; 0: it was not.
        self.statuses: Counter[int] = Counter()
        #: Polls that were not answered in order.
        self.reconnects = 0
        self.problems: list[str] = []
        self._changed = threading.Condition()
        self._is_over = threading.Event()
        self._prefix = f"{time.monotonic_ns()}"
        caller = self.user.caller(host)
        self._position = caller.expect(200, "GET", self.user.poll_path())["t"]
        caller.close()
        self._writers = [threading.Thread(target=self._write, args=[n]) for n in range(writers)]
        self._listener = threading.Thread(target=self._listen)

    def __enter__(self) -> Self:
        for thread in [*self._writers, self._listener]:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for thread in self._writers:
            self._is_over.set()
            thread.join()
        self._end_poll()
        self._listener.join()

    def wait(self, what: Callable[[], bool]) -> None:
        """Wait until something is true that a request changes."""
        with self._changed:
            if not self._changed.wait_for(what, SECONDS):
                self._is_over.set()
                raise AssertionError(f"nothing goes on: {self.statuses}, {self.problems[:3]}")

    def wait_for_writes(self, count: int = 30) -> None:
        """Wait until so many more were acknowledged."""
        wanted = len(self.acknowledged) + count
        self.wait(lambda: len(self.acknowledged) >= wanted)

    def wait_for_refusals(self, count: int = 3) -> None:
        """Wait until so many more requests were answered with 503."""
        wanted = self.statuses[503] + count
        self.wait(lambda: self.statuses[503] >= wanted)

    def check(self, *hosts: str) -> None:
        """Compare what was acknowledged with what each of these servers has, and what was heard."""
        assert not self.problems, self.problems[:5]
        for host in hosts or (self.host,):
            names = Counter(self._stored(host))
            assert not self.acknowledged - set(names), "lost"
            assert not [name for name, times in names.items() if times > 1], "doubled"
        assert not self.acknowledged - set(self.heard), "not heard of"
        assert not [name for name, times in self.heard.items() if times > 1], "heard of twice"

    def _stored(self, host: str) -> list[str]:
        caller = self.user.caller(host)
        query = quote(json.dumps({"run": self._prefix}))
        answer = caller.expect(200, "GET", f"/appdata/{KEY}/notes?query={query}")
        caller.close()
        return [entity["name"] for entity in answer]

    def _write(self, writer: int) -> None:
        caller = self.user.caller(self.host)
        number = 0
        while not self._is_over.is_set():
            number += 1
            name = f"{writer}-{number}"
            self._create(caller, name)
        caller.close()

    def _create(self, caller: Caller, name: str) -> None:
        try:
            body = {"name": name, "run": self._prefix}
            answer = caller.call("POST", f"/appdata/{KEY}/notes", body)
        except (OSError, http.client.HTTPException):
            self._count(0)
            return
        if answer.status == 201:
            self.acknowledged.add(name)
        elif answer.status == 503:
            if "retry-after" not in answer.headers:
                self.problems.append("503 without Retry-After")
            # Less than it says: the tests are in a hurry.
            self._is_over.wait(0.1)
        # haproxy says 502 when the server that had the request has died.
        elif answer.status != 502:
            self.problems.append(f"{answer.status} {answer.body[:300]!r}")
        self._count(answer.status)

    def _end_poll(self) -> None:
        """Write something else: the listener may wait though it has heard of everything."""
        caller = self.user.caller(self.host)
        end = time.monotonic() + SECONDS
        while self._listener.is_alive() and time.monotonic() < end:
            with contextlib.suppress(OSError, http.client.HTTPException):
                if caller.call("POST", f"/appdata/{KEY}/notes", {}).status == 201:
                    break
            time.sleep(0.02)
        caller.close()

    def _count(self, status: int) -> None:
        with self._changed:
            self.statuses[status] += 1
            self._changed.notify_all()

    def _listen(self) -> None:
        """Poll until everything that was acknowledged has been heard of."""
        caller = self.user.caller(self.host)
        end = float("inf")
        while not self._has_heard_all() and time.monotonic() < end:
            if self._is_over.is_set() and end == float("inf"):
                end = time.monotonic() + SECONDS
            try:
                answer = caller.call("GET", self.user.poll_path(self._position))
            except (OSError, http.client.HTTPException):
                answer = None
            if answer is None or answer.status != 200:
                self.reconnects += 1
                self._is_over.wait(0.1)
                continue
            self._position = answer.json["t"]
            for message in answer.json["m"]:
                if message["d"].get("run") == self._prefix:
                    self.heard[message["d"]["name"]] += 1
        caller.close()

    def _has_heard_all(self) -> bool:
        writing = any(thread.is_alive() for thread in self._writers)
        return not writing and self.acknowledged <= set(self.heard)
