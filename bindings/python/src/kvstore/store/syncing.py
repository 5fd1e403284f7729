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

        :class:`kvstore.PendingError` if writes are pending: push or purge them first.
        """
        return self.pull_async(query, **options).finish()

    def push(self, **options: Unpack[CallOptions]) -> PushResult:
        """Send all pending writes; those that are refused are in the result and stay pending."""
        return self.push_async(**options).finish()

    def sync(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> SyncResult:
        """Push, then pull what matches; nothing is pulled if the push left errors."""
        return self.sync_async(query, **options).finish()

    def pull_entities(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> Cursor[E]:
        """Pull, and give the entities that match as they are here afterwards.

        They are fetched as they are iterated over.
        """
        self.pull(query, **options)
        options["read_policy"] = "forceLocal"
        return self.find(query, **options)

    def sync_entities(
        self, query: QueryLike = None, **options: Unpack[CallOptions]
    ) -> tuple[SyncResult, Cursor[E]]:
        """Sync, and give the entities that match as they are here afterwards, too."""
        result = self.sync(query, **options)
        options["read_policy"] = "forceLocal"
        return result, self.find(query, **options)

    @property
    def pending(self) -> PendingQueue[E]:
        """The writes that wait to be pushed."""
        return PendingQueue(self, self.mapper)

    def set_conflict_handler(self, handler: ConflictHandler[E] | None) -> None:
        """Let a function decide the conflicts that calls of this store meet; None takes it away.

        It gets a :class:`kvstore.Conflict` and gives a :class:`kvstore.Decision`, or the entity
        that replaces both versions. It runs where callbacks run and may call anything, closing the
        client included. The option ``conflicts`` may say otherwise for a call.
        """
        set_handler(self.handle, handler, self.mapper)

    def purge(self, query: QueryLike = None) -> int:
        """Forget the pending writes of matching entities and count them; the entities stay."""
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
