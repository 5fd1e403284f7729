"""The indexes of a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .. import _native
from .._options import to_json, to_text
from ..errors import invalid
from ..query import Collation, QueryLike, as_query, handle_of
from ..results import E, Explanation, Index, decode_explanation, decode_indexes
from .base import StoreBase

_create_index = _native.function("kv_store_create_index")
_drop_index = _native.function("kv_store_drop_index")
_indexes = _native.function("kv_store_indexes")
_explain = _native.function("kv_store_explain")


class Indexing(StoreBase[E]):
    """Creates indexes, and explains how queries use them."""

    def create_index(
        self,
        keys: Mapping[str, int | str],
        *,
        name: str | None = None,
        totals: bool = False,
        language: Literal["english"] | None = None,
        collation: Collation | None = None,
    ) -> None:
        """Create an index, such as ``{"country": 1, "population": -1}``.

        The index covers the stored entities as well as later ones. The value of a key is 1, -1,
        ``"text"`` (for words) or ``"2dsphere"`` (for places). If the same index exists already,
        nothing happens. ``totals`` keeps the count and the sum of the last key for each group of
        the other keys, so that :meth:`group` by these is immediate. ``language`` keeps the stems
        of words too, for searches in this language. ``collation`` keeps texts in the order of a
        language, for queries with the same collation.
        """
        if not isinstance(keys, Mapping):
            raise invalid(f'keys must be a mapping such as {{"country": 1}}, not {keys!r}')
        spec: dict[str, Any] = {"keys": dict(keys)}
        if totals:
            spec["totals"] = True
        if language is not None:
            spec["language"] = language
        if collation is not None:
            spec["collation"] = collation
        if name is not None:
            spec["name"] = name
        text = to_json(spec)
        _native.call(_create_index, self.handle, text, len(text))

    def drop_index(self, name: str) -> None:
        """Drop an index, or raise :class:`kvstore.NotFoundError`."""
        _native.call(_drop_index, self.handle, to_text(name, "name"))

    def indexes(self) -> list[Index]:
        """List the indexes of the collection."""
        return decode_indexes(_native.call_for_text(_indexes, self.handle))

    def explain(self, query: QueryLike = None) -> Explanation:
        """Run a find on the local data, and explain how it was carried out."""
        made = as_query(query)
        return decode_explanation(_native.call_for_text(_explain, self.handle, handle_of(made)))
