"""The operator objects that filters and conditions are made of."""

from __future__ import annotations

NUMBERS = ("AWSTimestamp", "Int")

OPERATORS = """
enum ModelAttributeTypes {
  binary binarySet bool list map number numberSet string stringSet _null }
enum ModelSortDirection { ASC DESC }
input ModelSizeInput { ne: Int eq: Int le: Int lt: Int ge: Int gt: Int between: [Int] }
input ModelBooleanInput {
  ne: Boolean eq: Boolean attributeExists: Boolean attributeType: ModelAttributeTypes }
"""


def operators() -> str:
    """The definitions of all operator objects."""
    parts = [OPERATORS]
    for name, value in (("String", "String"), ("ID", "ID"), ("Int", "Int"), ("Float", "Float")):
        text = name in {"String", "ID"}
        plain = " ".join(f"{each}: {value}" for each in ("ne", "eq", "le", "lt", "ge", "gt"))
        texts = f"contains: {value} notContains: {value} beginsWith: {value}" if text else ""
        common = f"{plain} between: [{value}] {texts}"
        exists = "attributeExists: Boolean attributeType: ModelAttributeTypes"
        size = "size: ModelSizeInput" if text else ""
        key = plain.replace(f"ne: {value} ", "") + f" between: [{value}]"
        begins = f"beginsWith: {value}" if text else ""
        lists = f"in: [{value}] notIn: [{value}]"
        parts += [
            f"input Model{name}Input {{ {common} {exists} {size} }}",
            f"input ModelSubscription{name}Input {{ {common} {lists} }}",
            f"input Model{name}KeyConditionInput {{ {key} {begins} }}",
        ]
    parts.append("input ModelSubscriptionBooleanInput { ne: Boolean eq: Boolean }")
    return "\n".join(parts)


def operator_kind(named: str) -> str:
    """Which operator object a scalar is compared by."""
    if named in NUMBERS:
        return "Int"
    return named if named in {"ID", "Float", "Boolean"} else "String"
