"""A provider of OpenID Connect that is not ours, and what its users have: a browser."""

from __future__ import annotations

import html
import json
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

from conftest import APP, call
from kvstored import CHECKOUT, Server
from ports import hold_port

REDIRECT = "http://127.0.0.1:9/done"
SECRET = "secret of the client"
#: The settings that the documentation shows.
SAMPLE: dict[str, object] = json.loads(
    (CHECKOUT / "docs" / "openid.md").read_text().split("```json\n")[1].split("```")[0]
)


class Provider:
    """The provider's process, and the port that the server has to have for it."""

    def __init__(self, directory: Path) -> None:
        """Start it."""
        # The provider has to know the server's address before it starts.
        self.port = hold_port()
        self.callback = f"http://127.0.0.1:{self.port}/v3/oauth/callback"
        self.process = subprocess.Popen(
            [
                sys.executable,
                str(Path(__file__).with_name("provider.py")),
                str(directory),
                self.callback,
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout
        self.issuer = self.process.stdout.readline().strip()

    def settings(self, path: Path, **more: object) -> str:
        """Write the server's settings; give the path of the file."""
        value = {
            **SAMPLE,
            "issuer": self.issuer,
            "client-secret": SECRET,
            "callback": self.callback,
            "redirects": [REDIRECT],
            **more,
        }
        (path / "openid.json").write_text(json.dumps(value))
        return str(path / "openid.json")

    def options(self, path: Path, **more: object) -> tuple[str, ...]:
        """Give the options of a server for it."""
        return ("--openid", self.settings(path, **more), "--listen", f"127.0.0.1:{self.port}")

    def stop(self) -> None:
        """End it."""
        self.process.kill()
        self.process.wait()


class Browser(urllib.request.HTTPRedirectHandler):
    """Follows redirects and fills the login form in, until it is sent to the app."""

    def __init__(self) -> None:
        """Start without cookies."""
        self.opener = urllib.request.build_opener(
            self, urllib.request.HTTPCookieProcessor(CookieJar())
        )
        self.end: str | None = None

    def redirect_request(self, *arguments: Any) -> urllib.request.Request | None:
        """Stop at the app's address: nothing listens there."""
        address = arguments[5]
        if address.startswith(REDIRECT):
            self.end = address
            return None
        return super().redirect_request(*arguments)

    def open(self, address: str, data: bytes | None = None) -> str:
        """Open a page; give its text, or nothing at the end."""
        try:
            with self.opener.open(address, data) as page:
                self.place = page.url
                text: str = page.read().decode()
                return text
        except urllib.error.HTTPError as error:
            error.read()
            if self.end is None:
                raise
            return ""

    def log_in(self, address: str, name: str = "ana", password: str = "pass") -> dict[str, str]:
        """Log in on the page of an address; give the parameters with which the app is reached."""
        self.end = None
        page = self.open(address)
        if self.end is None:
            fields = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page))
            fields = {key: html.unescape(value) for key, value in fields.items()}
            fields |= {"username": name, "password": password}
            self.open(self.place, urllib.parse.urlencode(fields).encode())
        assert self.end
        return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.end).query))


def tokens(host: str, *, who: str = APP, **form: str) -> tuple[int, Any]:
    """Ask for tokens; give the status and the answer."""
    data = urllib.parse.urlencode({"client_id": "kid", "redirect_uri": REDIRECT, **form}).encode()
    request = urllib.request.Request(f"{host}/v3/oauth/token", data, {"Authorization": who})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def log_in(server: Server, identity: dict[str, object]) -> tuple[int, Any]:
    """Log in with what a provider has given; give the status and the answer."""
    return call(server, "POST", "/user/kid/login", {"_socialIdentity": identity}, who=APP)
