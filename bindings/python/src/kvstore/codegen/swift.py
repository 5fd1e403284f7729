"""Codable structs of Swift."""

from __future__ import annotations

from typing import Final

from .names import assign
from .schema import SCALARS, Field, Schema, Type

_TYPES = {"Int": "Int", "Float": "Double", "Boolean": "Bool", "AWSTimestamp": "Int64"}

#: Words that stand between backticks where they are names.
_WORDS: Final = frozenset(
    [
        "Any",
        "as",
        "associatedtype",
        "async",
        "await",
        "borrowing",
        "break",
        "case",
        "catch",
        "class",
        "consuming",
        "continue",
        "default",
        "defer",
        "deinit",
        "do",
        "else",
        "enum",
        "extension",
        "fallthrough",
        "false",
        "fileprivate",
        "for",
        "func",
        "guard",
        "if",
        "import",
        "in",
        "inout",
        "internal",
        "is",
        "let",
        "nil",
        "nonisolated",
        "operator",
        "precedencegroup",
        "private",
        "protocol",
        "public",
        "repeat",
        "rethrows",
        "return",
        "static",
        "struct",
        "subscript",
        "super",
        "switch",
        "throw",
        "throws",
        "true",
        "try",
        "typealias",
        "var",
        "where",
        "while",
    ]
)
#: Names that mean something else even so, and types that the structs use.
_TAKEN: Final = frozenset(
    [
        "self",
        "Self",
        "init",
        "Type",
        "Protocol",
        "Any",
        "CodingKeys",
        "CodingKey",
        "Codable",
        "Decoder",
        "Encoder",
        "Equatable",
        "Sendable",
        "Swift",
        "Optional",
        "Array",
        "String",
        "Int",
        "Int64",
        "Double",
        "Bool",
    ]
)


def write(schema: Schema, source: str) -> str:
    """Return a file with all types of a schema, as swift-format writes it."""
    return _Writer(schema).text(source)


class _Writer:
    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        types = [*schema.enums, *(each.name for each in (*schema.embedded, *schema.models))]
        self._types = assign(((name, name) for name in types), _TAKEN)

    def text(self, source: str) -> str:
        parts = [
            f"// The models of {source}. Made by `python -m kvstore.codegen`: change the schema."
        ]
        parts += [self._enum(name, values) for name, values in self._schema.enums.items()]
        parts += [
            self._struct(each, "A value inside of records.") for each in self._schema.embedded
        ]
        parts += [self._struct(each, "A record of the model.") for each in self._schema.models]
        return "\n\n".join(parts) + "\n"

    def _enum(self, name: str, values: list[str]) -> str:
        names = assign(((value, value.lower()) for value in values), _TAKEN)
        cases = "\n".join(f'  case {_quoted(case)} = "{value}"' for value, case in names.items())
        head = f"public enum {_quoted(self._types[name])}: String, Codable, Sendable {{"
        return f"/// A value of the schema.\n{head}\n{cases}\n}}"

    def _struct(self, type: Type, words: str) -> str:
        made = type.key == ["id"]
        names = assign(((each.name, each.name) for each in type.fields), _TAKEN)
        fields = [(_quoted(names[each.name]), self._kind(each, made)) for each in type.fields]
        head = f"public struct {_quoted(self._types[type.name])}: Codable, Sendable, Equatable {{"
        lines = [f"/// {words}", head]
        lines += [f"  public var {name}: {kind}" for name, kind in fields]
        lines += ["", "  public init("]
        lines += [
            ",\n".join(
                f"    {name}: {kind}{' = nil' if kind.endswith('?') else ''}"
                for name, kind in fields
            )
        ]
        lines += ["  ) {", *(f"    self.{name} = {name}" for name, _ in fields), "  }"]
        if any(name != member for name, member in names.items()):
            lines += ["", "  private enum CodingKeys: String, CodingKey {"]
            lines += [f'    case {_quoted(member)} = "{name}"' for name, member in names.items()]
            lines += ["  }"]
        return "\n".join([*lines, "}"])

    def _kind(self, each: Field, made: bool) -> str:
        kind = (
            _TYPES.get(each.type, "String")
            if each.type in SCALARS
            else _quoted(self._types[each.type])
        )
        if each.is_list:
            kind = f"[{kind if each.required_elements else f'{kind}?'}]"
        optional = not each.required or each.default is not None or (made and each.name == "id")
        return f"{kind}?" if optional else kind


def _quoted(name: str) -> str:
    return f"`{name}`" if name in _WORDS else name
