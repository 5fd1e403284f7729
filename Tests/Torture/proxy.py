"""A TCP proxy that does to connections what bad networks do.

Each connection draws its fate: nothing, a cut after a random number of bytes (of the request or
of the answer), a reset, a delay, a throttle. Until `heal()` is called.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import struct
from collections import Counter

from tcp_relay import TCPRelay, first_of

#: How likely each fate is, in percent; the rest passes unharmed.
FATES = {"cut request": 6, "cut answer": 6, "reset": 5, "delay": 8, "throttle": 5}
PIECE = 4096


class FaultyProxy(TCPRelay):
    """Passes connections on as their fates are."""

    def __init__(
        self, target: int, chance: random.Random, fates: dict[str, int] | None = None
    ) -> None:
        """Start to listen. `fates`: how likely each is; None: as usual."""
        self.faults: Counter[str] = Counter()
        self._fates = FATES if fates is None else fates
        self._chance = chance
        self._healthy = False
        super().__init__(target)

    @property
    def host(self) -> str:
        """Give the address for a client."""
        return f"http://127.0.0.1:{self.port}"

    def heal(self) -> None:
        """From now on nothing happens to new connections."""
        self._healthy = True

    def _fate(self) -> str:
        if self._healthy:
            return "none"
        drawn = self._chance.uniform(0, 100)
        for fate, share in self._fates.items():
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
            await first_of(
                asyncio.ensure_future(self._pass(reader, back, fate, "request")),
                asyncio.ensure_future(self._pass(there, writer, fate, "answer")),
            )
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
