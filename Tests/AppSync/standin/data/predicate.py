"""Evaluates filters and conditions as DynamoDB does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Filter = Mapping[str, Any]

KINDS: dict[str, Callable[[Any], bool]] = {
    "bool": lambda value: isinstance(value, bool),
    "list": lambda value: isinstance(value, list),
    "map": lambda value: isinstance(value, dict),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "string": lambda value: isinstance(value, str),
    "_null": lambda value: value is None,
}


def matches(filter: Filter | None, record: Mapping[str, Any], *, event: bool = False) -> bool:
    """Whether a record passes. No comparison of an `event` holds for a member that it lacks."""
    for name, wanted in (filter or {}).items():
        if wanted is None:
            continue
        if name == "and":
            passes = all(matches(each, record, event=event) for each in wanted)
        elif name == "or":
            passes = any(matches(each, record, event=event) for each in wanted)
        elif name == "not":
            passes = not matches(wanted, record, event=event)
        else:
            value = record.get(name)
            passes = not (event and value is None) and compare_all(value, wanted)
        if not passes:
            return False
    return True


def compare_all(value: Any, operators: Mapping[str, Any]) -> bool:
    return all(COMPARISONS[name](value, operand) for name, operand in operators.items())


def ordered(test: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """A comparison that fails where a side is missing or of another kind."""

    def compare(value: Any, operand: Any) -> bool:
        if value is None or operand is None or isinstance(value, str) != isinstance(operand, str):
            return False
        return not isinstance(value, list | dict) and test(value, operand)

    return compare


def contains(value: Any, operand: Any) -> bool:
    """Elements of a list are compared whole, texts by their parts."""
    if isinstance(value, list):
        return operand in value
    return isinstance(value, str) and isinstance(operand, str) and operand in value


def between(value: Any, operand: Any) -> bool:
    if not isinstance(operand, list) or len(operand) != 2:
        return False
    low, high = operand
    return COMPARISONS["ge"](value, low) and COMPARISONS["le"](value, high)


def size(value: Any, operand: Any) -> bool:
    return isinstance(value, str | list | dict) and compare_all(len(value), operand)


def is_kind(value: Any, operand: Any) -> bool:
    return operand in KINDS and KINDS[operand](value)


def begins_with(value: Any, operand: Any) -> bool:
    return isinstance(value, str) and isinstance(operand, str) and value.startswith(operand)


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda value, operand: bool(value == operand),
    "ne": lambda value, operand: bool(value != operand),
    "lt": ordered(lambda value, operand: value < operand),
    "le": ordered(lambda value, operand: value <= operand),
    "gt": ordered(lambda value, operand: value > operand),
    "ge": ordered(lambda value, operand: value >= operand),
    "between": between,
    "contains": contains,
    "notContains": lambda value, operand: not contains(value, operand),
    "beginsWith": begins_with,
    "attributeExists": lambda value, operand: (value is not None) == bool(operand),
    "attributeType": is_kind,
    "size": size,
    "in": lambda value, operand: value in (operand or []),
    "notIn": lambda value, operand: value not in (operand or []),
}
