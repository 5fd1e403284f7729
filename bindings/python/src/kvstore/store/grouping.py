"""Numbers about groups of a store's entities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, Unpack

from .._callbacks import refuse_coroutine
from .._option_types import CallOptions
from .._options import encode_options, to_text
from ..grouping import Aggregate, group_json
from ..grouping import reduce as reduce_groups
from ..query import Collation, QueryLike, as_query, handle_of
from ..request import OnAnswer, Request, TextReader
from ..results import E, Entity, decode_entities, decode_values
from .base import StoreBase

A = TypeVar("A")

_GROUPS: Final = TextReader(decode_entities)
_VALUES: Final = TextReader(decode_values)


class Grouping(StoreBase[E]):
    """Groups entities."""

    def group(
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

        An aggregate is ``"count"``, or ``{"sum": path}``, ``{"avg": path}``, ``{"min": path}`` or
        ``{"max": path}``. Values that are no numbers are ignored. Groups are sorted by the keys.

        For example, ``group(["done"], {"n": "count", "longest": {"max": "words"}})`` may return
        ``[{"done": False, "n": 2, "longest": 12}, {"done": True, "n": 1, "longest": 3}]``.

        In place of aggregates, `reduce` is a JavaScript function that starts from `initial`, for a
        backend that runs it.

        With `collation`, texts that are equal in the order of a language are one group, whose key
        is the first of them by code point.
        """
        return self.group_async(
            keys,
            aggregates,
            query,
            reduce=reduce,
            initial=initial,
            collation=collation,
            **options,
        ).finish()

    def reduce(
        self,
        function: Callable[[A, E], A],
        initial: Callable[[], A],
        keys: Sequence[str] = (),
        query: QueryLike = None,
        **options: Unpack[CallOptions],
    ) -> list[tuple[Entity, A]]:
        """Group the entities that match, and fold each group with a function of your own.

        The function gets its previous result, or ``initial()`` at first, and an entity. The call
        returns the keys and the last result of each group, in the order in which the groups appear.
        For example, ``reduce(lambda words, note: words + note["words"], int, ["done"])`` may return
        ``[({"done": False}, 17), ({"done": True}, 3)]``.
        """
        refuse_coroutine(function, "the function")

        def add(accumulator: A, entity: Entity) -> A:
            return function(accumulator, self.mapper.read(entity))

        made = as_query(query)
        return reduce_groups(
            self.handle, keys, handle_of(made), encode_options(options), add, initial
        )

    def distinct(
        self, path: str, query: QueryLike = None, **options: Unpack[CallOptions]
    ) -> list[Any]:
        """Return the distinct values of a member, sorted; each element of an array is a value."""
        return self.distinct_async(path, query, **options).finish()

    # The asynchronous forms

    def group_async(
        self,
        keys: Sequence[str] = (),
        aggregates: Mapping[str, Aggregate] | None = None,
        query: QueryLike = None,
        *,
        reduce: str | None = None,
        initial: Mapping[str, Any] | None = None,
        collation: Collation | None = None,
        on_answer: OnAnswer[list[Entity]] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[list[Entity]]:
        """Start to group."""
        text, made = group_json(keys, aggregates or {}, initial, reduce, collation), as_query(query)
        return self._start(
            "kv_store_group",
            _GROUPS,
            text,
            len(text),
            handle_of(made),
            options=options,
            on_answer=on_answer,
        )

    def distinct_async(
        self,
        path: str,
        query: QueryLike = None,
        *,
        on_answer: OnAnswer[list[Any]] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[list[Any]]:
        """Start to collect the distinct values of a member."""
        made = as_query(query)
        return self._start(
            "kv_store_distinct",
            _VALUES,
            to_text(path, "the path"),
            handle_of(made),
            options=options,
            on_answer=on_answer,
        )
