"""Decodes JSON that `values` has encoded, by the types of dataclasses."""

from __future__ import annotations

import base64
import collections.abc
import dataclasses
import functools
import json
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from typing import Any, Final, Literal, TypeVar, Union
from uuid import UUID

from . import _pydantic
from ._options import to_json
from .values import member_name, readers

#: Decodes a JSON value; raises `MismatchError` if it does not fit.
Reader = Callable[[Any], Any]


class MismatchError(ValueError):
    """A value that does not fit its type, and its path."""

    def __init__(self, reason: str, path: str = "") -> None:
        self._reason = reason
        self._path = path
        super().__init__(f"{path}: {reason}" if path else reason)

    def inside(self, key: str | int) -> MismatchError:
        """Add an enclosing member or array index to the path."""
        outer = f"[{key}]" if isinstance(key, int) else key
        dot = "." if self._path and not self._path.startswith("[") else ""
        return MismatchError(self._reason, f"{outer}{dot}{self._path}")


# Dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class ReadField:
    """A field of a dataclass."""

    name: str
    member: str
    read: Reader
    is_required: bool


Names = Callable[[Sequence["dataclasses.Field[Any]"]], list[str]]


def member_names(fields: Sequence[dataclasses.Field[Any]]) -> list[str]:
    """Return the names of the members that fields stand for."""
    return [member_name(field) for field in fields]


def fields_of(type: type, names: Names = member_names) -> list[ReadField]:
    """Return the fields of a dataclass's constructor; ``TypeError`` if one cannot be read."""
    hints = _hints(type)
    fields = dataclasses.fields(type)
    members = names(fields)
    made = []
    for field, member in zip(fields, members, strict=True):
        if field.init:
            missing = dataclasses.MISSING
            is_required = field.default is missing and field.default_factory is missing
            try:
                reader = reader_of(hints[field.name])
            except TypeError as error:
                raise TypeError(f"{type.__qualname__}.{field.name}: {error}") from error
            made.append(ReadField(field.name, member, reader, is_required))
    return made


def read_fields(type: type, fields: list[ReadField], members: Any) -> Any:
    """Decode an object into a dataclass."""
    if not isinstance(members, dict):
        raise _mismatch(members, f"not an object, as {type.__qualname__} needs")
    values = {}
    for field in fields:
        if field.member in members:
            try:
                values[field.name] = field.read(members[field.member])
            except MismatchError as error:
                raise error.inside(field.member) from error
        elif field.is_required:
            raise MismatchError("it is missing", field.member)
    return type(**values)


def known_members(hint: Any, names: Names = member_names) -> dict[str, Any]:
    """Return the names of a dataclass's members, each with True or with nested names."""
    return _known(hint, names, frozenset())


def _known(type: type, names: Names, outer: frozenset[type]) -> dict[str, Any]:
    hints = _hints(type)
    fields = dataclasses.fields(type)
    inside = outer | {type}
    return {
        name: _known_of(hints[field.name], inside)
        for name, field in zip(names(fields), fields, strict=True)
    }


def _known_of(hint: Any, outer: frozenset[type]) -> Any:
    """Examine a dataclass once on each path. One inside itself is known as a whole."""
    kind = only_type(hint)
    if kind is None or kind in outer or kind in readers:
        return True
    if dataclasses.is_dataclass(kind):
        return _known(kind, member_names, outer)
    return _pydantic.known_members(kind) or True if _pydantic.is_model_type(kind) else True


def only_type(hint: Any) -> type | None:
    """Return the class of a hint such as ``C`` or ``C | None``; None for any other hint."""
    kinds = [kind for kind in _options(hint) if kind is not types.NoneType]
    return kinds[0] if len(kinds) == 1 and isinstance(kinds[0], type) else None


def _options(hint: Any) -> Sequence[Any]:
    if typing.get_origin(hint) in (Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _hints(type: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(type)
    except NameError as error:
        raise TypeError(
            f"{type.__qualname__}: {error}; its types must be defined at module level"
        ) from error


# Types


def reader_of(hint: Any) -> Reader:
    """Return the function that decodes a type; raise ``TypeError`` if there is none."""
    if hint in (Any, object) or isinstance(hint, TypeVar):
        return lambda value: value
    if isinstance(hint, typing.NewType):
        return reader_of(hint.__supertype__)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _union([reader_of(option) for option in arguments], hint)
    if origin is Literal:
        return _choice(hint, arguments)
    if origin is not None:
        return _generic(origin, arguments)
    if isinstance(hint, type):
        return _plain(hint)
    raise TypeError(f"{hint} cannot be read")


def _plain(kind: type) -> Reader:
    if kind in readers:
        return _making(kind, readers[kind])
    if kind is types.NoneType:
        return _instance(types.NoneType, "null")
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if dataclasses.is_dataclass(kind):
        return lambda value: read_fields(kind, _inner_fields(kind), value)
    if _pydantic.is_model_type(kind):
        return lambda value: _nested_model(kind, value)
    if issubclass(kind, Enum):
        return _choice(kind, tuple(kind))
    if issubclass(kind, PurePath):
        return _from_text(kind, kind)
    if kind in _CONTAINERS:
        return _generic(kind, ())
    raise TypeError(f"{kind.__qualname__} cannot be read; kvstore.register_type adds types")


#: Created when the first value is read, because a dataclass may contain itself.
_inner_fields = functools.cache(fields_of)


def _nested_model(kind: type, value: Any) -> Any:
    try:
        return _pydantic.read(kind, value)
    except ValueError as error:
        raise MismatchError(str(error)) from error


def _union(options: list[Reader], hint: Any) -> Reader:
    def read(value: Any) -> Any:
        faults = []
        for option in options:
            try:
                return option(value)
            except MismatchError as error:
                faults.append(error)
        # For a type or None, the type's reason is used.
        raise faults[0] if only_type(hint) else _mismatch(value, f"not one of {hint}")

    return read


def _choice(hint: Any, values: Sequence[Any]) -> Reader:
    """Decode one of several values by its encoded form."""
    written = [(_written(value), value) for value in values]
    name = hint.__qualname__ if isinstance(hint, type) else str(hint)

    def read(value: Any) -> Any:
        for text, choice in written:
            if text == value and type(text) is type(value):
                return choice
        return _made_by(hint, value, name)

    return read


def _written(value: Any) -> Any:
    return json.loads(to_json(value))


def _made_by(hint: Any, value: Any, name: str) -> Any:
    """Let an enumeration convert the value itself, as flags do."""
    try:
        return hint(value)
    except (TypeError, ValueError) as error:
        raise _mismatch(value, f"not of type {name}") from error


def _generic(origin: Any, arguments: Sequence[Any]) -> Reader:
    make = _CONTAINERS.get(origin)
    if make is None:
        # Such as a generic dataclass, whose parameters are ignored.
        return _plain(origin)
    if make is dict:
        key, value = arguments or (Any, Any)
        return _object(_key_reader(key), reader_of(value))
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return _tuple([reader_of(argument) for argument in arguments])
    return _array(reader_of(arguments[0] if arguments else Any), make)


def _array(element: Reader, make: Callable[[list[Any]], Any]) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, list):
            raise _mismatch(value, "not of type array")
        return make([_inside(index, element, each) for index, each in enumerate(value)])

    return read


def _tuple(elements: list[Reader]) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(elements):
            raise _mismatch(value, f"not an array of {len(elements)}")
        pairs = enumerate(zip(elements, value, strict=True))
        return tuple(_inside(index, element, each) for index, (element, each) in pairs)

    return read


def _object(key: Reader, member: Reader) -> Reader:
    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise _mismatch(value, "not of type object")
        return {
            _inside(name, key, name): _inside(name, member, each) for name, each in value.items()
        }

    return read


def _inside(key: str | int, read: Reader, value: Any) -> Any:
    try:
        return read(value)
    except MismatchError as error:
        raise error.inside(key) from error


def _key_reader(hint: Any) -> Reader:
    """Decode the name of a member, which is a string in JSON."""
    return _from_text(int, int) if hint is int else reader_of(hint)


# Values


def _mismatch(value: Any, what: str) -> MismatchError:
    text = repr(value)
    return MismatchError(f"{text if len(text) <= 60 else text[:57] + '...'} is {what}")


def _instance(kind: type, name: str) -> Reader:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise _mismatch(value, f"not of type {name}")
        return value

    return read


def _making(kind: type, make: Callable[[Any], Any]) -> Reader:
    def read(value: Any) -> Any:
        try:
            return make(value)
        except Exception as error:
            raise _mismatch(value, f"not of type {kind.__qualname__}: {error}") from error

    return read


def _from_text(kind: type, make: Callable[[str], Any]) -> Reader:
    def read(value: Any) -> Any:
        try:
            if isinstance(value, str):
                return make(value)
        except (ValueError, ArithmeticError) as error:
            raise _mismatch(value, f"not of type {kind.__qualname__}") from error
        raise _mismatch(value, f"not of type {kind.__qualname__}")

    return read


def _number(value: Any) -> float:
    if type(value) not in (int, float):
        raise _mismatch(value, "not of type number")
    try:
        return float(value)
    except OverflowError as error:
        raise _mismatch(value, "not of type float") from error


def _decimal(value: Any) -> Decimal:
    return Decimal(repr(value)) if type(value) in (int, float) else _decimal_of_text(value)


_decimal_of_text: Final[Callable[[Any], Decimal]] = _from_text(Decimal, Decimal)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.utcoffset() is None:
        raise ValueError("the time zone is missing")
    return moment


def _bytes(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


_SIMPLE: Final[Mapping[type, Reader]] = {
    str: _instance(str, "text"),
    bool: _instance(bool, "bool"),
    int: _instance(int, "integer"),
    float: _number,
    Decimal: _decimal,
    datetime: _from_text(datetime, _moment),
    date: _from_text(date, date.fromisoformat),
    UUID: _from_text(UUID, UUID),
    bytes: _from_text(bytes, _bytes),
    bytearray: _from_text(bytearray, lambda text: bytearray(_bytes(text))),
    memoryview: _from_text(memoryview, lambda text: memoryview(_bytes(text))),
}

_CONTAINERS: Final[Mapping[Any, Callable[[list[Any]], Any]]] = {
    list: list,
    tuple: tuple,
    set: set,
    frozenset: frozenset,
    dict: dict,
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Collection: list,
    collections.abc.Iterable: list,
    collections.abc.Set: frozenset,
    collections.abc.Mapping: dict,
    collections.abc.MutableMapping: dict,
}
