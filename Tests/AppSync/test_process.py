"""The server as a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from client import Client
from conftest import NOON, TASKS
from socket_client import Socket
from standin import Process

HERE = Path(__file__).resolve().parent


@pytest.fixture
def schema(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.graphql"
    path.write_text(TASKS)
    return path


def test_a_process_says_where_it_listens_and_answers(schema: Path) -> None:
    with Process(schema, "--api-key", "da2-own") as server:
        client = Client(server, {"x-api-key": "da2-own"})
        assert client.written("createTask", "_version", {"title": "t"}) == {"_version": 1}
        with Socket(server, {"x-api-key": "da2-own"}):
            server.stop()


@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_restart_keeps_records_versions_and_deltas(
    schema: Path, tmp_path: Path, end: str
) -> None:
    options = ("--data", str(tmp_path / "tasks.jsonl"), "--now", str(NOON))
    with Process(schema, *options) as server:
        client = Client(server)
        for identifier in "ab":
            client.written("createTask", "id", {"id": identifier, "title": "t"})
        client.written("updateTask", "id", {"id": "a", "rank": 1, "_version": 1})
        client.written("deleteTask", "id", {"id": "b", "_version": 1})
        before = [client.sync("syncTasks", "id rank", lastSync=each) for each in (None, NOON)]
        getattr(server, end)()
    with Process(schema, *options) as server:
        client = Client(server)
        after = [client.sync("syncTasks", "id rank", lastSync=each) for each in (None, NOON)]
        assert after == before
        given = {"id": "a", "_version": 2}
        assert client.written("updateTask", "_version", given) == {"_version": 3}


def test_a_line_that_was_cut_off_is_left_out(schema: Path, tmp_path: Path) -> None:
    data = tmp_path / "tasks.jsonl"
    with Process(schema, "--data", str(data)) as server:
        for identifier in "ab":
            Client(server).written("createTask", "id", {"id": identifier, "title": "t"})
    data.write_bytes(data.read_bytes()[:-5])
    with Process(schema, "--data", str(data)) as server:
        client = Client(server)
        assert client.data("{ listTasks { items { id } } }") == {"items": [{"id": "a"}]}
        client.written("createTask", "id", {"id": "c", "title": "t"})
    with Process(schema, "--data", str(data)) as server:
        assert len(Client(server).data("{ listTasks { items { id } } }")["items"]) == 2


def test_a_reset_empties_the_file(schema: Path, tmp_path: Path) -> None:
    options = ("--data", str(tmp_path / "tasks.jsonl"))
    with Process(schema, *options) as server:
        Client(server).written("createTask", "id", {"id": "a", "title": "t"})
        server.control("reset")
    with Process(schema, *options) as server:
        assert Client(server).data("{ listTasks { items { id } } }") == {"items": []}


def test_a_schema_that_cannot_be_served_ends_the_process_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "bad.graphql"
    path.write_text("type A @model {\n  b: Nothing\n}")
    command = [sys.executable, "-m", "standin", "--schema", str(path)]
    ended = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "Unknown type 'Nothing'" in ended.stderr
    assert ":2:" in ended.stderr
