"""Clients: one application on one backend with one data directory, and its user."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Mapping
from os import PathLike, fspath
from typing import Any, Final, Literal, TypeVar, Unpack, overload

from . import _native
from ._callbacks import (
    FREE_POINTER,
    LOG_POINTER,
    TOKEN_POINTER,
    LogDelivery,
    TokenDelivery,
    dispatching,
    refuse_coroutine,
)
from ._certificates import with_fallback
from ._closing import Closing
from ._json import from_json
from ._option_types import ClientOptions, LoginOptions, LogoutOptions, NetworkOptions, StoreOptions
from ._options import StoreType, encode_options, to_json, to_text
from .context import Context, MergePolicy
from .encryption import Key, key_option
from .errors import KVError, NoUserError, invalid
from .groups import Groups
from .migration import naming_handler
from .model import PLAIN, Model, mapper_of
from .request import OnAnswer, Request, TextReader, start
from .results import (
    BackupReport,
    Entity,
    SyncEvent,
    TokenRequest,
    decode_backup,
    decode_bool,
    decode_entity,
    decode_nothing,
    decode_sync_event,
)
from .status import ClientStatus, decode_status
from .store import Store
from .subscription import Subscription, begin
from .transaction import Transaction, transact
from .transaction import begin as begin_transaction
from .users import Users
from .userstream import UserStream

T = TypeVar("T")
M = TypeVar("M")
LogLevel = Literal["error", "warning", "info", "debug"]

_open = _native.function("kv_client_open")
_close = _native.function("kv_client_close")
_event_fd = _native.function("kv_client_event_fd")
_dispatch = _native.function("kv_client_dispatch")
_set_log = _native.function("kv_client_set_log")
_set_token_provider = _native.function("kv_client_set_token_provider")
_active = _native.function("kv_user_active")
_status = _native.function("kv_client_status")
_repair = _native.function("kv_client_repair")
_change_key = _native.function("kv_client_change_key")
_login_page = _native.function("kv_user_login_page")
_start_sync = _native.function("kv_client_start_sync")
_stop_sync = _native.function("kv_client_stop_sync")
_clear = _native.function("kv_client_clear")
_set_sync_expression = _native.function("kv_client_set_sync_expression")

_ENTITY: Final = TextReader(decode_entity)
_SIZES: Final[TextReader[dict[str, int]]] = TextReader(from_json)
_BACKUP: Final[TextReader[BackupReport]] = TextReader(decode_backup)
_BOOL: Final = TextReader(decode_bool)
_NOTHING: Final = TextReader(decode_nothing)
_LOGGING_LEVELS: Final[Mapping[LogLevel, int]] = {
    "error": logging.ERROR,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}
_LEVELS: Final[tuple[LogLevel, ...]] = ("error", "warning", "info", "debug")


def _logging_to(logger: logging.Logger) -> Callable[[LogLevel, str], object]:
    return lambda level, text: logger.log(_LOGGING_LEVELS[level], "%s", text)


class Client(Closing):
    """One application on one backend with one data directory. Any thread may use it.

    >>> with Client(app_key="kid_demo", host=None, data_directory=directory) as client:
    ...     client.collection("notes").save({"text": "milk"})["text"]
    'milk'

    The options are those of :class:`kvstore.ClientOptions`. Opening makes no network call.
    Callbacks run on a thread of the client, or in :meth:`dispatch` if the client was opened with
    ``callbacks="pump"``.
    """

    def __init__(self, **options: Unpack[ClientOptions]) -> None:
        self.pumped = options.get("callbacks") == "pump"
        self._app_key = options.get("app_key")
        with naming_handler(with_fallback(options)) as named:
            text = encode_options(named) or b"{}"
            self.handle = _native.call_for_handle(_open, text, len(text))
        self._finalizer = weakref.finalize(self, _close, self.handle)

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
        """Open a collection as a store.

        The `type` says where reads and writes go. A "sync" store reads and writes locally, and
        synchronises when it is asked to. An "auto" store asks the backend, and falls back to local
        data. A "cache" store answers from local data first, and then from the backend. A "network"
        store keeps no local data.

        The store returns and accepts dictionaries, or objects of a `model`: a dataclass, a model
        of pydantic, or whatever a :class:`kvstore.Model` makes. See ``docs/models.md``.
        """
        return Store(self, name, type, options, PLAIN if model is None else mapper_of(model))

    def transaction(self, *, tag: str | None = None) -> Transaction:
        """Begin a transaction over stores of this client; use it in a ``with``."""
        return begin_transaction(self, tag)

    def context(
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
        """Open a context: a working copy of objects, which a ``with`` saves at its end.

        `relationships` come on top of those of the client's schema:
        ``{"comments": {"post": {"to": "posts", "key": "postId"}}}``. `store` names a type of stores
        of the application's own.
        """
        options: dict[str, Any] = {
            "mergePolicy": merge_policy,
            "fetchBatchSize": fetch_batch_size,
            "cacheBytes": cache_bytes,
        }
        given = {
            "relationships": relationships,
            "type": type,
            "tag": tag,
            "store": store,
            "storeOptions": store_options,
        }
        options |= {name: value for name, value in given.items() if value is not None}
        return Context(self, options)

    def transact(
        self,
        body: Callable[[Transaction], T],
        *,
        tag: str | None = None,
        retries: int = 100,
        timeout: float = 60,
    ) -> T:
        """Run a function in a transaction, commit it, and return what the function returns.

        If data that the function has read was changed meanwhile, the function runs again in a new
        transaction, after a short random pause. :class:`kvstore.ConflictError` is raised when the
        retries or the time are used up. If the function raises an exception, nothing is written and
        the exception is passed on.
        """
        options: dict[str, Any] = {"retries": retries, "timeout": timeout}
        if tag is not None:
            options["tag"] = tag
        return transact(self, body, options)

    def close(self) -> None:
        """Close the client, its stores, cursors and requests. A second call is harmless.

        Running requests are cancelled, and no callback runs afterwards. Pending writes are kept.
        """
        self._finalizer()

    # Users

    @property
    def active_user(self) -> Entity | None:
        """The user as last seen, without a network call; None if no user is logged in."""
        try:
            return decode_entity(_native.call_for_text(_active, self.handle))
        except NoUserError:
            return None

    def ping(self, **options: Unpack[NetworkOptions]) -> Entity:
        """Ask the backend for its version, or an API of AppSync whether the schema fits it."""
        return self.ping_async(**options).finish()

    def signup(
        self,
        username: str | None = None,
        password: str | None = None,
        *,
        members: Mapping[str, Any] | None = None,
        **options: Unpack[LoginOptions],
    ) -> Entity:
        """Create a user and log it in. Without a name, the backend makes one up.

        While another user has pending writes, :class:`kvstore.PendingError` is raised and no user
        is created. Otherwise the other user's local data is deleted. `adopt`: see :meth:`login`.
        """
        request = self.signup_async(username, password, members=members, **options)
        return request.finish()

    def login(self, username: str, password: str, **options: Unpack[LoginOptions]) -> Entity:
        """Log a user in, in place of the active one.

        The same user finds its local data and pending writes again. For another user the local data
        is deleted. While there are pending writes, :class:`kvstore.PendingError` is raised instead,
        and nothing changes. With `adopt=True` data and pending writes become this user's, for
        accounts that are gone.
        """
        return self.login_async(username, password, **options).finish()

    def login_page(
        self, redirect_uri: str, *, client_id: str | None = None, state: str | None = None
    ) -> str:
        """Return the address of the page on which a user logs in, for a browser.

        The page redirects to ``redirect_uri``, with a ``code`` for :meth:`login_with_code` in its
        query.
        """
        wanted = {"client_id": client_id, "state": state}
        options = {name: value for name, value in wanted.items() if value is not None}
        page = _native.call_for_text(
            _login_page, self.handle, to_text(redirect_uri, "redirect_uri"), encode_options(options)
        )
        return page.decode()

    def login_with_code(
        self,
        code: str,
        redirect_uri: str,
        *,
        client_id: str | None = None,
        **options: Unpack[LoginOptions],
    ) -> Entity:
        """Log in the user who was on the :meth:`login_page`. The session is renewed by itself."""
        request = self.login_with_code_async(code, redirect_uri, client_id=client_id, **options)
        return request.finish()

    def login_with_identity(
        self, identity: Mapping[str, Any], **options: Unpack[LoginOptions]
    ) -> Entity:
        """Log a user in by the account of another provider, such as ``{"google": {…}}``."""
        return self.login_with_identity_async(identity, **options).finish()

    def logout(self, **options: Unpack[LogoutOptions]) -> None:
        """Log the active user out and delete the local data, unless ``keep_data=True``.

        Pending writes are deleted only with ``discard_pending=True``. Without it,
        :class:`kvstore.PendingError` is raised and nothing changes.
        """
        self.logout_async(**options).finish()

    @property
    def users(self) -> Users:
        """The other users of the backend: :meth:`Users.lookup` finds them."""
        return Users(self)

    @property
    def groups(self) -> Groups:
        """The groups of users. An ``_acl`` can name them."""
        return Groups(self)

    def stream(self, name: str) -> UserStream:
        """Return a user-to-user stream. This makes no network call."""
        return UserStream(self, name)

    def register_live(self, **options: Unpack[NetworkOptions]) -> None:
        """Register for live data, for :meth:`Store.subscribe`. Call it after each login."""
        self.register_live_async(**options).finish()

    def unregister_live(self, **options: Unpack[NetworkOptions]) -> None:
        """Unregister: it ends all live subscriptions of this client, as a logout does."""
        self.unregister_live_async(**options).finish()

    def me(self, **options: Unpack[NetworkOptions]) -> Entity:
        """Read the active user from the backend."""
        return self.me_async(**options).finish()

    def update_user(self, members: Mapping[str, Any], **options: Unpack[NetworkOptions]) -> Entity:
        """Replace members of the active user on the backend, its password included."""
        return self.update_user_async(members, **options).finish()

    def delete_user(self, *, hard: bool = False, **options: Unpack[LogoutOptions]) -> None:
        """Disable the active user, or delete it for good; then as :meth:`logout`."""
        self.delete_user_async(hard=hard, **options).finish()

    def user_exists(self, username: str, **options: Unpack[NetworkOptions]) -> bool:
        """Return whether a user name is taken."""
        return self.user_exists_async(username, **options).finish()

    # The asynchronous forms

    def ping_async(
        self, *, on_answer: OnAnswer[Entity] | None = None, **options: Unpack[NetworkOptions]
    ) -> Request[Entity]:
        """Start a ping."""
        return self._start("kv_ping", _ENTITY, options=options, on_answer=on_answer)

    def signup_async(
        self,
        username: str | None = None,
        password: str | None = None,
        *,
        members: Mapping[str, Any] | None = None,
        on_answer: OnAnswer[Entity] | None = None,
        **options: Unpack[LoginOptions],
    ) -> Request[Entity]:
        """Start a signup."""
        user = dict(members or {})
        if username is not None:
            user["username"] = username
        if password is not None:
            user["password"] = password
        return self._start_json("kv_user_signup", to_json(user), options, on_answer)

    def login_async(
        self,
        username: str,
        password: str,
        *,
        on_answer: OnAnswer[Entity] | None = None,
        **options: Unpack[LoginOptions],
    ) -> Request[Entity]:
        """Start a login."""
        credentials = to_json({"username": username, "password": password})
        return self._start_json("kv_user_login", credentials, options, on_answer)

    def login_with_code_async(
        self,
        code: str,
        redirect_uri: str,
        *,
        client_id: str | None = None,
        on_answer: OnAnswer[Entity] | None = None,
        **options: Unpack[LoginOptions],
    ) -> Request[Entity]:
        """Start a login by the code of the :meth:`login_page`."""
        texts = to_text(code, "code"), to_text(redirect_uri, "redirect_uri")
        chosen: dict[str, object] = {**options}
        if client_id is not None:
            chosen["client_id"] = client_id
        return self._start(
            "kv_user_login_with_code", _ENTITY, *texts, options=chosen, on_answer=on_answer
        )

    def login_with_identity_async(
        self,
        identity: Mapping[str, Any],
        *,
        on_answer: OnAnswer[Entity] | None = None,
        **options: Unpack[LoginOptions],
    ) -> Request[Entity]:
        """Start a login by the account of another provider."""
        credentials = to_json({"_socialIdentity": identity})
        return self._start_json("kv_user_login", credentials, options, on_answer)

    def logout_async(
        self, *, on_answer: OnAnswer[None] | None = None, **options: Unpack[LogoutOptions]
    ) -> Request[None]:
        """Start a logout."""
        return self._start("kv_user_logout", _NOTHING, options=options, on_answer=on_answer)

    def register_live_async(
        self, *, on_answer: OnAnswer[None] | None = None, **options: Unpack[NetworkOptions]
    ) -> Request[None]:
        """Start to let the active user listen."""
        return self._start("kv_live_register", _NOTHING, options=options, on_answer=on_answer)

    def unregister_live_async(
        self, *, on_answer: OnAnswer[None] | None = None, **options: Unpack[NetworkOptions]
    ) -> Request[None]:
        """Start to end all live subscriptions of this client."""
        return self._start("kv_live_unregister", _NOTHING, options=options, on_answer=on_answer)

    def me_async(
        self, *, on_answer: OnAnswer[Entity] | None = None, **options: Unpack[NetworkOptions]
    ) -> Request[Entity]:
        """Start to read the active user."""
        return self._start("kv_user_me", _ENTITY, options=options, on_answer=on_answer)

    def update_user_async(
        self,
        members: Mapping[str, Any],
        *,
        on_answer: OnAnswer[Entity] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[Entity]:
        """Start to update the active user."""
        return self._start_json("kv_user_update", to_json(members), options, on_answer)

    def delete_user_async(
        self,
        *,
        hard: bool = False,
        on_answer: OnAnswer[None] | None = None,
        **options: Unpack[LogoutOptions],
    ) -> Request[None]:
        """Start to delete the active user."""
        chosen = {**options, "hard": True} if hard else options
        return self._start("kv_user_delete", _NOTHING, options=chosen, on_answer=on_answer)

    def user_exists_async(
        self,
        username: str,
        *,
        on_answer: OnAnswer[bool] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[bool]:
        """Start to ask for a user name."""
        name = to_text(username, "username")
        return self._start("kv_user_exists", _BOOL, name, options=options, on_answer=on_answer)

    # Callbacks

    def fileno(self) -> int:
        """Return the descriptor that is readable while callbacks wait; for ``callbacks="pump"``.

        With this method a client can be passed to ``select``, ``selectors`` or ``loop.add_reader``.
        """
        return _native.call_for_count(_event_fd, self.handle)

    def dispatch(self, limit: int = 0) -> int:
        """Run waiting callbacks on this thread, and count them; it raises what one of them does."""
        with dispatching():
            return _native.call_for_count(_dispatch, self.handle, limit)

    def observe_sync(
        self, receive: Callable[[SyncEvent], object], *, ended: Callable[[], object] | None = None
    ) -> Subscription:
        """Observe what happens while the client synchronises, until the subscription is closed.

        There are events when a push, pull or sync starts, advances and finishes, when the network
        is lost and when it is back, and when the session ends. ``receive`` runs where callbacks do.
        ``ended`` runs there too, once, when no more events follow.
        """
        refuse_coroutine(receive, "the callback for events")

        def on_event(event: bytes | KVError) -> None:
            if isinstance(event, bytes):
                receive(decode_sync_event(event))

        handle = begin("kv_client_observe_sync", self, self.handle, receive=on_event, ended=ended)
        return Subscription(handle, self)

    def start_sync(self) -> None:
        """Start to synchronise in the background; opening a "synced" store does this too.

        With a schema all models are synchronised, else the collections of "synced" stores. The
        events are those of :meth:`observe_sync`.
        """
        _native.call(_start_sync, self.handle)

    def stop_sync(self) -> None:
        """Stop synchronising in the background. Local data and pending writes stay."""
        _native.call(_stop_sync, self.handle)

    def clear(self, *, discard_pending: bool = False) -> None:
        """Stop synchronising, and delete all local data, so that the next start reads everything.

        It raises :class:`PendingError`, and stops and deletes nothing, if there are pending writes,
        unless ``discard_pending``.
        """
        _native.call(_clear, self.handle, int(discard_pending))

    def set_sync_expression(self, collection: str, filter: Mapping[str, Any] | None) -> None:
        """Set which entities of a collection are synchronised; None: all.

        Others leave the local store, except for pending writes.
        """
        text = None if filter is None else to_json(filter)
        _native.call(_set_sync_expression, self.handle, to_text(collection, "the collection"), text)

    def status(self) -> ClientStatus:
        """Return the state of the client and what it is doing, without a network call."""
        return decode_status(_native.call_for_text(_status, self.handle))

    def compact(self, **options: Unpack[NetworkOptions]) -> dict[str, int]:
        """Free the disk space that local data no longer needs; return the sizes before and after.

        The files are rewritten, which needs disk space for a copy. Reads can go on meanwhile. The
        call waits while a cursor, a transaction or another process reads an older state, and raises
        :class:`BusyError` after ``timeout``.
        """
        return self.compact_async(**options).finish()

    def compact_async(
        self,
        *,
        on_answer: OnAnswer[dict[str, int]] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[dict[str, int]]:
        """Start to free disk space."""
        return self._start("kv_client_compact", _SIZES, options=options, on_answer=on_answer)

    def backup(
        self, directory: str | PathLike[str], **options: Unpack[NetworkOptions]
    ) -> BackupReport:
        """Copy the local data into a directory while it is used.

        The copy is as the data is at one moment. It can be opened as a ``data_directory``. It has
        no sessions: the user whose data it is logs in there. It appears when it is complete. If the
        directory has data of this application, :class:`ConflictError` is raised.
        """
        return self.backup_async(directory, **options).finish()

    def backup_async(
        self,
        directory: str | PathLike[str],
        *,
        on_answer: OnAnswer[BackupReport] | None = None,
        **options: Unpack[NetworkOptions],
    ) -> Request[BackupReport]:
        """Start to copy the local data."""
        path = to_text(fspath(directory), "directory")
        return self._start("kv_client_backup", _BACKUP, path, options=options, on_answer=on_answer)

    def repair(self) -> dict[str, Any]:
        """Repair the local data, and report what was damaged.

        A damaged entity is one that raises :class:`CorruptError` with its ``id``. It is removed,
        and the next pull fetches it again. One with a pending write is ``quarantined``: save it
        again, or remove it. Indexes are rebuilt. In the report, ``entities`` says how many entities
        were checked, and ``damaged`` how many of them were damaged.
        """
        report: dict[str, Any] = from_json(_native.call_for_text(_repair, self.handle))
        return report

    def change_key(self, key: Key | None, *, name: str = "main") -> list[str]:
        """Change, add or remove a key that opens the local data; return the names of all keys.

        The data stays as it is, so this takes no longer for more of it. The key that the data was
        made with is ``main``; up to 8 keys open it. None removes the key of that name, which the
        last one cannot be. Other processes that have the data open go on.
        """
        new = None if key is None else to_json(key_option(key))
        text = _native.call_for_text(
            _change_key, self.handle, to_text(name, "name"), new, len(new or b"")
        )
        names: list[str] = from_json(text)["keys"]
        return names

    def observe_status(
        self,
        receive: Callable[[ClientStatus], object],
        *,
        ended: Callable[[], object] | None = None,
    ) -> Subscription:
        """Observe the status, now and after each change, until the subscription is closed.

        There are at most four events a second. Changes in between are combined, and the last status
        is always reported. ``receive`` runs where callbacks do. ``ended`` runs there too, once,
        when no more events follow.
        """
        refuse_coroutine(receive, "the callback for the status")

        def handle_event(event: bytes | KVError) -> None:
            if isinstance(event, bytes):
                receive(decode_status(event))

        handle = begin(
            "kv_client_observe_status", self, self.handle, receive=handle_event, ended=ended
        )
        return Subscription(handle, self)

    def set_log(
        self,
        log: Callable[[LogLevel, str], object] | logging.Logger | None,
        level: LogLevel = "warning",
    ) -> None:
        """Send the log to a function or a logger, up to a level. None turns the log off.

        The level "debug" has a line for each request. Tokens, secrets and bodies are never logged.
        """
        if level not in _LEVELS:
            raise invalid(
                f"the level of the log must be one of {', '.join(_LEVELS)}, not {level!r}"
            )
        if isinstance(log, logging.Logger):
            log = _logging_to(log)
        refuse_coroutine(log, "a log")
        number = _LEVELS.index(level) + 1
        if log is None:
            _native.call(_set_log, self.handle, number, None, None, None)
            return
        delivery = LogDelivery(lambda number, text: log(_LEVELS[number - 1], text))
        _native.call(_set_log, self.handle, number, LOG_POINTER, delivery.token, FREE_POINTER)

    def set_token_provider(self, provide: Callable[[TokenRequest], str] | None) -> None:
        """Let a function give the tokens of a backend that takes tokens of others, such as AppSync.

        It is called when there is no token, when the backend has refused the last one, and a
        minute before a JSON Web Token expires, once for all requests that wait for a token. It runs
        on a thread of its own and may block. If it raises :class:`kvstore.NoUserError` or a
        :class:`kvstore.NetworkError`, the calls raise that; otherwise they raise
        :class:`kvstore.UnauthorizedError`. Pending writes stay in the queue. None removes it.
        """
        if provide is None:
            _native.call(_set_token_provider, self.handle, None, None, None)
            return
        refuse_coroutine(provide, "a token provider")
        delivery = TokenDelivery(lambda *asked: provide(TokenRequest(*asked)))
        _native.call(_set_token_provider, self.handle, TOKEN_POINTER, delivery.token, FREE_POINTER)

    def __repr__(self) -> str:
        return f"<kvstore.Client of {self._app_key!r}{'' if self._finalizer.alive else ', closed'}>"

    # Starting requests

    def _start(
        self,
        name: str,
        reader: TextReader[T],
        *arguments: object,
        options: Mapping[str, object],
        on_answer: OnAnswer[T] | None,
    ) -> Request[T]:
        return start(
            name,
            reader,
            self,
            *arguments,
            encode_options(options),
            on_answer=on_answer,
        )

    def _start_json(
        self,
        name: str,
        text: bytes,
        options: NetworkOptions,
        on_answer: OnAnswer[Entity] | None,
    ) -> Request[Entity]:
        return self._start(name, _ENTITY, text, len(text), options=options, on_answer=on_answer)
