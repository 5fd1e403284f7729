"""Token providers, and clients with several authorization modes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import kvstore
import pytest
from conftest import TASKS, Serve
from standin import StandIn
from standin.auth.jwt import make

OWNED = """
  type Note @model @auth(rules: [{allow: owner}, {allow: public, operations: [read]}]) {
    id: ID! text: String owner: String }
  type Sign @model @auth(rules: [{allow: public}]) { id: ID! text: String }
  type Plain @model { id: ID! text: String }
"""
KEY = "da2-standin"


def token(name: str = "ana", seconds: float = 3600, number: int = 0) -> str:
    """A token of the user pool that ends after some seconds."""
    now = time.time()
    claims = {"sub": name, "username": name, "exp": now + seconds, "n": number}
    return make(claims)


class Provider:
    """Gives tokens, and notes what it was asked for."""

    def __init__(self, give: Callable[[int], str]) -> None:
        self.asked: list[kvstore.TokenRequest] = []
        self._give = give

    def __call__(self, request: kvstore.TokenRequest) -> str:
        self.asked.append(request)
        return self._give(len(self.asked))


Open = Callable[..., kvstore.Client]


@pytest.fixture
def open_client(tmp_path: Path) -> Iterator[Open]:
    """Opens a client of a server."""
    with ExitStack() as stack:

        def start(server: StandIn, name: str = "a", **options: Any) -> kvstore.Client:
            given = {"auth": {"userPools": None}, "schema": TASKS, **options}
            client = kvstore.Client(
                app_key="tasks",
                backend="appsync",
                endpoint=server.endpoint,
                data_directory=tmp_path / name,
                **given,
            )
            return stack.enter_context(client)

        yield start


@pytest.fixture
def pool(serve: Serve) -> StandIn:
    """A server of tasks, at the machine's time, that lets in who has a token."""
    server = serve()
    server.control("clock")
    server.control("auth", modes=["userPools"])
    return server


def modes(server: StandIn) -> list[str | None]:
    """The modes of the requests that were let in or refused, in their order."""
    return [entry.get("mode") for entry in server.log() if entry["kind"] == "http"]


def test_a_missing_token_is_asked_for(open_client: Open, pool: StandIn) -> None:
    client = open_client(pool)
    provider = Provider(lambda _: token())
    client.set_token_provider(provider)
    tasks = client.collection("Task")
    assert provider.asked == []
    tasks.save({"id": "t", "title": "A"})
    assert tasks.push().errors == []
    tasks.pull()
    assert provider.asked == [kvstore.TokenRequest("userPools", None, False)]


def test_a_refused_token_is_replaced_and_the_request_repeated(
    open_client: Open, pool: StandIn
) -> None:
    old, new = token(number=1), token(number=2)
    client = open_client(pool, auth={"userPools": old})
    provider = Provider(lambda _: new)
    client.set_token_provider(provider)
    pool.control("faults", at="http", on="createTask", action="status", status=401)
    tasks = client.collection("Task")
    tasks.save({"id": "t", "title": "A"})
    assert tasks.push().errors == []
    assert provider.asked == [kvstore.TokenRequest("userPools", old, True)]
    assert len(pool.control("tables/Task", "GET")["rows"]) == 1


def test_a_token_that_is_about_to_expire_is_replaced_before_it_is_refused(
    open_client: Open, pool: StandIn
) -> None:
    old = token(seconds=30, number=1)
    client = open_client(pool, auth={"userPools": old})
    provider = Provider(lambda _: token(number=2))
    client.set_token_provider(provider)
    client.collection("Task").pull()
    assert provider.asked == [kvstore.TokenRequest("userPools", old, False)]
    assert {entry.get("status", 200) for entry in pool.log()} == {200}


def test_a_token_is_used_while_it_lasts_if_there_is_no_other(
    open_client: Open, pool: StandIn
) -> None:
    def offline(_: int) -> str:
        raise kvstore.NetworkError({"status": 20, "message": "offline"})

    client = open_client(pool, auth={"userPools": token(seconds=30)})
    client.set_token_provider(Provider(offline))
    client.collection("Task").pull()


def test_a_token_that_is_always_short_is_not_asked_for_each_time(
    open_client: Open, pool: StandIn
) -> None:
    """As with a clock of the device that is wrong."""
    client = open_client(pool)
    provider = Provider(lambda number: token(seconds=30, number=number))
    client.set_token_provider(provider)
    tasks = client.collection("Task")
    for _ in range(3):
        tasks.pull()
    assert len(provider.asked) == 1


def test_many_requests_ask_once(open_client: Open, pool: StandIn) -> None:
    client = open_client(pool)
    go = threading.Event()

    def give(_: int) -> str:
        assert go.wait(60)
        return token()

    provider = Provider(give)
    client.set_token_provider(provider)
    tasks = client.collection("Task", "network")
    requests = [tasks.find_async({}) for _ in range(8)]
    go.set()
    assert [list(request.result()) for request in requests] == [[]] * 8
    assert len(provider.asked) == 1


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        (kvstore.NetworkError({"status": 20}), kvstore.NetworkError),
        (kvstore.NoUserError({"status": 14}), kvstore.NoUserError),
        (kvstore.UnauthorizedError({"status": 15}), kvstore.UnauthorizedError),
        (kvstore.InvalidError({"status": 11}), kvstore.UnauthorizedError),
    ],
)
def test_what_has_no_token_stays_in_the_queue(
    open_client: Open,
    pool: StandIn,
    failure: kvstore.KVError,
    expected: type[kvstore.KVError],
) -> None:
    client = open_client(pool)
    fails = True

    def give(_: int) -> str:
        if fails:
            raise failure
        return token()

    client.set_token_provider(Provider(give))
    tasks = client.collection("Task")
    tasks.save({"id": "t", "title": "A"})
    with pytest.raises(expected):
        tasks.push(retries=0)
    (write,) = tasks.pending
    assert write.state == "waiting"
    assert pool.log() == []
    fails = False
    assert tasks.push().errors == []
    assert len(tasks.pending) == 0


def test_a_call_waits_for_a_token_no_longer_than_it_wants_to(
    open_client: Open, pool: StandIn
) -> None:
    client = open_client(pool)
    go = threading.Event()

    def give(_: int) -> str:
        go.wait(60)
        return token()

    client.set_token_provider(Provider(give))
    tasks = client.collection("Task", "network")
    try:
        with pytest.raises(kvstore.TimeoutError):
            tasks.count(timeout=0.2)
    finally:
        go.set()
    assert tasks.count() == 0


def test_what_is_no_token_is_refused(open_client: Open, pool: StandIn) -> None:
    client = open_client(pool)
    client.set_token_provider(Provider(lambda _: "a\r\nx-injected: 1"))
    with pytest.raises(kvstore.UnauthorizedError, match="no token"):
        client.collection("Task").pull()


def test_without_a_provider_there_is_no_token(open_client: Open, pool: StandIn) -> None:
    with pytest.raises(kvstore.UnauthorizedError, match="no token provider"):
        open_client(pool).collection("Task").pull()


def test_other_backends_take_no_tokens(tmp_path: Path) -> None:
    with (
        kvstore.Client(app_key="k", host=None, data_directory=tmp_path) as client,
        pytest.raises(kvstore.KVError),
    ):
        client.set_token_provider(Provider(lambda _: "t"))


def test_the_websocket_connects_again_with_a_new_token(open_client: Open, pool: StandIn) -> None:
    old, new = token(number=1), token(number=2)
    client = open_client(pool, auth={"userPools": old})
    provider = Provider(lambda _: new)
    client.set_token_provider(provider)
    tasks = client.collection("Task")
    tasks.pull()
    pool.control(
        "faults",
        at="connect",
        action="refuse",
        errors=[{"errorType": "UnauthorizedException", "errorCode": 401}],
    )
    live = threading.Event()
    with tasks.follow(None, lambda status: live.set() if status.live else None):
        assert live.wait(60)
    assert provider.asked[0] == kvstore.TokenRequest("userPools", old, True)


def test_an_api_that_tells_of_own_records_only_is_asked_for_these(
    open_client: Open, serve: Serve
) -> None:
    schema = "type Note @model @auth(rules: [{allow: owner}]) { id: ID! text: String }"
    server = serve(schema)
    server.control("clock")
    server.control("auth", modes=["userPools"], requiresOwner=True)
    ana = open_client(server, "ana", auth={"userPools": token("ana")}, schema=schema)
    phone = open_client(server, "phone", auth={"userPools": token("ana")}, schema=schema)
    notes, others = ana.collection("Note"), phone.collection("Note")
    live, arrived = threading.Event(), threading.Event()

    def note(changes: kvstore.Changes[Any] | kvstore.KVError) -> None:
        if isinstance(changes, kvstore.Changes) and changes.insertions:
            arrived.set()

    with (
        notes.follow(None, lambda status: live.set() if status.live else None),
        notes.observe(None, note),
    ):
        assert live.wait(60)
        others.save({"id": "n", "text": "t"})
        assert others.push().errors == []
        assert arrived.wait(60)
        assert notes["n"]["text"] == "t"
    started = [entry for entry in server.log() if entry["kind"] == "start"]
    assert len(started) == 6  # each was refused without an owner, and repeated with one


# Several modes


@pytest.fixture
def owned(serve: Serve) -> StandIn:
    """A server whose models say who may do what."""
    server = serve(OWNED)
    server.control("clock")
    return server


BOTH = {"apiKey": KEY, "userPools": None}


def test_the_rules_of_a_model_choose_the_mode(open_client: Open, owned: StandIn) -> None:
    client = open_client(owned, auth=BOTH, schema=OWNED)
    client.set_token_provider(Provider(lambda _: token()))
    for model, mode in (("Note", "userPools"), ("Sign", "apiKey"), ("Plain", "apiKey")):
        owned.control("log", "DELETE")
        records = client.collection(model)
        records.save({"id": "a", "text": "t"})
        assert records.push().errors == []
        assert modes(owned) == [mode]


def test_the_default_mode_is_for_models_without_rules(open_client: Open, owned: StandIn) -> None:
    client = open_client(owned, auth=BOTH, default_auth="userPools", schema=OWNED)
    client.set_token_provider(Provider(lambda _: token()))
    client.collection("Plain").pull()
    assert modes(owned) == ["userPools"]


def test_who_is_not_signed_in_does_what_everybody_may(open_client: Open, owned: StandIn) -> None:
    def nobody(_: int) -> str:
        raise kvstore.NoUserError({"status": 14})

    client = open_client(owned, auth=BOTH, schema=OWNED)
    client.set_token_provider(Provider(nobody))
    notes = client.collection("Note")
    notes.pull()
    assert modes(owned) == ["apiKey"]
    notes.save({"id": "n", "text": "t"})
    with pytest.raises(kvstore.NoUserError):
        notes.push()
    assert len(notes.pending) == 1


def test_what_one_mode_is_denied_the_next_one_may(open_client: Open, owned: StandIn) -> None:
    client = open_client(owned, auth=BOTH, schema=OWNED)
    client.set_token_provider(Provider(lambda _: token()))
    unauthorized = {"errorType": "Unauthorized", "message": "Not Authorized", "path": ["syncNotes"]}
    owned.control("faults", at="http", on="syncNotes", action="error", errors=[unauthorized])
    client.collection("Note").pull()
    assert modes(owned) == ["userPools", "apiKey"]


def test_a_token_that_fails_for_now_is_no_reason_to_read_with_fewer_rights(
    open_client: Open, owned: StandIn
) -> None:
    def offline(_: int) -> str:
        raise kvstore.NetworkError({"status": 20})

    client = open_client(owned, auth=BOTH, schema=OWNED)
    client.set_token_provider(Provider(offline))
    with pytest.raises(kvstore.NetworkError):
        client.collection("Note").pull(retries=0)
    assert owned.log() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"auth": {}}, "auth"),
        ({"auth": {"userPools": 1}}, "userPools"),
        ({"auth": {"apiKey": None}}, "apiKey"),
        ({"auth": BOTH, "default_auth": "oidc"}, "oidc"),
        ({"auth": BOTH, "default_auth": "nothing"}, "defaultAuth"),
    ],
)
def test_wrong_modes_are_named(
    open_client: Open, owned: StandIn, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(kvstore.InvalidError, match=message):
        open_client(owned, schema=OWNED, **options)
