"""A network between two programs of a test: it can be cut, fall silent, and lose answers."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Self

from tcp_relay import TCPRelay, first_of


class Link(TCPRelay):
    """Passes everything on until something is wrong."""

    def __init__(self, target: int) -> None:
        """Start to listen; nothing is wrong yet."""
        #: How many answers were lost.
        self.lost = 0
        self._losing = b""
        self._is_cut = False
        self._passing = asyncio.Event()
        self._passing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        super().__init__(target)

    def silence(self) -> None:
        """Let nothing pass and tell nobody, as if a cable was pulled."""
        self._loop.call_soon_threadsafe(self._passing.clear)

    def cut(self) -> None:
        """End all connections, and new ones as soon as they are made."""
        self._is_cut = True
        self._loop.call_soon_threadsafe(self._abort)

    def heal(self) -> None:
        """Let everything pass again, also what has waited meanwhile."""
        self._is_cut = False
        self._loop.call_soon_threadsafe(self._passing.set)

    def lose_answers(self, words: bytes) -> None:
        """End each connection when the answer to something with these bytes comes; b"": none."""
        self._losing = words

    def _abort(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._is_cut:
            writer.transport.abort()
            return
        ends = [writer]
        with contextlib.suppress(OSError, asyncio.CancelledError):
            there, back = await asyncio.open_connection("127.0.0.1", self.target)
            ends.append(back)
            self._writers.update(ends)
            answers = asyncio.Event()
            await first_of(
                asyncio.ensure_future(self._ask(reader, back, answers)),
                asyncio.ensure_future(self._answer(there, writer, answers)),
            )
        for end in ends:
            end.transport.abort()
        self._writers.difference_update(ends)

    async def _ask(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, loses: asyncio.Event
    ) -> None:
        while piece := await reader.read(65536):
            await self._passing.wait()
            if self._losing and self._losing in piece:
                loses.set()
            writer.write(piece)
            await writer.drain()

    async def _answer(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, loses: asyncio.Event
    ) -> None:
        while piece := await reader.read(65536):
            await self._passing.wait()
            if loses.is_set():
                self.lost += 1
                return
            writer.write(piece)
            await writer.drain()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
