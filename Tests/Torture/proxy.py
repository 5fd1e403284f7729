"""A TCP proxy that does to connections what bad networks do.

Each connection draws its fate: nothing, a cut behind a random number of bytes (of the request or
of the answer), a reset, a delay, a throttle. Until `heal()` is called.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
import threading
from collections import Counter

#: How likely each fate is, in percent; the rest passes unharmed.
FATES = {"cut request": 6, "cut answer": 6, "reset": 5, "delay": 8, "throttle": 5}
PIECE = 4096


class FaultyProxy:
    """Listens on a port of its own and passes what comes on to another, on a thread of its own."""

    def __init__(self, target: int, chance: random.Random) -> None:
        """Start to listen."""
        self.target = target
        self.faults: Counter[str] = Counter()
        self._chance = chance
        self._healthy = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def host(self) -> str:
        """Give the address for a client."""
        return f"http://127.0.0.1:{self.port}"

    def heal(self) -> None:
        """From now on nothing happens to new connections."""
        self._healthy = True

    def close(self) -> None:
        """Stop listening, and cut what is open."""
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

    def _fate(self) -> str:
        if self._healthy:
            return "none"
        drawn = self._chance.uniform(0, 100)
        for fate, share in FATES.items():
            drawn -= share
            if drawn < 0:
                self.faults[fate] += 1
                return fate
        return "none"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        fate = self._fate()
        back = None
        try:
            if fate == "reset":
                await reader.read(self._chance.randrange(1, PIECE))
                return _reset(writer)
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
            ways = [
                asyncio.ensure_future(self._pass(reader, back, fate, "request")),
                asyncio.ensure_future(self._pass(there, writer, fate, "answer")),
            ]
            # When one side is gone, the other learns of it at once.
            _, left = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in left:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        except OSError:
            pass
        finally:
            for end in (writer, back):
                if end is not None:
                    end.close()
                    with contextlib.suppress(OSError):
                        await end.wait_closed()

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, fate: str, way: str
    ) -> None:
        left = self._chance.randrange(0, 20_000) if fate == f"cut {way}" else None
        while piece := await reader.read(PIECE):
            if fate == "delay":
                await asyncio.sleep(self._chance.uniform(0, 0.4))
            if fate == "throttle":
                await asyncio.sleep(len(piece) / 100_000)
            if left is not None:
                piece, left = piece[:left], left - len(piece)
            writer.write(piece)
            await writer.drain()
            if left is not None and left <= 0:
                return


def _reset(writer: asyncio.StreamWriter) -> None:
    """Close so that the other side gets a reset instead of an end."""
    connection = writer.get_extra_info("socket")
    if connection is not None:
        linger = struct.pack("ii", 1, 0)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    writer.transport.abort()
