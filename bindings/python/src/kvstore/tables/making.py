"""Columns of entities that come in pages, for everything that has some.

pandas and pyarrow are imported when they are needed: the binding works without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ..results import Entity

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa  # type: ignore[import-untyped]  # it has no types

Pages = Iterable[list[Entity]]


def frame(pages: Pages, *, flatten: bool, dates: bool) -> pd.DataFrame:
    """Make a DataFrame: see :meth:`kvstore.Store.to_pandas`."""
    try:
        from .frames import frame_of
    except ModuleNotFoundError as error:
        raise _not_installed("pandas", "pandas", error) from error
    return frame_of(pages, flatten=flatten, dates=dates)


def table(pages: Pages, *, flatten: bool, dates: bool) -> pa.Table:
    """Make a table of Arrow: see :meth:`kvstore.Store.to_arrow`."""
    try:
        from .arrow import table_of
    except ModuleNotFoundError as error:
        raise _not_installed("pyarrow", "arrow", error) from error
    return table_of(pages, flatten=flatten, dates=dates)


def reader(
    pages: Pages, schema: pa.Schema | None, *, rows: int, flatten: bool, dates: bool
) -> pa.RecordBatchReader:
    """Make record batches of Arrow: see :meth:`kvstore.Store.arrow_batches`."""
    try:
        from .arrow import reader_of
    except ModuleNotFoundError as error:
        raise _not_installed("pyarrow", "arrow", error) from error
    return reader_of(pages, schema, rows=rows, flatten=flatten, dates=dates)


def _not_installed(name: str, extra: str, error: ModuleNotFoundError) -> ImportError:
    if error.name != name:
        return error
    return ImportError(f"This needs {name}: pip install 'libkvstore[{extra}]'", name=name)


class Columnar:
    """A sequence that gives its records as columns, with a type for each."""

    def to_pandas(self, *, flatten: bool = False, dates: bool = True) -> pd.DataFrame:
        """Return the records as a DataFrame: see :meth:`kvstore.Store.to_pandas`.

        They are read in batches, of which one is in memory beside the result. Those that were
        deleted are left out. Rows without ``_id`` are numbered.
        """
        return frame(self._pages(), flatten=flatten, dates=dates)

    def to_arrow(self, *, flatten: bool = False, dates: bool = True) -> pa.Table:
        """Return the records as a table of Arrow: see :meth:`kvstore.Store.to_arrow`."""
        return table(self._pages(), flatten=flatten, dates=dates)

    def arrow_batches(
        self,
        *,
        schema: pa.Schema | None = None,
        rows: int = 65_536,
        flatten: bool = False,
        dates: bool = True,
    ) -> pa.RecordBatchReader:
        """Return record batches that are made while records are read.

        See :meth:`kvstore.Store.arrow_batches`.
        """
        return reader(self._pages(), schema, rows=rows, flatten=flatten, dates=dates)

    def _pages(self) -> Iterator[list[Entity]]:
        """Yield the records, page by page, as they are stored."""
        raise NotImplementedError
