"""Business logic: the examples in Python and Go, and services that fail."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import kvstore
import pytest
from conftest import MASTER, Start, call, sign_up
from kvstored import CHECKOUT

SECRET = "a secret of the two"
HOOKS = [f"{when}-{what}" for what in ("save", "fetch", "delete") for when in ("before", "after")]
Message = dict[str, Any]
Rule = Callable[[Message], tuple[int, Message | None]]


def settings(path: Path, port: int, **more: object) -> str:
    """Write settings of business logic; give the path of the file."""
    value = {
        "url": f"http://127.0.0.1:{port}/",
        "secret": SECRET,
        "hooks": {"books": HOOKS},
        "endpoints": ["greet"],
        **more,
    }
    (path / "logic.json").write_text(json.dumps(value))
    return str(path / "logic.json")


@pytest.fixture(params=["python", "go"])
def example(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[int]:
    """Run an example; give its port."""
    folder = CHECKOUT / "examples" / "logic"
    command = [sys.executable, str(folder / "logic.py"), "0"]
    if request.param == "go":
        program = str(tmp_path / "logic")
        subprocess.run(["go", "build", "-o", program, "."], cwd=folder / "go", check=True)
        command = [program, "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "LOGIC_SECRET": SECRET}
    ) as process:
        assert process.stdout
        yield int(process.stdout.readline().split()[-1])
        process.terminate()


def test_the_examples_change_refuse_hide_and_answer(
    start: Start, example: int, tmp_path: Path
) -> None:
    server = start("--logic", settings(tmp_path, example))
    ana = sign_up(server, "ana")
    path = "/appdata/kid/books"
    book = {"title": "Emma", "price": 7, "isbn": 9007199254740993}
    status, saved = call(server, "POST", path, book, who=ana)
    assert (status, len(saved["_id"]), saved["_id"][-1], saved["key"]) == (201, 25, "_", "emma")
    assert saved["isbn"] == 9007199254740993
    status, error = call(server, "POST", path, {**book, "_id": "123456789012"}, who=ana)
    assert (status, error["error"]) == (400, "BLRuntimeError")
    assert "_id 123456789012" in error["debug"]
    status, error = call(server, "PUT", f"{path}/x", {"price": 1}, who=ana)
    assert (status, error["error"], error["debug"]) == (
        400,
        "InputValidationFailed",
        "title is missing",
    )
    status, many = call(server, "POST", path, [{"title": "Ida"}, {"price": 2}], who=ana)
    assert status == 207
    assert many["entities"][0]["key"] == "ida"
    assert [(problem["index"], problem["error"]) for problem in many["errors"]] == [
        (1, "InputValidationFailed")
    ]
    writes = [
        {"method": "PUT", "id": "a", "entity": {"title": "Ada", "price": 1}},
        {"method": "PUT", "id": "b", "entity": {}},
        {"method": "DELETE", "id": saved["_id"]},
    ]
    _, results = call(server, "POST", f"{path}/_batch", writes, who=ana)
    assert [result["status"] for result in results] == [201, 400, 200]
    _, found = call(server, "GET", path, who=ana)
    assert len(found) == 2
    assert all("price" not in book for book in found)
    assert "price" not in call(server, "GET", f"{path}/a", who=ana)[1]
    assert call(server, "GET", f"{path}/a")[1]["price"] == 1, "the administrator has no hooks"
    status, error = call(server, "DELETE", f"{path}?query={{}}", who=ana)
    assert (status, error["error"]) == (401, "InsufficientCredentials")
    assert call(server, "DELETE", f"{path}/a", who=ana) == (200, {"count": 1})
    endpoint = "/rpc/kid/custom/greet"
    assert call(server, "POST", endpoint, {"name": "Ana"}, who=ana)[1] == {
        "greeting": "Hello, Ana!"
    }
    status, error = call(server, "POST", "/rpc/kid/custom/other", {}, who=ana)
    assert (status, error["error"]) == (404, "EndpointDoesNotExist")


class Service:
    """A service of the test's own, which notes what it is asked."""

    def __init__(self, rule: Rule) -> None:
        """Answer by a rule; None in place of an object ends the connection."""
        self.calls: list[tuple[Message, dict[str, str]]] = []
        # Sent with each answer.
        self.headers: dict[str, str] = {}
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                check_signature(self.headers, body)
                message = json.loads(body)
                service.calls.append((message, dict(self.headers)))
                status, answer = rule(message)
                if answer is None:
                    self.close_connection = True
                    return
                text = json.dumps(answer).encode()
                self.send_response(status)
                for name, value in service.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def events(self) -> list[str]:
        """Give the events of the calls."""
        return [message["event"] for message, _ in self.calls]


def check_signature(headers: Any, body: bytes) -> None:
    """Fail unless the code is right."""
    names = ("Timestamp", "Delivery", "Event")
    text = "".join(f"{headers[f'X-Kvstored-{name}']}." for name in names).encode()
    code = hmac.new(SECRET.encode(), text + body, hashlib.sha256).hexdigest()
    assert headers["X-Kvstored-Signature"] == "sha256=" + code


@pytest.fixture
def service() -> Iterator[Callable[[Rule], Service]]:
    """Give a function that starts services."""
    services: list[Service] = []

    def run(rule: Rule) -> Service:
        services.append(Service(rule))
        return services[-1]

    yield run
    for service in services:
        service.server.shutdown()
        service.server.server_close()


def test_every_kind_of_request_is_reported_with_its_user_and_its_id(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    own = service(lambda _: (200, {}))
    server = start("--logic", settings(tmp_path, own.port))
    ana = sign_up(server, "ana")
    path = "/appdata/kid/books"
    steps: list[tuple[str, str, object, list[str]]] = [
        ("PUT", path + "/a", {"title": "x"}, ["before-save", "after-save"]),
        ("GET", path + "/a", None, ["before-fetch", "after-fetch"]),
        ("GET", path, None, ["before-fetch", "after-fetch"]),
        ("GET", path + "/_count", None, ["before-fetch"]),
        (
            "POST",
            path + "/_group",
            {"initial": {"n": 0}, "reduce": "function(a,b){b.n++}", "key": {}},
            ["before-fetch"],
        ),
        ("DELETE", path + "/a", None, ["before-delete", "after-delete"]),
        ("DELETE", path + "?query={}", None, ["before-fetch", "before-delete", "after-delete"]),
        ("POST", "/rpc/kid/custom/greet", {"a": 1}, ["custom"]),
        ("GET", "/appdata/kid/other", None, []),
    ]
    for method, target, body, events in steps:
        own.calls.clear()
        call(server, method, target, body, who=ana)
        assert own.events == events, (method, target)
        for message, headers in own.calls:
            assert message["role"] == "user"
            assert message["user"]
            assert message["requestId"] == headers["X-Request-Id"]
    own.calls.clear()
    call(server, "PUT", path + "/a", {"title": "x"}, who=MASTER)
    assert own.events == [], "the administrator has no hooks"


def test_a_fetch_can_be_narrowed_changed_and_answered(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    reply: dict[str, Message] = {}
    own = service(lambda message: (200, reply.get(message["event"], {})))
    queryable = {"books": ["n"]}
    server = start(
        "--logic", settings(tmp_path, own.port, queryable=queryable), "--delta-days", "1"
    )
    ana = sign_up(server, "ana")
    path = "/appdata/kid/books"
    for index in range(300):
        call(server, "PUT", f"{path}/{index}", {"n": index, "text": "x" * 4000})
    reply["before-fetch"] = {"query": {"n": {"$lt": 200}}}
    assert call(server, "GET", path + "/_count", who=ana)[1] == {"count": 200}
    assert len(call(server, "GET", path, who=ana)[1]) == 200
    assert call(server, "GET", f"{path}/7", who=ana)[0] == 200
    assert call(server, "GET", f"{path}/250", who=ana)[0] == 404
    reply["after-fetch"] = {"entities": [{"_id": "one of each piece"}]}
    own.calls.clear()
    found = call(server, "GET", path, who=ana)[1]
    pieces = own.events.count("after-fetch")
    assert found == [{"_id": "one of each piece"}] * pieces
    assert pieces > 2
    since = urllib.parse.quote("2020-01-01T00:00:00.000Z")
    delta = call(server, "GET", f"{path}/_deltaset?since={since}", who=ana)
    assert delta[0] in (200, 400)
    asked = [message for message, _ in own.calls if message["event"] == "before-fetch"]
    assert [(message.get("delta"), message.get("since")) for message in asked] == [
        (None, None),
        (True, "2020-01-01T00:00:00.000Z"),
    ]
    reply["after-fetch"] = {"entities": []}
    assert call(server, "GET", path, who=ana) == (200, [])
    assert call(server, "GET", f"{path}/7", who=ana)[0] == 404
    answers: tuple[Any, ...] = ([{"made": "up"}], {}, None)
    for made_up in answers:
        reply["before-fetch"] = {"response": made_up}
        assert call(server, "GET", path, who=ana) == (200, made_up)
        status, error = call(server, "GET", f"{path}/_deltaset?since={since}", who=ana)
        assert (status, error["error"]) == (403, "MissingConfiguration")
    delta_set = {"changed": [{"_id": "a"}], "deleted": [], "left": []}
    reply["before-fetch"] = {"response": delta_set}
    assert call(server, "GET", f"{path}/_deltaset?since={since}", who=ana) == (200, delta_set)


def hide_salaries(message: Message) -> tuple[int, Message]:
    """Hide entities and a member from readers."""
    if message["event"] == "before-fetch":
        own = json.loads(message.get("query", "{}"))
        return 200, {"query": {"$and": [own, {"hidden": {"$ne": True}}]}}
    if message["event"] == "after-fetch":
        shown = [entity for entity in message["entities"] if not entity.get("secret")]
        return 200, {"entities": [{**entity, "salary": None} for entity in shown]}
    return 200, {}


def test_no_other_way_to_read_goes_past_fetch_hooks(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    own = service(hide_salaries)
    options = ("--logic", settings(tmp_path, own.port), "--delta-days", "1")
    server = start(*options)
    ana = sign_up(server, "ana")
    path = "/appdata/kid/books"
    for index in range(3):
        entity = {"n": index, "salary": 1000 + index, "hidden": index == 2, "secret": index == 1}
        call(server, "PUT", f"{path}/{index}", entity)
    query = urllib.parse.quote('{"salary":{"$gt":1000}}')
    sort, by_id = (urllib.parse.quote(json.dumps({name: 1})) for name in ("salary", "_id"))
    since = urllib.parse.quote("2999-01-01T00:00:00.000Z")
    counting = {
        "initial": {"count": 0},
        "reduce": "function(a,b){b.count++}",
        "key": {"salary": True},
    }
    ways: list[tuple[str, str, object, dict[str, str]]] = [
        ("GET", f"{path}?query={query}", None, {}),
        ("GET", f"{path}?sort={sort}", None, {}),
        ("GET", f"{path}/_deltaset?since={since}&query={query}", None, {}),
        ("GET", f"{path}/_count", None, {}),
        ("GET", f"{path}/_count?query={query}", None, {}),
        ("GET", path, None, {"X-Kinvey-Include-Items-Count": "true"}),
        ("GET", path, None, {"X-Kvstored-Explain": "true"}),
        ("POST", f"{path}/_group", counting, {}),
        ("POST", f"{path}/_group", {**counting, "key": {}}, {}),
        ("DELETE", f"{path}?query={query}", None, {}),
        ("POST", f"{path}/_subscribe", {"deviceId": "d"}, {}),
    ]
    register = f"/user/kid/{user_id(server, ana)}/register-realtime"
    assert call(server, "POST", register, {"deviceId": "d"}, who=ana)[0] == 200
    for method, target, body, headers in ways:
        status, error = request(server, method, target, body, ana, headers)
        assert (status, error["error"]) == (400, "FeatureUnavailable"), (method, target)
        assert "business logic" in error["debug"], (method, target)
    for target in (path, f"{path}?sort={by_id}&fields=n", f"{path}?fields=salary"):
        _, found = call(server, "GET", target, who=ana)
        assert [entity["_id"] for entity in found] == ["0"], target
        assert not any(entity.get("salary") for entity in found), target
    assert call(server, "GET", f"{path}?query={query}")[0] == 200, "the administrator has no hooks"
    # What the operator lists may be told as it is stored.
    server.stop()
    server = start("--logic", settings(tmp_path, own.port, queryable={"books": ["n"]}))
    ana = sign_up(server, "bob")
    for index in range(3):
        call(server, "PUT", f"{path}/{index}", {"n": index, "salary": 1, "hidden": index == 2})
    listed = urllib.parse.quote('{"n":{"$gte":1}}')
    assert call(server, "GET", f"{path}/_count?query={listed}", who=ana) == (200, {"count": 1})
    by_n = {**counting, "key": {"n": True}, "condition": {"n": {"$gte": 1}}}
    assert call(server, "POST", f"{path}/_group", by_n, who=ana)[1] == [{"n": 1, "count": 1}]
    assert call(server, "POST", f"{path}/_group", counting, who=ana)[0] == 400
    assert call(server, "GET", f"{path}?sort=n.salary,salary", who=ana)[0] == 400


def test_a_write_that_is_sent_again_does_not_go_past_fetch_hooks(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    """Its answer has the entity as it is now: with what others have added since."""
    own = service(hide_salaries)
    server = start("--logic", settings(tmp_path, own.port))
    ana = sign_up(server, "ana")
    path = "/appdata/kid/books"
    token = {"X-Kvstored-Write-Token": "once"}
    entity = {"_id": "a", "n": 1}
    ways: list[tuple[str, str, object]] = [
        ("PUT", f"{path}/a", entity),
        ("POST", path, entity),
        ("POST", path, [entity]),
        ("POST", f"{path}/_batch", [{"method": "PUT", "id": "a", "entity": {"n": 1}}]),
    ]
    assert request(server, "PUT", f"{path}/a", entity, ana, token)[0] == 201
    status, again = request(server, "PUT", f"{path}/a", entity, ana, token)
    assert (status, again["n"]) == (201, 1), "what the write itself has stored is no secret"
    assert call(server, "PUT", f"{path}/a", {**entity, "salary": 5000})[0] == 200
    for method, target, body in ways:
        _, answer = request(server, method, target, body, ana, token)
        text = json.dumps(answer)
        assert "5000" not in text, (method, target)
        assert '"salary": null' in text, (method, target)
    for hidden in ({"secret": True}, {"secret": False, "hidden": True}):
        assert call(server, "PUT", f"{path}/a", {**entity, **hidden, "salary": 5000})[0] == 200
        for method, target, body in ways:
            _, answer = request(server, method, target, body, ana, token)
            assert "EntityGone" in json.dumps(answer), (method, target)


def test_changes_by_operators_go_through_save_hooks(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    """The service is asked about the entity that they make, and again if others were faster."""
    path = "/appdata/kid/books"
    meanwhile: list[int] = []

    def rule(message: Message) -> tuple[int, Message]:
        if message["event"] != "before-save":
            return 200, {}
        (entity,) = message["entities"]
        if entity["n"] == 13:
            return 200, {"errors": [{"index": 0, "error": "StaleRequest", "debug": "unlucky"}]}
        if meanwhile:
            call(server, "PATCH", f"{path}/a", {"$inc": {"n": meanwhile.pop()}})
        return 200, {"entities": [{**entity, "double": 2 * entity["n"]}]}

    own = service(rule)
    hooks = {"books": ["before-save", "after-save"]}
    server = start("--logic", settings(tmp_path, own.port, hooks=hooks))
    ana = sign_up(server, "ana")
    call(server, "PUT", f"{path}/a", {"n": 1}, who=ana)
    token = {"X-Kvstored-Write-Token": "once"}
    meanwhile.append(100)
    own.calls.clear()
    for _ in range(2):
        status, entity = request(server, "PATCH", f"{path}/a", {"$inc": {"n": 1}}, ana, token)
        assert (status, entity["n"], entity["double"]) == (200, 102, 204)
    own.calls.clear()
    status, error = call(server, "PATCH", f"{path}/a", {"$inc": {"n": -89}}, who=ana)
    assert (status, error["error"], error["debug"]) == (409, "StaleRequest", "unlucky")
    assert own.events == ["before-save"]
    assert call(server, "GET", f"{path}/a")[1]["n"] == 102


@pytest.mark.parametrize("hook", ["before-fetch", "after-fetch"])
def test_changes_by_operators_do_not_go_past_fetch_hooks(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path, hook: str
) -> None:
    """They could move what is hidden, or tell of it by an error; clients send whole entities."""
    own = service(lambda message: (200, {}))
    server = start("--logic", settings(tmp_path, own.port, hooks={"books": [hook]}))
    ana = sign_up(server, "ana")
    path = "/appdata/kid/books"
    call(server, "PUT", f"{path}/a", {"n": 1, "salary": 5}, who=ana)
    rename = {"$rename": {"salary": "shown"}}
    status, error = call(server, "PATCH", f"{path}/a", rename, who=ana)
    assert (status, error["error"]) == (400, "FeatureUnavailable")
    batch = [{"method": "PATCH", "id": "a", "operators": rename}]
    _, results = call(server, "POST", f"{path}/_batch", batch, who=ana)
    assert [result["status"] for result in results] == [400]
    assert call(server, "PATCH", f"{path}/a", {"$inc": {"n": 1}})[0] == 200, "the administrator"
    with kvstore.Client(
        app_key="kid", app_secret="sec", host=server.host, data_directory=tmp_path / "data"
    ) as client:
        client.login("ana", "pass")
        books = client.collection("books")
        books.pull()
        for n in (10, 20):
            books.update({"_id": "a"}, {"$inc": {"n": n}})
            call(server, "PATCH", f"{path}/a", {"$inc": {"n": 100}})
            assert books.push().errors == []
    assert call(server, "GET", f"{path}/a")[1]["n"] == 232


def test_a_deletion_by_a_query_is_narrowed_as_a_fetch_is(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    """Else it would tell, by its count, which members the entities have that are not shown."""
    reply: dict[str, Message] = {}
    own = service(lambda message: (200, reply.get(message["event"], {})))
    hooks = {"*": ["before-fetch", "before-delete"]}
    server = start("--logic", settings(tmp_path, own.port, hooks=hooks))
    ana = sign_up(server, "ana")
    path = "/appdata/kid/books"
    for name, hidden in (("a", True), ("b", False)):
        call(server, "PUT", f"{path}/{name}", {"hidden": hidden, "n": 1}, who=ana)
    query = urllib.parse.quote('{"n":1}')
    reply["before-fetch"] = {"response": []}
    status, error = call(server, "DELETE", f"{path}?query={query}", who=ana)
    assert (status, error["error"]) == (400, "FeatureUnavailable")
    reply["before-fetch"] = {"query": {"hidden": False, "n": 1}}
    own.calls.clear()
    assert call(server, "DELETE", f"{path}?query={query}", who=ana) == (200, {"count": 1})
    (asked, _), (deleted, _) = own.calls
    assert (asked["event"], asked["query"], asked["delete"]) == ("before-fetch", '{"n":1}', True)
    assert json.loads(deleted["query"]) == {"hidden": False, "n": 1}
    assert call(server, "GET", f"{path}/a")[0] == 200


def user_id(server: Any, who: str) -> str:
    """Give the id of the user of a session."""
    return str(call(server, "GET", "/user/kid/_me", who=who)[1]["_id"])


def request(
    server: Any, method: str, target: str, body: object, who: str, headers: dict[str, str]
) -> tuple[int, Any]:
    """Send a request with headers of its own; give the status and the answer."""
    data = None if body is None else json.dumps(body).encode()
    sent = urllib.request.Request(server.host + target, data, method=method)
    for name, value in {"Authorization": who, "X-Kinvey-API-Version": "5", **headers}.items():
        sent.add_header(name, value)
    if data:
        sent.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(sent) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_the_answer_of_an_endpoint_comes_with_its_type_and_its_place(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    own = service(lambda _: (201, {"a": 1}))
    server = start("--logic", settings(tmp_path, own.port))
    json_type = "application/json; charset=utf-8"
    for headers, expected in [
        ({}, (json_type, None)),
        ({"Content-Type": "text/csv; header=present"}, ("text/csv; header=present", None)),
        ({"Location": "https://shop.example/1"}, (json_type, "https://shop.example/1")),
    ]:
        own.headers = headers
        request = urllib.request.Request(
            server.host + "/rpc/kid/custom/greet", b"{}", method="POST"
        )
        request.add_header("Authorization", MASTER)
        with urllib.request.urlopen(request) as answer:
            assert (answer.status, answer.read()) == (201, b'{"a": 1}')
            assert (answer.headers["Content-Type"], answer.headers["Location"]) == expected


def test_an_entity_that_the_service_made_too_large_is_not_saved(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    own = service(lambda _: (200, {"entities": [{"text": "x" * 4000}]}))
    server = start("--logic", settings(tmp_path, own.port), "--max-body", "2048")
    ana = sign_up(server, "ana")
    got, body = call(server, "PUT", "/appdata/kid/books/a", {"x": 1}, who=ana)
    assert (got, body["error"]) == (550, "BLInternalError")
    assert call(server, "GET", "/appdata/kid/books/a")[0] == 404


@pytest.mark.parametrize(
    ("status", "answer", "expected", "error"),
    [
        (409, {"error": "StaleRequest", "debug": "no"}, 409, "StaleRequest"),
        (418, {"error": "Own", "debug": "no"}, 400, "BLRuntimeError"),
        (404, {}, 400, "BLRuntimeError"),
        (500, {"error": "StaleRequest"}, 550, "BLInternalError"),
        (200, {"entities": []}, 550, "BLInternalError"),
        (200, {"errors": [{"index": 7}]}, 550, "BLInternalError"),
        (200, {"errors": {"index": 0, "error": "StaleRequest"}}, 550, "BLInternalError"),
        (200, {"errors": {}}, 550, "BLInternalError"),
        (200, {"errors": "no"}, 550, "BLInternalError"),
        (200, {"entities": [{"_id": "other"}]}, 400, "BLRuntimeError"),
        (200, {"entities": [{"_geoloc": "nowhere"}]}, 550, "BLInternalError"),
        (503, {}, 503, "ServiceUnavailable"),
        (200, None, 503, "ServiceUnavailable"),
    ],
)
def test_what_the_service_refuses_or_fails_at_is_not_saved(
    start: Start,
    service: Callable[[Rule], Service],
    tmp_path: Path,
    status: int,
    answer: Message | None,
    expected: int,
    error: str,
) -> None:
    own = service(lambda _: (status, answer))
    server = start("--logic", settings(tmp_path, own.port, attempts=2))
    ana = sign_up(server, "ana")
    got, body = call(server, "PUT", "/appdata/kid/books/a", {"x": 1}, who=ana)
    assert (got, body["error"]) == (expected, error)
    assert call(server, "GET", "/appdata/kid/books/a")[0] == 404
    if expected == 503:
        deliveries = {headers["X-Kvstored-Delivery"] for _, headers in own.calls}
        assert len(own.calls) == 2
        assert len(deliveries) == 1, "a repeated call has the id of the first"


@pytest.mark.parametrize(
    "answer",
    [
        {"errors": [{"index": 0, "error": "StaleRequest"}]},
        {"errors": {}},
        {"errors": "no"},
    ],
)
def test_errors_about_a_deletion_by_a_query_keep_it_from_happening(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path, answer: Message
) -> None:
    own = service(lambda _: (200, answer))
    server = start("--logic", settings(tmp_path, own.port, hooks={"*": ["before-delete"]}))
    ana = sign_up(server, "ana")
    call(server, "PUT", "/appdata/kid/books/a", {"x": 1}, who=ana)
    got, body = call(server, "DELETE", "/appdata/kid/books?query={}", who=ana)
    assert (got, body["error"]) == (550, "BLInternalError")
    assert call(server, "GET", "/appdata/kid/books/a")[0] == 200


@pytest.mark.parametrize(
    ("event", "answer", "path"),
    [
        ("after-fetch", {"entities": [{"x": 0}, {"x": 1}]}, "/a"),
        ("after-fetch", {"entities": [1, None, "x"]}, "/a"),
        ("before-fetch", {"query": []}, ""),
        ("before-fetch", {"query": "x"}, ""),
    ],
)
def test_an_answer_that_makes_no_sense_of_a_fetch_is_not_sent(
    start: Start,
    service: Callable[[Rule], Service],
    tmp_path: Path,
    event: str,
    answer: Message,
    path: str,
) -> None:
    own = service(lambda message: (200, answer if message["event"] == event else {}))
    server = start("--logic", settings(tmp_path, own.port))
    ana = sign_up(server, "ana")
    call(server, "PUT", "/appdata/kid/books/a", {"x": 1})
    got, body = call(server, "GET", f"/appdata/kid/books{path}", who=ana)
    assert (got, body["error"]) == (550, "BLInternalError")


def test_what_was_saved_stays_though_the_hook_after_it_fails(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    own = service(lambda _: (500, {}))
    server = start("--logic", settings(tmp_path, own.port, hooks={"*": ["after-save"]}))
    ana = sign_up(server, "ana")
    assert call(server, "PUT", "/appdata/kid/books/a", {"x": 1}, who=ana)[0] == 201
    assert own.events == ["after-save"]


def test_a_service_that_hangs_holds_up_its_own_collections_only(
    start: Start, service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    goes_on = threading.Event()

    def wait(_: Message) -> tuple[int, Message]:
        goes_on.wait(10)
        return 200, {}

    own = service(wait)
    more: dict[str, object] = {"concurrency": 1, "timeout-seconds": 0.5}
    server = start("--logic", settings(tmp_path, own.port, **more))
    ana, bob = sign_up(server, "ana"), sign_up(server, "bob")
    answers: list[int] = []

    def save() -> None:
        answers.append(call(server, "PUT", "/appdata/kid/books/a", {"x": 1}, who=ana)[0])

    first = threading.Thread(target=save)
    first.start()
    while not own.calls:
        first.join(0.01)
    assert call(server, "PUT", "/appdata/kid/books/b", {"x": 1}, who=bob)[0] == 503
    assert call(server, "PUT", "/appdata/kid/notes/b", {"x": 1}, who=bob)[0] == 201
    first.join()
    goes_on.set()
    assert answers == [503]


@pytest.mark.parametrize(
    "change",
    [
        {"url": "ftp://x"},
        {"url": "http://"},
        {"url": "https:///path"},
        {"url": "http://:80/"},
        {"url": "http://host:x/"},
        {"url": "http://host:70000/"},
        {"url": "http://ana:secret@host/"},
        {"url": "http://a host/"},
        {"secret": "short"},
        {"hooks": {"books": ["befor-save"]}},
        {"attempts": 0},
        {"what": 1},
        {"app": "other"},
    ],
)
def test_settings_that_make_no_sense_are_refused_at_the_start(
    start: Start, tmp_path: Path, change: dict[str, object]
) -> None:
    with pytest.raises(RuntimeError, match="logic"):
        start("--logic", settings(tmp_path, 1, **change))


def test_the_settings_can_stand_in_the_app_file(
    service: Callable[[Rule], Service], tmp_path: Path
) -> None:
    own = service(lambda _: (200, {"a": 1}))
    data = tmp_path / "data"
    data.mkdir()
    value = json.loads(Path(settings(tmp_path, own.port)).read_text())
    app = data / "app.json"
    app.touch(mode=0o600)
    app.write_text(json.dumps({"app": "kid:sec:mas", "logic": value}))
    program = os.environ.get("KVSTORED", str(CHECKOUT / "build" / "bin" / "kvstored"))
    command = [program, "--data", str(data), "--listen", "127.0.0.1:0", "--access-log", "off"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        url = next(line for line in process.stdout if "listening" in line).split()[-1]
        request = urllib.request.Request(url + "/rpc/kid/custom/greet", b"{}", method="POST")
        request.add_header("Authorization", MASTER)
        with urllib.request.urlopen(request) as answer:
            assert json.loads(answer.read()) == {"a": 1}
        process.terminate()
