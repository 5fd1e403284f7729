"""Frozen dataclasses, with predicates over their fields and lazy relations."""

from __future__ import annotations

import json
import keyword
import re
from typing import Final

from .names import assign
from .schema import SCALARS, Field, Relation, Schema, Type

_TYPES = {"Int": "int", "Float": "float", "Boolean": "bool", "AWSTimestamp": "int"}

#: What a module uses: imports and builtins.
_USED: Final = frozenset(
    [
        "Any",
        "Client",
        "ClassVar",
        "F",
        "Sequence",
        "Store",
        "StrEnum",
        "annotations",
        "bool",
        "classmethod",
        "dataclass",
        "field",
        "float",
        "int",
        "iter",
        "kvstore",
        "list",
        "next",
        "replace",
        "str",
        "uuid4",
    ]
)
#: What the classes of models have themselves, and what their methods call their first parameter.
_OWN: Final = frozenset(["keys", "copy", "store", "self", "cls"])
#: What a member of a `StrEnum` would hide.
_OF_ENUMS: Final = frozenset(dir(str)) | {"mro", "name", "value"}


def write(schema: Schema, source: str) -> str:
    """Return a module with all types of a schema."""
    return _Writer(schema).text(source)


class _Names(frozenset[str]):
    """Reserved names: these, and the keywords."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or keyword.iskeyword(str(name))


class _Values(_Names):
    """The same in an enumeration, which keeps names like ``_this_`` for itself."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or bool(re.fullmatch(r"_[^_](.*[^_])?_", str(name)))


class _Writer:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        types = [*schema.enums, *(each.name for each in (*schema.embedded, *schema.models))]
        self._types = assign(((name, name) for name in types), _Names(_USED))
        taken = set(self._types.values())
        models = [each.name for each in schema.models]
        self._keys = assign(((name, f"{name}Keys") for name in models), _Names(_USED), taken)
        reserved = _Names(_USED | _OWN | taken | set(self._keys.values()))
        #: What the fields and relations of each type are called.
        self._members = {
            each.name: assign(
                ((name, name) for name in _members(each)),
                reserved,
            )
            for each in (*schema.embedded, *schema.models)
        }
        self._values = {
            name: assign(((value, value) for value in values), _Values(_OF_ENUMS))
            for name, values in schema.enums.items()
        }

    def text(self, source: str) -> str:
        parts = [self._head(source)]
        parts += [self._enum(name) for name in self._schema.enums]
        parts += [self._embedded(type) for type in self._schema.embedded]
        for model in self._schema.models:
            parts += [self._keys_of(model), self._model(model)]
        return "\n\n\n".join(parts) + "\n"

    def _head(self, source: str) -> str:
        lines = [
            f'"""The models of {source}. Made by `python -m kvstore.codegen`: '
            'change the schema."""',
            "",
            "# The names are those of the schema.",
            "# ruff: noqa: N815",
            "",
            "from __future__ import annotations",
            "",
        ]
        if any(relation.many for model in self._schema.models for relation in model.relations):
            lines.append("from collections.abc import Sequence")
        lines.append("from dataclasses import dataclass, field, replace")
        if self._schema.enums:
            lines.append("from enum import StrEnum")
        lines += ["from typing import Any, ClassVar", "from uuid import uuid4", ""]
        lines += ["from kvstore import Client, F, Store"]
        return "\n".join(lines)

    def _enum(self, name: str) -> str:
        members = "\n".join(
            f'    {member} = "{value}"' for value, member in self._values[name].items()
        )
        head = f"class {self._types[name]}(StrEnum):"
        return f'{head}\n    """A value of the schema."""\n\n{members}'

    def _embedded(self, type: Type) -> str:
        lines = ["@dataclass(frozen=True, kw_only=True)", f"class {self._types[type.name]}:"]
        lines += ['    """A value inside of records."""', ""]
        return "\n".join(lines + [f"    {self._field(each, type)}" for each in type.fields])

    def _keys_of(self, model: Type) -> str:
        lines = [f"class {self._keys[model.name]}:"]
        lines += [f'    """The fields of {model.name}, to compare."""', ""]
        names = self._members[model.name]
        lines += [f'    {names[each.name]} = F["{each.name}"]' for each in model.fields]
        return "\n".join(lines)

    def _model(self, model: Type) -> str:
        name, keys = self._types[model.name], self._keys[model.name]
        lines = [
            "@dataclass(frozen=True, kw_only=True)",
            f"class {name}:",
            f'    """A record of {model.name}, without what the backend adds to it."""',
            "",
            f"    keys: ClassVar[{keys}] = {keys}()",
            "",
        ]
        lines += [f"    {self._field(each, model)}" for each in model.fields]
        lines += [
            "",
            "    @classmethod",
            f"    def store(cls, client: Client) -> Store[{name}]:",
            '        """Open the collection."""',
            f'        return client.collection("{model.name}", model=cls)',
            "",
            f"    def copy(self, **changes: Any) -> {name}:",
            '        """Return the same record with other values."""',
            "        return replace(self, **changes)",
        ]
        for relation in model.relations:
            lines += ["", *self._relation(relation, model)]
        return "\n".join(lines)

    def _relation(self, relation: Relation, model: Type) -> list[str]:
        other = self._types[relation.model]
        result = f"Sequence[{other}]" if relation.many else f"{other} | None"
        target = next(type for type in self._schema.models if type.name == relation.model)
        theirs, ours = (
            (relation.keys, model.key) if relation.held_there else (target.key, relation.keys)
        )
        there, here = self._members[target.name], self._members[model.name]
        terms = [
            f"({other}.keys.{there[a]} == self.{here[b]})"
            for a, b in zip(theirs, ours, strict=True)
        ]
        query = " & ".join(terms) if len(terms) > 1 else terms[0][1:-1]
        head = f"    def {here[relation.name]}(self, client: Client) -> {result}:"
        words = "the records that lead here, which are read as they are used"
        doc = f'        """Return {words if relation.many else "the record that this leads to"}."""'
        found = f"{other}.store(client).results({query})"
        if relation.many:
            return [head, doc, f"        return {found}"]
        return [head, doc, f"        return next(iter({found}), None)"]

    def _field(self, each: Field, type: Type) -> str:
        kind = _TYPES.get(each.type, "str") if each.type in SCALARS else self._types[each.type]
        if each.is_list:
            kind = f"list[{kind if each.required_elements else f'{kind} | None'}]"
        name = self._members[type.name][each.name]
        arguments = []
        if type.key == ["id"] and each.name == "id":
            arguments.append("default_factory=lambda: str(uuid4())")
        elif each.default is not None:
            arguments.append(f"default={self._default(each)}")
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

    def _default(self, each: Field) -> str:
        value = each.default or ""
        if each.type not in SCALARS:
            return f"{self._types[each.type]}.{self._values[each.type][value]}"
        if each.type == "Boolean":
            return value.capitalize()
        return value if each.type in _TYPES else json.dumps(value)


def _members(type: Type) -> list[str]:
    names = [each.name for each in type.fields]
    return names + [each.name for each in type.relations if each.name not in names]
