"""Frozen dataclasses, with predicates over their fields and lazy relations."""

from __future__ import annotations

import json
import keyword

from .schema import SCALARS, Field, Relation, Schema, Type

_TYPES = {"Int": "int", "Float": "float", "Boolean": "bool", "AWSTimestamp": "int"}


def write(schema: Schema, source: str) -> str:
    """Return a module with all types of a schema."""
    parts = [_head(schema, source)]
    parts += [_enum(name, values) for name, values in schema.enums.items()]
    parts += [_embedded(type) for type in schema.embedded]
    for model in schema.models:
        parts += [_keys(model), _model(model, schema)]
    return "\n\n\n".join(parts) + "\n"


def _head(schema: Schema, source: str) -> str:
    lines = [
        f'"""The models of {source}. Made by `python -m kvstore.codegen`: change the schema."""',
        "",
        "# The names are those of the schema.",
        "# ruff: noqa: N815",
        "",
        "from __future__ import annotations",
        "",
    ]
    if any(relation.many for model in schema.models for relation in model.relations):
        lines.append("from collections.abc import Sequence")
    lines.append("from dataclasses import dataclass, field, replace")
    if schema.enums:
        lines.append("from enum import StrEnum")
    lines += ["from typing import Any, ClassVar", "from uuid import uuid4", ""]
    lines += ["from kvstore import Client, F, Store"]
    return "\n".join(lines)


def _enum(name: str, values: list[str]) -> str:
    members = "\n".join(f'    {value} = "{value}"' for value in values)
    return f'class {name}(StrEnum):\n    """A value of the schema."""\n\n{members}'


def _embedded(type: Type) -> str:
    lines = ["@dataclass(frozen=True, kw_only=True)", f"class {type.name}:"]
    lines += ['    """A value inside of records."""', ""]
    return "\n".join(lines + [f"    {_field(each)}" for each in type.fields])


def _keys(model: Type) -> str:
    lines = [f"class {model.name}Keys:", f'    """The fields of {model.name}, to compare."""', ""]
    lines += [f'    {_name(each.name)} = F["{each.name}"]' for each in model.fields]
    return "\n".join(lines)


def _model(model: Type, schema: Schema) -> str:
    lines = [
        "@dataclass(frozen=True, kw_only=True)",
        f"class {model.name}:",
        f'    """A record of {model.name}, without what the backend adds to it."""',
        "",
        f"    keys: ClassVar[{model.name}Keys] = {model.name}Keys()",
        "",
    ]
    lines += [f"    {_field(each, made=model.key == ['id'])}" for each in model.fields]
    lines += [
        "",
        "    @classmethod",
        f"    def store(cls, client: Client) -> Store[{model.name}]:",
        '        """Open the collection."""',
        f'        return client.collection("{model.name}", model=cls)',
        "",
        f"    def copy(self, **changes: Any) -> {model.name}:",
        '        """Return the same record with other values."""',
        "        return replace(self, **changes)",
    ]
    for relation in model.relations:
        lines += ["", *_relation(relation, model, schema)]
    return "\n".join(lines)


def _relation(relation: Relation, model: Type, schema: Schema) -> list[str]:
    other = relation.model
    result = f"Sequence[{other}]" if relation.many else f"{other} | None"
    target = next(type for type in schema.models if type.name == other)
    theirs, ours = (
        (relation.keys, model.key) if relation.held_there else (target.key, relation.keys)
    )
    terms = [
        f"({other}.keys.{_name(a)} == self.{_name(b)})" for a, b in zip(theirs, ours, strict=True)
    ]
    query = " & ".join(terms) if len(terms) > 1 else terms[0][1:-1]
    head = f"    def {_name(relation.name)}(self, client: Client) -> {result}:"
    words = "the records that lead here, which are read as they are used"
    doc = f'        """Return {words if relation.many else "the record that this leads to"}."""'
    found = f"{other}.store(client).results({query})"
    if relation.many:
        return [head, doc, f"        return {found}"]
    return [head, doc, f"        return next(iter({found}), None)"]


def _field(each: Field, made: bool = False) -> str:
    kind = each.type if each.type not in SCALARS else _TYPES.get(each.type, "str")
    if each.is_list:
        kind = f"list[{kind if each.required_elements else f'{kind} | None'}]"
    name = _name(each.name)
    arguments = []
    if made and each.name == "id":
        arguments.append("default_factory=lambda: str(uuid4())")
    elif each.default is not None:
        arguments.append(f"default={_default(each)}")
    elif not each.required:
        kind += " | None"
        arguments.append("default=None")
    if name != each.name or name == "id":
        arguments.append(f'metadata={{"alias": "{each.name}"}}')
    if not arguments:
        return f"{name}: {kind}"
    if len(arguments) == 1 and arguments[0].startswith("default="):
        return f"{name}: {kind} = {arguments[0].removeprefix('default=')}"
    return f"{name}: {kind} = field({', '.join(arguments)})"


def _name(name: str) -> str:
    """Return what a field or relation is called, if Python or the class has the name already."""
    return f"{name}_" if keyword.iskeyword(name) or name in ("keys", "copy", "store") else name


def _default(each: Field) -> str:
    value = each.default or ""
    if each.type not in SCALARS:
        return f"{each.type}.{value}"
    if each.type == "Boolean":
        return value.capitalize()
    return value if each.type in _TYPES else json.dumps(value)
