"""A client that we did not write: gql, with its AppSync transports and authorization classes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from conftest import NOON, Serve
from gql import Client, GraphQLRequest, gql
from gql.client import AsyncClientSession
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.appsync_auth import (
    AppSyncApiKeyAuthentication,
    AppSyncAuthentication,
    AppSyncIAMAuthentication,
    AppSyncJWTAuthentication,
)
from gql.transport.appsync_websockets import AppSyncWebsocketsTransport
from gql.transport.exceptions import (
    TransportError,
    TransportQueryError,
    TransportServerError,
)
from standin import StandIn
from standin.auth.jwt import make
from standin.testing import SECONDS, Controlled

SDL = """
  type Task @model @auth(rules: [
      {allow: public} {allow: private} {allow: custom}
      {allow: private, provider: oidc} {allow: public, provider: iam}])
    { id: ID! title: String! rank: Int }
"""
ISSUER = "https://oidc.example"
SYNC = "_version _deleted _lastChangedAt"
CREATE = gql(
    "mutation ($input: CreateTaskInput!)"
    f" {{ createTask(input: $input) {{ id title rank {SYNC} }} }}"
)
UPDATE = gql(
    "mutation ($input: UpdateTaskInput!)"
    f" {{ updateTask(input: $input) {{ id title rank {SYNC} }} }}"
)
DELETE = gql(f"mutation ($input: DeleteTaskInput!) {{ deleteTask(input: $input) {{ id {SYNC} }} }}")
PAGE = gql(
    "query ($limit: Int, $nextToken: String, $lastSync: AWSTimestamp)"
    " { syncTasks(limit: $limit, nextToken: $nextToken, lastSync: $lastSync)"
    f" {{ items {{ id {SYNC} }} nextToken startedAt }} }}"
)
CREATED = gql("subscription { onCreateTask { id title _version } }")

Session = AsyncClientSession
#: What makes the authorization for a server.
Authorize = Callable[[Controlled], AppSyncAuthentication]


def by_key(server: Controlled) -> AppSyncAuthentication:
    return AppSyncApiKeyAuthentication(server.host, "da2-standin")


def by_user_pool(server: Controlled) -> AppSyncAuthentication:
    return AppSyncJWTAuthentication(server.host, make({"sub": "s", "username": "ana"}))


def by_oidc(server: Controlled) -> AppSyncAuthentication:
    return AppSyncJWTAuthentication(server.host, make({"sub": "s", "iss": ISSUER}))


def by_lambda(server: Controlled) -> AppSyncAuthentication:
    return AppSyncJWTAuthentication(server.host, "lambda-token")


def by_iam(server: Controlled, secret: str = "secret") -> AppSyncAuthentication:
    credentials = Credentials("AKIDEXAMPLE", secret)
    return AppSyncIAMAuthentication(server.host, "eu-west-1", credentials=credentials)


MODES: dict[str, Authorize] = {
    "apiKey": by_key,
    "userPools": by_user_pool,
    "oidc": by_oidc,
    "function": by_lambda,
    "iam": by_iam,
}


@pytest.fixture
def server(serve: Serve) -> StandIn:
    """A server that takes callers of all modes."""
    server = serve(SDL)
    credentials = {"AKIDEXAMPLE": {"secret": "secret"}}
    tokens: dict[str, Any] = {"lambda-token": {}}
    server.control(
        "auth",
        credentials=credentials,
        lambdaTokens=tokens,
        oidcIssuers=[ISSUER],
        region="eu-west-1",
    )
    return server


@asynccontextmanager
async def http(server: Controlled, authorize: Authorize = by_key) -> AsyncIterator[Session]:
    transport = AIOHTTPTransport(server.endpoint, auth=authorize(server))
    async with Client(transport=transport, execute_timeout=SECONDS) as session:
        yield session


@asynccontextmanager
async def realtime(
    server: Controlled, authorize: Authorize = by_key, path: str = "/graphql"
) -> AsyncIterator[Session]:
    transport = AppSyncWebsocketsTransport(
        f"ws://{server.host}{path}", auth=authorize(server), keep_alive_timeout=SECONDS
    )
    async with Client(transport=transport) as session:
        yield session


async def execute(session: Session, document: GraphQLRequest, **variables: Any) -> Any:
    """What the field at the root gives."""
    request = GraphQLRequest(document, variable_values=variables)
    (value,) = (await session.execute(request)).values()
    return value


async def write(session: Session, document: GraphQLRequest, **given: Any) -> Any:
    return await execute(session, document, input=given)


class Events:
    """A subscription's events, from the moment on that the server has acknowledged it."""

    def __init__(
        self, server: StandIn, session: Session, document: GraphQLRequest = CREATED
    ) -> None:
        self.server = server
        self.session = session
        self.document = document
        self.queue: asyncio.Queue[Any] = asyncio.Queue()

    async def listen(self) -> None:
        try:
            async for event in self.session.subscribe(self.document):
                (value,) = event.values()
                self.queue.put_nowait(value)
        except TransportError as error:
            self.queue.put_nowait(error)

    async def next(self) -> Any:
        return await asyncio.wait_for(self.queue.get(), SECONDS)

    async def acknowledged(self, after: int) -> None:
        """Waits for the acknowledgement: the entries after a number of the log hold it."""
        count = 1
        while True:
            entries = await asyncio.to_thread(self.server.log, after, count)
            if any(each["kind"] == "start_ack" for each in entries):
                return
            assert len(entries) >= count, entries
            count = len(entries) + 1

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[Events]:
        """Listens while the `with` lasts."""
        after = len(await asyncio.to_thread(self.server.log))
        task = asyncio.create_task(self.listen())
        await self.acknowledged(after)
        try:
            yield self
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def run(test: Awaitable[None]) -> None:
    async def within() -> None:
        await asyncio.wait_for(test, 2 * SECONDS)

    asyncio.run(within())


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_writes_and_syncs_by_http(server: StandIn, mode: str) -> None:
    async def test() -> None:
        async with http(server, MODES[mode]) as session:
            made = await write(session, CREATE, id="t", title="a", rank=1)
            assert (made["_version"], made["_lastChangedAt"]) == (1, NOON)
            changed = await write(session, UPDATE, id="t", title="b", _version=1)
            assert (changed["title"], changed["rank"], changed["_version"]) == ("b", 1, 2)
            gone = await write(session, DELETE, id="t", _version=2)
            assert (gone["_deleted"], gone["_version"]) == (True, 3)
            page = await execute(session, PAGE, lastSync=NOON)
            assert [each["_version"] for each in page["items"]] == [1, 2, 3]

    run(test())
    assert {entry["mode"] for entry in server.log()} == {mode}


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_subscribes(server: StandIn, mode: str) -> None:
    async def test() -> None:
        async with (
            http(server) as writer,
            realtime(server, MODES[mode]) as session,
            Events(server, session)() as events,
        ):
            await write(writer, CREATE, id="t", title="a")
            assert await events.next() == {"id": "t", "title": "a", "_version": 1}

    run(test())
    modes = {entry["kind"]: entry["mode"] for entry in server.log()}
    assert (modes["connect"], modes["start_ack"]) == (mode, mode)


def test_the_real_time_path_of_custom_domains_does_too(server: StandIn) -> None:
    async def test() -> None:
        async with (
            http(server) as writer,
            realtime(server, path="/graphql/realtime") as session,
            Events(server, session)() as events,
        ):
            for identifier in "abc":
                await write(writer, CREATE, id=identifier, title="t")
            assert [(await events.next())["id"] for _ in "abc"] == ["a", "b", "c"]

    run(test())


def test_several_subscriptions_share_a_socket(server: StandIn) -> None:
    deleted = gql("subscription { onDeleteTask { id _deleted } }")

    async def test() -> None:
        async with (
            http(server) as writer,
            realtime(server) as session,
            Events(server, session)() as made,
            Events(server, session, deleted)() as gone,
        ):
            await write(writer, CREATE, id="t", title="a")
            await write(writer, DELETE, id="t", _version=1)
            assert (await made.next())["id"] == "t"
            assert await gone.next() == {"id": "t", "_deleted": True}

    run(test())


def test_the_filter_of_a_subscription_is_applied(server: StandIn) -> None:
    filtered = gql('subscription { onCreateTask(filter: {title: {beginsWith: "b"}}) { id } }')

    async def test() -> None:
        async with (
            http(server) as writer,
            realtime(server) as session,
            Events(server, session, filtered)() as events,
        ):
            for title in ("a", "b"):
                await write(writer, CREATE, id=title, title=title)
            assert await events.next() == {"id": "b"}

    run(test())


def test_pages_are_read_to_the_end(server: StandIn) -> None:
    async def test() -> None:
        async with http(server) as session:
            for identifier in "abcde":
                await write(session, CREATE, id=identifier, title="t")
            found: list[str] = []
            token = None
            while True:
                page = await execute(session, PAGE, limit=2, nextToken=token)
                found += [each["id"] for each in page["items"]]
                token = page["nextToken"]
                if token is None:
                    break
            assert sorted(found) == list("abcde")

    run(test())


def test_a_conflict_is_a_query_error_with_the_stored_record(server: StandIn) -> None:
    server.control("conflicts", Task="OPTIMISTIC_CONCURRENCY")

    async def test() -> None:
        async with http(server) as session:
            await write(session, CREATE, id="t", title="a")
            with pytest.raises(TransportQueryError) as refused:
                await write(session, UPDATE, id="t", title="b", _version=7)
        assert refused.value.errors is not None
        (error,) = refused.value.errors
        assert error["errorType"] == "ConflictUnhandled"
        assert (error["data"]["title"], error["data"]["_version"]) == ("a", 1)
        assert refused.value.data == {"updateTask": None}

    run(test())


def bad_key(server: Controlled) -> AppSyncAuthentication:
    return AppSyncApiKeyAuthentication(server.host, "bad")


def bad_signature(server: Controlled) -> AppSyncAuthentication:
    return by_iam(server, "other")


def expired(server: Controlled) -> AppSyncAuthentication:
    return AppSyncJWTAuthentication(server.host, make({"sub": "s", "exp": NOON // 1000 - 1}))


@pytest.mark.parametrize("authorize", [bad_key, bad_signature, expired])
def test_bad_credentials_are_refused_by_http_and_by_socket(
    server: StandIn, authorize: Authorize
) -> None:
    async def test() -> None:
        async with http(server, authorize) as session:
            with pytest.raises(TransportError):
                await write(session, CREATE, id="t", title="a")
        with pytest.raises(TransportServerError, match="UnauthorizedException"):
            async with realtime(server, authorize):
                pass

    run(test())
    assert server.control("tables/Task", "GET") == {"rows": []}


def test_a_refused_subscription_is_a_query_error(server: StandIn) -> None:
    server.control("faults", at="start", action="refuse")

    async def test() -> None:
        async with realtime(server) as session:
            events = Events(server, session)
            await events.listen()
            error = await events.next()
        assert isinstance(error, TransportQueryError)
        assert "MaxSubscriptionsReachedError" in str(error)

    run(test())


def test_the_schema_is_introspected(server: StandIn) -> None:
    async def test() -> None:
        transport = AIOHTTPTransport(server.endpoint, auth=by_key(server))
        async with Client(transport=transport, fetch_schema_from_transport=True) as session:
            schema = session.client.schema
            assert schema is not None
            assert schema.query_type is not None
            assert "syncTasks" in schema.query_type.fields
            await write(session, CREATE, id="t", title="a")

    run(test())
