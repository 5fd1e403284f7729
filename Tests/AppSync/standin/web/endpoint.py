"""`POST /graphql`."""

from __future__ import annotations

import json
from typing import Any

from aiohttp import web
from graphql import OperationType

from ..api.engine import Prepared, RefusedError, Request
from ..auth.authenticate import AuthenticationError, authenticate, lower
from ..auth.identity import Identity
from ..auth.sigv4 import Signed
from .faults import Fault, spoil
from .log import Entry
from .service import Service


class Endpoint:
    """Answers the operations that come by HTTP."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def post(self, request: web.Request) -> web.StreamResponse:
        try:
            body = await request.read()
        except ConnectionResetError:
            # Nobody is left to be answered.
            return web.Response(status=400)
        entry = self.service.log.add("http")
        response = await self.respond(request, body, entry)
        entry.status = response.status
        self.service.log.changed()
        return response

    async def respond(self, request: web.Request, body: bytes, entry: Entry) -> web.StreamResponse:
        given = read_request(body)
        if given is None:
            return refusal(400, "MalformedHttpRequestException", "Unable to parse the request.")
        entry.query, entry.variables = given.query, dict(given.variables)
        try:
            prepared: Prepared | RefusedError = self.service.engine.prepare(given)
        except RefusedError as error:
            prepared = error
        names = prepared.fields if isinstance(prepared, Prepared) else ()
        entry.fields = list(names)
        fault = self.service.faults.take("http", names)
        entry.fault = (fault.action or "delay") if fault else None
        await self.service.faults.wait(fault)
        if fault and fault.action == "dropBefore":
            return dropped(request)
        if fault and fault.action == "status":
            return failed(fault)
        try:
            identity = self.authenticate(request, body)
        except AuthenticationError as error:
            return refusal(401, "UnauthorizedException", str(error))
        entry.mode, entry.claims = identity.mode.value, dict(identity.claims)
        answer = self.answer(prepared, identity, fault)
        entry.error_types = [each.get("errorType") for each in answer.get("errors", ())]
        if isinstance(prepared, Prepared):
            entry.operation = prepared.kind.value
        if fault and fault.action == "dropAfter":
            return dropped(request)
        return web.json_response(answer)

    def authenticate(self, request: web.Request, body: bytes) -> Identity:
        signed = Signed(request.path, lower(request.headers), body, query=request.query_string)
        return authenticate(self.service.auth, self.service.clock, signed)

    def answer(
        self, prepared: Prepared | RefusedError, identity: Identity, fault: Fault | None
    ) -> dict[str, Any]:
        if isinstance(prepared, RefusedError):
            return {"data": None, "errors": prepared.errors}
        if prepared.kind is OperationType.SUBSCRIPTION:
            message = "Subscriptions are started at the real-time endpoint."
            return {"data": None, "errors": [{"errorType": "BadRequest", "message": message}]}
        action = None if fault is None else fault.action
        if fault and action == "error":
            return fail(prepared, fault)
        empty = action == "emptyPage"
        response = self.service.engine.run(prepared, identity, empty_pages=empty)
        if fault and action == "errorAfter":
            return fail(prepared, fault)
        return spoil(response, fault) if fault else response


def fail(prepared: Prepared, fault: Fault) -> dict[str, Any]:
    """The answer of an operation that failed by a fault."""
    path = {"path": [prepared.fields[0]]}
    errors = [path | each for each in fault.error_list("InternalFailure")]
    return {"data": dict.fromkeys(prepared.fields), "errors": errors}


def read_request(body: bytes) -> Request | None:
    try:
        return Request.read(json.loads(body))
    except ValueError:
        return None


def refusal(status: int, kind: str, message: str) -> web.Response:
    return web.json_response({"errors": [{"errorType": kind, "message": message}]}, status=status)


def failed(fault: Fault) -> web.Response:
    """The HTTP status of a fault."""
    usual = "UnauthorizedException" if fault.status in (401, 403) else "InternalFailure"
    headers = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    body = {"errors": fault.error_list(usual)}
    return web.json_response(body, status=fault.status, headers=headers)


def dropped(request: web.Request) -> web.Response:
    """Cuts the connection; the response never leaves."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=499)
