"""One WebSocket of the real-time protocol."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from aiohttp import WSMsgType, web

from ..api.engine import RefusedError, Request
from ..auth.authenticate import AuthenticationError, authenticate
from ..auth.sigv4 import Signed
from ..errors import AppSyncError
from .delivery import Delivery
from .faults import Fault
from .messages import Message, error, errors, read_start
from .service import Service
from .subscriptions import Payload, Subscription

#: No connection lives longer, in milliseconds.
MAX_AGE = 24 * 3600 * 1000


class Connection:
    """A socket after its upgrade; with a `refusal` its `connection_init` is refused by it."""

    def __init__(
        self,
        service: Service,
        request: web.Request,
        socket: web.WebSocketResponse,
        number: int,
        refusal: tuple[str, int] | None,
    ) -> None:
        self.service = service
        self.number = number
        self.opened_at = service.clock.now()
        self._silent = False
        self._request = request
        self._socket = socket
        self._refusal = refusal
        self._ready = False
        self._subscriptions: dict[str, Subscription] = {}
        self._delivery = Delivery(service.faults, self.send, self.cut)
        self._outgoing: asyncio.Queue[Message | None] = asyncio.Queue()
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Serves the socket until it is closed."""
        self._tasks.append(asyncio.create_task(self._write()))
        try:
            async for message in self._socket:
                if message.type is WSMsgType.TEXT:
                    await self._receive(message.data)
        finally:
            for task in self._tasks:
                task.cancel()
            self._delivery.stop()
            for subscription in self._subscriptions.values():
                self.service.hub.unsubscribe(subscription)
            self.service.log.add("close", connection=self.number)

    def send(self, message: Message) -> None:
        if not self._silent:
            self._outgoing.put_nowait(message)

    def keep_alive(self) -> None:
        self.send({"type": "ka"})

    def silence(self) -> None:
        """Sends nothing from now on, and stays open."""
        self._silent = True

    def cut(self) -> None:
        """Ends the connection without a word."""
        if self._request.transport is not None:
            self._request.transport.abort()

    def close(self) -> None:
        """Ends the connection by a close frame, once what is to be sent is sent."""
        self._outgoing.put_nowait(None)

    async def _write(self) -> None:
        while (message := await self._outgoing.get()) is not None:
            await self._socket.send_str(json.dumps(message))
        await self._socket.close()

    async def _receive(self, text: str) -> None:
        try:
            message = json.loads(text)
            kind, identifier = message["type"], message.get("id")
        except (ValueError, TypeError, KeyError, AttributeError):
            self.send(error(None, "BadRequestException", "The message is not understood.", 400))
            return
        self.service.log.add(
            str(kind),
            connection=self.number,
            subscription=None if identifier is None else str(identifier),
        )
        if kind == "connection_init":
            self._acknowledge()
        elif not self._ready:
            self.send(error(None, "BadRequestException", "There was no connection_init.", 400))
        elif kind == "start" and isinstance(identifier, str):
            await self._start(identifier, message.get("payload"))
        elif kind == "stop" and isinstance(identifier, str):
            self._stop(identifier)
        else:
            self.send(error(identifier, "UnsupportedOperation", "There is no such message.", 400))

    def _acknowledge(self) -> None:
        if self._refusal is not None:
            kind, code = self._refusal
            payload = {"errors": [{"errorType": kind, "errorCode": code}]}
            self.send({"type": "connection_error", "payload": payload})
            self.close()
            return
        timeout = {"connectionTimeoutMs": self.service.options.connection_timeout}
        self.send({"type": "connection_ack", "payload": timeout})
        self.keep_alive()
        if not self._ready:
            self._ready = True
            self._tasks.append(asyncio.create_task(self._keep_alive()))

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(self.service.options.keep_alive)
            self.check_time()
            self.keep_alive()

    def check_time(self) -> None:
        """Ends subscriptions whose credentials, and connections whose time, have run out."""
        now = self.service.clock.now()
        self.service.hub.expire(now)
        if now - self.opened_at >= MAX_AGE:
            self.close()

    async def _start(self, identifier: str, payload: Any) -> None:
        try:
            request, signed = read_start(payload)
        except (ValueError, TypeError, KeyError, AttributeError):
            self.send(error(identifier, "BadRequestException", "The start is not understood.", 400))
            return
        names = start_fields(self.service, request)
        fault = self.service.faults.take("start", names)
        await self.service.faults.wait(fault)
        if fault is not None and fault.action is not None:
            self._fail(identifier, fault)
        elif identifier in self._subscriptions:
            self.send(error(identifier, "DuplicatedOperationError", "The id is in use."))
        elif len(self._subscriptions) >= self.service.options.max_subscriptions:
            message = "The connection has all the subscriptions that it may have."
            self.send(error(identifier, "MaxSubscriptionsReachedError", message))
        else:
            self._subscribe(identifier, request, signed)

    def _fail(self, identifier: str, fault: Fault) -> None:
        """What a fault does to a start."""
        if fault.action == "close":
            self.cut()
        elif fault.action == "refuse":
            self.send(errors(identifier, fault.error_list("MaxSubscriptionsReachedError")))

    def _subscribe(self, identifier: str, request: Request, signed: Signed) -> None:
        service = self.service

        def expire() -> None:
            self._subscriptions.pop(identifier, None)
            self.send(error(identifier, "UnauthorizedException", "Token has expired.", 401))

        def deliver(payload: Payload) -> None:
            self._deliver(identifier, payload)

        try:
            identity = authenticate(service.auth, service.clock, signed)
            subscription = service.hub.subscribe(service.engine, request, identity, deliver, expire)
        except AuthenticationError as refused:
            self.send(error(identifier, "UnauthorizedException", str(refused), 401))
        except RefusedError as refused:
            self.send(errors(identifier, refused.errors))
        except AppSyncError as refused:
            self.send(error(identifier, refused.error_type, refused.message))
        else:
            self._subscriptions[identifier] = subscription
            self.send({"type": "start_ack", "id": identifier})
            service.log.add(
                "start_ack",
                connection=self.number,
                subscription=identifier,
                fields=list(subscription.prepared.fields),
                variables=dict(request.variables),
                mode=identity.mode.value,
                claims=dict(identity.claims),
            )

    def _stop(self, identifier: str) -> None:
        subscription = self._subscriptions.pop(identifier, None)
        if subscription is not None:
            self.service.hub.unsubscribe(subscription)
        self.send({"type": "complete", "id": identifier})

    def _deliver(self, identifier: str, payload: Payload) -> None:
        message = {"type": "data", "id": identifier, "payload": payload}
        self._delivery.deliver(message, self._subscriptions[identifier].field)


def start_fields(service: Service, request: Request) -> tuple[str, ...]:
    """The fields at the root, none of a document that does not fit."""
    try:
        return service.engine.prepare(request).fields
    except RefusedError:
        return ()
