"""The models of a schema that the library has read, as the generators need them."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Final

from ..schema import describe_schema

SCALARS: Final = frozenset(
    {"ID", "String", "Int", "Float", "Boolean"}
    | {f"AWS{name}" for name in ("Date", "Time", "DateTime", "Timestamp", "Email", "JSON")}
    | {"AWSURL", "AWSPhone", "AWSIPAddress"}
)


@dataclass(frozen=True)
class Field:
    """A value of a record."""

    name: str
    #: A scalar, an enumeration or an embedded type.
    type: str
    required: bool
    is_list: bool = False
    required_elements: bool = False
    #: What the library fills in where it is missing, as the schema has it.
    default: str | None = None


@dataclass(frozen=True)
class Relation:
    """A field that leads to records of a model."""

    name: str
    model: str
    #: The fields that hold the key: of this record, or of the others if it is `held_there`.
    keys: list[str]
    many: bool
    held_there: bool


@dataclass
class Type:
    """A model, or an embedded type, which has no key."""

    name: str
    fields: list[Field]
    key: list[str] = dataclasses.field(default_factory=list)
    relations: list[Relation] = dataclasses.field(default_factory=list)


@dataclass(frozen=True)
class Schema:
    """Enumerations, then embedded types, then models, each in the order of the schema."""

    enums: dict[str, list[str]]
    embedded: list[Type]
    models: list[Type]


def read(text: str) -> Schema:
    """Return the models of a schema; raise ``KVError``, with line and column, for a mistake."""
    found = describe_schema(text)
    return Schema(
        {each["name"]: each["values"] for each in found["enums"]},
        [Type(each["name"], _fields(each)) for each in found["types"]],
        [_model(each) for each in found["models"] if each["name"] not in _joins(found)],
    )


def _joins(found: Any) -> set[str]:
    """Return the models that the library adds for relations of many to many."""
    relations = (relation for model in found["models"] for relation in model["relations"])
    return {relation["join"] for relation in relations if "join" in relation}


def _model(found: Any) -> Type:
    relations = (_relation(each) for each in found["relations"] if "join" not in each)
    return Type(found["name"], _fields(found), found["key"], list(relations))


def _relation(found: Any) -> Relation:
    there = found["kind"] == "hasMany"
    many = there and not found["isSingle"]
    return Relation(found["name"], found["model"], found["keys"], many, there)


def _fields(found: Any) -> list[Field]:
    """Return what an application writes: the backend's own members are left out."""
    return [
        Field(
            each["name"],
            each["type"],
            each["isRequired"],
            each["isList"],
            each["hasRequiredElements"],
            _default(each.get("default")),
        )
        for each in found["fields"]
        if not each["isReadOnly"]
    ]


def _default(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)
