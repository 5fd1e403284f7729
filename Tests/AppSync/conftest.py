"""A stand-in for each test that asks for one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import kvstore
import pytest
from client import Client
from devices import Device, Open
from standin import Options, StandIn
from standin.clock import Clock

#: The time at which the clock of most tests stands.
NOON = 1_716_292_800_000

TASKS = """
  enum State { OPEN DONE }
  type Place { city: String!, zips: [String] }
  type Board @model { id: ID!, name: String
    tasks: [Task] @hasMany(indexName: "byBoard", fields: ["id"]) }
  type Task @model {
    id: ID!
    title: String!
    note: String
    rank: Int
    weight: Float
    done: Boolean
    tags: [String]
    state: State
    place: Place
    boardId: ID @index(name: "byBoard", sortKeyFields: ["rank"], queryField: "tasksByBoard")
    board: Board @belongsTo(fields: ["boardId"])
  }
"""

Serve = Callable[..., StandIn]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts servers that the test's end stops; options are those of `Options`."""
    with ExitStack() as stack:

        def start(sdl: str = TASKS, **options: object) -> StandIn:
            options.setdefault("clock", Clock(NOON))
            return stack.enter_context(StandIn(Options(sdl, **options)))  # type: ignore[arg-type]

        yield start


@pytest.fixture
def server(serve: Serve) -> StandIn:
    """A server of tasks and boards whose clock stands still."""
    return serve()


@pytest.fixture
def client(server: StandIn) -> Client:
    """A client with the API key."""
    return Client(server)


@pytest.fixture
def device(server: StandIn, tmp_path: Path) -> Iterator[Open]:
    """Opens clients of the server, each with the data of a device by name."""
    with ExitStack() as stack:

        def start(name: str = "a", **options: Any) -> Device:
            given = {
                "backend": "appsync",
                "endpoint": server.endpoint,
                "auth": {"apiKey": "da2-standin"},
                "schema": TASKS,
                "retries": 0,
                **options,
            }
            client = kvstore.Client(app_key="tasks", data_directory=tmp_path / name, **given)
            return Device(stack.enter_context(client))

        yield start
