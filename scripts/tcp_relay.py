"""What proxies of tests share: a port of their own, and a thread that serves its connections."""

from __future__ import annotations

import asyncio
import socket
import threading
from abc import ABC, abstractmethod


class TCPRelay(ABC):
    """Serves connections to another port, on a thread of its own."""

    def __init__(self, target: int) -> None:
        """Start to listen. A subclass is complete before it calls this."""
        self.target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        """Stop listening, and end what is open."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, sock=self._listener)
        )
        self._loop.run_forever()
        server.close()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        self._loop.close()

    @abstractmethod
    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""


async def first_of(*ways: asyncio.Future[None]) -> None:
    """Wait until one way has ended, and end the others, so that each side learns of it."""
    _, left = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    for way in left:
        way.cancel()
    await asyncio.gather(*ways, return_exceptions=True)
