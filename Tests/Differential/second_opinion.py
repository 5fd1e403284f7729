"""Mongomock's opinion counts wherever it follows MongoDB's manual. Where it does not is listed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

#: A test inside a filter: the path, the operator, the operand.
Leaf = tuple[str, str, Any]


def leaves(filter: dict[str, Any]) -> Iterator[Leaf]:
    """Give all tests of a filter."""
    for name, operand in filter.items():
        if name in ("$and", "$or", "$nor"):
            for part in operand:
                yield from leaves(part)
        elif isinstance(operand, dict) and next(iter(operand), "").startswith("$"):
            for test, value in operand.items():
                yield name, test, value
        else:
            yield name, "$eq", operand


def has(value: Any, found: Callable[[Any], bool]) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return found(value) or any(has(one, found) for one in inner)


def is_like_bool(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) and value in (0, 1)


#: Members that every entity has, and their types: mongomock groups well by nothing else.
SIMPLE: dict[str, type] = {"s": str, "k": int}

#: What mongomock gets wrong: the manual's rule, and how to tell a test that runs into it.
EXCEPTIONS: list[tuple[str, Callable[[Leaf], bool]]] = [
    (
        "places exist",
        lambda leaf: leaf[0] == "p" or leaf[1] in ("$geoWithin", "$nearSphere", "$maxDistance"),
    ),
    (
        "$mod, $type by number, and $options in $not exist",
        lambda leaf: leaf[1] in ("$mod", "$type", "$options", "$not"),
    ),
    (
        "true and 1, false and 0 are of two types, never equal",
        lambda leaf: has(leaf[2], is_like_bool),
    ),
    (
        "null is equal to a missing member, also for $gte and $lte",
        lambda leaf: has(leaf[2], lambda one: one is None),
    ),
    (
        "an empty object is a value to be equal to",
        lambda leaf: has(leaf[2], lambda one: one == {}),
    ),
    (
        "an array may be an element",
        lambda leaf: leaf[1] == "$eq" and isinstance(leaf[2], list),
    ),
    ("$all of an empty array selects nothing", lambda leaf: leaf[1] == "$all" and leaf[2] == []),
    ("only arrays have a $size", lambda leaf: leaf[1] == "$size"),
    (
        "an array that is equal is excluded by $ne and $nin",
        lambda leaf: leaf[1] in ("$ne", "$nin", "$in", "$all")
        and has(leaf[2], lambda one: isinstance(one, (list, dict)) and one is not leaf[2]),
    ),
    (
        "what is missing in one object of an array is missing for $exists and null",
        lambda leaf: leaf[1] in ("$exists", "$ne", "$nin") and leaf[0].split(".")[0] in "olm",
    ),
    (
        "a number in a path is an index or a name; an array found at an index is not searched",
        lambda leaf: any(part.isdigit() for part in leaf[0].split(".")),
    ),
    (
        "each comparison may be met by another element of an array",
        lambda leaf: "." in leaf[0]
        and leaf[0].startswith("o")
        and leaf[1] in ("$gt", "$gte", "$lt", "$lte"),
    ),
    (
        "$elemMatch tests the elements, not what is inside them",
        lambda leaf: leaf[1] == "$elemMatch",
    ),
]


def is_sound(filter: dict[str, Any]) -> bool:
    """Tell whether mongomock's answer counts."""
    return not any(excepts(leaf) for leaf in leaves(filter) for _, excepts in EXCEPTIONS)
