"""The models of a schema that the library has found to be valid, as the generators need them."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

#: What tokens of the language look like, after descriptions, comments and commas.
_TOKEN: Final = re.compile(r'[A-Za-z_]\w*|-?\d+(?:\.\d+)?|"(?:\\.|[^"\\])*"|[{}()\[\]:!@=|&]')
_PASSED_OVER: Final = re.compile(r'"""(?:\\"""|(?!""").)*"""|#[^\n]*|,', re.S)

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


@dataclass
class _Written:
    """A field as it is written."""

    name: str
    type: str
    required: bool
    is_list: bool
    required_elements: bool
    directives: dict[str, dict[str, Any]]


@dataclass
class _WrittenType:
    directives: list[tuple[str, dict[str, Any]]]
    fields: list[_Written]


def read(text: str) -> Schema:
    """Return the models of a valid schema."""
    enums, types = _Reader(text).document()
    models = {
        name: type
        for name, type in types.items()
        if any(directive == "model" for directive, _ in type.directives)
    }
    resolver = _Resolver(enums, types, models)
    embedded = [
        Type(name, resolver.values(type))
        for name, type in types.items()
        if name not in models and name not in ("Query", "Mutation", "Subscription")
    ]
    return Schema(enums, embedded, resolver.all())


class _Reader:
    """Reads types and enumerations, and passes over everything else."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = _TOKEN.findall(_PASSED_OVER.sub(" ", text))
        self._next = 0

    def document(self) -> tuple[dict[str, list[str]], dict[str, _WrittenType]]:
        enums: dict[str, list[str]] = {}
        types: dict[str, _WrittenType] = {}
        while self._next < len(self._tokens):
            word = self._take()
            if word == "enum":
                name = self._take()
                self._directives()
                enums[name] = self._enum()
            elif word == "type":
                name = self._take()
                if self._peek() == "implements":
                    while self._peek() not in ("{", "@"):
                        self._take()
                types[name] = _WrittenType(self._directives(), list(self._fields()))
            elif word == "{":
                self._skip("{", "}")
        return enums, types

    def _enum(self) -> list[str]:
        values = []
        self._take()
        while (value := self._take()) != "}":
            values.append(value)
            self._directives()
        return values

    def _fields(self) -> Iterator[_Written]:
        if self._peek() != "{":
            return
        self._take()
        while (name := self._take()) != "}":
            if self._peek() == "(":
                self._take()
                self._skip("(", ")")
            self._take()
            is_list = self._peek() == "["
            if is_list:
                self._take()
            kind = self._take()
            inner = self._bang()
            if is_list:
                self._take()
            outer = self._bang() if is_list else inner
            yield _Written(name, kind, outer, is_list, is_list and inner, dict(self._directives()))

    def _bang(self) -> bool:
        if self._peek() != "!":
            return False
        self._take()
        return True

    def _directives(self) -> list[tuple[str, dict[str, Any]]]:
        found = []
        while self._peek() == "@":
            self._take()
            name, arguments = self._take(), {}
            if self._peek() == "(":
                self._take()
                while self._peek() != ")":
                    argument = self._take()
                    self._take()
                    arguments[argument] = self._value()
                self._take()
            found.append((name, arguments))
        return found

    def _value(self) -> Any:
        token = self._take()
        if token == "[":
            values = []
            while self._peek() != "]":
                values.append(self._value())
            self._take()
            return values
        if token == "{":
            members = {}
            while self._peek() != "}":
                name = self._take()
                self._take()
                members[name] = self._value()
            self._take()
            return members
        return json.loads(token) if token.startswith('"') else token

    def _skip(self, start: str, end: str) -> None:
        depth = 1
        while depth:
            token = self._take()
            depth += (token == start) - (token == end)

    def _peek(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1]


class _Resolver:
    """Finds the keys of models and of their relations, and adds those that have no field."""

    def __init__(
        self,
        enums: dict[str, list[str]],
        types: dict[str, _WrittenType],
        models: dict[str, _WrittenType],
    ) -> None:
        self._enums, self._types, self._models = enums, types, models
        self._keys = {name: self._key(type) for name, type in models.items()}
        self._added: dict[str, list[Field]] = {name: [] for name in models}

    def all(self) -> list[Type]:
        relations = {
            name: [
                self._relation(name, field) for field in type.fields if field.type in self._models
            ]
            for name, type in self._models.items()
        }
        found = []
        for name, type in self._models.items():
            fields = self.values(type)
            if self._keys[name] == ["id"] and all(field.name != "id" for field in fields):
                fields.insert(0, Field("id", "ID", required=True))
            known = {field.name for field in fields}
            fields += [field for field in self._added[name] if field.name not in known]
            kept = [relation for relation in relations[name] if relation is not None]
            found.append(Type(name, fields, self._keys[name], kept))
        return found

    def values(self, type: _WrittenType) -> list[Field]:
        return [
            Field(
                field.name,
                field.type,
                field.required,
                field.is_list,
                field.required_elements,
                field.directives.get("default", {}).get("value"),
            )
            for field in type.fields
            if field.type not in self._models
        ]

    @staticmethod
    def _key(type: _WrittenType) -> list[str]:
        for directive, arguments in type.directives:
            if directive == "key" and "name" not in arguments:
                return list(arguments["fields"])
        for field in type.fields:
            if (primary := field.directives.get("primaryKey")) is not None:
                return [field.name, *primary.get("sortKeyFields", [])]
        return ["id"]

    def _relation(self, model: str, field: _Written) -> Relation | None:
        for name in ("hasMany", "hasOne", "belongsTo", "connection"):
            if (arguments := field.directives.get(name)) is None:
                continue
            there = field.is_list or (name == "hasOne" and "references" in arguments)
            keys = self._relation_keys(model, field, arguments, there)
            holder, target = (field.type, model) if there else (model, field.type)
            required = field.required and not there
            self._added[holder] += [
                Field(key, self._type_of(target, part), required)
                for key, part in zip(keys, self._keys[target], strict=False)
            ]
            return Relation(field.name, field.type, keys, field.is_list, there)
        # A relation of many to many: its records are those of a model that the library adds.
        return None

    def _relation_keys(
        self, model: str, field: _Written, arguments: dict[str, Any], there: bool
    ) -> list[str]:
        if "references" in arguments:
            return list(arguments["references"])
        if not there:
            if "fields" in arguments:
                return list(arguments["fields"])
            if (other := self._other_end(model, field)) is not None:
                return self._relation_keys(field.type, other, other.directives["hasMany"], True)
            return self._default_keys(model, field, field.type)
        index = arguments.get("indexName") or arguments.get("keyName")
        if index is not None:
            return self._index(field.type, index)[: len(self._keys[model])]
        return self._default_keys(model, field, model)

    def _other_end(self, model: str, field: _Written) -> _Written | None:
        return (
            next(
                (
                    other
                    for other in self._models[field.type].fields
                    if other.type == model and "hasMany" in other.directives
                ),
                None,
            )
            if "belongsTo" in field.directives
            else None
        )

    def _index(self, model: str, name: str) -> list[str]:
        type = self._models[model]
        for directive, arguments in type.directives:
            if directive == "key" and arguments.get("name") == name:
                return list(arguments["fields"])
        for field in type.fields:
            index = field.directives.get("index")
            if index is not None and index.get("name") == name:
                return [field.name, *index.get("sortKeyFields", [])]
        return []

    def _default_keys(self, model: str, field: _Written, target: str) -> list[str]:
        stem = model[:1].lower() + model[1:] + field.name[:1].upper() + field.name[1:]
        return [stem + part[:1].upper() + part[1:] for part in self._keys[target]]

    def _type_of(self, model: str, name: str) -> str:
        for field in self._models[model].fields:
            if field.name == name:
                return field.type
        return "ID"
