"""The blocking calls, awaited. Made by scripts/generate_abi.py: do not edit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from typing import Any, Generic, Literal, Unpack, overload

from .._option_types import (
    CallOptions,
    LoginOptions,
    LogoutOptions,
    NetworkOptions,
)
from .._options import (
    ShareOptions,
    WriteOptions,
)
from ..client import Client
from ..encryption import Key
from ..grouping import Aggregate
from ..groups import Groups, UserGroup
from ..pending import PendingQueue
from ..query import Collation, Query, QueryLike
from ..results import (
    BackupReport,
    E,
    Entity,
    EntityLike,
    Explanation,
    Index,
    PendingDetail,
    PullResult,
    PushResult,
    SaveManyResult,
    SyncResult,
    TokenRequest,
    UpdateResult,
)
from ..status import ClientStatus
from ..store import Store
from ..users import Users
from ..userstream import UserStream
from ._waiting import finish, in_thread


class StoreCalls(Generic[E]):
    """The calls of :class:`kvstore.Store`, awaited."""

    #: The Store of the blocking calls, for what has no form here.
    blocking: Store[E]

    async def find_by_id(self, id: str, **options: Unpack[CallOptions]) -> E:
        """Find one entity, or raise :class:`kvstore.NotFoundError`."""
        return await finish(
            lambda done: self.blocking.find_by_id_async(id, on_answer=done, **options)
        )

    async def find_by_ids(
        self, ids: Iterable[str], **options: Unpack[CallOptions]
    ) -> list[E | None]:
        """Find the entities of some ids: a list in the same order, with None where there is none.

        See :meth:`kvstore.Store.find_by_ids`.
        """
        return await finish(
            lambda done: self.blocking.find_by_ids_async(ids, on_answer=done, **options)
        )

    async def count(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> int:
        """Count the entities that match."""
        return await finish(
            lambda done: self.blocking.count_async(query, on_answer=done, **options)
        )

    async def related(self, id: str, relation: str) -> Query:
        """Make the query that selects what a relation of a record leads to.

        See :meth:`kvstore.Store.related`.
        """
        return await in_thread(self.blocking.related, id, relation)

    async def group(
        self,
        keys: Sequence[str] = (),
        aggregates: Mapping[str, Aggregate] | None = None,
        query: QueryLike = None,
        *,
        reduce: str | None = None,
        initial: Mapping[str, Any] | None = None,
        collation: Collation | None = None,
        **options: Unpack[CallOptions],
    ) -> list[Entity]:
        """Group the entities that match by some members, and compute aggregates of each group.

        See :meth:`kvstore.Store.group`.
        """
        return await finish(
            lambda done: self.blocking.group_async(
                keys,
                aggregates,
                query,
                reduce=reduce,
                initial=initial,
                collation=collation,
                on_answer=done,
                **options,
            )
        )

    async def distinct(
        self, path: str, query: QueryLike = None, **options: Unpack[CallOptions]
    ) -> list[Any]:
        """Return the distinct values of a member, sorted; each element of an array is a value."""
        return await finish(
            lambda done: self.blocking.distinct_async(path, query, on_answer=done, **options)
        )

    @overload
    async def save(
        self: StoreCalls[Entity], entity: EntityLike, **options: Unpack[WriteOptions]
    ) -> Entity: ...

    @overload
    async def save(self, entity: E, **options: Unpack[WriteOptions]) -> E: ...

    async def save(self, entity: Any, **options: Unpack[WriteOptions]) -> Any:
        """Save one entity and return it as stored, with a new ``_id`` if it had none.

        See :meth:`kvstore.Store.save`.
        """
        return await finish(
            lambda done: self.blocking.save_async(entity, on_answer=done, **options)
        )

    @overload
    async def insert(
        self: StoreCalls[Entity], entity: EntityLike, **options: Unpack[CallOptions]
    ) -> Entity: ...

    @overload
    async def insert(self, entity: E, **options: Unpack[CallOptions]) -> E: ...

    async def insert(self, entity: Any, **options: Unpack[CallOptions]) -> Any:
        """Save a new entity; if its ``_id`` exists, raise :class:`kvstore.ConflictError`."""
        return await self.save(entity, **options, if_missing=True)

    @overload
    async def save_many(
        self: StoreCalls[Entity], entities: Iterable[EntityLike], **options: Unpack[WriteOptions]
    ) -> SaveManyResult[Entity]: ...

    @overload
    async def save_many(
        self, entities: Iterable[E], **options: Unpack[WriteOptions]
    ) -> SaveManyResult[E]: ...

    async def save_many(self, entities: Any, **options: Unpack[WriteOptions]) -> Any:
        """Save many entities, locally in one transaction. The result says which ones failed.

        See :meth:`kvstore.Store.save_many`.
        """
        return await finish(
            lambda done: self.blocking.save_many_async(entities, on_answer=done, **options)
        )

    async def remove_by_id(self, id: str, **options: Unpack[WriteOptions]) -> int:
        """Remove one entity; return 1, or 0 if there was none."""
        return await finish(
            lambda done: self.blocking.remove_by_id_async(id, on_answer=done, **options)
        )

    async def remove(
        self, query: QueryLike = None, *, all: bool = False, **options: Unpack[CallOptions]
    ) -> int:
        """Remove the entities that match, and count them. None requires ``all=True``."""
        return await finish(
            lambda done: self.blocking.remove_async(query, all=all, on_answer=done, **options)
        )

    async def update(
        self, query: QueryLike, update: Mapping[str, Any], **options: Unpack[CallOptions]
    ) -> UpdateResult:
        """Change members of the entities that match, in MongoDB's update language.

        See :meth:`kvstore.Store.update`.
        """
        return await finish(
            lambda done: self.blocking.update_async(query, update, on_answer=done, **options)
        )

    async def version(self, id: str) -> int:
        """Return the local version of one entity. Each local change of the entity increases it."""
        return await in_thread(self.blocking.version, id)

    async def clear(self, query: QueryLike = None) -> int:
        """Remove matching entities and their pending writes locally only; count the entities."""
        return await in_thread(self.blocking.clear, query)

    async def share(self, id: str, **options: Unpack[ShareOptions]) -> None:
        """Let others read or write an entity: ``notes.share("n1", readers=[ben["_id"]])``.

        See :meth:`kvstore.Store.share`.
        """
        await finish(lambda done: self.blocking.share_async(id, on_answer=done, **options))

    async def unshare(self, id: str, **options: Unpack[ShareOptions]) -> None:
        """Take back rights of :meth:`share`; ``everybody_reads=True`` makes an entity private.

        See :meth:`kvstore.Store.unshare`.
        """
        await finish(lambda done: self.blocking.unshare_async(id, on_answer=done, **options))

    async def pull(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> PullResult:
        """Fetch the entities that match from the backend into the local store.

        See :meth:`kvstore.Store.pull`.
        """
        return await finish(lambda done: self.blocking.pull_async(query, on_answer=done, **options))

    async def push(self, **options: Unpack[CallOptions]) -> PushResult:
        """Send all pending writes. Refused ones stay pending; the result has their errors."""
        return await finish(lambda done: self.blocking.push_async(on_answer=done, **options))

    async def sync(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> SyncResult:
        """Push, then pull the entities that match. If the push left errors, nothing is pulled."""
        return await finish(lambda done: self.blocking.sync_async(query, on_answer=done, **options))

    async def purge(self, query: QueryLike = None) -> int:
        """Drop the pending writes of matching entities, and count them. The entities stay."""
        return await in_thread(self.blocking.purge, query)

    async def create_index(
        self,
        keys: Mapping[str, int | str],
        *,
        name: str | None = None,
        totals: bool = False,
        language: Literal["english"] | None = None,
        collation: Collation | None = None,
    ) -> None:
        """Create an index, such as ``{"country": 1, "population": -1}``.

        See :meth:`kvstore.Store.create_index`.
        """
        await in_thread(
            self.blocking.create_index,
            keys,
            name=name,
            totals=totals,
            language=language,
            collation=collation,
        )

    async def drop_index(self, name: str) -> None:
        """Drop an index, or raise :class:`kvstore.NotFoundError`."""
        await in_thread(self.blocking.drop_index, name)

    async def indexes(self) -> list[Index]:
        """List the indexes of the collection."""
        return await in_thread(self.blocking.indexes)

    async def explain(self, query: QueryLike = None) -> Explanation:
        """Run a find on the local data, and explain how it was carried out."""
        return await in_thread(self.blocking.explain, query)


class PendingCalls(Generic[E]):
    """The calls of :class:`kvstore.PendingQueue`, awaited."""

    #: The PendingQueue of the blocking calls, for what has no form here.
    blocking: PendingQueue[E]

    async def count(self) -> int:
        """Count the writes, as ``len(queue)`` does."""
        return await in_thread(self.blocking.count)

    async def get(self, id: str) -> PendingDetail[E]:
        """Return one write with its entity, or raise :class:`kvstore.NotFoundError`."""
        return await in_thread(self.blocking.get, id)

    async def retry(self, id: str, **options: Unpack[CallOptions]) -> None:
        """Send one write now. If that fails, it stays pending.

        See :meth:`kvstore.PendingQueue.retry`.
        """
        await finish(lambda done: self.blocking.retry_async(id, on_answer=done, **options))

    @overload
    async def edit(self: PendingCalls[Entity], id: str, entity: EntityLike) -> None: ...

    @overload
    async def edit(self, id: str, entity: E) -> None: ...

    async def edit(self, id: str, entity: Any) -> None:
        """Replace the entity that a create or update would send; attempts and error are reset."""
        await in_thread(self.blocking.edit, id, entity)

    async def revert(self, id: str) -> None:
        """Drop one write, and restore the backend's version of the entity, as far as known."""
        await in_thread(self.blocking.revert, id)

    async def drop(self, id: str) -> None:
        """Drop one write. The local entity stays as it is."""
        await in_thread(self.blocking.drop, id)


class ClientCalls:
    """The calls of :class:`kvstore.Client`, awaited."""

    #: The Client of the blocking calls, for what has no form here.
    blocking: Client

    async def ping(self, **options: Unpack[NetworkOptions]) -> Entity:
        """Ask the backend for its version, or an API of AppSync whether the schema fits it."""
        return await finish(lambda done: self.blocking.ping_async(on_answer=done, **options))

    async def signup(
        self,
        username: str | None = None,
        password: str | None = None,
        *,
        members: Mapping[str, Any] | None = None,
        **options: Unpack[LoginOptions],
    ) -> Entity:
        """Create a user and log it in. Without a name, the backend makes one up.

        See :meth:`kvstore.Client.signup`.
        """
        return await finish(
            lambda done: self.blocking.signup_async(
                username, password, members=members, on_answer=done, **options
            )
        )

    async def login(self, username: str, password: str, **options: Unpack[LoginOptions]) -> Entity:
        """Log a user in, in place of the active one.

        See :meth:`kvstore.Client.login`.
        """
        return await finish(
            lambda done: self.blocking.login_async(username, password, on_answer=done, **options)
        )

    async def login_with_code(
        self,
        code: str,
        redirect_uri: str,
        *,
        client_id: str | None = None,
        **options: Unpack[LoginOptions],
    ) -> Entity:
        """Log in the user who was on the :meth:`login_page`. The session is renewed by itself."""
        return await finish(
            lambda done: self.blocking.login_with_code_async(
                code, redirect_uri, client_id=client_id, on_answer=done, **options
            )
        )

    async def login_with_identity(
        self, identity: Mapping[str, Any], **options: Unpack[LoginOptions]
    ) -> Entity:
        """Log a user in by the account of another provider, such as ``{"google": {…}}``."""
        return await finish(
            lambda done: self.blocking.login_with_identity_async(
                identity, on_answer=done, **options
            )
        )

    async def logout(self, **options: Unpack[LogoutOptions]) -> None:
        """Log the active user out and delete the local data, unless ``keep_data=True``.

        See :meth:`kvstore.Client.logout`.
        """
        await finish(lambda done: self.blocking.logout_async(on_answer=done, **options))

    async def register_live(self, **options: Unpack[NetworkOptions]) -> None:
        """Register for live data, for :meth:`Store.subscribe`. Call it after each login."""
        await finish(lambda done: self.blocking.register_live_async(on_answer=done, **options))

    async def unregister_live(self, **options: Unpack[NetworkOptions]) -> None:
        """Unregister: it ends all live subscriptions of this client, as a logout does."""
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
        """Return whether a user name is taken."""
        return await finish(
            lambda done: self.blocking.user_exists_async(username, on_answer=done, **options)
        )

    async def start_sync(self) -> None:
        """Start to synchronise in the background; opening a "synced" store does this too.

        See :meth:`kvstore.Client.start_sync`.
        """
        await in_thread(self.blocking.start_sync)

    async def stop_sync(self) -> None:
        """Stop synchronising in the background. Local data and pending writes stay."""
        await in_thread(self.blocking.stop_sync)

    async def clear(self, *, discard_pending: bool = False) -> None:
        """Stop synchronising, and delete all local data, so that the next start reads everything.

        See :meth:`kvstore.Client.clear`.
        """
        await in_thread(self.blocking.clear, discard_pending=discard_pending)

    async def set_sync_expression(self, collection: str, filter: Mapping[str, Any] | None) -> None:
        """Set which entities of a collection are synchronised; None: all.

        See :meth:`kvstore.Client.set_sync_expression`.
        """
        await in_thread(self.blocking.set_sync_expression, collection, filter)

    async def status(self) -> ClientStatus:
        """Return the state of the client and what it is doing, without a network call."""
        return await in_thread(self.blocking.status)

    async def compact(self, **options: Unpack[NetworkOptions]) -> dict[str, int]:
        """Free the disk space that local data no longer needs; return the sizes before and after.

        See :meth:`kvstore.Client.compact`.
        """
        return await finish(lambda done: self.blocking.compact_async(on_answer=done, **options))

    async def backup(
        self, directory: str | PathLike[str], **options: Unpack[NetworkOptions]
    ) -> BackupReport:
        """Copy the local data into a directory while it is used.

        See :meth:`kvstore.Client.backup`.
        """
        return await finish(
            lambda done: self.blocking.backup_async(directory, on_answer=done, **options)
        )

    async def repair(self) -> dict[str, Any]:
        """Repair the local data, and report what was damaged.

        See :meth:`kvstore.Client.repair`.
        """
        return await in_thread(self.blocking.repair)

    async def change_key(self, key: Key | None, *, name: str = "main") -> list[str]:
        """Change, add or remove a key that opens the local data; return the names of all keys.

        See :meth:`kvstore.Client.change_key`.
        """
        return await in_thread(self.blocking.change_key, key, name=name)

    async def set_token_provider(self, provide: Callable[[TokenRequest], str] | None) -> None:
        """Let a function give the tokens of a backend that takes tokens of others, such as AppSync.

        See :meth:`kvstore.Client.set_token_provider`.
        """
        await in_thread(self.blocking.set_token_provider, provide)


class UserCalls:
    """The calls of :class:`kvstore.Users`, awaited."""

    #: The Users of the blocking calls, for what has no form here.
    blocking: Users

    async def lookup(
        self,
        members: Mapping[str, Any] | None = None,
        *,
        id: str | None = None,
        username: str | None = None,
        email: str | None = None,
        **options: Unpack[NetworkOptions],
    ) -> list[Entity]:
        """Find the users who have all of these values; at least one value is needed.

        See :meth:`kvstore.Users.lookup`.
        """
        return await finish(
            lambda done: self.blocking.lookup_async(
                members, id=id, username=username, email=email, on_answer=done, **options
            )
        )


class GroupCalls:
    """The calls of :class:`kvstore.Groups`, awaited."""

    #: The Groups of the blocking calls, for what has no form here.
    blocking: Groups

    async def create(
        self,
        name: str | None = None,
        members: Iterable[str] = (),
        *,
        acl: Mapping[str, Any] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> UserGroup:
        """Create a group of these users, by their ids."""
        return await finish(
            lambda done: self.blocking.create_async(
                name, members, acl=acl, on_answer=done, **options
            )
        )

    async def get(self, id: str, **options: Unpack[NetworkOptions]) -> UserGroup:
        """Read one group."""
        return await finish(lambda done: self.blocking.get_async(id, on_answer=done, **options))

    async def all(self, **options: Unpack[NetworkOptions]) -> list[UserGroup]:
        """List the groups that the active user may read."""
        return await finish(lambda done: self.blocking.all_async(on_answer=done, **options))

    async def update(
        self,
        id: str,
        *,
        add: Iterable[str] = (),
        remove: Iterable[str] = (),
        name: str | None = None,
        acl: Mapping[str, Any] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> UserGroup:
        """Add users, remove others, rename a group or replace its ``_acl``; the rest stays.

        See :meth:`kvstore.Groups.update`.
        """
        return await finish(
            lambda done: self.blocking.update_async(
                id, add=add, remove=remove, name=name, acl=acl, on_answer=done, **options
            )
        )

    async def delete(self, id: str, **options: Unpack[NetworkOptions]) -> None:
        """Delete a group. Its members lose the rights that they had because of it."""
        await finish(lambda done: self.blocking.delete_async(id, on_answer=done, **options))


class StreamCalls:
    """The calls of :class:`kvstore.UserStream`, awaited."""

    #: The UserStream of the blocking calls, for what has no form here.
    blocking: UserStream

    async def acl(
        self, user: str | None = None, **options: Unpack[NetworkOptions]
    ) -> dict[str, Any]:
        """Read who may publish and listen: ``{"subscribe": […], "publish": […]}`` of user ids."""
        return await finish(lambda done: self.blocking.acl_async(user, on_answer=done, **options))

    async def set_acl(
        self,
        *,
        subscribe: Sequence[str] = (),
        publish: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
        user: str | None = None,
        **options: Unpack[NetworkOptions],
    ) -> None:
        """Set who may publish and listen, besides the owner. All others lose these rights."""
        await finish(
            lambda done: self.blocking.set_acl_async(
                subscribe=subscribe,
                publish=publish,
                groups=groups,
                user=user,
                on_answer=done,
                **options,
            )
        )

    async def owners(self, **options: Unpack[NetworkOptions]) -> list[str]:
        """List the users whose parts the active user may publish or listen to."""
        return await finish(lambda done: self.blocking.owners_async(on_answer=done, **options))

    async def send(
        self, message: object, *, user: str | None = None, **options: Unpack[NetworkOptions]
    ) -> None:
        """Send a message to the present subscribers: any JSON of up to 32 KB.

        See :meth:`kvstore.UserStream.send`.
        """
        await finish(
            lambda done: self.blocking.send_async(message, user=user, on_answer=done, **options)
        )
