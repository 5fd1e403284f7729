"""Cursors: the entities of a find, one after the other."""

from __future__ import annotations

import json
import threading
import weakref
from collections.abc import Iterator
from typing import Final, Generic

from . import _abi, _native
from ._closing import Closing
from ._json import from_json
from .model import Mapper
from .results import E, Entity

_next = _native.function("kv_cursor_next")
_next_page = _native.function("kv_cursor_next_page")
_close = _native.function("kv_cursor_close")

#: How many entities are read from C at once. The first page is small, so that reading only the
#: first few entities is cheap.
_FIRST_PAGE: Final = 32
_PAGE: Final = 512


class Cursor(Closing, Iterator[E], Generic[E]):
    """Iterates lazily over entities as they were when the find ran. Any thread may use it.

    A cursor over local data holds a snapshot, so close it soon. It closes itself after the last
    entity, at the end of a ``with`` and when it is garbage-collected.
    """

    def __init__(self, handle: int, owner: object | None, mapper: Mapper[E]) -> None:
        """Iterate over a cursor of C and keep its owner alive; without one it is borrowed."""
        #: Makes objects of the entities of :meth:`fetch`.
        self.mapper = mapper
        self._handle: int | None = handle
        self._owner = owner
        self._lock = threading.Lock()
        self._page: list[Entity] = []
        self._page_size = _FIRST_PAGE
        # A cursor inside an answer is closed by the library.
        self._finalizer = weakref.finalize(self, _close, handle) if owner is not None else None

    def __next__(self) -> E:
        with self._lock:
            if not self._page:
                self._page = self._fetch()
            entity = self._page.pop()
        return self.mapper.read(entity) if self.mapper.changes else entity  # type: ignore[return-value]

    def page(self) -> list[E]:
        """Return the next page of entities; an empty list at the end."""
        return [self.mapper.read(entity) for entity in self.fetch()]

    def fetch(self) -> list[Entity]:
        """Return the next page as dictionaries, whatever the model."""
        with self._lock:
            try:
                page = self._page or self._fetch()
            except StopIteration:
                return []
            self._page = []
        page.reverse()
        return page

    def raw(self) -> Iterator[bytes]:
        """Yield the remaining entities as JSON, without parsing them."""
        with self._lock:
            fetched, self._page = self._page, []
        while fetched:
            yield json.dumps(fetched.pop(), ensure_ascii=False, separators=(",", ":")).encode()
        while (text := self._next_raw()) is not None:
            yield text

    def close(self) -> None:
        """Close the cursor. A second call is harmless."""
        with self._lock:
            self._page = []
            self._close_handle()

    def __repr__(self) -> str:
        return f"<kvstore.Cursor{', closed' if self._handle is None else ''}>"

    def _fetch(self) -> list[Entity]:
        """Fetch a page, last entity first. The lock keeps the borrowed text until it is read."""
        if self._handle is None:
            raise StopIteration
        out = _native.take_out()
        try:
            text, length, error = out.refs
            status = _next_page(self._handle, self._page_size, text, length, None, error)
            if status == _abi.KV_DONE:
                self._close_handle()
                raise StopIteration
            if status != _abi.KV_OK:
                raise _native.failure(status, out)
            page: list[Entity] = from_json(out.text.value or b"[]")
        finally:
            _native.outs.append(out)
        self._page_size = _PAGE
        page.reverse()
        return page

    def _next_raw(self) -> bytes | None:
        with self._lock:
            if self._handle is None:
                return None
            out = _native.take_out()
            try:
                status = _next(self._handle, *out.refs)
                if status == _abi.KV_DONE:
                    self._close_handle()
                    return None
                if status != _abi.KV_OK:
                    raise _native.failure(status, out)
                return out.text.value
            finally:
                _native.outs.append(out)

    def _close_handle(self) -> None:
        self._handle = None
        if self._finalizer is not None:
            self._finalizer()
