"""Queries: which entities, in which order, which part of them."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

from . import _native
from ._json import from_json
from ._options import to_json, to_text
from .errors import invalid

_create = _native.function("kv_query_create")
_from_format = _native.function("kv_query_from_format")
_combine = _native.function("kv_query_combine")
_format = _native.function("kv_query_format")
_json = _native.function("kv_query_json")
_free = _native.function("kv_query_free")


class Query:
    """A query in the backend's language (MongoDB's). It never changes; any thread may use it.

    >>> Query({"population": {"$gte": 50_000}}, sort={"name": 1}, limit=20).to_dict()["limit"]
    20
    """

    def __init__(
        self,
        filter: Query | Mapping[str, Any] | None = None,
        *,
        sort: Mapping[str, int] | None = None,
        skip: int | None = None,
        limit: int | None = None,
        fields: Sequence[str] | None = None,
    ) -> None:
        """Make a query; :class:`~kvstore.InvalidError` names what is wrong with it.

        The order of `sort`'s members counts: 1 is ascending, -1 descending. Of a query, such as
        ``F.population > 50_000``, the filter is taken.
        """
        if isinstance(filter, Query):
            self._adopt(_combined("and", [filter], _modifiers(sort, skip, limit, fields)))
            return
        filter_json = None if filter is None else to_json(filter)
        modifiers_json = _modifiers(sort, skip, limit, fields)
        self._adopt(
            _native.call_for_handle(
                _create,
                filter_json,
                len(filter_json or b""),
                modifiers_json,
                len(modifiers_json or b""),
            )
        )

    @classmethod
    def from_format(
        cls,
        format: str,
        *arguments: Any,
        variables: Mapping[str, Any] | None = None,
        sort: Mapping[str, int] | None = None,
        skip: int | None = None,
        limit: int | None = None,
        fields: Sequence[str] | None = None,
    ) -> Query:
        """Make a query from a predicate format, as NSPredicate has them.

        `arguments` are the values of ``%@``, ``%K``, ``%d``…, `variables` those of ``$name``.

        >>> query = Query.from_format("state == %@ AND population >= %d", "MA", 50_000)
        >>> query.to_dict()["filter"]
        {'state': 'MA', 'population': {'$gte': 50000}}
        """
        values = to_json({"arguments": arguments, "variables": dict(variables or {})})
        modifiers_json = _modifiers(sort, skip, limit, fields)
        query = cls.__new__(cls)
        query._adopt(
            _native.call_for_handle(
                _from_format,
                to_text(format, "the format"),
                values,
                len(values),
                modifiers_json,
                len(modifiers_json or b""),
            )
        )
        return query

    def sort(self, *keys: str) -> Query:
        """Sort by members, one after the other: ``sort("-population", "name")``; a - descends."""
        if not all(key.removeprefix("-") for key in keys):
            raise invalid("a member has a name")
        order = {key.removeprefix("-"): -1 if key.startswith("-") else 1 for key in keys}
        return self._with(sort=order)

    def skip(self, count: int) -> Query:
        """Leave out so many of the first."""
        return self._with(skip=count)

    def limit(self, count: int) -> Query:
        """Give so many at the most; 0: no limit."""
        return self._with(limit=count)

    def fields(self, *names: str) -> Query:
        """Give only these members, and ``_id``."""
        return self._with(fields=list(names))

    def _with(self, **changed: Any) -> Query:
        modifiers = {**self.to_dict(), **changed}
        modifiers.pop("filter", None)
        return self.with_modifiers(**modifiers)

    def with_modifiers(
        self,
        *,
        sort: Mapping[str, int] | None = None,
        skip: int | None = None,
        limit: int | None = None,
        fields: Sequence[str] | None = None,
    ) -> Query:
        """Make a query of the same filter with these modifiers and no others."""
        return _adopted(_combined("and", [self], _modifiers(sort, skip, limit, fields)))

    def __and__(self, other: QueryLike) -> Query:
        """Select what both do. The modifiers of the parts are left behind, here and below.

        >>> (Query({"a": 1}) & {"b": 2}).to_dict()["filter"]
        {'a': 1, 'b': 2}
        """
        return _adopted(_combined("and", [self, other]))

    def __rand__(self, other: QueryLike) -> Query:
        return _adopted(_combined("and", [other, self]))

    def __or__(self, other: QueryLike) -> Query:
        """Select what at least one of them does."""
        return _adopted(_combined("or", [self, other]))

    def __ror__(self, other: QueryLike) -> Query:
        return _adopted(_combined("or", [other, self]))

    def __invert__(self) -> Query:
        """Select what this one does not."""
        return _adopted(_combined("not", [self]))

    def __bool__(self) -> bool:
        raise TypeError(
            "a query is neither true nor false: combine queries by & and |, negate them by ~,"
            " each in parentheses; for low <= member <= high write member.between(low, high)"
        )

    def _adopt(self, handle: int) -> None:
        self._handle = handle
        weakref.finalize(self, _free, handle)

    def to_format(self) -> tuple[str, list[Any]]:
        """Give the filter as a predicate format, and its arguments."""
        printed = from_json(_native.call_for_text(_format, self._handle))
        return printed["format"], printed["arguments"]

    def to_dict(self) -> dict[str, Any]:
        """Give the query as the library understood it."""
        result: dict[str, Any] = from_json(_native.call_for_text(_json, self._handle))
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        return f"Query({self.to_dict()})"


def _of_dict(members: dict[str, Any]) -> Query:
    return Query(members.pop("filter", None), **members)


def _combined(combination: str, parts: Sequence[QueryLike], modifiers: bytes | None = None) -> int:
    queries = [as_query(part) for part in parts]
    return _native.call_for_handle(
        _combine,
        combination.encode(),
        _native.handles([handle_of(part) for part in queries]),
        len(queries),
        modifiers,
        len(modifiers or b""),
    )


def _adopted(handle: int) -> Query:
    query = Query.__new__(Query)
    query._adopt(handle)
    return query


def _modifiers(
    sort: Mapping[str, int] | None,
    skip: int | None,
    limit: int | None,
    fields: Sequence[str] | None,
) -> bytes | None:
    chosen = {"sort": sort, "skip": skip, "limit": limit, "fields": fields}
    modifiers = {name: value for name, value in chosen.items() if value is not None}
    return to_json(modifiers) if modifiers else None


#: What a call takes for a query: a query, a filter, or None for everything.
QueryLike = Query | Mapping[str, Any] | None


def as_query(query: QueryLike) -> Query | None:
    """Make a query of a filter."""
    return query if query is None or isinstance(query, Query) else Query(query)


def handle_of(query: Query | None) -> int | None:
    """Give what C calls the query; the caller keeps the query alive during the call."""
    return None if query is None else query._handle
