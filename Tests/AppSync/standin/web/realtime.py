"""The upgrade to the real-time protocol, in its three styles."""

from __future__ import annotations

import base64
import binascii
import json
from itertools import count

from aiohttp import web

from ..auth.authenticate import AuthenticationError, authenticate, lower
from ..auth.sigv4 import Signed
from .connection import Connection
from .service import Service

PROTOCOL = "graphql-ws"
#: What a subprotocol begins with that carries the headers.
PREFIX = "header-"


class HeaderError(Exception):
    """The headers of an upgrade are no JSON in base64."""


class Realtime:
    """All sockets."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.connections: list[Connection] = []
        self._numbers = count(1)

    async def upgrade(self, request: web.Request) -> web.StreamResponse:
        fault = self.service.faults.take("connect")
        await self.service.faults.wait(fault)
        if fault and fault.action == "dropBefore":
            if request.transport is not None:
                request.transport.abort()
            return web.Response(status=499)
        socket = web.WebSocketResponse(protocols=[PROTOCOL])
        if not socket.can_prepare(request).ok or PROTOCOL not in offered(request):
            return web.Response(status=400, text="The subprotocol graphql-ws is spoken here.")
        number = next(self._numbers)
        refusal = self.check(request, number)
        if fault and fault.action == "refuse":
            first = fault.error_list("UnauthorizedException")[0]
            refusal = (first["errorType"], first.get("errorCode", 401))
        await socket.prepare(request)
        connection = Connection(self.service, request, socket, number, refusal)
        self.connections.append(connection)
        try:
            await connection.run()
        finally:
            self.connections.remove(connection)
        return socket

    def check(self, request: web.Request, number: int) -> tuple[str, int] | None:
        """Why a connection is refused, and the code of that, or None."""
        entry = self.service.log.add("connect", connection=number)
        try:
            signed = Signed("/graphql/connect", handed_headers(request), b"{}")
            identity = authenticate(self.service.auth, self.service.clock, signed)
        except HeaderError:
            return "BadRequestException", 400
        except AuthenticationError:
            return "UnauthorizedException", 401
        entry.mode, entry.claims = identity.mode.value, dict(identity.claims)
        if len(self.connections) >= self.service.options.max_connections:
            return "LimitExceededError", 429
        return None


def offered(request: web.Request) -> list[str]:
    """The subprotocols that the client offers."""
    given = ",".join(request.headers.getall("Sec-WebSocket-Protocol", []))
    return [each.strip() for each in given.split(",")]


def handed_headers(request: web.Request) -> dict[str, str]:
    """The headers that authorize: in the query, in a subprotocol, or those of the request."""
    query = request.query.get("header")
    if query is not None:
        # A plus that was not escaped has become a space.
        return decode(query.replace(" ", "+"))
    for each in offered(request):
        if each.startswith(PREFIX):
            return decode(each.removeprefix(PREFIX).replace("-", "+").replace("_", "/"))
    return lower(request.headers)


def decode(text: str) -> dict[str, str]:
    try:
        decoded = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), validate=True))
    except (binascii.Error, ValueError) as error:
        raise HeaderError from error
    if not isinstance(decoded, dict):
        raise HeaderError
    return lower(decoded)
