"""Support for models of pydantic, which need not be installed."""

from __future__ import annotations

import json
import sys
import types
import typing
from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Any, Union


def is_model(value: object) -> bool:
    """Return whether a value is a pydantic model; without pydantic it never is."""
    return is_model_type(type(value))


def is_model_type(kind: type) -> bool:
    """Return whether a type is a pydantic model."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and issubclass(kind, pydantic.BaseModel)


# Writing


def members(model: Any) -> dict[str, Any]:
    """Return the members of a model by their aliases, as pydantic writes them.

    Dates and decimals are left unchanged: they are encoded later as in queries, so that queries
    find them.
    """
    written = model.model_dump(mode="json", by_alias=True)
    merged: dict[str, Any] = _merged(model.model_dump(by_alias=True), written)
    return merged


def _merged(value: Any, written: Any) -> Any:
    if isinstance(value, (datetime, Decimal)) and isinstance(written, str):
        return value
    match value, written:
        case dict(), dict() if len(value) == len(written):
            pairs = zip(value.values(), written.items(), strict=True)
            return {name: _merged(inner, text) for inner, (name, text) in pairs}
        case ((list() | tuple()), list()) if len(value) == len(written):
            return [_merged(*pair) for pair in zip(value, written, strict=True)]
    return written


# Reading


def read(kind: Any, members: Any, own: Collection[str] = ()) -> Any:
    """Decode JSON into a model; ``ValueError`` names the member that does not fit.

    A model that forbids extra members does not receive the store's `own` members.
    """
    if own and kind.model_config.get("extra") == "forbid":
        names = _read_names(kind)
        members = {
            name: value for name, value in members.items() if name not in own or name in names
        }
    try:
        # From JSON, so that strict models accept strings for dates, and bytes are unchanged.
        return kind.model_validate_json(json.dumps(members))
    except ValueError as error:
        raise ValueError(_reason(error)) from error


def _reason(error: Any) -> str:
    """Return the first error of pydantic, with the path of the member."""
    faults = error.errors(include_url=False, include_context=False)
    path = ""
    for key in faults[0]["loc"]:
        path += f"[{key}]" if isinstance(key, int) else f"{'.' if path else ''}{key}"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    message = f"{faults[0]['msg']}{more}"
    return f"{path}: {message}" if path else message


# Names


def has_plain_id(kind: Any) -> bool:
    """Return whether a model has a field named ``id`` and none named ``_id``."""
    names = _read_names(kind)
    return "id" in names and "_id" not in names


def known_members(kind: Any) -> dict[str, Any] | None:
    """Return the names of a model's members, each with True or with nested names.

    None if it keeps extra members, or has its own serialiser.
    """
    return _known(kind, frozenset())


def _known(kind: Any, outer: frozenset[type]) -> dict[str, Any] | None:
    is_root = getattr(kind, "__pydantic_root_model__", False)
    if is_root or kind.model_config.get("extra") == "allow" or _writes_itself(kind):
        return None
    known: dict[str, Any] = dict.fromkeys(kind.model_computed_fields, True)
    for name, field in kind.model_fields.items():
        if field.exclude is not True:
            inner = _inner(field.annotation, outer | {kind})
            for spelling in _names(kind, name, field):
                known[spelling] = inner
    return known


def _inner(annotation: Any, outer: frozenset[type]) -> Any:
    """Examine a type that is a model or an optional model, once on each path."""
    options = [annotation]
    if typing.get_origin(annotation) in (Union, types.UnionType):
        options = [each for each in typing.get_args(annotation) if each is not types.NoneType]
    kind = options[0]
    if len(options) > 1 or not isinstance(kind, type) or kind in outer or not is_model_type(kind):
        return True
    return _known(kind, outer) or True


def _writes_itself(kind: Any) -> bool:
    return bool(kind.__pydantic_decorators__.model_serializers)


def _read_names(kind: Any) -> set[str]:
    fields = kind.model_fields.items()
    return {spelling for name, field in fields for spelling in _names(kind, name, field)}


def _names(kind: Any, name: str, field: Any) -> set[str]:
    """Return the names that a field is written and read by."""
    names = {field.serialization_alias or field.alias or name}
    reading = field.validation_alias or field.alias or name
    # Aliases may be paths into other members, which are not strings.
    choices = getattr(reading, "choices", [reading])
    names |= {choice for choice in choices if isinstance(choice, str)}
    by_name = ("populate_by_name", "validate_by_name")
    if any(kind.model_config.get(option) for option in by_name):
        names.add(name)
    return names
