"""Transactions: reads and writes over several stores that happen all at once, or not at all."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, TypeVar, Unpack, overload

from . import _native
from ._callbacks import refuse_coroutine
from ._closing import Closing
from ._options import Condition, encode_options, to_json, to_text
from .cursor import Cursor
from .errors import NotFoundError, invalid
from .query import QueryLike, as_query, handle_of
from .results import E, Entity, EntityLike, UpdateResult, decode_update

if TYPE_CHECKING:
    from .client import Client
    from .store import Store

T = TypeVar("T")

_begin = _native.function("kv_transaction_begin")
_commit = _native.function("kv_transaction_commit")
_close = _native.function("kv_transaction_close")
_find_by_id = _native.function("kv_transaction_find_by_id")
_find = _native.function("kv_transaction_find")
_count = _native.function("kv_transaction_count")
_save = _native.function("kv_transaction_save_if")
_remove_by_id = _native.function("kv_transaction_remove_by_id_if")
_remove = _native.function("kv_transaction_remove")
_update = _native.function("kv_transaction_update")
_run = _native.function("kv_client_transaction")

_Body: Final = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p)

#: KV_OK, and a failure status for a body that raised: its exception is raised to the caller.
_OK: Final = 0
_GAVE_UP: Final = 40


class Transaction(Closing):
    """Reads and writes of a client that happen all at once. Any thread may use it.

    As a context manager, it commits at the end of the ``with``, unless an exception leaves it:

    >>> import kvstore
    >>> with kvstore.Client(app_key="kid_demo", host=None, data_directory=directory) as client:
    ...     notes = client.collection("notes")
    ...     with client.transaction() as transaction:
    ...         saved = transaction.save(notes, {"text": "milk", "n": 1})
    ...         transaction.update(notes, {"text": "milk"}, {"$inc": {"n": 1}}).modified
    1

    Reads see a snapshot of the data from when the transaction began, with its own writes on top.
    Nothing is locked. If data that it has read was changed meanwhile, :meth:`commit` raises
    :class:`kvstore.ConflictError` and nothing is written. :meth:`Client.transact` tries again.
    """

    def __init__(self, client: Client, handle: int, *, is_lent: bool = False) -> None:
        self._client = client
        self._handle = handle
        self._finalizer = None if is_lent else weakref.finalize(self, _close, handle)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.commit()
        finally:
            self.close()

    def commit(self) -> None:
        """Write everything to disk and end the transaction."""
        _native.call(_commit, self._handle)

    def close(self) -> None:
        """End the transaction. If it was not committed, nothing is written."""
        if self._finalizer is not None:
            self._finalizer()

    def find_by_id(self, store: Store[E], id: str) -> E:
        """Find one entity, or raise :class:`kvstore.NotFoundError`."""
        return store.mapper.parse(
            _native.call_for_text(_find_by_id, self._handle, store.handle, to_text(id, "id"))
        )

    def get(self, store: Store[E], id: str, default: T | None = None) -> E | T | None:
        """Find one entity, or return `default`."""
        try:
            return self.find_by_id(store, id)
        except NotFoundError:
            return default

    def find(self, store: Store[E], query: QueryLike = None) -> Cursor[E]:
        """Find the entities that match. They can be read until the transaction ends."""
        made = as_query(query)
        return Cursor(
            _native.call_for_handle(_find, self._handle, store.handle, handle_of(made)),
            self,
            store.mapper,
        )

    def count(self, store: Store[E], query: QueryLike = None) -> int:
        """Count the entities that match."""
        made = as_query(query)
        return _native.call_for_count(_count, self._handle, store.handle, handle_of(made))

    @overload
    def save(self, store: Store, entity: EntityLike, **condition: Unpack[Condition]) -> Entity: ...

    @overload
    def save(self, store: Store[E], entity: E, **condition: Unpack[Condition]) -> E: ...

    def save(self, store: Store[Any], entity: Any, **condition: Unpack[Condition]) -> Any:
        """Save one entity and return it as it will be stored.

        A condition is checked against the entity as the transaction sees it.
        """
        text = store.mapper.write(entity)
        return store.mapper.parse(
            _native.call_for_text(
                _save, self._handle, store.handle, text, len(text), encode_options(condition)
            )
        )

    def remove_by_id(self, store: Store[E], id: str, **condition: Unpack[Condition]) -> int:
        """Remove one entity; return 1, or 0 if there is none."""
        return _native.call_for_count(
            _remove_by_id, self._handle, store.handle, to_text(id, "id"), encode_options(condition)
        )

    def remove(self, store: Store[E], query: QueryLike) -> int:
        """Remove the entities that match, and count them."""
        if query is None:
            raise invalid("remove needs a query; {} removes every entity")
        made = as_query(query)
        return _native.call_for_count(_remove, self._handle, store.handle, handle_of(made))

    def update(self, store: Store[E], query: QueryLike, update: Mapping[str, Any]) -> UpdateResult:
        """Change members of the entities that match: see :meth:`kvstore.Store.update`."""
        made, text = as_query(query), to_json(update)
        return decode_update(
            _native.call_for_text(
                _update, self._handle, store.handle, handle_of(made), text, len(text)
            )
        )


def begin(client: Client, tag: str | None) -> Transaction:
    """Begin a transaction on the data of a tag."""
    options = {} if tag is None else {"tag": tag}
    return Transaction(
        client, _native.call_for_handle(_begin, client.handle, encode_options(options))
    )


def transact(client: Client, body: Callable[[Transaction], T], options: Mapping[str, Any]) -> T:
    """Run `body` in transactions until one commits."""
    refuse_coroutine(body, "the body of a transaction")
    results: list[T] = []
    raised: list[BaseException] = []

    def call(context: int | None, handle: int) -> int:
        try:
            results[:] = [body(Transaction(client, handle, is_lent=True))]
        except BaseException as error:
            raised.append(error)
            return _GAVE_UP
        return _OK

    try:
        _native.call(_run, client.handle, encode_options(options), _Body(call), None)
    except Exception:
        if not raised:
            raise
    if raised:
        raise raised[0]
    return results[0]
