"""The queue of a collection: the writes that are not sent, at most one for each entity."""

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

    Writes that the backend refuses for good, and conflicts that are left open, are quarantined: see
    :attr:`kvstore.PendingWrite.state`. Only :meth:`retry` waits for the network.
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
        """Give the writes, oldest first, a page at a time; each once, also if some go meanwhile."""
        after = None
        given: set[str] = set()
        while True:
            try:
                page = self.page(after)
            except NotFoundError:
                if after is None:
                    raise
                # What the next page was to begin after_id has gone: from the first one again.
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
        """Give the oldest writes after_id that of an id, 500 at the most; none at the end."""
        after_id = None if after is None else to_text(after, "id")
        page = from_json(_native.call_for_text(_list, self._handle, after_id, _PAGE))
        return [decode_pending(write) for write in page]

    def get(self, id: str) -> PendingDetail[E]:
        """Give one write and what it would send, or raise :class:`kvstore.NotFoundError`."""
        text = _native.call_for_text(_get, self._handle, to_text(id, "id"))
        return self._mapper.parse_pending(text)

    def retry(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Send one write now; it stays pending if that fails.

        After a conflict it goes over the version that it met: ours is to win.
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
        """Replace what a create or update would send; its attempts and error are reset."""
        text = self._mapper.write(entity)
        _native.call(_edit, self._handle, to_text(id, "id"), text, len(text))

    def revert(self, id: str) -> None:
        """Forget one write and make the local entity what the backend has, as far as is known."""
        _native.call(_revert, self._handle, to_text(id, "id"))

    def drop(self, id: str) -> None:
        """Forget one write; the local entity stays as it is."""
        _native.call(_drop, self._handle, to_text(id, "id"))

    def __repr__(self) -> str:
        return f"<kvstore.PendingQueue of {self._store!r}>"
