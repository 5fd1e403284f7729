"""Entities as a DataFrame of pandas."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import pandas as pd

from ..results import Entity
from .columns import Chunk, Columns, Kind, batches

Values = Any  # an array of pandas, or a list for values that have none

#: The types of columns in which a missing value is ``pandas.NA``.
_TYPES: Final[dict[Kind, Any]] = {
    Kind.BOOLEAN: pd.BooleanDtype(),
    Kind.INTEGER: pd.Int64Dtype(),
    Kind.LONG: pd.Int64Dtype(),
    Kind.FLOAT: pd.Float64Dtype(),
    Kind.MOMENT: pd.StringDtype(),
    Kind.TEXT: pd.StringDtype(),
}


def frame_of(pages: Iterable[list[Entity]], *, flatten: bool, dates: bool) -> pd.DataFrame:
    """Make a DataFrame of entities; its index is their ``_id``, if they have one."""
    columns: Columns[Values] = Columns(_packed, flatten)
    for batch in batches(pages):
        columns.add(batch)
    made = {name: _series(columns, name, dates) for name in columns.names}
    if made and "_id" not in made:
        return pd.DataFrame(made)
    ids = made.pop("_id", pd.Series([], dtype=_TYPES[Kind.TEXT]))
    index = pd.Index(ids, name="_id")
    return pd.DataFrame({name: each.set_axis(index) for name, each in made.items()}, index=index)


def _packed(kind: Kind, values: list[Any]) -> Values:
    return pd.array(values, dtype=_TYPES[kind]) if kind in _TYPES else values


def _series(columns: Columns[Values], name: str, dates: bool) -> pd.Series[Any]:
    kind, chunks = columns.take(name)
    pairs = zip(columns.lengths, chunks, strict=True)
    if kind not in _TYPES:
        values = [value for length, chunk in pairs for value in _objects(chunk, length)]
        return pd.Series(values, dtype=object)
    parts = [_typed(chunk, length, kind) for length, chunk in pairs]
    series = pd.concat(parts, ignore_index=True)
    return _moments(series) if dates and kind is Kind.MOMENT and name != "_id" else series


def _typed(chunk: Chunk[Values] | None, length: int, kind: Kind) -> pd.Series[Any]:
    if chunk is None or chunk.kind is Kind.NOTHING:
        return pd.Series([pd.NA] * length, dtype=_TYPES[kind])
    return pd.Series(chunk.packed).astype(_TYPES[kind])


def _objects(chunk: Chunk[Values] | None, length: int) -> Iterable[Any]:
    if chunk is None:
        return [pd.NA] * length
    if chunk.kind in _TYPES:
        return pd.Series(chunk.packed).tolist()
    return (pd.NA if value is None else value for value in chunk.packed)


def _moments(texts: pd.Series[Any]) -> pd.Series[Any]:
    """Return texts as dates; if one is not a date, such as 30 February, all stay texts."""
    try:
        return pd.to_datetime(texts, format="ISO8601", utc=True).dt.as_unit("ms")
    except ValueError:
        return texts
