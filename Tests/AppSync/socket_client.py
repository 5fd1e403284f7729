"""A plain client of the real-time protocol, for tests."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, ExitStack
from typing import Any, Self
from urllib.parse import quote

from client import API_KEY
from standin.testing import SECONDS, Controlled
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

#: A connection that a `with` opens and closes.
Opening = AbstractContextManager[ClientConnection]
PROTOCOL = Subprotocol("graphql-ws")
Message = dict[str, Any]


def encoded(headers: Mapping[str, str]) -> str:
    return base64.b64encode(json.dumps(headers).encode()).decode()


def by_query(url: str, headers: Mapping[str, str]) -> Opening:
    """Opens a socket whose headers are in the query."""
    query = f"header={quote(encoded(headers), safe='')}&payload={quote('e30=', safe='')}"
    return connect(f"{url}?{query}", subprotocols=[PROTOCOL])


def by_subprotocol(url: str, headers: Mapping[str, str]) -> Opening:
    """Opens a socket whose headers are in a second subprotocol."""
    text = base64.urlsafe_b64encode(json.dumps(headers).encode()).decode().rstrip("=")
    return connect(url, subprotocols=[PROTOCOL, Subprotocol(f"header-{text}")])


def by_headers(url: str, headers: Mapping[str, str]) -> Opening:
    """Opens a socket whose headers are those of the request."""
    given = {name: value for name, value in headers.items() if name != "host"}
    return connect(url, subprotocols=[PROTOCOL], additional_headers=given)


class Socket:
    """A socket whose connection is acknowledged."""

    def __init__(
        self, server: Controlled, headers: Mapping[str, str] | None = None, path: str | None = None
    ) -> None:
        self.headers = {"host": server.host, **(API_KEY if headers is None else headers)}
        self._stack = ExitStack()
        opened = by_query(path or server.realtime, self.headers)
        self.connection = self._stack.enter_context(opened)
        self.send({"type": "connection_init"})
        assert self.receive()["type"] == "connection_ack"
        assert self.receive() == {"type": "ka"}

    def send(self, message: Message) -> None:
        self.connection.send(json.dumps(message))

    def receive(self) -> Message:
        """The next message, whatever it is."""
        message: Message = json.loads(self.connection.recv(timeout=SECONDS))
        return message

    def begin(
        self,
        query: str,
        identifier: str = "s",
        headers: Mapping[str, str] | None = None,
        **variables: Any,
    ) -> Message:
        """Starts a subscription, and gives what the server says to it."""
        data = json.dumps({"query": query, "variables": variables})
        authorization = self.headers if headers is None else headers
        payload = {"data": data, "extensions": {"authorization": authorization}}
        self.send({"type": "start", "id": identifier, "payload": payload})
        return self.receive()

    def subscribe(self, query: str, identifier: str = "s", **variables: Any) -> None:
        """Starts a subscription, which is acknowledged."""
        assert self.begin(query, identifier, **variables) == {"type": "start_ack", "id": identifier}

    def refused(self, query: str, **variables: Any) -> Any:
        """The error of a subscription that is refused."""
        message = self.begin(query, **variables)
        assert (message["type"], message["id"]) == ("error", "s"), message
        (error,) = message["payload"]["errors"]
        return error

    def event(self, identifier: str = "s") -> Any:
        """What the next event has at its root; it has no errors."""
        message = self.receive()
        assert (message["type"], message["id"]) == ("data", identifier), message
        assert "errors" not in message["payload"], message
        (value,) = message["payload"]["data"].values()
        return value

    def nothing_came(self) -> None:
        """Asks for an answer, before which no event may come."""
        self.send({"type": "stop", "id": "none"})
        assert self.receive() == {"type": "complete", "id": "none"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
