"""Logins by a provider of OpenID Connect that is not ours: Django OAuth Toolkit."""

from __future__ import annotations

import secrets
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import kvstore
import pytest
from conftest import Start, sign_up
from openid import REDIRECT, Browser, Provider, log_in, tokens


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[Provider]:
    """Run the provider."""
    (tmp_path / "provider").mkdir()
    provider = Provider(tmp_path / "provider")
    yield provider
    provider.stop()


def client(path: Path, host: str) -> kvstore.Client:
    """Open a client of the library that keeps its data in a directory."""
    return kvstore.Client(
        app_key="kid", app_secret="sec", host=host, auth_host=host, data_directory=path
    )


def test_a_client_of_the_library_logs_in_on_the_providers_page(
    start: Start, provider: Provider, tmp_path: Path
) -> None:
    host = start(*provider.options(tmp_path)).host
    state = secrets.token_urlsafe()
    with client(tmp_path / "first", host) as first:
        page = first.login_page(REDIRECT, state=state)
        back = Browser().log_in(page)
        assert back["state"] == state
        user = first.login_with_code(back["code"], REDIRECT)
        assert user["username"] == "ana"
        with first.collection("notes") as notes:
            notes.save({"_id": "a", "text": "milk"})
            notes.push()
    with client(tmp_path / "second", host) as second:
        back = Browser().log_in(second.login_page(REDIRECT, state=state))
        again = second.login_with_code(back["code"], REDIRECT)
        assert again["_id"] == user["_id"], "it is the same user"
        with second.collection("notes") as notes:
            notes.pull()
            assert [note["text"] for note in notes.find()] == ["milk"]


def test_tokens_are_renewed_and_nothing_counts_twice_or_elsewhere(
    start: Start, provider: Provider, tmp_path: Path
) -> None:
    server = start(*provider.options(tmp_path))
    host = server.host
    parameters = {"client_id": "kid", "redirect_uri": REDIRECT, "response_type": "code"}
    challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    pkce = {**parameters, "code_challenge": challenge, "code_challenge_method": "S256"}
    browser = Browser()
    code = browser.log_in(f"{host}/v3/oauth/auth?{urllib.parse.urlencode(pkce)}")["code"]
    ask = {"grant_type": "authorization_code", "code": code}
    assert tokens(host, **ask)[1]["error"] == "invalid_grant", "without the verifier"
    assert tokens(host, **ask, code_verifier="another")[1]["error"] == "invalid_grant"
    ask["code_verifier"] = verifier
    assert tokens(host, **ask, redirect_uri="http://elsewhere/")[1]["error"] == "invalid_grant"
    assert tokens(host, **ask, who="Basic a2lkOm5v")[0] == 401
    status, first = tokens(host, **ask)
    assert (status, first["token_type"]) == (200, "bearer")
    status, error = tokens(host, **ask)
    assert (status, error["error"]) == (400, "invalid_grant"), "the provider takes a code once"
    status, renewed = tokens(host, grant_type="refresh_token", refresh_token=first["refresh_token"])
    assert status == 200
    for access in (first["access_token"], renewed["access_token"]):
        status, user = log_in(server, {"kinveyAuth": {"access_token": access}})
        assert (status, user["username"]) == (200, "ana")
    for text in (first["refresh_token"], code, first["access_token"][:-4] + "AAAA", "x"):
        status, error = log_in(server, {"kinveyAuth": {"access_token": text}})
        assert (status, error["error"]) == (401, "InvalidCredentials")
    for changed in ({"redirect_uri": "http://elsewhere/"}, {"client_id": "other"}):
        page = f"{host}/v3/oauth/auth?{urllib.parse.urlencode({**parameters, **changed})}"
        with pytest.raises(urllib.error.HTTPError, match=r"40[01]"):
            urllib.request.urlopen(page)
    again = {"grant_type": "refresh_token", "refresh_token": renewed["refresh_token"]}
    provider.stop()
    status, error = tokens(host, **again)
    assert (status, error["error"]) == (503, "temporarily_unavailable")


def test_somebody_who_gives_up_comes_back_to_the_app_with_an_error(
    start: Start, provider: Provider, tmp_path: Path
) -> None:
    host = start(*provider.options(tmp_path)).host
    parameters = {"client_id": "kid", "redirect_uri": REDIRECT, "state": "mine"}
    unknown = f"{host}/v3/oauth/auth?{urllib.parse.urlencode(parameters)}"
    assert Browser().log_in(unknown) == {"error": "unsupported_response_type", "state": "mine"}
    # The provider refuses the person: it sends the browser back with an error and our state.
    page = f"{unknown}&response_type=code"
    browser = Browser()
    browser.open(page)
    target = urllib.parse.parse_qs(urllib.parse.urlsplit(browser.place).query)["next"][0]
    ours = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(target).query))["state"]
    back = urllib.parse.urlencode({"error": "access_denied", "state": ours})
    assert browser.log_in(f"{host}/v3/oauth/callback?{back}") == {
        "error": "access_denied",
        "state": "mine",
    }
    for state in ("", ours[:-4] + "AAAA"):
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(f"{host}/v3/oauth/callback?code=1&state={state}")


def test_a_provider_that_is_down_costs_nobody_his_password_login(
    start: Start, provider: Provider, tmp_path: Path
) -> None:
    server = start(*provider.options(tmp_path))
    provider.stop()
    parameters = {"client_id": "kid", "redirect_uri": REDIRECT, "response_type": "code"}
    page = f"{server.host}/v3/oauth/auth?{urllib.parse.urlencode(parameters)}"
    assert Browser().log_in(page) == {"error": "temporarily_unavailable"}
    token = "e30.e30.e30"
    status, error = log_in(server, {"openid": {"id_token": token}})
    assert (status, error["error"]) == (401, "InvalidCredentials"), "it is no token at all"
    assert sign_up(server, "bob")
