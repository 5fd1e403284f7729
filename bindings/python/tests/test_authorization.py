"""Logging in on a page of the authorization server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

import kvstore


class Backend(BaseHTTPRequestHandler):
    """Grants tokens, and takes one session at a time."""

    session = ""
    grants = 0

    def do_POST(self) -> None:
        """Answer a grant or a login."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if self.path != "/v3/oauth/token":
            type(self).session = json.loads(body)["_socialIdentity"]["kinveyAuth"]["access_token"]
            self.answer(200, {"_id": "ana", "_kmd": {"authtoken": self.session}})
            return
        form = parse_qs(body)
        good = {"authorization_code": "code", "refresh_token": f"refresh{self.grants}"}
        name = form["grant_type"][0]
        if form.get("code" if name == "authorization_code" else name) != [good[name]]:
            self.answer(400, {"error": "invalid_grant"})
            return
        type(self).grants += 1
        access, refresh = f"access{self.grants}", f"refresh{self.grants}"
        self.answer(200, {"access_token": access, "refresh_token": refresh})

    def do_GET(self) -> None:
        """Answer a count to whoever has the session."""
        if self.headers["Authorization"] == f"Kinvey {self.session}":
            self.answer(200, {"count": 7})
        else:
            error = {"error": "InvalidCredentials", "description": "", "debug": ""}
            self.answer(401, error)

    def answer(self, status: int, body: object) -> None:
        """Send an answer."""
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    """Give the address of an authorization server that is a backend too."""
    Backend.session, Backend.grants = "", 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Backend) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_code_logs_in_and_the_session_renews_itself(host: str, tmp_path: Path) -> None:
    with kvstore.Client(
        app_key="kid", app_secret="secret", host=host, data_directory=tmp_path
    ) as client:
        page = urlsplit(client.login_page("app://done", client_id="kid.service", state="x"))
        assert page.path == "/v3/oauth/auth"
        assert parse_qs(page.query)["client_id"] == ["kid.service"]
        with pytest.raises(kvstore.UnauthorizedError):
            client.login_with_code("wrong", "app://done")
        assert client.login_with_code("code", "app://done")["_id"] == "ana"
        notes = client.collection("notes", "network")
        assert notes.count() == 7
        Backend.session = "has run out"
        assert notes.count() == 7
        assert Backend.grants == 2
