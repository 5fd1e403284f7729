"""Entities as tables and batches of Arrow."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]  # it has no types

from ..errors import invalid
from ..results import Entity
from .columns import Chunk, Columns, Kind, batches, columns_of, ordered

_MOMENT: Final = pa.timestamp("ms", tz="UTC")
#: The metadata of a field whose texts are JSON: its values have no common type.
_JSON: Final = {"kvstore": "json"}
_CONVERSION_ERRORS: Final = (pa.ArrowException, OverflowError, TypeError, ValueError)
_ADVICE: Final = "give a schema that has all members, or take more rows."
_TYPES: Final[dict[Kind, Any]] = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.INTEGER: pa.int64(),
    Kind.LONG: pa.int64(),
    Kind.FLOAT: pa.float64(),
    Kind.MOMENT: pa.string(),
    Kind.TEXT: pa.string(),
}


def table_of(pages: Iterable[list[Entity]], *, flatten: bool, dates: bool) -> pa.Table:
    """Make a table of entities, each column with the type of its values."""
    columns: Columns[Any] = Columns(_packed, flatten)
    for batch in batches(pages):
        columns.add(batch)
    made = [(name, *_column(columns, name, dates)) for name in columns.names]
    fields = [pa.field(name, column.type, metadata=facts) for name, column, facts in made]
    return pa.table([column for _, column, _ in made], schema=pa.schema(fields))


def _packed(kind: Kind, values: list[Any]) -> Any:
    return pa.array(values, type=_TYPES[kind]) if kind in _TYPES else values


def _column(columns: Columns[Any], name: str, dates: bool) -> tuple[Any, dict[str, str] | None]:
    """Return a column, and the metadata of its field."""
    kind, chunks = columns.take(name)
    pairs = zip(columns.lengths, chunks, strict=True)
    if kind is Kind.NOTHING:
        return pa.nulls(sum(columns.lengths)), None
    if kind is Kind.OTHER:
        return _nested([value for length, chunk in pairs for value in _objects(chunk, length)])
    parts = [_typed(chunk, length, _TYPES[kind]) for length, chunk in pairs]
    column = pa.chunked_array(parts, type=_TYPES[kind])
    is_moment = dates and kind is Kind.MOMENT and name != "_id"
    return _moments(column) if is_moment else column, None


def _typed(chunk: Chunk[Any] | None, length: int, type: Any) -> Any:
    if chunk is None or chunk.kind is Kind.NOTHING:
        return pa.nulls(length, type)
    return chunk.packed.cast(type)


def _objects(chunk: Chunk[Any] | None, length: int) -> Iterable[Any]:
    if chunk is None:
        return [None] * length
    values: list[Any] = chunk.packed.to_pylist() if chunk.kind in _TYPES else chunk.packed
    return values


def _nested(values: list[Any]) -> tuple[Any, dict[str, str] | None]:
    """Make structs and lists of objects and arrays, or JSON if they have no common type."""
    try:
        return pa.array(values), None
    except (pa.ArrowException, OverflowError):
        return _as_json(values), _JSON


def _as_json(values: list[Any]) -> Any:
    texts = (None if value is None else _json(value) for value in values)
    return pa.array(texts, pa.string())


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _moments(texts: Any) -> Any:
    """Return texts as dates; if one is not a date, such as 30 February, all stay texts."""
    try:
        return texts.cast(_MOMENT)
    except pa.ArrowInvalid:
        return texts


# Batches


def reader_of(
    pages: Iterable[list[Entity]],
    schema: pa.Schema | None,
    *,
    rows: int,
    flatten: bool,
    dates: bool,
) -> pa.RecordBatchReader:
    """Return record batches while entities are read; the first one sets a missing schema."""
    waiting = batches(pages, rows)
    first = next(waiting, [])
    is_whole = schema is None
    if schema is None:
        schema = table_of([first], flatten=flatten, dates=dates).schema

    def made() -> Iterator[pa.RecordBatch]:
        for entities in itertools.chain([first] if first else [], waiting):
            yield _batch(entities, schema, flatten, is_whole)

    return pa.RecordBatchReader.from_batches(schema, made())


def _batch(
    entities: list[Entity], schema: pa.Schema, flatten: bool, is_whole: bool
) -> pa.RecordBatch:
    """Make a batch; if the schema `is_whole`, members that it does not have are an error."""
    columns = columns_of(entities, flatten)
    unknown = ordered(columns.keys() - set(schema.names))
    if unknown and is_whole:
        raise invalid(f"The first batch has no member {unknown[0]!r}: {_ADVICE}")
    none = [None] * len(entities)
    arrays = [_fitted(columns.get(field.name, none), field, entities) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _fitted(values: list[Any], field: pa.Field, entities: list[Entity]) -> Any:
    try:
        return _array(values, field)
    except _CONVERSION_ERRORS as error:
        for value, entity in zip(values, entities, strict=True):
            _check(value, field, entity)
        raise invalid(f"{field.name!r} is not of type {field.type}: {error}") from error


def _check(value: Any, field: pa.Field, entity: Entity) -> None:
    try:
        _array([value], field)
    except _CONVERSION_ERRORS as error:
        problem = f"{field.name!r} of the entity {entity.get('_id')!r} is not of type {field.type}"
        raise invalid(f"{problem}: {_ADVICE}") from error


def _array(values: list[Any], field: pa.Field) -> Any:
    if (field.metadata or {}).get(b"kvstore") == b"json":
        return _as_json(values)
    if pa.types.is_timestamp(field.type):
        return pa.array(values, pa.string()).cast(field.type)
    return pa.array(values, field.type)
