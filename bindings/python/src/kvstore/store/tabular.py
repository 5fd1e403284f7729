"""The entities of a store as DataFrames of pandas, and as tables of Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack

from .._option_types import CallOptions
from ..cursor import Cursor
from ..query import QueryLike
from ..results import E, Entity
from .reading import Reading

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa  # type: ignore[import-untyped]  # it has no types


class Tabular(Reading[E]):
    """Gives entities as columns. A member that an entity does not have, or null, is missing."""

    def to_pandas(
        self,
        query: QueryLike = None,
        *,
        flatten: bool = False,
        dates: bool = True,
        **options: Unpack[CallOptions],
    ) -> pd.DataFrame:
        """Find the entities that match, as a DataFrame whose index is ``_id``.

        A column has the type of its values, ``Int64``, ``Float64``, ``boolean`` or ``string``, in
        which a missing one is ``pandas.NA``; with objects, arrays, or values of different types it
        is ``object``. `flatten` makes columns such as ``address.city`` of objects. With `dates` a
        column of which all values are moments as :class:`datetime.datetime` is stored becomes
        ``datetime64[ms, UTC]``. Takes ``kvstore[pandas]``.
        """
        try:
            from ..tables.frames import frame_of
        except ModuleNotFoundError as error:
            raise _not_installed("pandas", "pandas", error) from error
        return frame_of(self._pages(query, options), flatten=flatten, dates=dates)

    def to_arrow(
        self,
        query: QueryLike = None,
        *,
        flatten: bool = False,
        dates: bool = True,
        **options: Unpack[CallOptions],
    ) -> pa.Table:
        """Find the entities that match, as a table of Arrow. ``_id`` is its first column.

        Types are as for :meth:`to_pandas`; moments are ``timestamp[ms, UTC]``, objects structs and
        arrays lists. Values that have no common type are JSON. Takes ``kvstore[arrow]``.
        """
        try:
            from ..tables.arrow import table_of
        except ModuleNotFoundError as error:
            raise _not_installed("pyarrow", "arrow", error) from error
        return table_of(self._pages(query, options), flatten=flatten, dates=dates)

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
        """Find the entities that match, in record batches that are made while they are read.

        There is one batch of about so many `rows` in memory, also of a find without an end. The
        schema is that of the first batch, and what does not fit later is :class:`InvalidError`
        with the member and the entity; or a `schema` says which members are to be read as what.
        """
        try:
            from ..tables.arrow import reader_of
        except ModuleNotFoundError as error:
            raise _not_installed("pyarrow", "arrow", error) from error
        pages = self._pages(query, options)
        return reader_of(pages, schema, rows=rows, flatten=flatten, dates=dates)

    def _pages(self, query: QueryLike, options: CallOptions) -> Iterator[list[Entity]]:
        found: Cursor[Any] = self.find(query, **options)
        return _fetched(found)


def _fetched(found: Cursor[Any]) -> Iterator[list[Entity]]:
    with found:
        yield from iter(found.fetch, [])


def _not_installed(name: str, extra: str, error: ModuleNotFoundError) -> ImportError:
    if error.name != name:
        return error
    return ImportError(f"This needs {name}: pip install 'kvstore[{extra}]'", name=name)
