"""Queries: which entities, in which order, which part of them."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

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


#: A value that a query computes for each entity.
Computed = Mapping[str, Any]
#: A sort order: names of members with 1, -1, a computed value, or an order by language.
Sort = Mapping[str, int | Computed]

#: How texts are compared and sorted: a locale, or an object with `locale`, `ignoreCase` and
#: `ignoreAccents`.
Collation = str | Mapping[str, Any]

#: The relevance of an entity for the searches of a query, to sort by or to add to results.
TEXT_SCORE: Final[Computed] = {"$meta": "textScore"}
#: The distance of an entity's place from the centre of a query's ``near``, in metres.
DISTANCE: Final[Computed] = {"$meta": "geoNearDistance"}


def snippet(
    *,
    start: str = "<b>",
    end: str = "</b>",
    ellipsis: str = "…",
    words: int = 20,
    path: str | None = None,
) -> Computed:
    """Describe a snippet: the part of an entity's texts that shows best why a search found it.

    `start` and `end` are put around each word that was found. `ellipsis` stands for text that was
    left out. `path` is the member to take the snippet from. Nothing is escaped.
    """
    style: dict[str, Any] = {"$meta": "snippet", "start": start, "end": end}
    style |= {"ellipsis": ellipsis, "words": words}
    return style if path is None else style | {"path": path}


class Query:
    """A query in MongoDB's language. It is immutable, and any thread may use it.

    >>> Query({"population": {"$gte": 50_000}}, sort={"name": 1}, limit=20).to_dict()["limit"]
    20
    """

    def __init__(
        self,
        filter: Query | Mapping[str, Any] | None = None,
        *,
        sort: Sort | None = None,
        skip: int | None = None,
        limit: int | None = None,
        fields: Sequence[str] | None = None,
        computed: Mapping[str, Computed] | None = None,
        collation: Collation | None = None,
    ) -> None:
        """Make a query; :class:`~kvstore.InvalidError` says what is wrong with it.

        The order of `sort`'s members counts. 1 is ascending, -1 is descending, and
        :data:`TEXT_SCORE` puts the best first. `computed` adds members to the results:
        ``{"score": TEXT_SCORE}``, :data:`DISTANCE` or a :func:`snippet`. If `filter` is a query,
        such as ``F.population > 50_000``, only its filter is used. `collation` compares and sorts
        texts as a language does: ``"de"``, or ``{"locale": "de", "ignoreCase": True}``.
        """
        if isinstance(filter, Query):
            self._adopt(
                _combined(
                    "and", [filter], _modifiers(sort, skip, limit, fields, computed, collation)
                )
            )
            return
        filter_json = None if filter is None else to_json(filter)
        modifiers_json = _modifiers(sort, skip, limit, fields, computed, collation)
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
        sort: Sort | None = None,
        skip: int | None = None,
        limit: int | None = None,
        fields: Sequence[str] | None = None,
        computed: Mapping[str, Computed] | None = None,
        collation: Collation | None = None,
    ) -> Query:
        """Make a query from a predicate format, in the syntax of NSPredicate.

        `arguments` are the values of ``%@``, ``%K``, ``%d``…; `variables` are those of ``$name``.

        >>> query = Query.from_format("state == %@ AND population >= %d", "MA", 50_000)
        >>> query.to_dict()["filter"]
        {'state': 'MA', 'population': {'$gte': 50000}}
        """
        values = to_json({"arguments": arguments, "variables": dict(variables or {})})
        modifiers_json = _modifiers(sort, skip, limit, fields, computed, collation)
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
        """Sort by members, such as ``sort("-population", "name")``. A ``-`` means descending."""
        if not all(key.removeprefix("-") for key in keys):
            raise invalid("the name of a member is empty")
        order = {key.removeprefix("-"): -1 if key.startswith("-") else 1 for key in keys}
        return self._with(sort=order)

    def collated(
        self, locale: str, *, ignore_case: bool = False, ignore_accents: bool = False
    ) -> Query:
        """Compare and sort texts as a language does, where the query does not say how.

        >>> Query({"name": {"$gt": "b"}}).collated("de").to_dict()["filter"]
        {'name': {'$gt': 'b', '$collation': {'locale': 'de'}}}
        """
        collation: Collation = {
            "locale": locale,
            "ignoreCase": ignore_case,
            "ignoreAccents": ignore_accents,
        }
        return self._with(collation=collation)

    def skip(self, count: int) -> Query:
        """Skip this many entities at the beginning of the result."""
        return self._with(skip=count)

    def limit(self, count: int) -> Query:
        """Limit the result to this many entities; 0 means no limit."""
        return self._with(limit=count)

    def fields(self, *names: str) -> Query:
        """Return only these members of entities, and ``_id``."""
        return self._with(fields=list(names))

    def by_relevance(self) -> Query:
        """Sort by relevance for the searches of the query, the best first."""
        return self._with(sort={"score": TEXT_SCORE})

    def computing(self, **members: Computed) -> Query:
        """Add members to the results: :data:`TEXT_SCORE`, :data:`DISTANCE` or a :func:`snippet`.

        >>> text_search("fox*").by_relevance().computing(score=TEXT_SCORE).to_dict()["computed"]
        {'score': {'$meta': 'textScore'}}
        """
        return self._with(computed=members)

    def _with(self, **changed: Any) -> Query:
        modifiers = {**self.to_dict(), **changed}
        modifiers.pop("filter", None)
        return self.with_modifiers(**modifiers)

    def with_modifiers(
        self,
        *,
        sort: Sort | None = None,
        skip: int | None = None,
        limit: int | None = None,
        fields: Sequence[str] | None = None,
        computed: Mapping[str, Computed] | None = None,
        collation: Collation | None = None,
    ) -> Query:
        """Make a query with the same filter, these modifiers and no others."""
        return _adopted(
            _combined("and", [self], _modifiers(sort, skip, limit, fields, computed, collation))
        )

    def __and__(self, other: QueryLike) -> Query:
        """Match entities that both queries match. Combinations drop the modifiers of their parts.

        >>> (Query({"a": 1}) & {"b": 2}).to_dict()["filter"]
        {'a': 1, 'b': 2}
        """
        return _adopted(_combined("and", [self, other]))

    def __rand__(self, other: QueryLike) -> Query:
        return _adopted(_combined("and", [other, self]))

    def __or__(self, other: QueryLike) -> Query:
        """Match entities that at least one of the queries matches."""
        return _adopted(_combined("or", [self, other]))

    def __ror__(self, other: QueryLike) -> Query:
        return _adopted(_combined("or", [other, self]))

    def __invert__(self) -> Query:
        """Match entities that this query does not match."""
        return _adopted(_combined("not", [self]))

    def __bool__(self) -> bool:
        raise TypeError(
            "a query has no truth value: combine queries by & and |, negate them by ~,"
            " each in parentheses; instead of low <= member <= high use member.between(low, high)"
        )

    def _adopt(self, handle: int) -> None:
        self._handle = handle
        weakref.finalize(self, _free, handle)

    def to_format(self) -> tuple[str, list[Any]]:
        """Return the filter as a predicate format, and its arguments."""
        printed = from_json(_native.call_for_text(_format, self._handle))
        return printed["format"], printed["arguments"]

    def to_dict(self) -> dict[str, Any]:
        """Return the query as the library has parsed it."""
        result: dict[str, Any] = from_json(_native.call_for_text(_json, self._handle))
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return _of_dict, (self.to_dict(),)

    def __repr__(self) -> str:
        return f"Query({self.to_dict()})"


def text_search(
    text: str,
    *,
    all_words: bool = False,
    language: Literal["none", "english"] = "none",
    case_sensitive: bool = False,
    diacritic_sensitive: bool = False,
) -> Query:
    """Match entities by the words in any of their texts: ``fox*``, ``"a phrase"``, ``-not``.

    At least one of the words must be there, or all of them with `all_words`. With a `language`,
    words are compared by their stems. To search one member only, use ``F.title.search("fox*")``.

    >>> text_search('fox* -"red fox"').to_dict()["filter"]
    {'$text': {'$search': 'fox* -"red fox"'}}
    """
    return Query(search_filter(text, all_words, language, case_sensitive, diacritic_sensitive))


def search_filter(
    text: str, all_words: bool, language: str, case_sensitive: bool, diacritic_sensitive: bool
) -> dict[str, Any]:
    """Return the filter of a search."""
    search: dict[str, Any] = {"$search": text, "$language": language}
    if all_words:
        search["$matchCriteria"] = "all"
    if case_sensitive:
        search["$caseSensitive"] = True
    if diacritic_sensitive:
        search["$diacriticSensitive"] = True
    return {"$text": search}


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
    sort: Sort | None,
    skip: int | None,
    limit: int | None,
    fields: Sequence[str] | None,
    computed: Mapping[str, Computed] | None,
    collation: Collation | None,
) -> bytes | None:
    chosen: dict[str, object] = {"sort": sort, "skip": skip, "limit": limit, "fields": fields}
    chosen |= {"computed": computed, "collation": collation}
    modifiers = {name: value for name, value in chosen.items() if value is not None}
    return to_json(modifiers) if modifiers else None


#: The argument for a query: a query, a filter, or None, which matches everything.
QueryLike = Query | Mapping[str, Any] | None


def as_query(query: QueryLike) -> Query | None:
    """Make a query of a filter."""
    return query if query is None or isinstance(query, Query) else Query(query)


def handle_of(query: Query | None) -> int | None:
    """Return the query's handle in C; the caller keeps the query alive during the call."""
    return None if query is None else query._handle
