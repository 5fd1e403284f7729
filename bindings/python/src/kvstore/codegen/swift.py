"""Codable structs of Swift."""

from __future__ import annotations

from .schema import SCALARS, Field, Schema, Type

_TYPES = {"Int": "Int", "Float": "Double", "Boolean": "Bool", "AWSTimestamp": "Int64"}


def write(schema: Schema, source: str) -> str:
    """Return a file with all types of a schema, as swift-format writes it."""
    parts = [f"// The models of {source}. Made by `python -m kvstore.codegen`: change the schema."]
    for name, values in schema.enums.items():
        cases = "\n".join(f'  case {value.lower()} = "{value}"' for value in values)
        parts.append(
            f"/// A value of the schema.\npublic enum {name}: String, Codable, Sendable {{\n"
            f"{cases}\n}}"
        )
    parts += [_struct(each, "A value inside of records.") for each in schema.embedded]
    parts += [_struct(each, "A record of the model.") for each in schema.models]
    return "\n\n".join(parts) + "\n"


def _struct(type: Type, words: str) -> str:
    made = type.key == ["id"]
    fields = [(each.name, _kind(each, made)) for each in type.fields]
    lines = [f"/// {words}", f"public struct {type.name}: Codable, Sendable, Equatable {{"]
    lines += [f"  public var {name}: {kind}" for name, kind in fields]
    lines += ["", "  public init("]
    lines += [
        ",\n".join(
            f"    {name}: {kind}{' = nil' if kind.endswith('?') else ''}" for name, kind in fields
        )
    ]
    lines += ["  ) {", *(f"    self.{name} = {name}" for name, _ in fields), "  }", "}"]
    return "\n".join(lines)


def _kind(each: Field, made: bool) -> str:
    kind = each.type if each.type not in SCALARS else _TYPES.get(each.type, "String")
    if each.is_list:
        kind = f"[{kind if each.required_elements else f'{kind}?'}]"
    optional = not each.required or each.default is not None or (made and each.name == "id")
    return f"{kind}?" if optional else kind
