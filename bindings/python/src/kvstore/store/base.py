"""What all parts of a store need: its handle, and how its operations are started."""

from __future__ import annotations

import weakref
from typing import Generic, TypeVar

from .. import _native
from .._callbacks import Owner, Reader
from .._closing import Closing
from .._option_types import CallOptions, StoreOptions
from .._options import StoreType, encode_options, to_text
from ..model import Mapper
from ..query import QueryLike, as_query, handle_of
from ..request import OnAnswer, Request, start
from ..results import E

T = TypeVar("T")

_open = _native.function("kv_store_open")
_close = _native.function("kv_store_close")
_reads_locally = _native.function("kv_store_reads_locally")
_writes_locally = _native.function("kv_store_writes_locally")


class StoreBase(Closing, Generic[E]):
    """An open collection."""

    def __init__(
        self,
        client: Owner,
        collection: str,
        type: StoreType,
        options: StoreOptions,
        mapper: Mapper[E],
    ) -> None:
        self.name = collection
        self.type = type
        self.pumped = client.pumped
        #: What makes objects of entities, and entities of objects.
        self.mapper = mapper
        self._client = client
        self.handle = _native.call_for_handle(
            _open,
            client.handle,
            to_text(collection, "collection"),
            to_text(type, "type"),
            encode_options({**_known(mapper), **options}),
        )
        self._reads_locally = bool(_reads_locally(self.handle))
        self._writes_locally = bool(_writes_locally(self.handle))
        self._quick_handle = _native.quick_handle(self.handle)
        self._finalizer = weakref.finalize(self, _close, self.handle)

    def close(self) -> None:
        """Close the store. A second call is harmless. Its requests and cursors stay open."""
        self._finalizer()

    def __repr__(self) -> str:
        return f"<kvstore.Store {self.name!r} of type {self.type!r}>"

    # Starting requests

    def _start_query(
        self,
        name: str,
        reader: Reader[T],
        query: QueryLike,
        options: CallOptions,
        on_answer: OnAnswer[T] | None,
    ) -> Request[T]:
        made = as_query(query)
        return self._start(name, reader, handle_of(made), options=options, on_answer=on_answer)

    def _start(
        self,
        name: str,
        reader: Reader[T],
        *arguments: object,
        options: CallOptions,
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

    def _reads(self, options: CallOptions) -> bool:
        """Return whether a read stays on this machine, so that it need not be interruptible.

        A read with a policy of its own counts as one that does not, which is always safe.
        """
        return self._reads_locally and options.get("read_policy") is None

    def _writes(self, options: CallOptions) -> bool:
        return self._writes_locally and options.get("write_policy") is None


def _known(mapper: Mapper[E]) -> StoreOptions:
    """Return the option that keeps the members that a model does not have."""
    members = mapper.members()
    return {} if members is None else {"known_members": members}
