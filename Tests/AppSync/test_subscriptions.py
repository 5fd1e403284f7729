"""Follows of the library with the backend "appsync": what subscriptions deliver."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import kvstore
import pytest
from client import Client as Outsider
from conftest import TASKS, Serve
from standin import StandIn

#: Seconds that only a defect makes a test wait.
LONG = 30.0
#: A poll that never comes, so that only subscriptions can have told of a change.
NEVER = 3600.0
IAM = {"accessKeyId": "AKIDEXAMPLE", "secretAccessKey": "secret", "region": "eu-west-1"}

#: What a mutation selects that tells subscribers everything.
WHOLE = "id title note tags createdAt updatedAt _version _deleted _lastChangedAt"


class Watched:
    """A store that is followed and observed: tests wait for what it has."""

    def __init__(self, client: kvstore.Client, interval: float = NEVER) -> None:
        self._changed = threading.Condition()
        self._status: kvstore.FollowStatus | None = None
        self.client = client
        self.store = client.collection("Task")
        self._observer = self.store.observe(None, self._notify)
        self._follow = self.store.follow(None, self._note, interval=interval)

    def _notify(self, _: object) -> None:
        with self._changed:
            self._changed.notify_all()

    def _note(self, status: kvstore.FollowStatus) -> None:
        with self._changed:
            self._status = status
            self._changed.notify_all()

    def wait(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, LONG), self._status

    def wait_for(self, **expected: Any) -> None:
        """Until the follow's status is this one."""

        def fits() -> bool:
            return self._status is not None and all(
                getattr(self._status, name) == value for name, value in expected.items()
            )

        self.wait(fits)

    def titles(self) -> dict[str, str]:
        return {task["id"]: task["title"] for task in self.store.find()}

    def wait_for_titles(self, **titles: str) -> None:
        self.wait(lambda: self.titles() == titles)

    def close(self) -> None:
        self._follow.close()
        self._observer.close()


@pytest.fixture
def follow(tmp_path: Path) -> Iterator[Callable[..., Watched]]:
    """Follows the tasks of a server."""
    with ExitStack() as stack:

        def start(server: StandIn, interval: float = NEVER, **options: Any) -> Watched:
            given = {"auth": {"apiKey": "da2-standin"}, **options}
            client = kvstore.Client(
                app_key="tasks",
                backend="appsync",
                endpoint=server.endpoint,
                schema=TASKS,
                data_directory=tmp_path / "data",
                **given,
            )
            stack.enter_context(client)
            watched = Watched(client, interval)
            stack.callback(watched.close)
            return watched

        yield start


def test_what_others_write_arrives_without_a_request(
    server: StandIn, client: Outsider, follow: Callable[..., Watched]
) -> None:
    watched = follow(server)
    watched.wait_for(state="current", live=True)
    before = len(server.log())
    client.written("createTask", WHOLE, {"id": "a", "title": "A"})
    client.written("createTask", WHOLE, {"id": "b", "title": "B"})
    watched.wait_for_titles(a="A", b="B")
    client.written("updateTask", WHOLE, {"id": "a", "title": "A2", "_version": 1})
    watched.wait_for_titles(a="A2", b="B")
    client.written("deleteTask", WHOLE, {"id": "b", "_version": 1})
    watched.wait_for_titles(a="A2")
    asked = [entry for entry in server.log(before) if "syncTasks" in entry["fields"]]
    assert asked == []


@pytest.mark.parametrize("style", ["subprotocol", "headers", "query"])
@pytest.mark.parametrize("mode", ["apiKey", "token", "iam"])
def test_each_way_to_be_allowed_in_each_place(
    server: StandIn, follow: Callable[..., Watched], style: str, mode: str
) -> None:
    credentials = {"AKIDEXAMPLE": {"secret": "secret"}}
    server.control(
        "auth", credentials=credentials, region="eu-west-1", lambdaTokens={"lambda-token": {}}
    )
    given = {"apiKey": "da2-standin", "token": "lambda-token", "iam": IAM}[mode]
    watched = follow(server, auth={mode: given}, realtime_upgrade=style)
    watched.wait_for(state="current", live=True)


def test_a_write_of_ones_own_goes_up_and_its_echo_changes_nothing(
    server: StandIn, follow: Callable[..., Watched]
) -> None:
    watched = follow(server)
    watched.wait_for(state="current", live=True)
    watched.store.save({"id": "a", "title": "mine"})
    watched.wait(lambda: watched.store["a"].get("_version") == 1)
    assert watched.titles() == {"a": "mine"}


def test_after_a_lost_connection_what_was_missed_is_read(
    server: StandIn, client: Outsider, follow: Callable[..., Watched]
) -> None:
    watched = follow(server)
    watched.wait_for(state="current", live=True)
    server.control("faults", at="connect", action="dropBefore", times=1)
    server.control("sockets", action="cut")
    watched.wait_for(live=False)
    client.written("createTask", "id title _version", {"id": "a", "title": "A"})
    watched.wait_for_titles(a="A")
    watched.wait_for(state="current", live=True)


def test_silence_is_the_end_of_a_connection(serve: Serve, follow: Callable[..., Watched]) -> None:
    server = serve(connection_timeout=400, keep_alive=0.1)
    watched = follow(server)
    watched.wait_for(state="current", live=True)
    server.control("sockets", action="silence")
    watched.wait_for(live=False)
    watched.wait_for(state="current", live=True)


@pytest.mark.parametrize("fields", ["id", "id title", "id title _version", "title _version"])
def test_a_message_that_is_not_the_whole_record_is_caught_up(
    server: StandIn, client: Outsider, follow: Callable[..., Watched], fields: str
) -> None:
    watched = follow(server)
    watched.wait_for(state="current", live=True)
    client.written("createTask", fields, {"id": "a", "title": "A", "note": "n"})
    watched.wait_for_titles(a="A")
    assert watched.store["a"]["note"] == "n"


def test_a_refused_subscription_leaves_polling(
    server: StandIn, client: Outsider, follow: Callable[..., Watched]
) -> None:
    refusal = [{"errorType": "Unauthorized", "message": "not yours"}]
    server.control("faults", at="start", action="refuse", times=1000, errors=refusal)
    watched = follow(server, interval=0.2)
    watched.wait_for(state="current", live=False)
    client.written("createTask", "id title _version", {"id": "a", "title": "A"})
    watched.wait_for_titles(a="A")


def test_two_models_share_a_connection(
    server: StandIn, client: Outsider, follow: Callable[..., Watched]
) -> None:
    watched = follow(server)
    watched.wait_for(state="current", live=True)
    boards = watched.client.collection("Board")
    done = threading.Event()
    with boards.follow(None, lambda status: done.set() if status.live else None, interval=NEVER):
        assert done.wait(LONG)
        connected = [entry for entry in server.log() if entry["kind"] == "connect"]
        assert len(connected) == 1
        client.written("createTask", "id title _version", {"id": "a", "title": "A"})
        watched.wait_for_titles(a="A")
