"""The queue of a collection: its pending writes, at most one for each entity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Generic, Unpack, overload

from . import _native
from ._callbacks import Owner
from ._json import from_json
from ._option_types import CallOptions
from ._options import encode_options, to_text
from .errors import NotFoundError
from .model import Mapper
from .request import OnAnswer, Request, TextReader, start
from .results import (
    E,
    Entity,
    EntityLike,
    PendingDetail,
    PendingWrite,
    decode_nothing,
    decode_pending,
)

_count = _native.function("kv_store_sync_count")
_list = _native.function("kv_store_pending")
_get = _native.function("kv_store_pending_get")
_edit = _native.function("kv_store_pending_edit")
_drop = _native.function("kv_store_pending_drop")
_revert = _native.function("kv_store_pending_revert")

_NOTHING: Final = TextReader(decode_nothing)
_PAGE: Final = 500


class PendingQueue(Generic[E]):
    """The pending writes of a store: ``len(queue)``, ``for write in queue``, ``queue.get(id)``.

    Writes that the backend has refused for good, and conflicts that are not decided yet, are
    quarantined: see :attr:`kvstore.PendingWrite.state`. Only :meth:`retry` waits for the network.
    """

    def __init__(self, store: Owner, mapper: Mapper[E]) -> None:
        self._store = store
        self._mapper = mapper
        self._handle = store.handle

    def __len__(self) -> int:
        return self.count()

    def count(self) -> int:
        """Count the writes, as ``len(queue)`` does."""
        return _native.call_for_count(_count, self._handle)

    def __iter__(self) -> Iterator[PendingWrite]:
        """Yield the writes, oldest first, page by page; each once, even if some are removed."""
        after = None
        given: set[str] = set()
        while True:
            try:
                page = self.page(after)
            except NotFoundError:
                if after is None:
                    raise
                # The write that the next page was to follow has gone: begin again at the first.
                after = None
                continue
            for write in page:
                if write.id not in given:
                    given.add(write.id)
                    yield write
            if len(page) < _PAGE:
                return
            after = page[-1].id

    def page(self, after: str | None = None) -> list[PendingWrite]:
        """Return the oldest writes after that of an id, at most 500; an empty list at the end."""
        after_id = None if after is None else to_text(after, "id")
        page = from_json(_native.call_for_text(_list, self._handle, after_id, _PAGE))
        return [decode_pending(write) for write in page]

    def get(self, id: str) -> PendingDetail[E]:
        """Return one write with its entity, or raise :class:`kvstore.NotFoundError`."""
        text = _native.call_for_text(_get, self._handle, to_text(id, "id"))
        return self._mapper.parse_pending(text)

    def retry(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Send one write now. If that fails, it stays pending.

        After a conflict, the write overwrites the version that it met: the local version wins.
        """
        self.retry_async(id, **options).finish()

    def retry_async(
        self,
        id: str,
        *,
        on_answer: OnAnswer[None] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[None]:
        """Start to send one write."""
        return start(
            "kv_store_pending_retry",
            _NOTHING,
            self._store,
            to_text(id, "id"),
            encode_options(options),
            on_answer=on_answer,
        )

    @overload
    def edit(self: PendingQueue[Entity], id: str, entity: EntityLike) -> None: ...

    @overload
    def edit(self, id: str, entity: E) -> None: ...

    def edit(self, id: str, entity: Any) -> None:
        """Replace the entity that a create or update would send; attempts and error are reset."""
        text = self._mapper.write(entity)
        _native.call(_edit, self._handle, to_text(id, "id"), text, len(text))

    def revert(self, id: str) -> None:
        """Drop one write, and restore the backend's version of the entity, as far as known."""
        _native.call(_revert, self._handle, to_text(id, "id"))

    def drop(self, id: str) -> None:
        """Drop one write. The local entity stays as it is."""
        _native.call(_drop, self._handle, to_text(id, "id"))

    def __repr__(self) -> str:
        return f"<kvstore.PendingQueue of {self._store!r}>"
