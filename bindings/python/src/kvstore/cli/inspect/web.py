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


class GuardedServer(Server):
    """Serves the screen to clients with the token, and nothing to others.

    The address with the token sets a cookie that scripts cannot read and other sites cannot use.
    Requests with another host name, as in DNS rebinding, and sockets of other pages are refused.
    The page loads nothing from other hosts.
    """

    def __init__(self, command: str, port: int) -> None:
        super().__init__(command, host=_ADDRESS, port=port, title="kvstore")
        self.token = secrets.token_urlsafe(32)
        self._authority = f"{_ADDRESS}:{port}"
        self._cookie = f"kvstore-{port}"

    @property
    def address(self) -> str:
        """Return the address to open in a browser."""
        return f"{self.public_url}/?token={self.token}"

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()

        @web.middleware
        async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
            return await self._guard(request, handler)

        app.middlewares.append(guard)
        return app

    async def on_startup(self, app: web.Application) -> None:
        """Print the address."""
        print(f"Open {self.address}\nCtrl-C ends it.", flush=True)

    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        own_page = f"http://{self._authority}"
        if request.host != self._authority or request.headers.get("Origin", own_page) != own_page:
            raise web.HTTPForbidden(text="The address is not valid.")
        if request.path == "/" and self._knows(request.query.get("token")):
            redirect = web.HTTPFound("/")
            redirect.set_cookie(
                self._cookie, self.token, httponly=True, samesite="Strict", path="/"
            )
            raise redirect
        if not self._knows(request.cookies.get(self._cookie)):
            raise web.HTTPForbidden(text="Open the address that kvstore inspect --web has printed.")
        if request.path.startswith("/static/"):
            return await handler(request)
        answer = await handler(request)
        if not answer.prepared:
            answer.headers["Content-Security-Policy"] = self._policy
            answer.headers["Referrer-Policy"] = "no-referrer"
        return answer

    @property
    def _policy(self) -> str:
        return (
            "default-src 'self' 'unsafe-inline' data:; script-src 'self' 'unsafe-inline';"
            f" connect-src ws://{self._authority}; frame-ancestors 'none'; form-action 'none'"
        )

    def _knows(self, token: str | None) -> bool:
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())


def serve(port: int) -> None:
    """Serve the screen until Ctrl-C. Its options are in the environment."""
    listener = socket.create_server((_ADDRESS, port))
    command = shlex.join([sys.executable, "-m", "kvstore.cli", "inspect"])
    server = GuardedServer(command, listener.getsockname()[1])
    web.run_app(server._make_app(), sock=listener, print=None)
