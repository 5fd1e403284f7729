"""Clients: one application on one backend with one data directory, and its user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, Unpack, overload

from .. import client as blocking
from .._option_types import ClientOptions, StoreOptions
from .._options import StoreType
from ..context import MergePolicy
from ..errors import invalid
from ..model import Model
from ..results import Entity, SyncEvent
from ..status import ClientStatus
from ..transaction import Transaction
from ._calls import ClientCalls
from ._waiting import Closing, in_thread
from .context import Context
from .events import Events, States
from .store import Store
from .users import Groups, Users
from .userstream import UserStream

T = TypeVar("T")
M = TypeVar("M")


class Client(ClientCalls, Closing):
    """A client for asyncio, with the same options as :class:`kvstore.Client`.

    Opening makes no network call. ``callbacks="pump"`` is refused: the loop does that work.
    """

    def __init__(self, **options: Unpack[ClientOptions]) -> None:
        if options.get("callbacks") == "pump":
            raise invalid("a client for asyncio cannot be pumped")
        self.blocking = blocking.Client(**options)

    @overload
    def collection(
        self,
        name: str,
        type: StoreType = "sync",
        *,
        model: None = None,
        **options: Unpack[StoreOptions],
    ) -> Store: ...

    @overload
    def collection(
        self,
        name: str,
        type: StoreType = "sync",
        *,
        model: type[M] | Model[M],
        **options: Unpack[StoreOptions],
    ) -> Store[M]: ...

    def collection(
        self,
        name: str,
        type: StoreType = "sync",
        *,
        model: Any = None,
        **options: Unpack[StoreOptions],
    ) -> Store[Any]:
        """Open a collection: see :meth:`kvstore.Client.collection`."""
        return Store(self.blocking.collection(name, type, model=model, **options))

    async def transact(
        self,
        body: Callable[[Transaction], T],
        *,
        tag: str | None = None,
        retries: int = 100,
        timeout: float = 60,
    ) -> T:
        """Run a function in a transaction, on a thread: see :meth:`kvstore.Client.transact`.

        The function uses the blocking calls of the stores, ``store.blocking``.
        """
        return await in_thread(
            lambda: self.blocking.transact(body, tag=tag, retries=retries, timeout=timeout)
        )

    async def context(
        self,
        *,
        merge_policy: MergePolicy = "error",
        relationships: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
        type: str | None = None,
        tag: str | None = None,
        fetch_batch_size: int = 100,
        cache_bytes: int = 4 << 20,
        store: str | None = None,
        store_options: Mapping[str, Any] | None = None,
    ) -> Context:
        """Open a context: see :meth:`kvstore.Client.context`."""
        return Context(
            await in_thread(
                lambda: self.blocking.context(
                    merge_policy=merge_policy,
                    relationships=relationships,
                    type=type,
                    tag=tag,
                    fetch_batch_size=fetch_batch_size,
                    cache_bytes=cache_bytes,
                    store=store,
                    store_options=store_options,
                )
            )
        )

    async def close(self) -> None:
        """Close the client, its stores, cursors and requests. A second call is harmless.

        Waiting calls raise :class:`kvstore.CancelledError`. Pending writes are kept.
        """
        await in_thread(self.blocking.close)

    def sync_events(self) -> Events[SyncEvent]:
        """Observe the client's synchronisation: ``async with``, then ``async for``.

        See :meth:`kvstore.Client.observe_sync`.
        """
        return Events(lambda receive, ended: self.blocking.observe_sync(receive, ended=ended))

    def statuses(self) -> States[ClientStatus]:
        """Observe the status, now and after each change: ``async with``, then ``async for``.

        See :meth:`kvstore.Client.observe_status`.
        """
        return States(lambda receive, ended: self.blocking.observe_status(receive, ended=ended))

    # Users

    @property
    def active_user(self) -> Entity | None:
        """The user as last seen, without a network call; None if no user is logged in."""
        return self.blocking.active_user

    def login_page(
        self, redirect_uri: str, *, client_id: str | None = None, state: str | None = None
    ) -> str:
        """Return the address of the login page. It makes no call, so it is not awaited."""
        return self.blocking.login_page(redirect_uri, client_id=client_id, state=state)

    @property
    def users(self) -> Users:
        """The other users of the backend."""
        return Users(self.blocking.users)

    @property
    def groups(self) -> Groups:
        """The groups of users. An ``_acl`` can name them."""
        return Groups(self.blocking.groups)

    def stream(self, name: str) -> UserStream:
        """Return a user-to-user stream. This makes no network call."""
        return UserStream(self.blocking.stream(name))

    def __repr__(self) -> str:
        return f"<kvstore.aio.Client of {self.blocking!r}>"
