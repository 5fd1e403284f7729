"""Id tokens and providers that nobody should trust."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from conftest import APP, MASTER, Start, call, sign_up
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from jwcrypto import jwk  # type: ignore[import-untyped]
from kvstored import Server, until
from openid import REDIRECT, Browser, log_in, tokens
from ports import hold_port

Claims = dict[str, Any]


def encoded(data: bytes) -> str:
    """Give Base64 as tokens have it."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def signed(claims: Claims, key: Any, header: Claims) -> str:
    """Sign whatever a test wants to have signed."""
    elliptic = key.get("kty") == "EC"
    names = {"alg": "ES256" if elliptic else "RS256", "kid": key.get("kid"), **header}
    text = f"{encoded(json.dumps(names).encode())}.{encoded(json.dumps(claims).encode())}"
    private = serialization.load_pem_private_key(key.export_to_pem(True, None), None)
    if isinstance(private, ec.EllipticCurvePrivateKey):
        pair = decode_dss_signature(private.sign(text.encode(), ec.ECDSA(hashes.SHA256())))
        signature = b"".join(number.to_bytes(32, "big") for number in pair)
    else:
        assert isinstance(private, rsa.RSAPrivateKey)
        signature = private.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{text}.{encoded(signature)}"


class Sham:
    """A provider that says whatever a test wants."""

    def __init__(self) -> None:
        """Start it with an RSA and an EC key."""
        self.rsa = jwk.JWK.generate(kty="RSA", size=2048, kid="rsa", use="sig")
        self.ec = jwk.JWK.generate(kty="EC", crv="P-256", kid="ec")
        self.keys: list[Any] = [key.export_public(as_dict=True) for key in (self.rsa, self.ec)]
        self.asked: list[str] = []
        self.more: Claims = {}
        # The claims of the next id token for a code, and the nonce of the last login.
        self.claims: Claims = {}
        self.nonce = ""
        sham = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:
                pass

            def do_GET(self) -> None:
                sham.answer(self)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                sham.answer(self)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        path, _, query = request.path.partition("?")
        self.asked.append(path)
        if path == "/auth":
            parameters = dict(urllib.parse.parse_qsl(query))
            self.nonce = parameters["nonce"]
            back = urllib.parse.urlencode({"code": "c", "state": parameters["state"]})
            request.send_response(302)
            request.send_header("Location", f"{parameters['redirect_uri']}?{back}")
            request.send_header("Content-Length", "0")
            request.end_headers()
            return
        values: dict[str, Claims] = {
            "/.well-known/openid-configuration": {
                "issuer": self.issuer,
                "jwks_uri": f"{self.issuer}/keys",
                "authorization_endpoint": f"{self.issuer}/auth",
                "token_endpoint": f"{self.issuer}/token",
                **self.more,
            },
            "/keys": {"keys": self.keys},
            "/token": {
                "id_token": self.token(**{"nonce": self.nonce, **self.claims}),
                "access_token": "a",
            },
        }
        body = json.dumps(values[path]).encode()
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    def token(self, key: Any = None, header: Any = None, **claims: Any) -> str:
        """Make an id token, with other claims than usual; None leaves one out."""
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": "me", "sub": "1", "exp": now + 60, "iat": now}
        usual["jti"] = secrets.token_hex(8)
        payload = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        return signed(payload, key or self.rsa, header or {})

    def options(self, path: Path, **more: object) -> tuple[str, ...]:
        """Give the options of a server for it."""
        settings = {
            "issuer": self.issuer,
            "client-id": "me",
            "secret": "what only the servers of the app know",
            **more,
        }
        (path / "openid.json").write_text(json.dumps(settings))
        return ("--openid", str(path / "openid.json"))


@pytest.fixture
def sham() -> Iterator[Sham]:
    """Run the provider."""
    sham = Sham()
    yield sham
    sham.server.shutdown()
    sham.server.server_close()


def with_token(server: Server, token: str, **more: str) -> tuple[int, Any]:
    """Log in with an id token."""
    return log_in(server, {"openid": {"id_token": token, **more}})


def test_id_tokens_that_are_true_log_in_and_no_others_do(
    start: Start, sham: Sham, tmp_path: Path
) -> None:
    weak = jwk.JWK.generate(kty="RSA", size=1024, kid="weak")
    secret = jwk.JWK.generate(kty="RSA", size=2048, kid="secret", use="enc")
    sham.keys += [key.export_public(as_dict=True) for key in (weak, secret)]
    sham.keys += [{"kty": "RSA", "n": 7}, {"kty": "EC", "crv": "P-256", "x": "A", "y": "A"}, 7]
    server = start(*sham.options(tmp_path, audiences=["phone"]))
    now = int(time.time())
    at_hash = encoded(hashlib.sha256(b"access").digest()[:16])
    good = [
        sham.token(),
        sham.token(sham.ec),
        sham.token(aud=["me", "other"], azp="me"),
        sham.token(aud="phone"),
        sham.token(exp=now - 5, nbf=now + 5, iat=now + 5.5),
    ]
    users = [with_token(server, token) for token in good]
    assert [status for status, _ in users] == [200] * len(good), users
    assert len({user["_id"] for _, user in users}) == 1
    assert with_token(server, sham.token(nonce="n", at_hash=at_hash), nonce="n")[0] == 200
    assert with_token(server, sham.token(at_hash=at_hash), access_token="access")[0] == 200
    stranger = jwk.JWK.generate(kty="RSA", size=2048, kid="rsa")
    head, claims, signature = sham.token().split(".")
    nothing = encoded(b'{"alg":"none"}')
    shared = encoded(b'{"alg":"HS256","kid":"rsa"}')
    code = hmac.new(
        sham.rsa.export_to_pem(), f"{shared}.{claims}".encode(), hashlib.sha256
    ).digest()
    other = encoded(json.dumps({"iss": sham.issuer, "aud": "me", "sub": "2"}).encode())
    bad = {
        "no signature": f"{nothing}.{claims}.",
        "no signature, but one": f"{nothing}.{claims}.{signature}",
        "the public key as a secret": f"{shared}.{claims}.{encoded(code)}",
        "another key": sham.token(stranger),
        "an unknown key": sham.token(header={"kid": "other"}),
        "a weak key": sham.token(weak),
        "a key for encryption": sham.token(secret),
        "a key of another kind": sham.token(header={"kid": "ec"}),
        "extensions": sham.token(header={"crit": ["b64"], "b64": False}),
        "other claims": f"{head}.{other}.{signature}",
        "half": f"{head}.{claims}",
        "long": sham.token(more="x" * 20_000),
        "issuer": sham.token(iss=f"{sham.issuer}/"),
        "audience": sham.token(aud="other"),
        "no audience": sham.token(aud=None),
        "audience among others": sham.token(aud=["me", "other"]),
        "party": sham.token(azp="other"),
        "expired": sham.token(exp=now - 31),
        "no end": sham.token(exp=None),
        "end in words": sham.token(exp="tomorrow"),
        "not yet": sham.token(nbf=now + 120),
        "from the future": sham.token(iat=now + 120),
        "no time": sham.token(iat=None),
        "old": sham.token(iat=now - 700, exp=now + 700),
        "nobody": sham.token(sub=None),
        "an empty name": sham.token(sub=""),
        "a number": sham.token(sub=1),
    }
    for why, token in bad.items():
        status, error = with_token(server, token)
        assert (status, error["error"]) == (401, "InvalidCredentials"), (why, error)
    assert with_token(server, sham.token(nonce="n"), nonce="m")[0] == 401
    assert with_token(server, sham.token(), nonce="m")[0] == 401
    assert with_token(server, sham.token(at_hash=at_hash), access_token="b")[0] == 401
    assert sham.asked.count("/keys") == 1, "unknown keys do not make it ask again and again"


def test_a_token_is_good_for_one_login(start: Start, sham: Sham, tmp_path: Path) -> None:
    server = start(*sham.options(tmp_path))
    token = sham.token(nonce="n")
    assert with_token(server, token, nonce="m")[0] == 401, "of another login"
    assert with_token(server, token, nonce="n")[0] == 200, "what was refused has used nothing up"
    status, error = with_token(server, token, nonce="n")
    assert (status, error["error"]) == (401, "InvalidCredentials")
    assert "used before" in error["debug"]
    assert with_token(server, sham.token())[0] == 200


def test_a_token_whose_login_has_failed_is_good_for_another(
    start: Start, sham: Sham, tmp_path: Path
) -> None:
    server = start(*sham.options(tmp_path, users="existing", claim="preferred_username"))
    token = sham.token(preferred_username="ana")
    assert with_token(server, token)[1]["error"] == "UserNotFound"
    link(
        server, me(server, sign_up(server, "ana")), sham.token(preferred_username="ana"), who=MASTER
    )
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: with_token(server, token), range(16)))
    assert sorted(status for status, _ in answers) == [200] + [401] * 15
    ana = next(user["_id"] for status, user in answers if status == 200)
    token = sham.token(preferred_username="ana")
    assert call(server, "DELETE", f"/user/kid/{ana}", who=MASTER)[0] == 204
    assert "disabled" in with_token(server, token)[1]["debug"]
    assert call(server, "POST", f"/user/kid/{ana}/_restore", who=MASTER)[0] == 204
    assert "were ended after" in with_token(server, token)[1]["debug"]
    token = sham.token(preferred_username="ana", iat=later())
    assert with_token(server, token)[0] == 200
    assert "used before" in with_token(server, token)[1]["debug"]


def test_settings_are_read_again_at_sighup(start: Start, sham: Sham, tmp_path: Path) -> None:
    server = start(*sham.options(tmp_path))
    used, phone = sham.token(), sham.token(aud="phone")
    assert with_token(server, used)[0] == 200
    assert with_token(server, phone)[0] == 401
    sham.options(tmp_path, audiences=["phone"])
    server.hang_up()
    until(lambda: with_token(server, sham.token(aud="phone"))[0] == 200)
    assert with_token(server, phone)[0] == 200
    assert "used before" in with_token(server, used)[1]["debug"], "it stays used"
    keys = sham.asked.count("/keys")
    for text in ("{", '{"issuer":"https://id.example"}', ""):
        (tmp_path / "openid.json").write_text(text)
        server.hang_up()
    sham.options(tmp_path, audiences=["phone"], app="of nobody")
    server.hang_up()
    # None of these changed anything; whoever hears of the next one has all of them behind him.
    sham.options(tmp_path, audiences=["phone"])
    server.hang_up()
    assert with_token(server, sham.token(aud="phone"))[0] == 200
    assert sham.asked.count("/keys") == keys, "the same settings keep the keys that are known"
    sham.options(tmp_path, audiences=["phone"], users="existing")
    server.hang_up()

    def answer_to_stranger() -> object:
        return with_token(server, sham.token(sub=secrets.token_hex(8)))[1].get("error")

    until(lambda: answer_to_stranger() == "UserNotFound")


def test_apps_get_and_lose_their_providers_at_sighup(
    start: Start, sham: Sham, tmp_path: Path
) -> None:
    path = tmp_path / "kvstored.json"
    settings = {"issuer": sham.issuer, "client-id": "me", "secret": "of the servers of the app"}
    apps = ["kid:sec:mas", "other:sec:mas"]
    path.write_text(json.dumps({"app": apps}))
    server = start("--config", str(path), app=None)
    assert with_token(server, sham.token())[1]["error"] == "FeatureUnavailable"
    path.write_text(json.dumps({"app": apps, "openid": {**settings, "app": "kid"}}))
    server.hang_up()
    until(lambda: with_token(server, sham.token())[0] == 200)
    path.write_text(json.dumps({"app": apps, "openid": {**settings, "app": "other"}}))
    server.hang_up()
    until(lambda: with_token(server, sham.token())[1].get("error") == "FeatureUnavailable")


def test_who_a_user_is_follows_from_the_subject_and_not_from_a_name(
    start: Start, sham: Sham, tmp_path: Path
) -> None:
    server = start(*sham.options(tmp_path, claim="email"))
    mine = {"email": "ana@example.com", "email_verified": True}
    assert with_token(server, sham.token())[0] == 401, "without the claim"
    assert with_token(server, sham.token(**{**mine, "email_verified": False}))[0] == 401
    status, ana = with_token(server, sham.token(**mine))
    assert (status, ana["username"]) == (200, "ana@example.com")
    status, other = with_token(server, sham.token(sub="2", **mine))
    assert status == 200, "a name that is taken keeps nobody out"
    assert other["_id"] != ana["_id"]
    assert other["username"].startswith("ana@example.com~")
    assert with_token(server, sham.token(sub="2", **mine))[1]["_id"] == other["_id"]
    moved = {**mine, "email": "anna@example.com"}
    assert with_token(server, sham.token(**moved))[1]["_id"] == ana["_id"]
    status, error = call(server, "POST", "/user/kid", {"_id": "f" * 32, "username": "eve"}, who=APP)
    assert (status, error["error"]) == (401, "InsufficientCredentials"), "nobody chooses an id"
    assert call(server, "DELETE", f"/user/kid/{ana['_id']}", who=MASTER)[0] == 204
    assert with_token(server, sham.token(**mine))[0] == 401, "disabled"
    assert call(server, "POST", f"/user/kid/{ana['_id']}/_restore", who=MASTER)[0] == 204
    assert with_token(server, sham.token(**mine, iat=later()))[0] == 200
    assert call(server, "DELETE", f"/user/kid/{ana['_id']}?hard=true", who=MASTER)[0] == 204
    status, error = with_token(server, sham.token(**mine))
    assert (status, error["error"]) == (401, "InsufficientCredentials"), "deleted for good"


def later() -> int:
    """Give a second after this one, which the leeway allows: times of tokens are whole seconds."""
    return int(time.time()) + 1


def me(server: Server, session: str) -> str:
    """Give the id of the user of a session."""
    return str(call(server, "GET", "/user/kid/_me", who=session)[1]["_id"])


def link(server: Server, user: str, token: str, *, who: str) -> tuple[int, Any]:
    """Link a user with whom a token proves; give the status and the answer."""
    identity = {"_socialIdentity": {"openid": {"id_token": token}}}
    return call(server, "PUT", f"/user/kid/{user}/_identity", identity, who=who)


def test_only_users_who_were_linked_log_in_if_the_operator_says_so(
    start: Start, sham: Sham, tmp_path: Path
) -> None:
    """Not those who have a name that the provider gives: users choose their names themselves."""
    server = start(*sham.options(tmp_path, users="existing", claim="preferred_username"))
    named = {"preferred_username": "ana"}
    assert with_token(server, sham.token(**named))[1]["error"] == "UserNotFound"
    waiting = sign_up(server, "ana")
    status, error = with_token(server, sham.token(**named))
    assert (status, error["error"]) == (404, "UserNotFound"), "somebody has waited under the name"
    anna, eve = sign_up(server, "anna"), sign_up(server, "eve")
    ours = me(server, anna)
    for who in (waiting, eve, APP):
        assert link(server, ours, sham.token(**named), who=who)[0] == 401, "of another user"
    assert link(server, ours, "no token", who=anna)[0] == 401
    assert call(server, "PUT", f"/user/kid/{ours}/_identity", {}, who=anna)[0] == 400
    subject = {"issuer": sham.issuer, "subject": "1"}
    assert call(server, "PUT", f"/user/kid/{ours}/_identity", subject, who=anna)[0] == 400
    token = sham.token(**named)
    assert link(server, ours, token, who=anna)[0] == 204
    assert "used before" in with_token(server, token)[1]["debug"]
    status, user = with_token(server, sham.token(**named))
    assert (status, user["_id"], user["username"]) == (200, ours, "anna")
    assert link(server, me(server, eve), sham.token(**named), who=eve)[0] == 409, "has a user"
    assert call(server, "DELETE", f"/user/kid/{ours}/_identity", who=anna)[0] == 204
    assert with_token(server, sham.token(**named))[0] == 404
    place = f"/user/kid/{me(server, eve)}/_identity"
    assert call(server, "PUT", place, {**subject, "subject": "2"}, who=MASTER)[0] == 204
    assert with_token(server, sham.token(sub="2", **named))[1]["username"] == "eve"


def test_what_was_proven_before_all_sessions_ended_opens_none(
    start: Start, sham: Sham, tmp_path: Path
) -> None:
    server = start(*sham.options(tmp_path, **{"token-seconds": 3600}))
    stolen = sham.token(iat=int(time.time()) - 600)
    _, ana = with_token(server, sham.token(iat=int(time.time()) - 300))
    assert call(server, "DELETE", f"/user/kid/{ana['_id']}/tokens", who=MASTER)[0] == 204
    status, error = with_token(server, stolen)
    assert (status, error["error"]) == (401, "InvalidCredentials")
    assert "were ended after" in error["debug"]
    assert with_token(server, sham.token(iat=later()))[0] == 200
    password = {"password": "another one"}
    assert call(server, "PUT", f"/user/kid/{ana['_id']}/_password", password, who=MASTER)[0] == 204
    assert with_token(server, stolen)[0] == 401


def test_an_access_token_must_be_the_one_that_the_id_token_names(
    start: Start, sham: Sham, tmp_path: Path
) -> None:
    server = start(*sham.options(tmp_path))
    status, error = with_token(server, sham.token(), access_token="one")
    assert status == 401
    assert "at_hash" in error["debug"], "it names none"


def test_the_token_of_another_login_does_not_count(
    start: Start, sham: Sham, tmp_path: Path
) -> None:
    port = hold_port()
    callback = f"http://127.0.0.1:{port}/v3/oauth/callback"
    options = sham.options(tmp_path, callback=callback, redirects=[REDIRECT])
    server = start(*options, "--listen", f"127.0.0.1:{port}")
    parameters = {"client_id": "kid", "redirect_uri": REDIRECT, "response_type": "code"}
    page = f"{server.host}/v3/oauth/auth?{urllib.parse.urlencode(parameters)}"
    ask = {"grant_type": "authorization_code", "code": Browser().log_in(page)["code"]}
    for claims in ({"nonce": "of another login"}, {"nonce": None}, {"at_hash": "x"}):
        sham.claims = claims
        status, error = tokens(server.host, **ask)
        assert (status, error["error"]) == (400, "invalid_grant"), claims
    sham.claims = {}
    status, answer = tokens(server.host, **ask)
    assert (status, "refresh_token" in answer) == (200, False)
    access: dict[str, object] = {"kinveyAuth": {"access_token": answer["access_token"]}}
    assert log_in(server, access)[0] == 200


@pytest.mark.parametrize("fault", ["keys", "bytes", "issuer", "addresses", "gone"])
def test_a_provider_that_makes_no_sense_is_as_good_as_none(
    start: Start, sham: Sham, tmp_path: Path, fault: str
) -> None:
    token = sham.token()
    if fault == "keys":
        sham.keys = sham.keys * 51
    elif fault == "bytes":
        sham.keys.append({"kty": "RSA", "n": "x" * (256 << 10)})
    elif fault == "issuer":
        sham.more = {"issuer": "http://127.0.0.1:1"}
    elif fault == "addresses":
        sham.more = {"jwks_uri": "http://id.example/keys"}
    else:
        sham.server.server_close()
        sham.server.shutdown()
    server = start(*sham.options(tmp_path, **{"timeout-seconds": 1}))
    status, error = with_token(server, token)
    assert (status, error["error"]) == (503, "ServiceUnavailable")
    with urllib.request.urlopen(f"{server.host}/healthz") as health:
        assert health.status == 200
    assert sign_up(server, "bob")
