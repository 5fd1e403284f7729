"""The reads of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar, Unpack, overload

from .. import _native
from .._callbacks import Done, Reader
from .._json import from_json
from .._option_types import CallOptions
from .._options import encode_options, to_json, to_text
from ..cursor import Cursor
from ..errors import NotFoundError
from ..query import Query, QueryLike, as_query, handle_of
from ..request import CursorReader, OnAnswer, Request, TextReader
from ..results import Answer, E, decode_count
from .base import StoreBase

T = TypeVar("T")

_find = _native.function("kv_store_find")
_find_by_id = _native.quick_function("kv_store_find_by_id")
_find_by_ids = _native.function("kv_store_find_by_ids")
_related = _native.function("kv_store_related")
_count = _native.function("kv_store_count")

_BYTES: Final = TextReader(bytes)
_COUNT: Final = TextReader(decode_count)


class Reading(StoreBase[E]):
    """Finds and counts entities."""

    def find(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> Cursor[E]:
        """Find the entities that match. They are fetched while the cursor is iterated over."""
        if not self._reads(options):
            return self.find_async(query, **options).finish()
        made = as_query(query)
        return Cursor(
            _native.call_for_handle(_find, self.handle, handle_of(made), encode_options(options)),
            self,
            self.mapper,
        )

    def find_by_id(self, id: str, **options: Unpack[CallOptions]) -> E:
        """Find one entity, or raise :class:`kvstore.NotFoundError`."""
        return self.mapper.parse(self.get_bytes(id, **options))

    def find_by_ids(self, ids: Iterable[str], **options: Unpack[CallOptions]) -> list[E | None]:
        """Find the entities of some ids: a list in the same order, with None where there is none.

        A local store reads all of them in one snapshot.
        """
        if not self._reads(options):
            return self.find_by_ids_async(ids, **options).finish()
        text = to_json(list(ids))
        return self.mapper.parse_list(
            _native.call_for_text(
                _find_by_ids, self.handle, text, len(text), encode_options(options)
            )
        )

    def get_bytes(self, id: str, **options: Unpack[CallOptions]) -> bytes:
        """Find one entity and return its JSON as it is stored. This is the fastest read."""
        if options or not self._reads_locally:
            if not self._reads(options):
                return self._start_find_by_id(_BYTES, id, options).finish()
            options_json = encode_options(options)
        else:
            options_json = None
        key = to_text(id, "id")
        outs = _native.outs
        try:
            out = outs.pop()
        except IndexError:
            out = _native.Out()
        try:
            status = _find_by_id(self._quick_handle, key, options_json, *out.refs)
            if status:
                raise _native.failure(status, out)
            text = out.text.value
            _native.free(out.text)
            return text or b""
        finally:
            outs.append(out)

    def get(
        self, id: str, default: T | None = None, **options: Unpack[CallOptions]
    ) -> E | T | None:
        """Find one entity, or return `default`."""
        try:
            return self.find_by_id(id, **options)
        except NotFoundError:
            return default

    def __getitem__(self, id: str) -> E:
        return self.find_by_id(id)

    def __contains__(self, id: object) -> bool:
        try:
            return isinstance(id, str) and bool(self.get_bytes(id))
        except NotFoundError:
            return False

    def __iter__(self) -> Iterator[E]:
        return self.find()

    def count(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> int:
        """Count the entities that match."""
        if not self._reads(options):
            return self.count_async(query, **options).finish()
        made = as_query(query)
        return _native.call_for_count(_count, self.handle, handle_of(made), encode_options(options))

    def related(self, id: str, relation: str) -> Query:
        """Make the query that selects what a relation of a record leads to.

        It is for a store of the model that the relation leads to; the client has a schema:
        ``comments.find(posts.related(post_id, "comments"))``. A relation to many selects what
        belongs to the record when the query is used; the others select what the keys of the local
        records name now.
        """
        filter_json = _native.call_for_text(
            _related, self.handle, to_text(id, "id"), to_text(relation, "relation")
        )
        return Query(from_json(filter_json))

    # The asynchronous forms

    @overload
    def find_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: Done | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[Cursor[E]]: ...

    @overload
    def find_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: Callable[[Answer[Cursor[E]]], object],
        **options: Unpack[CallOptions],
    ) -> Request[None]: ...

    def find_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[Cursor[E]] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[Cursor[E]] | Request[None]:
        """Start a find. With `on_answer`, the entities are in the answers only.

        The cursor of an answer is closed when the callback returns.
        """
        reader = CursorReader(self.mapper)
        return self._start_query("kv_store_find", reader, query, options, on_answer)

    def find_by_id_async(
        self, id: str, *, on_answer: OnAnswer[E] | None = None, **options: Unpack[CallOptions]
    ) -> Request[E]:
        """Start to find one entity."""
        reader = TextReader(self.mapper.parse)
        return self._start_find_by_id(reader, id, options, on_answer)

    def find_by_ids_async(
        self,
        ids: Iterable[str],
        *,
        on_answer: OnAnswer[list[E | None]] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[list[E | None]]:
        """Start to find the entities of some ids."""
        text = to_json(list(ids))
        reader = TextReader(self.mapper.parse_list)
        return self._start(
            "kv_store_find_by_ids", reader, text, len(text), options=options, on_answer=on_answer
        )

    def count_async(
        self,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[int] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[int]:
        """Start to count."""
        return self._start_query("kv_store_count", _COUNT, query, options, on_answer)

    def _start_find_by_id(
        self,
        reader: Reader[T],
        id: str,
        options: CallOptions,
        on_answer: OnAnswer[T] | None = None,
    ) -> Request[T]:
        key = to_text(id, "id")
        return self._start("kv_store_find_by_id", reader, key, options=options, on_answer=on_answer)
