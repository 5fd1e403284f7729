"""The entities of a store as DataFrames of pandas, and as tables of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

from .._option_types import CallOptions
from ..cursor import Cursor
from ..query import QueryLike
from ..results import E, Entity
from ..tables import making
from .reading import Reading

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa  # type: ignore[import-untyped]  # it has no types


class Tabular(Reading[E]):
    """Returns entities as columns. A member that an entity lacks, or that is null, is missing."""

    def to_pandas(
        self,
        query: QueryLike = None,
        *,
        flatten: bool = False,
        dates: bool = True,
        **options: Unpack[CallOptions],
    ) -> pd.DataFrame:
        """Find the entities that match, as a DataFrame whose index is ``_id``.

        A column has the type of its values: ``Int64``, ``Float64``, ``boolean`` or ``string``. A
        missing value is ``pandas.NA`` there. A column with objects, arrays, or values of different
        types is of type ``object``. `flatten` makes columns such as ``address.city`` of objects.
        With `dates`, a column becomes ``datetime64[ms, UTC]`` if all its values are dates in the
        form in which :class:`datetime.datetime` is stored. This needs ``libkvstore[pandas]``.
        """
        return making.frame(self._pages(query, options), flatten=flatten, dates=dates)

    def to_arrow(
        self,
        query: QueryLike = None,
        *,
        flatten: bool = False,
        dates: bool = True,
        **options: Unpack[CallOptions],
    ) -> pa.Table:
        """Find the entities that match, as a table of Arrow. ``_id`` is its first column.

        Types are as for :meth:`to_pandas`. Dates are ``timestamp[ms, UTC]``, objects are structs,
        and arrays are lists. Values that have no common type are JSON. This needs
        ``libkvstore[arrow]``.
        """
        return making.table(self._pages(query, options), flatten=flatten, dates=dates)

    def arrow_batches(
        self,
        query: QueryLike = None,
        *,
        schema: pa.Schema | None = None,
        rows: int = 65_536,
        flatten: bool = False,
        dates: bool = True,
        **options: Unpack[CallOptions],
    ) -> pa.RecordBatchReader:
        """Find the entities that match, as record batches that are made while they are read.

        Only one batch of about `rows` entities is in memory, however many entities match. The
        schema is that of the first batch. If a later entity does not fit it, :class:`InvalidError`
        names the member and the entity. A `schema` says which members to read, and their types.
        """
        pages = self._pages(query, options)
        return making.reader(pages, schema, rows=rows, flatten=flatten, dates=dates)

    def _pages(self, query: QueryLike, options: CallOptions) -> Iterator[list[Entity]]:
        found: Cursor[Any] = self.find(query, **options)
        return _fetched(found)


def _fetched(found: Cursor[Any]) -> Iterator[list[Entity]]:
    with found:
        yield from iter(found.fetch, [])
