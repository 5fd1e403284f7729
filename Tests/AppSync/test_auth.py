"""Who is let in, and what the rules of the schema let them do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from botocore.auth import SigV4Auth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from client import API_KEY, Client
from conftest import NOON, Serve
from socket_client import Socket
from standin import StandIn
from standin.auth import sigv4
from standin.auth.jwt import make
from standin.auth.sigv4 import Signed

LIST = "{ listTasks { nextToken } }"
KEY = {"AKIDEXAMPLE": {"secret": "secret"}}


def status(server: StandIn, headers: dict[str, str]) -> int:
    answer = Client(server, headers).post(json.dumps({"query": LIST}).encode())
    if answer.status == 401:
        assert answer.body["errors"][0]["errorType"] == "UnauthorizedException"
    return answer.status


def user(name: str, *groups: str, **claims: Any) -> dict[str, str]:
    """The header of a user of the pool."""
    given = {"sub": f"sub-{name}", "username": name, "cognito:groups": list(groups), **claims}
    return {"Authorization": make(given)}


def signed(server: StandIn, body: bytes, secret: str = "secret", **more: Any) -> dict[str, str]:
    """The headers by which botocore signs a request."""
    request = AWSRequest("POST", f"{server.url}/graphql", data=body)
    credentials = Credentials("AKIDEXAMPLE", secret, more.get("token"))
    service, region = more.get("service", "appsync"), more.get("region", "eu-west-1")
    SigV4Auth(credentials, service, region).add_auth(request)
    return dict(request.headers)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x-api-key": "bad"},
        {"Authorization": "da2-standin"},
        {"Authorization": "not.a.token"},
        {"Authorization": "Bearer token"},
        {"Authorization": "AWS4-HMAC-SHA256 nonsense"},
    ],
)
def test_callers_without_credentials_get_401(server: StandIn, headers: dict[str, str]) -> None:
    assert status(server, headers) == 401


def test_an_api_key_ends_at_its_time(server: StandIn) -> None:
    server.control("auth", apiKeys={"da2-old": NOON + 1000})
    assert status(server, {"x-api-key": "da2-old"}) == 200
    assert status(server, API_KEY) == 401
    server.control("clock", advance=1000)
    assert status(server, {"x-api-key": "da2-old"}) == 401


def test_a_token_is_taken_until_it_expires(server: StandIn) -> None:
    headers = user("ana", exp=NOON // 1000 + 60)
    assert status(server, headers) == 200
    server.control("clock", advance=60_000)
    assert status(server, headers) == 401


def test_with_a_secret_tokens_must_be_signed_by_it(server: StandIn) -> None:
    server.control("auth", jwtSecret="s")
    assert status(server, user("ana")) == 401
    assert status(server, {"Authorization": make({"sub": "a"}, "other")}) == 401
    assert status(server, {"Authorization": make({"sub": "a"}, "s")}) == 200


def test_the_issuer_tells_tokens_of_openid_connect(server: StandIn) -> None:
    server.control("auth", oidcIssuers=["https://oidc.example"], modes=["oidc"])
    assert status(server, user("ana", iss="https://oidc.example")) == 200
    assert status(server, user("ana")) == 401


def test_a_lambda_token_is_one_of_a_list(server: StandIn) -> None:
    server.control("auth", lambdaTokens={"allow-me": {"tenant": "t"}})
    assert status(server, {"Authorization": "allow-me"}) == 200
    assert status(server, {"Authorization": "allow-them"}) == 401
    (entry, _) = (each for each in server.log() if each["kind"] == "http")
    assert (entry["mode"], entry["claims"]) == ("function", {"tenant": "t"})


def test_a_mode_that_the_api_does_not_have_is_refused(server: StandIn) -> None:
    server.control("auth", modes=["userPools"])
    assert status(server, API_KEY) == 401


def test_a_request_that_botocore_signed_is_let_in(server: StandIn) -> None:
    server.control("auth", credentials=KEY, region="eu-west-1")
    body = json.dumps({"query": LIST}).encode()
    assert Client(server, signed(server, body)).post(body).status == 200


@pytest.mark.parametrize(
    "wrong",
    [
        {"secret": "other"},
        {"region": "us-east-1"},
        {"service": "execute-api"},
        {"token": "session"},
    ],
)
def test_a_request_with_a_wrong_signature_is_refused(
    server: StandIn, wrong: dict[str, str]
) -> None:
    server.control("auth", credentials=KEY, region="eu-west-1")
    body = json.dumps({"query": LIST}).encode()
    assert Client(server, signed(server, body, **wrong)).post(body).status == 401


def test_a_signature_covers_body_and_headers(server: StandIn) -> None:
    server.control("auth", credentials=KEY)
    body = json.dumps({"query": LIST}).encode()
    headers = signed(server, body)
    assert Client(server, headers).post(body + b" ").status == 401
    assert Client(server, {**headers, "Host": "other"}).post(body).status == 401


def test_a_session_token_must_be_the_one_of_the_credentials(server: StandIn) -> None:
    credentials = {"AKIDEXAMPLE": {"secret": "secret", "sessionToken": "session"}}
    server.control("auth", credentials=credentials)
    body = json.dumps({"query": LIST}).encode()
    assert Client(server, signed(server, body, token="session")).post(body).status == 200
    assert Client(server, signed(server, body)).post(body).status == 401


def signed_by_hand(
    server: StandIn, body: bytes, names: list[str], minutes: int = 0
) -> dict[str, str]:
    """Headers with a signature of some of them, made so long from now."""
    time = datetime.now(timezone.utc) + timedelta(minutes=minutes)
    headers = {"host": server.host, "x-amz-date": time.strftime("%Y%m%dT%H%M%SZ")}
    scope = [headers["x-amz-date"][:8], "eu-west-1", "appsync", "aws4_request"]
    text = sigv4.signature(Signed("/graphql", headers, body), names, scope, "secret")
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/{'/'.join(scope)}, "
        f"SignedHeaders={';'.join(names)}, Signature={text}"
    )
    return headers


@pytest.mark.parametrize(("minutes", "wanted"), [(0, 200), (-4, 200), (-6, 401), (6, 401)])
def test_a_signature_is_good_for_five_minutes(server: StandIn, minutes: int, wanted: int) -> None:
    server.control("auth", credentials=KEY)
    body = json.dumps({"query": LIST}).encode()
    headers = signed_by_hand(server, body, ["host", "x-amz-date"], minutes)
    assert Client(server, headers).post(body).status == wanted


def test_a_signature_must_cover_the_host(server: StandIn) -> None:
    server.control("auth", credentials=KEY)
    body = json.dumps({"query": LIST}).encode()
    assert Client(server, signed_by_hand(server, body, ["x-amz-date"])).post(body).status == 401


NOTES = """
  type Note @model @auth(rules: [
      {allow: owner}
      {allow: groups, groups: ["staff"], operations: [read]}
      {allow: public, provider: iam}
    ]) { id: ID! text: String secret: String @auth(rules: [{allow: owner, operations: [read]}]) }
  type Board @model @auth(rules: [{allow: owner, ownerField: "editors"},
      {allow: groups, groupsField: "teams", operations: [update, read]}])
    { id: ID! editors: [String] teams: [String] name: String }
  type Open @model @auth(rules: [{allow: public}, {allow: private, operations: [read]},
      {allow: custom}]) { id: ID! }
  type Stamp @model @auth(rules: [{allow: owner, identityClaim: "sub::username"}]) { id: ID! }
"""


@pytest.fixture
def notes(serve: Serve) -> StandIn:
    return serve(NOTES)


@pytest.fixture
def ana(notes: StandIn) -> Client:
    """The owner of the note `n`."""
    client = Client(notes, user("ana"))
    client.written("createNote", "id", {"id": "n", "text": "t"})
    return client


@pytest.fixture
def bob(notes: StandIn) -> Client:
    return Client(notes, user("bob"))


def test_a_create_fills_in_its_owner(ana: Client) -> None:
    assert ana.data('{ getNote(id: "n") { owner } }') == {"owner": "ana"}


def test_nobody_creates_for_another(ana: Client) -> None:
    error = ana.refused("createNote", "id", {"id": "m", "owner": "bob"})
    assert error["errorType"] == "Unauthorized"
    assert error["message"] == "Not Authorized to access createNote on type Mutation"


@pytest.mark.parametrize("field", ["updateNote", "deleteNote"])
def test_only_the_owner_writes(ana: Client, bob: Client, field: str) -> None:
    given = {"id": "n", "_version": 1}
    assert bob.refused(field, "id", given)["errorType"] == "Unauthorized"
    assert ana.written(field, "id", given) == {"id": "n"}


def test_rows_that_the_caller_may_not_read_are_left_out_silently(ana: Client, bob: Client) -> None:
    for query in ("{ listNotes { items { id } } }", "{ syncNotes { items { id } } }"):
        assert ana.data(query) == {"items": [{"id": "n"}]}
        assert bob.data(query) == {"items": []}


def test_a_get_of_another_s_record_is_unauthorized(ana: Client, bob: Client) -> None:
    error = bob.error('{ getNote(id: "n") { id } }')
    assert (error["errorType"], error["path"]) == ("Unauthorized", ["getNote"])


def test_a_group_may_do_what_its_rule_says(ana: Client, notes: StandIn) -> None:
    staff = Client(notes, user("eve", "staff"))
    assert staff.data('{ getNote(id: "n") { text } }') == {"text": "t"}
    error = staff.refused("updateNote", "id", {"id": "n", "_version": 1})
    assert error["errorType"] == "Unauthorized"


def test_a_caller_whom_no_rule_concerns_is_unauthorized(notes: StandIn) -> None:
    error = Client(notes).error("{ syncNotes { nextToken } }")
    assert error["message"] == "Not Authorized to access syncNotes on type Query"


def test_a_field_may_have_rules_of_its_own(ana: Client, notes: StandIn) -> None:
    body = Client(notes, user("eve", "staff")).run('{ getNote(id: "n") { text secret } }')
    assert body["data"] == {"getNote": {"text": "t", "secret": None}}
    assert body["errors"][0]["path"] == ["getNote", "secret"]
    assert ana.refused("updateNote", "id", {"id": "n", "secret": "s", "_version": 1})


def test_owners_and_groups_may_be_lists_in_the_record(notes: StandIn) -> None:
    ana, eve = Client(notes, user("ana")), Client(notes, user("eve", "red"))
    made = ana.written("createBoard", "editors", {"id": "b", "teams": ["red", "blue"]})
    assert made == {"editors": ["ana"]}
    assert eve.written("updateBoard", "name", {"id": "b", "name": "x", "_version": 1})
    assert eve.refused("deleteBoard", "id", {"id": "b", "_version": 2})
    other = Client(notes, user("dan", "green"))
    assert other.refused("updateBoard", "id", {"id": "b", "_version": 2})


def test_public_private_and_custom_are_told_by_the_mode(notes: StandIn) -> None:
    notes.control("auth", lambdaTokens={"token": {}})
    key, someone = Client(notes), Client(notes, user("ana"))
    custom = Client(notes, {"Authorization": "token"})
    key.written("createOpen", "id", {"id": "o"})
    assert someone.data("{ listOpens { items { id } } }") == {"items": [{"id": "o"}]}
    assert someone.refused("createOpen", "id", {"id": "p"})
    assert custom.written("createOpen", "id", {"id": "p"})


def test_the_claim_of_an_owner_may_be_of_two_parts(notes: StandIn) -> None:
    ana = Client(notes, user("ana"))
    made = ana.written("createStamp", "owner", {"id": "s"})
    assert made == {"owner": "sub-ana::ana"}
    assert ana.written("deleteStamp", "id", {"id": "s", "_version": 1})


EVENTS = "subscription ($owner: String) { onCreateNote(owner: $owner) { id } }"


@pytest.fixture
def listening(notes: StandIn) -> Iterator[Socket]:
    """A socket of bob's."""
    with Socket(notes, user("bob")) as socket:
        yield socket


def test_an_owner_gets_the_events_of_own_records(
    listening: Socket, ana: Client, bob: Client
) -> None:
    listening.subscribe(EVENTS)
    ana.written("createNote", "id owner", {"id": "of ana"})
    bob.written("createNote", "id owner", {"id": "of bob"})
    assert listening.event() == {"id": "of bob"}
    listening.nothing_came()


def test_who_sees_all_events_may_ask_for_those_of_an_owner(
    notes: StandIn, ana: Client, bob: Client
) -> None:
    with Socket(notes, user("eve", "staff")) as socket:
        socket.subscribe(EVENTS, owner="bob")
        ana.written("createNote", "id owner", {"id": "of ana"})
        bob.written("createNote", "id owner", {"id": "of bob"})
        assert socket.event() == {"id": "of bob"}


def test_an_event_without_its_owner_is_nobody_s(listening: Socket, bob: Client) -> None:
    listening.subscribe(EVENTS)
    bob.written("createNote", "id", {"id": "n"})
    listening.nothing_came()


def test_another_s_events_are_unauthorized(listening: Socket) -> None:
    error = listening.refused(EVENTS, owner="ana")
    assert error["errorType"] == "Unauthorized"
    assert error["message"] == "Not Authorized to access onCreateNote on type Subscription"
    listening.subscribe(EVENTS, "own", owner="bob")


def test_a_socket_serves_several_modes(listening: Socket, notes: StandIn) -> None:
    message = listening.begin(
        "subscription { onCreateOpen { id } }", headers={"host": notes.host, **API_KEY}
    )
    assert message["type"] == "start_ack"
    assert listening.begin(EVENTS, "k", headers=API_KEY)["type"] == "error"
    Client(notes).written("createOpen", "id", {"id": "o"})
    assert listening.event() == {"id": "o"}


def test_a_token_that_expires_in_mid_session_ends_its_subscriptions(notes: StandIn) -> None:
    with Socket(notes, user("bob", exp=NOON // 1000 + 60)) as socket:
        socket.subscribe(EVENTS)
        notes.control("clock", advance=60_000)
        message = socket.receive()
        assert (message["type"], message["id"]) == ("error", "s")
        error = message["payload"]["errors"][0]
        assert (error["errorType"], error["errorCode"]) == ("UnauthorizedException", 401)
        assert socket.refused(EVENTS)["message"] == "Token has expired."
