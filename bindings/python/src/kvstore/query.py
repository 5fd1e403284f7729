"""Queries: which entities, in which order, which part of them."""

from __future__ import annotations

import json
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._options import to_json

_create = _native.function("kv_query_create")
_json = _native.function("kv_query_json")
_free = _native.function("kv_query_free")


class Query:
    """A query in the backend's language (MongoDB's). It never changes; any thread may use it.

    >>> Query({"population": {"$gte": 50_000}}, sort={"name": 1}, limit=20).to_dict()["limit"]
    20
    """

    def __init__(
        self,
        filter: Mapping[str, Any] | None = None,
        *,
        sort: Mapping[str, int] | None = None,
        skip: int | None = None,
        limit: int | None = None,
        fields: Sequence[str] | None = None,
    ) -> None:
        """Make a query; :class:`~kvstore.InvalidError` names what is wrong with it.

        The order of `sort`'s members counts: 1 is ascending, -1 descending.
        """
        filter_json = None if filter is None else to_json(filter)
        chosen = {"sort": sort, "skip": skip, "limit": limit, "fields": fields}
        modifiers = {name: value for name, value in chosen.items() if value is not None}
        modifiers_json = to_json(modifiers) if modifiers else None
        self._handle = _native.call_for_handle(
            _create,
            filter_json,
            len(filter_json or b""),
            modifiers_json,
            len(modifiers_json or b""),
        )
        weakref.finalize(self, _free, self._handle)

    def to_dict(self) -> dict[str, Any]:
        """Give the query as the library understood it."""
        result: dict[str, Any] = json.loads(_native.call_for_text(_json, self._handle))
        return result

    def __repr__(self) -> str:
        return f"Query({self.to_dict()})"


#: What a call takes for a query: a query, a filter, or None for everything.
QueryLike = Query | Mapping[str, Any] | None


def as_query(query: QueryLike) -> Query | None:
    """Make a query of a filter."""
    return query if query is None or isinstance(query, Query) else Query(query)


def handle_of(query: Query | None) -> int | None:
    """Give what C calls the query; the caller keeps the query alive during the call."""
    return None if query is None else query._handle
