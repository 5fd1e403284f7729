"""Values of Python in JSON, in entities, filters, formats and options alike.

Values that JSON has stay as they are. A ``datetime``, which must have a time zone, becomes text in
UTC with milliseconds, as backends write dates. The page ``docs/dates-and-numbers.md`` lists all
types. :func:`register_type` adds types of your own.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import os
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from typing import Any, Final, TypeVar
from uuid import UUID

from . import _pydantic

T = TypeVar("T")

#: The functions that read the types of :func:`register_type`.
readers: Final[dict[type, Callable[[Any], Any]]] = {}


@functools.singledispatch
def to_json_value(value: object) -> Any:
    """Return a value's form in JSON; raise ``TypeError`` or ``ValueError`` if it has none.

    The result may contain values that must be converted in turn.

    >>> to_json_value(datetime(2026, 2, 3, 4, 5, 6, 789_999, tzinfo=UTC))
    '2026-02-03T04:05:06.789Z'
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            member_name(field): getattr(value, field.name) for field in dataclasses.fields(value)
        }
    if _pydantic.is_model(value):
        return _pydantic.members(value)
    name = type(value).__qualname__
    raise TypeError(f"a {name} cannot be written as JSON; kvstore.register_type adds types")


def member_name(field: dataclasses.Field[Any]) -> str:
    """Return the name of a dataclass field in JSON: its ``metadata["alias"]``, or its own name.

    >>> member_name(dataclasses.field(metadata={"alias": "_acl"}))
    '_acl'
    """
    name: str = field.metadata.get("alias", field.name)
    return name


def register_type(
    type: type[T], write: Callable[[T], Any], read: Callable[[Any], T] | None = None
) -> None:
    """Register how values of a type, and of types derived from it, are written to JSON and read.

    `write` returns a value that JSON has, or one that can be written in turn. `read` is for members
    of dataclasses that are declared with the type: see :meth:`kvstore.Client.collection`. Types
    that JSON has, such as ``str`` and ``dict``, stay as they are.

    >>> register_type(complex, lambda number: [number.real, number.imag])
    >>> to_json_value(2 + 1j)
    [2.0, 1.0]
    """
    to_json_value.register(type)(write)
    if read is not None:
        readers[type] = read


for _type in (str, int, float, type(None), dict, list, tuple):
    to_json_value.register(_type)(lambda value: value)


@to_json_value.register
def _(value: datetime) -> str:
    if value.utcoffset() is None:
        raise ValueError("a datetime needs a time zone, such as in datetime.now(UTC)")
    try:
        moment = value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{value} is not in the years 1 to 9999 in UTC") from error
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


@to_json_value.register
def _(value: date) -> str:
    return value.isoformat()


@to_json_value.register
def _(value: UUID) -> str:
    return str(value)


@to_json_value.register
def _(value: Decimal) -> int | float:
    if value.is_finite():
        if value == value.to_integral_value():
            return int(value)
        number = float(value)
        if Decimal(repr(number)) == value:
            return number
    raise ValueError(f"{value!r} is not a number that backends preserve: store it as text")


@to_json_value.register
def _(value: Enum) -> Any:
    return value.value


@to_json_value.register(bytes)
@to_json_value.register(bytearray)
@to_json_value.register(memoryview)
def _(value: bytes | bytearray | memoryview) -> str:
    return base64.b64encode(value).decode()


@to_json_value.register
def _(value: os.PathLike) -> str:  # type: ignore[type-arg]
    return os.fsdecode(value)


@to_json_value.register
def _(value: Mapping) -> dict[Any, Any]:  # type: ignore[type-arg]
    return dict(value)
