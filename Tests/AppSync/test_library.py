"""The library with the backend "appsync", against the stand-in."""

from __future__ import annotations

import contextlib
import http.server
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, ClassVar

import kvstore
import pytest
from client import Client as Outsider
from conftest import TASKS
from standin import StandIn
from standin.auth.jwt import make

Open = Callable[..., kvstore.Client]


@pytest.fixture
def device(server: StandIn, tmp_path: Path) -> Iterator[Open]:
    """Opens clients of the server, each with the data of a device by name."""
    with ExitStack() as stack:

        def start(name: str = "a", **options: Any) -> kvstore.Client:
            given = {
                "backend": "appsync",
                "endpoint": server.endpoint,
                "auth": {"apiKey": "da2-standin"},
                **options,
            }
            client = kvstore.Client(
                app_key="tasks", schema=TASKS, data_directory=tmp_path / name, **given
            )
            return stack.enter_context(client)

        yield start


def inputs(server: StandIn, field: str) -> list[Any]:
    """What the mutations of a field were sent, in their order."""
    return [
        entry["variables"]["input"]
        for entry in server.log()
        if entry.get("variables") and field in entry.get("query", "")
    ]


def rows(server: StandIn, model: str = "Task") -> dict[str, Any]:
    """The server's rows by their ids."""
    table = server.control(f"tables/{model}", "GET")["rows"]
    return {row["id"]: row for row in table}


def fill(server: StandIn, *ids: str) -> None:
    """Writes tasks as something outside would."""
    at = "2024-05-21T12:00:00.000Z"
    made = {"title": "t", "createdAt": at, "updatedAt": at}
    server.control("tables/Task", rows=[{"id": id, **made} for id in ids])


def test_null_is_sent_where_something_was_and_what_is_missing_is_not(
    device: Open, server: StandIn
) -> None:
    tasks = device().collection("Task")
    tasks.save({"id": "t", "title": "A", "note": None, "rank": 1, "tags": ["x"]})
    tasks.push()
    assert inputs(server, "createTask") == [{"id": "t", "title": "A", "rank": 1, "tags": ["x"]}]
    known = tasks["t"]
    tasks.save({**known, "rank": None})
    tasks.push()
    del known["tags"]
    tasks.save({**known, "_version": 2, "rank": None})
    tasks.push()
    # Nothing was there.
    tasks.save({**tasks["t"], "note": None, "title": "B"})
    tasks.push()
    assert inputs(server, "updateTask") == [
        {"id": "t", "rank": None, "_version": 1},
        {"id": "t", "tags": None, "_version": 2},
        {"id": "t", "title": "B", "_version": 3},
    ]
    assert {"note", "rank", "tags"}.isdisjoint(tasks["t"])


def test_what_one_device_saves_another_one_finds(device: Open, server: StandIn) -> None:
    tasks = device("a").collection("Task")
    saved = tasks.save({"title": "Paint", "tags": ["x"], "place": {"city": "Reno"}})
    result = tasks.push()
    assert (result.pushed, result.errors) == (1, [])
    assert tasks[saved["id"]]["_version"] == 1
    assert inputs(server, "createTask") == [
        {"id": saved["id"], "title": "Paint", "tags": ["x"], "place": {"city": "Reno"}}
    ]
    others = device("b").collection("Task")
    others.pull()
    found = others[saved["id"]]
    assert (found["title"], found["place"]) == ("Paint", {"city": "Reno"})
    assert found["createdAt"].startswith("2024-05-21T12:00:00")


def test_an_update_sends_what_was_changed_and_nothing_else(device: Open, server: StandIn) -> None:
    tasks = device().collection("Task")
    task = tasks.save({"id": "t", "title": "A", "note": "n", "tags": ["x"]})
    tasks.push()
    task = tasks["t"]
    del task["note"]
    tasks.save({**task, "title": "B"})
    tasks.push()
    assert inputs(server, "updateTask") == [{"id": "t", "title": "B", "note": None, "_version": 1}]
    assert rows(server)["t"]["tags"] == ["x"]


def test_the_backend_merges_what_two_devices_have_changed(device: Open, server: StandIn) -> None:
    first, second = (device(name).collection("Task") for name in "ab")
    first.save({"id": "t", "title": "A", "tags": ["x"]})
    first.push()
    second.pull()
    first.save({**first["t"], "title": "B"})
    first.push()
    second.save({**second["t"], "note": "n"})
    assert second.push().errors == []
    assert (second["t"]["title"], second["t"]["note"]) == ("B", "n")
    first.pull()
    assert first["t"] == second["t"]
    assert first["t"]["tags"] == ["x"]


def conflict(device: Open, server: StandIn) -> tuple[kvstore.Store, kvstore.Store]:
    """Two devices of which the first has pushed a title, and the second has saved another one."""
    server.control("conflicts", Task="OPTIMISTIC_CONCURRENCY")
    first, second = (device(name).collection("Task") for name in "ab")
    first.save({"id": "t", "title": "A", "note": "n"})
    first.push()
    second.pull()
    first.save({**first["t"], "title": "B"})
    first.push()
    second.save({**second["t"], "title": "C"})
    return first, second


def test_the_backends_version_wins_unless_something_else_is_wanted(
    device: Open, server: StandIn
) -> None:
    _, second = conflict(device, server)
    assert second.push().errors == []
    assert second["t"]["title"] == "B"
    assert len(second.pending) == 0


def test_the_clients_version_wins_if_that_is_wanted(device: Open, server: StandIn) -> None:
    _, second = conflict(device, server)
    assert second.push(conflicts="clientWins").errors == []
    assert rows(server)["t"]["title"] == second["t"]["title"] == "C"


def test_a_handler_decides_conflicts(device: Open, server: StandIn) -> None:
    _, second = conflict(device, server)

    def both(met: kvstore.Conflict) -> Any:
        assert met.local is not None and met.remote is not None
        return {**met.remote, "title": met.remote["title"] + met.local["title"]}

    second.set_conflict_handler(both)
    assert second.push(conflicts="handler").errors == []
    assert rows(server)["t"]["title"] == "BC"


def test_a_conflict_that_nobody_decides_is_set_aside(device: Open, server: StandIn) -> None:
    _, second = conflict(device, server)
    (error,) = second.push(conflicts="optimistic").errors
    assert isinstance(error, kvstore.ConflictError)
    assert second["t"]["title"] == "C"
    assert rows(server)["t"]["title"] == "B"


def test_deletions_travel_both_ways(device: Open, server: StandIn) -> None:
    first, second = (device(name).collection("Task") for name in "ab")
    first.save_many({"id": name, "title": name} for name in "xyz")
    first.push()
    second.pull()
    assert second.count() == 3
    second.remove_by_id("x")
    second.push()
    assert rows(server)["x"]["_deleted"] is True
    first.pull()
    assert sorted(task["id"] for task in first.find()) == ["y", "z"]


def test_a_key_that_was_deleted_can_be_used_again(device: Open, server: StandIn) -> None:
    tasks = device().collection("Task")
    for title in "AB":
        tasks.save({"id": "t", "title": title})
        tasks.push()
        assert rows(server)["t"]["title"] == title
        tasks.remove_by_id("t")
        assert tasks.push().errors == []
    assert rows(server)["t"]["_deleted"] is True


def test_a_second_pull_asks_for_what_has_changed(device: Open, server: StandIn) -> None:
    # How old a read is the device tells by its own clock.
    start = int(time.time()) * 1000
    server.control("clock", now=start)
    fill(server, *(str(n) for n in range(250)))
    server.control("clock", advance=60_000)
    tasks = device().collection("Task")
    assert tasks.pull().pulled == 250
    pages = [entry["variables"] for entry in server.log() if "syncTasks" in entry["query"]]
    assert [page["limit"] for page in pages] == [100, 100, 100]
    assert all("lastSync" not in page for page in pages)

    server.control("clock", advance=60_000)
    outsider = Outsider(server)
    outsider.written("updateTask", "id", {"id": "7", "title": "new", "_version": 1})
    outsider.written("deleteTask", "id", {"id": "8", "_version": 1})
    server.control("log", "DELETE")
    tasks.pull()
    (page,) = [entry["variables"] for entry in server.log() if "syncTasks" in entry["query"]]
    assert page["lastSync"] == start + 60_000
    assert tasks["7"]["title"] == "new"
    assert "8" not in tasks
    assert tasks.count() == 249


def test_an_answer_that_is_lost_creates_nothing_twice_and_doubles_no_list(
    device: Open, server: StandIn
) -> None:
    tasks = device().collection("Task")
    server.control("faults", at="http", on="createTask", action="dropAfter")
    tasks.save({"id": "t", "title": "A", "tags": ["x"]})
    assert tasks.push().errors == []
    server.control("faults", at="http", on="updateTask", action="dropAfter")
    tasks.save({**tasks["t"], "tags": ["x", "y"]})
    assert tasks.push().errors == []
    row = rows(server)["t"]
    assert (row["tags"], row["_version"]) == (["x", "y"], 2)
    assert len(tasks.pending) == 0


def test_what_was_saved_without_a_backend_is_pushed_to_a_later_one(
    device: Open, server: StandIn, tmp_path: Path
) -> None:
    with kvstore.Client(app_key="tasks", schema=TASKS, data_directory=tmp_path / "a") as local:
        local.collection("Task").save({"id": "t", "title": "A"})
        local.collection("Board").save({"id": "b", "name": "N"})
    assert device("a").collection("Board").push().pushed == 2
    assert rows(server)["t"]["title"] == "A"
    assert rows(server, "Board")["b"]["name"] == "N"


def test_a_write_that_is_refused_is_set_aside_and_the_others_go_on(
    device: Open, server: StandIn
) -> None:
    refusal = {"errorType": "BadRequest", "message": "No."}
    server.control("faults", at="http", on="createTask", action="error", errors=[refusal])
    tasks = device().collection("Task")
    tasks.save_many({"id": name, "title": name} for name in "ab")
    result = tasks.push()
    (error,) = result.errors
    assert isinstance(error, kvstore.InvalidError)
    assert ": No (KV_INVALID" in str(error)
    assert len(rows(server)) == 1
    assert len(tasks.pending) == 1


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_is_busy_is_asked_again(device: Open, server: StandIn, status: int) -> None:
    server.control("faults", at="http", on="*", action="status", status=status, retryAfter=0)
    tasks = device().collection("Task")
    tasks.save({"id": "t", "title": "A"})
    assert tasks.push().errors == []
    assert rows(server)["t"]["title"] == "A"


def test_a_wrong_key_gives_nothing_up(device: Open, server: StandIn) -> None:
    tasks = device(auth={"apiKey": "da2-wrong"}).collection("Task")
    tasks.save({"id": "t", "title": "A"})
    with pytest.raises(kvstore.UnauthorizedError):
        tasks.push()
    assert len(tasks.pending) == 1
    with pytest.raises(kvstore.UnauthorizedError):
        device("b", auth={"token": "none"}).collection("Task").pull()


def test_an_item_that_cannot_be_given_does_not_end_a_pull(device: Open, server: StandIn) -> None:
    fill(server, *"abc")
    tasks = device().collection("Task")
    tasks.pull()
    bad: dict[str, Any] = {
        "on": "syncTasks",
        "action": "corrupt",
        "index": 1,
        "members": {"id": None},
    }
    server.control("faults", at="http", times=2, **bad)
    fill(server, "d")
    tasks.pull()
    assert sorted(task["id"] for task in tasks.find()) == list("abcd")
    tasks.pull()
    assert sorted(task["id"] for task in tasks.find()) == list("abcd")


class Liar(http.server.BaseHTTPRequestHandler):
    """Answers a pull with one record, a mutation with a conflict, and a read as told."""

    said: ClassVar[str] = "{}"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        page = {"id": "a", "title": "there", "_version": 3, "_lastChangedAt": 1, "_deleted": None}
        if "syncTasks" in body:
            answer: Any = {"syncTasks": {"items": [page], "nextToken": None, "startedAt": 1}}
            text = json.dumps({"data": answer})
        elif "mutation" in body:
            errors = [{"errorType": "ConflictUnhandled", "message": "No."}]
            text = json.dumps({"data": {"updateTask": None}, "errors": errors})
        else:
            text = self.said
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.parametrize(
    "said",
    [
        '{"data":{}}',
        '{"data":{"r0":"x"}}',
        '{"data":{"r0":[]}}',
        '{"data":{"r0":{"id":"a","title":"x"}}}',
    ],
)
def test_an_answer_that_makes_no_sense_deletes_nothing(
    said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Liar, "said", said)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Liar) as liar:
        thread = threading.Thread(target=liar.serve_forever)
        thread.start()
        try:
            with kvstore.Client(
                app_key="tasks",
                backend="appsync",
                schema=TASKS,
                endpoint=f"http://127.0.0.1:{liar.server_port}/graphql",
                auth={"apiKey": "da2-key"},
                data_directory=tmp_path,
            ) as client:
                tasks = client.collection("Task")
                tasks.pull()
                tasks.save({"id": "a", "title": "mine"})
                with contextlib.suppress(kvstore.KVError):
                    assert tasks.push().pushed == 0
                assert [write.id for write in tasks.pending] == ["a"]
                assert [task["title"] for task in tasks.find()] == ["mine"]
                with pytest.raises(kvstore.ProtocolError):
                    tasks.find_by_id("a", read_policy="forceNetwork")
                assert [task["title"] for task in tasks.find()] == ["mine"]
        finally:
            liar.shutdown()
            thread.join()


def test_a_change_wins_over_an_earlier_one_whose_answer_was_lost(
    device: Open, server: StandIn
) -> None:
    tasks = device().collection("Task")
    tasks.save({"id": "t", "title": "A", "rank": 1})
    tasks.push()
    tasks.save({**tasks["t"], "title": "B"})
    server.control("faults", at="http", on="updateTask", action="dropAfter")
    server.control("faults", at="http", on="updateTask", action="dropBefore", times=20)
    with pytest.raises(kvstore.NetworkError):
        tasks.push()
    server.control("faults", "DELETE")
    assert rows(server)["t"]["title"] == "B"
    tasks.save({**tasks["t"], "title": "C"})
    assert tasks.push().errors == []
    assert (rows(server)["t"]["title"], tasks["t"]["title"]) == ("C", "C")


def test_stores_of_a_network_read_and_write_past_the_queue(device: Open, server: StandIn) -> None:
    tasks = device().collection("Task", "network")
    saved = tasks.save({"id": "t", "title": "A", "rank": 2})
    assert saved["_version"] == 1
    assert tasks.save({"id": "t", "title": "B", "rank": 2})["_version"] == 2
    tasks.save({"id": "u", "title": "C", "rank": 1})
    assert [
        task["id"] for task in tasks.find(kvstore.Query({"rank": {"$gt": 0}}, sort={"rank": 1}))
    ] == ["u", "t"]
    assert tasks.count({"title": "B"}) == 1
    assert tasks.group(["title"], {"sum": {"sum": "rank"}}, {"rank": {"$gt": 0}}) == [
        {"title": "B", "sum": 2},
        {"title": "C", "sum": 1},
    ]
    assert tasks.remove({"title": "B"}) == 1
    assert [task["id"] for task in tasks.find()] == ["u"]


def configuration(server: StandIn, *kinds: str) -> dict[str, Any]:
    """What `amplifyconfiguration.json` has for APIs of these kinds."""
    api = {
        "endpoint": server.endpoint,
        "region": "eu-west-1",
        "authorizationType": "API_KEY",
        "apiKey": "da2-standin",
    }
    apis = {f"api{n}": {**api, "endpointType": kind} for n, kind in enumerate(kinds)}
    return {"UserAgent": "aws-amplify-cli/2.0", "api": {"plugins": {"awsAPIPlugin": apis}}}


def test_a_configuration_of_amplify_says_where_the_api_is(server: StandIn, tmp_path: Path) -> None:
    def start(*kinds: str) -> kvstore.Client:
        return kvstore.Client(
            app_key="tasks",
            backend="appsync",
            schema=TASKS,
            configuration=configuration(server, *kinds),
            data_directory=tmp_path,
        )

    with start("REST", "GraphQL") as client:
        tasks = client.collection("Task")
        tasks.save({"id": "t", "title": "A"})
        assert tasks.push().pushed == 1
    for kinds in ((), ("REST",), ("GraphQL", "GraphQL")):
        with pytest.raises(kvstore.InvalidError, match="one GraphQL API"):
            start(*kinds)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auth": {}}, "one of"),
        ({"auth": {"key": "a"}}, "key"),
        ({"endpoint": "ftp://h"}, "endpoint"),
        ({"host": "https://h"}, "host"),
    ],
)
def test_wrong_options_are_named(device: Open, options: dict[str, Any], message: str) -> None:
    with pytest.raises(kvstore.InvalidError, match=message):
        device(**options)


def test_a_backend_of_models_needs_a_schema(tmp_path: Path) -> None:
    with pytest.raises(kvstore.InvalidError, match="schema"):
        kvstore.Client(
            app_key="tasks",
            backend="appsync",
            endpoint="http://127.0.0.1:9/graphql",
            auth={"apiKey": "a"},
            data_directory=tmp_path,
        )


PROGRAMS = Path(__file__).resolve().parent / "programs"


def run(directory: Path, *command: str) -> str:
    """The output of a command that succeeds."""
    result = subprocess.run(
        command, cwd=directory, capture_output=True, text=True, timeout=300, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_a_program_in_c(server: StandIn, tmp_path: Path) -> None:
    options = {
        "appKey": "tasks",
        "backend": "appsync",
        "endpoint": server.endpoint,
        "auth": {"userPools": None},
        "schema": TASKS,
        "dataDirectory": str(tmp_path / "data"),
    }
    flags = run(tmp_path, "pkg-config", "--cflags", "--libs", "kvstore").split()
    source = str(PROGRAMS / "push.c")
    run(tmp_path, "gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o", "push", *flags)
    found = json.loads(run(tmp_path, "./push", json.dumps(options), make({"sub": "c"})))
    assert (found["title"], found["_version"]) == ("C", 1)
    assert rows(server)["c"]["title"] == "C"


def test_a_program_in_go(server: StandIn, tmp_path: Path) -> None:
    run(PROGRAMS / "go", "go", "build", "-o", str(tmp_path / "push"), ".")
    arguments = (server.endpoint, make({"sub": "g"}), str(tmp_path / "data"), TASKS)
    found = json.loads(run(tmp_path, "./push", *arguments))
    assert found == {"id": "g", "title": "G", "_version": 1}
