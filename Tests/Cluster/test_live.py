"""Live data, sessions and users of a cluster, whichever replica a client meets."""

from __future__ import annotations

import http.client
import threading
from typing import Any

import pytest
from conftest import Cluster
from kvstored import until
from load import KEY, MASTER, SECONDS, Answer, Caller, User, basic


@pytest.fixture
def user(cluster: Cluster) -> User:
    """Give a user who listens to notes."""
    return User(cluster.a.host, "ana")


def save(user: User, host: str, name: str) -> None:
    """Save an entity."""
    caller = user.caller(host)
    caller.expect(201, "PUT", f"/appdata/{KEY}/notes/{name}", {})
    caller.close()


def poll(user: User, host: str, position: Any = None) -> tuple[list[str], Any]:
    """Give the ids of the entities that messages tell of, and the next position."""
    caller = user.caller(host)
    answer = caller.expect(200, "GET", user.poll_path(position))
    caller.close()
    return [message["d"]["_id"] for message in answer["m"]], answer["t"]


def poll_for(user: User, host: str, position: Any, count: int) -> list[str]:
    """Poll until so many messages have come."""
    heard: list[str] = []
    while len(heard) < count:
        ids, position = poll(user, host, position)
        heard += ids
    return heard


def ask(host: str, path: str) -> Answer:
    """Ask as the administrator of the app."""
    caller = Caller(host, basic(MASTER))
    answer = caller.call("GET", path)
    caller.close()
    return answer


def test_the_death_of_a_replica_costs_one_reconnect_and_no_message(
    cluster: Cluster, user: User
) -> None:
    _, position = poll(user, cluster.a.host)
    cluster.b.kill()
    # The poll waits at the only replica that there is.
    caller = user.caller(cluster.host)
    failures = []

    def wait() -> None:
        try:
            answer = caller.call("GET", user.poll_path(position))
            failures.append(str(answer.status))
        except (OSError, http.client.HTTPException) as error:
            failures.append(repr(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    until(lambda: b"kvstored_polls_waiting 1\n" in ask(cluster.a.host, "/metrics").body)
    cluster.b.start()
    cluster.a.kill()
    # It ends at once, not when its time is over.
    waiting.join(timeout=SECONDS)
    assert len(failures) == 1
    assert failures != ["200"]
    save(user, cluster.b.host, "first")
    # The balancer has to notice that the other one is there.
    until(lambda: ask(cluster.host, "/healthz").status == 200)
    save(user, cluster.host, "second")
    assert poll_for(user, cluster.host, position, 2) == ["first", "second"]
    caller.close()


def test_positions_outlive_the_restart_of_all_replicas(cluster: Cluster, user: User) -> None:
    _, position = poll(user, cluster.a.host)
    save(user, cluster.a.host, "before")
    for replica in (cluster.a, cluster.b):
        replica.kill()
    for replica in (cluster.a, cluster.b):
        replica.start()
    save(user, cluster.b.host, "after")
    for host in cluster.hosts:
        assert poll_for(user, host, position, 2) == ["before", "after"]


def test_a_user_who_is_disabled_on_one_replica_is_refused_by_the_other(
    cluster: Cluster, user: User
) -> None:
    here, there = (user.caller(host) for host in cluster.hosts)
    there.expect(200, "GET", f"/user/{KEY}/_me")
    here.expect(204, "DELETE", f"/user/{KEY}/{user.id}")
    there.expect(401, "GET", f"/user/{KEY}/_me")
    login = {"username": "ana", "password": "p"}
    assert Caller(cluster.b.host).call("POST", f"/user/{KEY}/login", login).status == 401
    here.close()
    there.close()


def test_a_new_password_on_one_replica_ends_the_sessions_on_the_other(
    cluster: Cluster, user: User
) -> None:
    login = {"username": "ana", "password": "p"}
    other = Caller(cluster.b.host)
    session = other.expect(200, "POST", f"/user/{KEY}/login", login)
    other.authorization = f"Kinvey {session['_kmd']['authtoken']}"
    other.expect(200, "GET", f"/user/{KEY}/_me")
    here = user.caller(cluster.a.host)
    here.expect(200, "PUT", f"/user/{KEY}/{user.id}", {"username": "ana", "password": "q"})
    other.expect(401, "GET", f"/user/{KEY}/_me")
    # The session that changed it goes on, on both.
    user.caller(cluster.b.host).expect(200, "GET", f"/user/{KEY}/_me")
    here.close()
    other.close()
