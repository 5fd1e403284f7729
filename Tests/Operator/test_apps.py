"""Apps that come and go while a server runs: it reads its files again at SIGHUP."""

from __future__ import annotations

import base64
import json
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

from conftest import Start, call
from kvstored import Server, until


def master(app: str, secret: str = "mas") -> str:
    """Give the Authorization of an app's administrator."""
    return "Basic " + base64.b64encode(f"{app}:{secret}".encode()).decode()


def write(path: Path, *apps: str) -> None:
    """Write a configuration file that names apps."""
    path.write_text(json.dumps({"app": [app if ":" in app else f"{app}:sec:mas" for app in apps]}))


def status(server: Server, app: str, secret: str = "mas") -> int:
    return call(server, "GET", f"/appdata/{app}/notes", who=master(app, secret))[0]


class Listener:
    """A user of an app who listens to its notes."""

    def __init__(self, server: Server, app: str) -> None:
        self.server, self.app = server, app
        status, user = call(
            server,
            "POST",
            f"/user/{app}",
            {"username": f"u{time.monotonic_ns()}", "password": "pass"},
            who=master(app, "sec"),
        )
        assert status == 201
        self.token = user["_kmd"]["authtoken"]
        device = {"deviceId": "d"}
        path = f"/user/{app}/{user['_id']}/register-realtime"
        self.keys = self.call("POST", path, device)[1]
        assert self.call("POST", f"/appdata/{app}/notes/_subscribe", device)[0] == 200
        self.position = self.poll({"t": "0", "r": 0})[1]["t"]

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        return call(self.server, method, path, body, who=f"Kinvey {self.token}")

    def poll(self, at: dict[str, Any]) -> tuple[int, Any]:
        return self.call(
            "GET",
            f"/v2/subscribe/{self.keys['subscribeKey']}/,/0?channel-group="
            f"{self.keys['userChannelGroup']}&tt={at['t']}&tr={at['r']}&auth={self.token}",
        )

    def hears(self, server: Server) -> None:
        """Check that a note that is saved now is delivered."""
        self.server = server
        path = f"/appdata/{self.app}/notes"
        status, note = call(server, "POST", path, {"x": 1}, who=master(self.app))
        assert status == 201
        messages: list[Any] = []
        while not messages:
            status, answer = self.poll(self.position)
            assert status == 200
            messages, self.position = answer["m"], answer["t"]
        assert [message["d"]["_id"] for message in messages] == [note["_id"]]


def test_an_app_is_served_once_it_is_in_the_file(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "kvstored.json"
    write(path, "one")
    server = start("--config", str(path), app=None)
    listener = Listener(server, "one")
    assert status(server, "two") == 404
    write(path, "one", "two")
    server.hang_up()
    until(lambda: status(server, "two") == 200)
    Listener(server, "two").hears(server)
    listener.hears(server)
    server.stop()
    server.start()
    assert [status(server, app) for app in ("one", "two")] == [200, 200]


def test_an_app_that_is_gone_from_the_file_is_refused_and_comes_back_with_its_data(
    start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "kvstored.json"
    write(path, "one", "two")
    server = start("--config", str(path), app=None)
    call(server, "PUT", "/appdata/two/notes/kept", {"n": 1}, who=master("two"))
    listener = Listener(server, "two")
    answers: list[tuple[int, Any]] = []
    waiting = threading.Thread(target=lambda: answers.append(listener.poll(listener.position)))
    waiting.start()
    until(lambda: "polls_waiting 1" in metrics(server))
    write(path, "one")
    server.hang_up()
    waiting.join(timeout=60)
    assert answers[0][0] == 200
    assert answers[0][1]["m"] == []
    assert status(server, "two") == 404
    assert listener.poll(listener.position)[0] == 400
    assert status(server, "one") == 200
    write(path, "two", "one")
    server.hang_up()
    until(lambda: status(server, "two") == 200)
    assert call(server, "GET", "/appdata/two/notes/kept", who=master("two"))[1]["n"] == 1
    listener.hears(server)


def test_a_secret_is_changed_and_what_cannot_be_read_changes_nothing(
    start: Start, tmp_path: Path
) -> None:
    path = tmp_path / "kvstored.json"
    write(path, "one")
    server = start("--config", str(path), app=None)
    listener = Listener(server, "one")
    for text in ("{", '{"app":"one"}', '{"app":["one:a:b","one:c:d"]}', '{"nothing":1}'):
        path.write_text(text)
        server.hang_up()
    write(path, "one:sec:other")
    server.hang_up()
    until(lambda: status(server, "one", "other") == 200)
    assert status(server, "one", "mas") == 401
    assert listener.call("GET", "/user/one/_me")[0] == 200
    path.unlink()
    server.hang_up()
    assert [status(server, "one", "other") for _ in range(20)] == [200] * 20


def test_the_file_of_the_data_directory_may_name_several(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "data" / "app.json"
    path.parent.mkdir()
    path.touch(mode=0o600)
    write(path, "one", "two")
    server = start(app=None)
    assert [status(server, app) for app in ("one", "two", "three")] == [200, 200, 404]
    write(path, "two", "three")
    server.hang_up()
    until(lambda: status(server, "three") == 200)
    # New apps are there before old ones have gone.
    until(lambda: [status(server, app) for app in ("one", "two")] == [404, 200])


def metrics(server: Server) -> str:
    request = urllib.request.Request(server.host + "/metrics")
    request.add_header("Authorization", master("one"))
    with urllib.request.urlopen(request) as answer:
        text: str = answer.read().decode()
        return text
