"""What a store does with its backend."""

from __future__ import annotations

from typing import Final, Unpack

from .. import _native
from .._option_types import CallOptions
from ..conflict import ConflictHandler, set_handler
from ..cursor import Cursor
from ..pending import PendingQueue
from ..query import QueryLike, as_query, handle_of
from ..request import OnAnswer, Request, TextReader
from ..results import E, PullResult, PushResult, SyncResult, decode_pull, decode_push, decode_sync
from .reading import Reading

_purge = _native.function("kv_store_purge")

_PULL: Final = TextReader(decode_pull)
_PUSH: Final = TextReader(decode_push)
_SYNC: Final = TextReader(decode_sync)


class Syncing(Reading[E]):
    """Pulls, pushes, and decides conflicts."""

    def pull(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> PullResult:
        """Fetch the entities that match from the backend into the local store.

        If there are pending writes, :class:`kvstore.PendingError` is raised. Push or purge them
        first.
        """
        return self.pull_async(query, **options).finish()

    def push(self, **options: Unpack[CallOptions]) -> PushResult:
        """Send all pending writes. Refused ones stay pending; the result has their errors."""
        return self.push_async(**options).finish()

    def sync(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> SyncResult:
        """Push, then pull the entities that match. If the push left errors, nothing is pulled."""
        return self.sync_async(query, **options).finish()

    def pull_entities(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> Cursor[E]:
        """Pull, and return the entities that match in the local data afterwards.

        They are fetched while the cursor is iterated over.
        """
        self.pull(query, **options)
        options["read_policy"] = "forceLocal"
        return self.find(query, **options)

    def sync_entities(
        self, query: QueryLike = None, **options: Unpack[CallOptions]
    ) -> tuple[SyncResult, Cursor[E]]:
        """Sync, and return the entities that match in the local data afterwards, too."""
        result = self.sync(query, **options)
        options["read_policy"] = "forceLocal"
        return result, self.find(query, **options)

    @property
    def pending(self) -> PendingQueue[E]:
        """The pending writes of the collection."""
        return PendingQueue(self, self.mapper)

    def set_conflict_handler(self, handler: ConflictHandler[E] | None) -> None:
        """Let a function decide the conflicts that calls of this store meet. None removes it.

        The function gets a :class:`kvstore.Conflict` and returns a :class:`kvstore.Decision`, or
        the entity that replaces both versions. It runs where callbacks do, and may call anything,
        even close the client. The option ``conflicts`` of a call takes precedence.
        """
        set_handler(self.handle, handler, self.mapper)

    def purge(self, query: QueryLike = None) -> int:
        """Drop the pending writes of matching entities, and count them. The entities stay."""
        made = as_query(query)
        return _native.call_for_count(_purge, self.handle, handle_of(made))

    # The asynchronous forms

    def pull_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[PullResult] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[PullResult]:
        """Start a pull."""
        return self._start_query("kv_store_pull", _PULL, query, options, on_answer)

    def push_async(
        self, *, on_answer: OnAnswer[PushResult] | None = None, **options: Unpack[CallOptions]
    ) -> Request[PushResult]:
        """Start a push."""
        return self._start("kv_store_push", _PUSH, options=options, on_answer=on_answer)

    def sync_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[SyncResult] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[SyncResult]:
        """Start a sync."""
        return self._start_query("kv_store_sync", _SYNC, query, options, on_answer)
