"""Servers for the tests of what operators meet, on both storages."""

from __future__ import annotations

import base64
import json
import subprocess
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from admin import Approach
from kvstored import CHECKOUT, Server

MASTER = "Basic " + base64.b64encode(b"kid:mas").decode()
APP = "Basic " + base64.b64encode(b"kid:sec").decode()

Start = Callable[..., Server]


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Run a PostgreSQL server for all tests; give its address."""
    command = [str(CHECKOUT / "scripts" / "with-postgres"), "sh", "-c"]
    process = subprocess.Popen(
        [*command, 'echo "$KVSTORED_TEST_POSTGRES"; exec cat'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    yield process.stdout.readline().strip()
    process.stdin.close()
    process.wait()


@pytest.fixture(params=["sqlite", "postgres"])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Start]:
    """Give a function that starts a server with options."""
    servers: list[Server] = []

    def run(*options: str, app: str | None = "kid:sec:mas") -> Server:
        storage: tuple[str, ...] = ()
        if request.param == "postgres":
            address = request.getfixturevalue("postgres")
            schema = "test_" + uuid.uuid4().hex
            subprocess.run(["psql", "-q", address, "-c", f"CREATE SCHEMA {schema}"], check=True)
            storage = ("--storage", f"{address}&options=-csearch_path%3D{schema}")
        server = Server(tmp_path / "data", app, *storage, *options)
        servers.append(server)
        return server

    yield run
    for server in servers:
        server.stop()


@pytest.fixture(params=["http", "direct"])
def place(request: pytest.FixtureRequest, start: Start, tmp_path: Path) -> Approach:
    """Run a server; its data is reached over HTTP or directly."""
    return Approach(
        start("--delta-days", "15"), tmp_path / "data", is_direct=request.param == "direct"
    )


def call(
    server: Server, method: str, path: str, body: object = None, *, who: str = MASTER
) -> tuple[int, Any]:
    """Make a request; give the status and what the answer has of JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.host + path, data, method=method)
    request.add_header("Authorization", who)
    request.add_header("X-Kinvey-API-Version", "5")
    request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


def sign_up(server: Server, name: str) -> str:
    """Make a user; give the value of his Authorization."""
    status, user = call(
        server, "POST", "/user/kid", {"username": name, "password": "pass"}, who=APP
    )
    assert status == 201
    return f"Kinvey {user['_kmd']['authtoken']}"
