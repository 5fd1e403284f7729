"""Numbers about groups of a store's entities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, Unpack

from .._callbacks import refuse_coroutine
from .._option_types import CallOptions
from .._options import encode_options, to_text
from ..grouping import Aggregate, group_json
from ..grouping import reduce as reduce_groups
from ..query import QueryLike, as_query, handle_of
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
        **options: Unpack[CallOptions],
    ) -> list[Entity]:
        """Group the entities that match by some members, and compute numbers about each group.

        An aggregate is ``"count"``, or ``{"sum": path}``, ``{"avg": path}``, ``{"min": path}`` or
        ``{"max": path}``; only numbers count. The groups are ordered by the keys.

        ``group(["done"], {"n": "count", "longest": {"max": "words"}})`` gives such as
        ``[{"done": False, "n": 2, "longest": 12}, {"done": True, "n": 1, "longest": 3}]``.

        `reduce` is JavaScript instead, for a backend that runs it, which starts from `initial`.
        """
        return self.group_async(
            keys, aggregates, query, reduce=reduce, initial=initial, **options
        ).finish()

    def reduce(
        self,
        function: Callable[[A, E], A],
        initial: Callable[[], A],
        keys: Sequence[str] = (),
        query: QueryLike = None,
        **options: Unpack[CallOptions],
    ) -> list[tuple[Entity, A]]:
        """Group the entities that match, and fold each group with a function of one's own.

        The function gets what it gave last, or ``initial()``, and an entity. Gives the keys of each
        group, as they appear, and what came of it:
        ``reduce(lambda words, note: words + note["words"], int, ["done"])`` gives such as
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
        """Give the different values of a member, in order; elements of arrays count one by one."""
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
        on_answer: OnAnswer[list[Entity]] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[list[Entity]]:
        """Start to group."""
        text, made = group_json(keys, aggregates or {}, initial, reduce), as_query(query)
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
        """Start to look for the different values of a member."""
        made = as_query(query)
        return self._start(
            "kv_store_distinct",
            _VALUES,
            to_text(path, "the path"),
            handle_of(made),
            options=options,
            on_answer=on_answer,
        )
