"""Runs the server for tests: in a thread of theirs, or as a process."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

from .web.server import Server
from .web.service import Options, Service

T = TypeVar("T")
SECONDS = 60


class Controlled:
    """The calls of the control endpoint at `url`."""

    url: str

    @property
    def endpoint(self) -> str:
        return f"{self.url}/graphql"

    @property
    def realtime(self) -> str:
        return self.endpoint.replace("http", "ws", 1) + "/realtime"

    @property
    def host(self) -> str:
        """Name and port, as clients sign them."""
        return self.url.removeprefix("http://")

    def control(self, path: str, method: str = "POST", **given: Any) -> Any:
        """A call of `/control/…`; without members of a body its method is often GET."""
        data = json.dumps(given).encode() if method == "POST" else None
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(
            f"{self.url}/control/{path}", data=data, headers=headers, method=method
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return json.loads(answer.read())

    def log(self, after: int = 0, count: int = 0) -> list[dict[str, Any]]:
        """The request log after a number, once it has `count` entries."""
        path = f"log?after={after}&count={count}&wait={SECONDS}"
        entries: list[dict[str, Any]] = self.control(path, "GET")["entries"]
        return entries


class StandIn(Controlled):
    """A server in a thread of this process."""

    def __init__(self, options: Options) -> None:
        """Throws SchemaError for an SDL that cannot be served."""
        self._server = Server(options)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    @property
    def service(self) -> Service:
        """What the server has; it is used from the server's thread, by `call`."""
        return self._server.service

    def call(self, action: Callable[[Service], T]) -> T:
        """The result of an action in the server's thread."""

        async def run() -> T:
            return action(self.service)

        return asyncio.run_coroutine_threadsafe(run(), self._loop).result(SECONDS)

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._server.start(), self._loop).result(SECONDS)
        self.url = self._server.url
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.stop(), self._loop).result(SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()


class Process(Controlled):
    """A server as a process of its own, as tests in other languages start it."""

    def __init__(self, schema: Path, *options: str) -> None:
        package = Path(__file__).resolve().parent
        command = [sys.executable, "-m", package.name, "--schema", str(schema), *options]
        self._process = subprocess.Popen(
            command, cwd=package.parent, stdout=subprocess.PIPE, text=True
        )
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"standin ended with {self._process.wait(SECONDS)}")
        self.url = json.loads(line)["endpoint"].removesuffix("/graphql")

    def kill(self) -> None:
        """Ends it at once."""
        self._process.kill()
        self._end()

    def stop(self) -> None:
        """Ends it in its own time."""
        self._process.terminate()
        self._end()

    def _end(self) -> None:
        self._process.wait(SECONDS)
        if self._process.stdout:
            self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.kill()
