"""The reads of a store that load little by little."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, Unpack

from .. import _native
from .._callbacks import Done
from .._option_types import CallOptions
from .._options import encode_options
from ..fetched import Results, ResultsReader, request_json
from ..grouping import Aggregate
from ..query import QueryLike, as_query, handle_of
from ..request import Request
from ..results import E, Entity
from .base import StoreBase

T = TypeVar("T")

_results = _native.function("kv_store_results")


class Fetching(StoreBase[E]):
    """Fetches sequences that load little by little."""

    def results(
        self,
        query: QueryLike = None,
        *,
        batch_size: int = 100,
        cache_bytes: int = 4 << 20,
        returns_faults: bool | None = None,
        **options: Unpack[CallOptions],
    ) -> Results[E]:
        """Fetch what a query finds, as a sequence with ``len()`` that loads little by little.

        `batch_size` records are read together; `cache_bytes` of what was read are kept. With
        `returns_faults` a read of the backend gets the ids at once, and the records of a batch when
        one is touched, with one request; None: in network stores.
        """
        request = {
            "fetchBatchSize": batch_size,
            "cacheBytes": cache_bytes,
            "returnsObjectsAsFaults": returns_faults,
        }
        return self._fetch(request, self.mapper.read, query, options)

    def ids(self, query: QueryLike = None, **options: Unpack[CallOptions]) -> Results[str]:
        """Fetch the ids of what a query finds; no entity is read for them."""
        return self._fetch({"resultType": "objectId"}, str, query, options)

    def rows(
        self,
        query: QueryLike = None,
        *,
        distinct: bool = False,
        group_by: Sequence[str] | None = None,
        aggregates: Mapping[str, Aggregate] | None = None,
        having: Mapping[str, Any] | None = None,
        **options: Unpack[CallOptions],
    ) -> Results[Entity]:
        """Fetch dictionaries: the fields of the query, or all members but the reserved ones.

        With `distinct`, each combination of values of the query's fields is there once. With
        `group_by` or `aggregates`, rows are groups as :meth:`group` gives them; `having` is a
        filter of them, and sort, skip and limit of the query are those of the rows.
        """
        request = {
            "resultType": "dictionary",
            "distinct": distinct or None,
            "groupBy": group_by,
            "aggregates": aggregates,
            "having": having,
        }
        return self._fetch(request, dict, query, options)

    # The asynchronous form

    def results_async(
        self,
        query: QueryLike = None,
        *,
        batch_size: int = 100,
        cache_bytes: int = 4 << 20,
        returns_faults: bool | None = None,
        on_answer: Done | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[Results[E]]:
        """Start to fetch what a query finds."""
        request = {
            "fetchBatchSize": batch_size,
            "cacheBytes": cache_bytes,
            "returnsObjectsAsFaults": returns_faults,
        }
        return self._start_fetch(request, self.mapper.read, query, options, on_answer)

    def _fetch(
        self,
        members: Mapping[str, Any],
        read: Callable[[Any], T],
        query: QueryLike,
        options: CallOptions,
    ) -> Results[T]:
        if not self._reads(options):
            return self._start_fetch(members, read, query, options, None).finish()
        text, made = request_json(members), as_query(query)
        handle = _native.call_for_handle(
            _results, self.handle, text, len(text), handle_of(made), encode_options(options)
        )
        return Results(handle, self, read)

    def _start_fetch(
        self,
        members: Mapping[str, Any],
        read: Callable[[Any], T],
        query: QueryLike,
        options: CallOptions,
        on_answer: Done | None,
    ) -> Request[Results[T]]:
        text, made = request_json(members), as_query(query)
        return self._start(
            "kv_store_results",
            ResultsReader(read),
            text,
            len(text),
            handle_of(made),
            options=options,
            on_answer=on_answer,
        )
