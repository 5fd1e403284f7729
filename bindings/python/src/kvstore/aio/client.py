"""Clients: one application on one backend with one data directory, and its user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, Unpack, overload

from .. import client as blocking
from .._options import ClientOptions, LogoutOptions, NetworkOptions, StoreOptions, StoreType
from ..errors import invalid
from ..model import Model
from ..results import Entity, SyncEvent
from ..transaction import Transaction
from ._waiting import Closing, finish, in_thread
from .events import Events
from .store import Store
from .userstream import UserStream

T = TypeVar("T")
M = TypeVar("M")


class Client(Closing):
    """A client for asyncio, of the same options as :class:`kvstore.Client`.

    Opening makes no network call. ``callbacks="pump"`` is not for it: the loop takes its part.
    """

    def __init__(self, **options: Unpack[ClientOptions]) -> None:
        if options.get("callbacks") == "pump":
            raise invalid("a client for asyncio needs no pump")
        #: The client of the blocking calls, for what has no form here.
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

        The function takes the stores of the blocking calls, ``store.blocking``.
        """
        return await in_thread(
            lambda: self.blocking.transact(body, tag=tag, retries=retries, timeout=timeout)
        )

    async def close(self) -> None:
        """Close the client, its stores, cursors and requests; a second time is harmless.

        Whoever waits gets :class:`kvstore.CancelledError`. Pending writes stay.
        """
        await in_thread(self.blocking.close)

    def sync_events(self) -> Events[SyncEvent]:
        """Give what happens while the client synchronises: ``async with``, then ``async for``.

        See :meth:`kvstore.Client.observe_sync`.
        """
        return Events(lambda receive, ended: self.blocking.observe_sync(receive, ended=ended))

    # Users

    @property
    def active_user(self) -> Entity | None:
        """The user as last seen, without a network call; None if nobody is logged in."""
        return self.blocking.active_user

    async def ping(self, **options: Unpack[NetworkOptions]) -> Entity:
        """Ask the backend for its version."""
        return await finish(lambda done: self.blocking.ping_async(on_answer=done, **options))

    async def signup(
        self,
        username: str | None = None,
        password: str | None = None,
        *,
        members: Mapping[str, Any] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Entity:
        """Create a user and log it in; without a name the backend makes one up."""
        return await finish(
            lambda done: self.blocking.signup_async(
                username, password, members=members, on_answer=done, **options
            )
        )

    async def login(
        self, username: str, password: str, **options: Unpack[NetworkOptions]
    ) -> Entity:
        """Log a user in, as :meth:`kvstore.Client.login` does."""
        return await finish(
            lambda done: self.blocking.login_async(username, password, on_answer=done, **options)
        )

    async def login_with_identity(
        self, identity: Mapping[str, Any], **options: Unpack[NetworkOptions]
    ) -> Entity:
        """Log a user in by the account of another provider, such as ``{"google": {…}}``."""
        return await finish(
            lambda done: self.blocking.login_with_identity_async(
                identity, on_answer=done, **options
            )
        )

    def login_page(
        self, redirect_uri: str, *, client_id: str | None = None, state: str | None = None
    ) -> str:
        """Give the address of the page on which somebody logs in: no call, so not awaited."""
        return self.blocking.login_page(redirect_uri, client_id=client_id, state=state)

    async def login_with_code(
        self,
        code: str,
        redirect_uri: str,
        *,
        client_id: str | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Entity:
        """Log the user in who was on the :meth:`login_page`; the session renews itself."""
        return await finish(
            lambda done: self.blocking.login_with_code_async(
                code, redirect_uri, client_id=client_id, on_answer=done, **options
            )
        )

    async def logout(self, **options: Unpack[LogoutOptions]) -> None:
        """Log the active user out: see :meth:`kvstore.Client.logout`."""
        await finish(lambda done: self.blocking.logout_async(on_answer=done, **options))

    def stream(self, name: str) -> UserStream:
        """Give a user-to-user stream; nothing is asked of anybody yet."""
        return UserStream(self.blocking.stream(name))

    async def register_live(self, **options: Unpack[NetworkOptions]) -> None:
        """Let the active user listen: :meth:`Store.live`. To be called after each login."""
        await finish(lambda done: self.blocking.register_live_async(on_answer=done, **options))

    async def unregister_live(self, **options: Unpack[NetworkOptions]) -> None:
        """End all live subscriptions of this client. A logout does this too."""
        await finish(lambda done: self.blocking.unregister_live_async(on_answer=done, **options))

    async def me(self, **options: Unpack[NetworkOptions]) -> Entity:
        """Read the active user from the backend."""
        return await finish(lambda done: self.blocking.me_async(on_answer=done, **options))

    async def update_user(
        self, members: Mapping[str, Any], **options: Unpack[NetworkOptions]
    ) -> Entity:
        """Replace members of the active user on the backend, its password included."""
        return await finish(
            lambda done: self.blocking.update_user_async(members, on_answer=done, **options)
        )

    async def delete_user(self, *, hard: bool = False, **options: Unpack[LogoutOptions]) -> None:
        """Disable the active user, or delete it for good; then as :meth:`logout`."""
        await finish(
            lambda done: self.blocking.delete_user_async(hard=hard, on_answer=done, **options)
        )

    async def user_exists(self, username: str, **options: Unpack[NetworkOptions]) -> bool:
        """Tell whether a user name is taken."""
        return await finish(
            lambda done: self.blocking.user_exists_async(username, on_answer=done, **options)
        )

    def __repr__(self) -> str:
        return f"<kvstore.aio.Client of {self.blocking!r}>"
