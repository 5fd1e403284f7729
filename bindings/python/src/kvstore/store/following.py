"""What happens to a store's entities, here and on the backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Unpack

from .._callbacks import refuse_coroutine
from .._options import FollowOptions, encode_options, to_text
from ..changes import ChangesStream, OnChanges, changes_reader
from ..live import ErrorHandler, LiveHandler, LiveStream, begin_live
from ..query import QueryLike, as_query, handle_of
from ..results import E
from ..status import FollowStatus, follow_reader
from ..subscription import Subscription, begin
from .base import StoreBase


class Following(StoreBase[E]):
    """Follows, observes and subscribes to changes."""

    def follow(
        self,
        query: QueryLike = None,
        receive: Callable[[FollowStatus], object] | None = None,
        *,
        ended: Callable[[], object] | None = None,
        **options: Unpack[FollowOptions],
    ) -> Subscription:
        """Keep a query in sync with the backend, until the subscription is closed.

        The follow pulls the entities that match, or the delta. Live data or polling keeps them
        current, and changes of an offline time are fetched later. It also pushes whatever is saved
        in the collection. It waits for the network and for logins by itself. ``receive`` gets each
        new status, where callbacks run. ``ended`` runs when no more events follow. The query may
        have neither a skip nor a limit.
        """
        refuse_coroutine(receive, "the callback for the status of a follow")
        made = as_query(query)
        handle = begin(
            *("kv_store_follow", self, self.handle, handle_of(made), encode_options(options)),
            receive=follow_reader(receive),
            ended=ended,
        )
        return Subscription(handle, self)

    def subscribe(
        self,
        on_next: LiveHandler[E] | None = None,
        *,
        on_ready: LiveHandler[E] | None = None,
        on_status: LiveHandler[E] | None = None,
        on_error: ErrorHandler | None = None,
        live_to_local: bool = False,
    ) -> Subscription:
        """Call functions for changes of this collection on the backend: its live data.

        The functions run where callbacks do, until the subscription is closed. They get
        :class:`kvstore.LiveEvent` objects; `on_error` gets an exception. `on_next` is called for
        each change. `on_ready` is called once every change from then on will be reported.
        `on_status` is called for the state of the connection, and when changes were missed. With
        ``live_to_local``, changes are written to the local data first, but never over a pending
        write. Call :meth:`Client.register_live` before.
        """
        return begin_live(
            *("kv_store_subscribe", self, self.handle, _live_options(live_to_local)),
            handlers=(on_next, on_ready, on_status, on_error),
            mapper=self.mapper,
        )

    def live(self, *, live_to_local: bool = False) -> LiveStream[E]:
        """Iterate over the events of :meth:`subscribe`, with ``for`` or ``async for``."""
        options = _live_options(live_to_local)
        return LiveStream("kv_store_subscribe", self, self.handle, options, mapper=self.mapper)

    def observe(self, query: QueryLike, receive: OnChanges[E]) -> Subscription:
        """Observe a query over the local data, until the subscription is closed.

        ``receive`` gets the result first, and then each change of it from any source, or an error.
        It runs where callbacks do. :meth:`Changes.apply` keeps a list up to date. An entity that
        does not fit the store's model is reported as an error, and no more events follow.
        """
        return self._observe(query, receive, None)

    def observe_by_id(self, id: str, receive: OnChanges[E]) -> Subscription:
        """Observe one entity by its id. The entity need not exist."""
        on_event = changes_reader(receive, self.mapper)
        handle = begin(
            "kv_store_observe_by_id", self, self.handle, to_text(id, "id"), receive=on_event
        )
        return Subscription(handle, self)

    def changes(self, query: QueryLike = None) -> ChangesStream[E]:
        """Iterate over the changes of :meth:`observe`, with ``for`` or ``async for``."""
        made = as_query(query)
        return ChangesStream(lambda receive, ended: self._observe(made, receive, ended))

    def _observe(
        self, query: QueryLike, receive: OnChanges[E], ended: Callable[[], object] | None
    ) -> Subscription:
        made = as_query(query)
        on_event = changes_reader(receive, self.mapper, ended)
        handle = begin(
            "kv_store_observe",
            self,
            self.handle,
            handle_of(made),
            receive=on_event,
            ended=ended,
        )
        return Subscription(handle, self)


def _live_options(live_to_local: bool) -> bytes | None:
    return encode_options({"live_to_local": live_to_local})
