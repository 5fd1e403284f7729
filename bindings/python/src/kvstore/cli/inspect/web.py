"""The screen in a browser: on the loopback interface, protected by a token."""

from __future__ import annotations

import hmac
import secrets
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable

from aiohttp import web
from textual_serve.server import Server

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_ADDRESS = "127.0.0.1"
_REFUSAL = (
    "Open the address that kvstore inspect --web has printed."
    " It is good for one browser: for another one, start it again."
)


class GuardedServer(Server):
    """Serves the screen to one browser, and nothing to others.

    The address that is printed has a token, which is good for one login. In exchange the browser
    gets a cookie that scripts cannot read and other sites cannot use. Browsers send a cookie to
    every port of its host, and so to services of other users of this machine. Therefore the screen
    has a path that only the browser knows, and the cookie is for that path alone.

    Requests with another host name, as in DNS rebinding, and sockets of other pages are refused.
    The page loads nothing from other hosts.
    """

    def __init__(self, command: str, port: int) -> None:
        super().__init__(command, host=_ADDRESS, port=port, title="kvstore")
        self._token: str | None = secrets.token_urlsafe(32)
        self._authority = f"{_ADDRESS}:{port}"
        self._cookie = (f"kvstore-{port}", secrets.token_urlsafe(32))
        self._path = f"/{secrets.token_urlsafe(32)}"

    @property
    def address(self) -> str:
        """Return the address to open in a browser, once."""
        return f"{self.public_url}/?token={self._token}"

    async def _make_app(self) -> web.Application:
        screen = await super()._make_app()
        # The base class gives the screen to its own application; this one stands around it.
        screen.on_startup.clear()
        app = web.Application()
        app.add_routes([web.get("/", self._exchange)])
        app.add_subapp(self._path, screen)
        app.on_startup.append(self.on_startup)

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        app.middlewares.append(guard)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Print the address."""
        print(f"Open {self.address}\nCtrl-C ends it.", flush=True)

    async def _exchange(self, request: web.Request) -> web.StreamResponse:
        """Log a browser in, the first that has the token."""
        if not _is_same(request.query.get("token"), self._token):
            raise web.HTTPForbidden(text=_REFUSAL)
        self._token = None
        name, value = self._cookie
        answer = web.HTTPFound(f"{self._path}/")
        answer.set_cookie(name, value, httponly=True, samesite="Strict", path=f"{self._path}/")
        answer.headers["Referrer-Policy"] = "no-referrer"
        answer.headers["Cache-Control"] = "no-store"
        raise answer

    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        own_page = f"http://{self._authority}"
        if request.host != self._authority or request.headers.get("Origin", own_page) != own_page:
            raise web.HTTPForbidden(text="The address is not valid.")
        if request.path == "/":
            return await handler(request)
        name, value = self._cookie
        if not _is_same(request.cookies.get(name), value):
            raise web.HTTPForbidden(text=_REFUSAL)
        answer = await handler(request)
        if not answer.prepared and not request.path.startswith(f"{self._path}/static/"):
            answer.headers["Content-Security-Policy"] = self._policy
            answer.headers["Referrer-Policy"] = "no-referrer"
        return answer

    @property
    def _policy(self) -> str:
        return (
            "default-src 'self' 'unsafe-inline' data:; script-src 'self' 'unsafe-inline';"
            f" connect-src ws://{self._authority}; frame-ancestors 'none'; form-action 'none'"
        )


def _is_same(given: str | None, secret: str | None) -> bool:
    if given is None or secret is None:
        return False
    return hmac.compare_digest(given.encode(), secret.encode())


def serve(port: int) -> None:
    """Serve the screen until Ctrl-C. Its options are in the environment."""
    listener = socket.create_server((_ADDRESS, port))
    command = shlex.join([sys.executable, "-m", "kvstore.cli", "inspect"])
    server = GuardedServer(command, listener.getsockname()[1])
    web.run_app(server._make_app(), sock=listener, print=None)
