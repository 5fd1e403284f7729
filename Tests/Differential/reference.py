"""MongoDB's filters once more, written down from its manual in the plainest way there is. It shares
nothing with the library: it works on parsed values and knows neither indexes nor bytes."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

Value = Any


class _Missing:
    """What is at a path that leads nowhere."""


MISSING = _Missing()
#: An array without elements, to sort by.
EMPTY = _Missing()


def matches(filter: dict[str, Any], entity: Value) -> bool:
    """Tell whether a filter selects an entity."""
    return all(_part(name, operand, entity) for name, operand in filter.items())


def _part(name: str, operand: Any, entity: Value) -> bool:
    if name == "$and":
        return all(matches(part, entity) for part in operand)
    if name == "$or":
        return any(matches(part, entity) for part in operand)
    if name == "$nor":
        return not any(matches(part, entity) for part in operand)
    return all(_test(test, entity, name.split(".")) for test in _tests(operand))


def _tests(operand: Any) -> list[tuple[str, Any, str]]:
    if not isinstance(operand, dict) or not next(iter(operand), "").startswith("$"):
        return [("$eq", operand, "")]
    beside = str(operand.get("$options", operand.get("$maxDistance", "")))
    names = [name for name in operand if name not in ("$options", "$maxDistance")]
    return [(name, operand[name], beside) for name in names]


def _test(test: tuple[str, Any, str], entity: Value, path: list[str]) -> bool:
    name, operand, _ = test
    if name == "$not":
        return not all(_test(inner, entity, path) for inner in _tests(operand))
    if name == "$ne":
        return not _test(("$eq", operand, ""), entity, path)
    if name == "$nin":
        return not _test(("$in", operand, ""), entity, path)
    if name == "$exists" and not operand:
        return not _test(("$exists", True, ""), entity, path)
    if name == "$all":
        each = [_test(("$eq", wanted, ""), entity, path) for wanted in operand]
        return bool(each) and all(each)
    whole = name in ("$size", "$elemMatch")
    return any(_holds(test, value) for value in values(entity, path, not whole))


def values(value: Value, path: list[str], expanding: bool) -> Iterator[Value]:
    """Give all that is at a path.

    Names reach into the objects of arrays; numbers also are indexes.
    """
    if not path:
        if expanding and isinstance(value, list):
            yield from value
        yield value
    elif isinstance(value, dict):
        yield from values(value.get(path[0], MISSING), path[1:], expanding)
    elif isinstance(value, list):
        for index, element in enumerate(value):
            if isinstance(element, dict):
                yield from values(element, path, expanding)
            if str(index) != path[0]:
                continue
            if len(path) == 1:
                yield element
            elif isinstance(element, (dict, list)):
                yield from values(element, path[1:], expanding)
    else:
        yield MISSING


_ORDERS: dict[str, Callable[[int], bool]] = {
    "$eq": lambda order: order == 0,
    "$gt": lambda order: order > 0,
    "$gte": lambda order: order >= 0,
    "$lt": lambda order: order < 0,
    "$lte": lambda order: order <= 0,
}


def _holds(test: tuple[str, Any, str], value: Value) -> bool:
    name, operand, _ = test
    if name in _ORDERS:
        seen = None if value is MISSING else value
        return rank(seen) == rank(operand) and _ORDERS[name](order(seen, operand))
    if name == "$in":
        return any(_holds(("$eq", wanted, ""), value) for wanted in operand)
    return value is not MISSING and _OTHERS[name](test, value)


def _is_searched(test: tuple[str, Any, str], value: Value) -> bool:
    _, pattern, options = test
    flags = re.A
    for option in options:
        flags |= getattr(re, option.upper())
    return isinstance(value, str) and re.search(pattern, value, flags) is not None


Point = tuple[float, float]

_EARTH_IN_MILES = 6_371_000 / 1_609.344


def _point(value: Value) -> Point | None:
    """Read a longitude and a latitude, also from GeoJSON."""
    pair = value.get("coordinates") if isinstance(value, dict) else value
    if not isinstance(pair, list) or len(pair) != 2 or any(rank(one) != 1 for one in pair):
        return None
    return (pair[0], pair[1]) if abs(pair[0]) <= 180 and abs(pair[1]) <= 90 else None


def _angle(one: Point, other: Point) -> float:
    """Give the angle seen from the centre of the Earth."""

    def arrow(point: Point) -> tuple[float, float, float]:
        x, y = (math.radians(number) for number in point)
        return math.cos(y) * math.cos(x), math.cos(y) * math.sin(x), math.sin(y)

    return 2 * math.asin(min(1, math.dist(arrow(one), arrow(other)) / 2))


def _is_within(shape: dict[str, Any], point: Point) -> bool:
    [(name, parts)] = shape.items()
    x, y = point
    if name == "$centerSphere":
        return _angle(point, parts[0]) <= float(parts[1])
    if name == "$center":
        return math.dist(point, parts[0]) <= float(parts[1])
    if name == "$box":
        (west, south), (east, north) = parts
        return south <= y <= north and (west <= x <= east if west <= east else not east < x < west)
    # A triangle: on the same side of all edges.
    edges = zip(parts, parts[1:] + parts[:1], strict=True)
    sides = [(b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) for a, b in edges]
    return all(side >= 0 for side in sides) or all(side <= 0 for side in sides)


def nearest_first(entities: list[Value], path: str, center: Point) -> list[Value]:
    """Order by the distance of the nearest place at a path; ties by _id."""

    def key(entity: Value) -> tuple[float, str]:
        points = [_point(value) for value in values(entity, path.split("."), True)]
        angles = [_angle(point, center) for point in points if point is not None]
        return min(angles, default=math.inf), entity["_id"]

    return sorted(entities, key=key)


_OTHERS: dict[str, Callable[[tuple[str, Any, str], Value], bool]] = {
    "$exists": lambda test, value: True,
    "$size": lambda test, value: isinstance(value, list) and len(value) == test[1],
    "$mod": lambda test, value: rank(value) == 1 and _remainder(value, test[1][0]) == test[1][1],
    "$type": lambda test, value: _is(value, test[1]),
    "$regex": _is_searched,
    "$geoWithin": lambda test, value: (
        (point := _point(value)) is not None and _is_within(test[1], point)
    ),
    "$nearSphere": lambda test, value: (
        (point := _point(value)) is not None
        and _angle(point, test[1]) * _EARTH_IN_MILES <= float(test[2] or math.inf)
    ),
    "$elemMatch": lambda test, value: (
        isinstance(value, list) and any(_is_element(test[1], one) for one in value)
    ),
}


def _is_element(operand: dict[str, Any], element: Value) -> bool:
    if next(iter(operand), "").startswith("$"):
        return all(_holds(test, element) for test in _tests(operand))
    return isinstance(element, dict) and matches(operand, element)


def _remainder(value: float, divisor: int) -> int | None:
    """Give it the sign of the value, as C does, and forget fractions; None beyond 64 bits."""
    if not -(2**63) <= int(value) < 2**63:
        return None
    rest = abs(int(value)) % abs(divisor)
    return rest if value >= 0 else -rest


def _is(value: Value, wanted: str | int) -> bool:
    names = {2: "string", 16: "int"}
    name = names.get(wanted, "") if isinstance(wanted, int) else wanted
    kinds = ["null", "number", "string", "object", "array", "bool"]
    whole = isinstance(value, int) and not isinstance(value, bool)
    if name in ("int", "long"):
        return whole and (-(2**31) <= value < 2**31) == (name == "int")
    if name == "double":
        return isinstance(value, float)
    return kinds[rank(value)] == name


def rank(value: Value) -> int:
    """Number the types in MongoDB's order; only values of one type compare."""
    kinds: list[type | tuple[type, ...]] = [type(None), (int, float), str, dict, list]
    for index, kind in enumerate(kinds):
        if isinstance(value, kind) and not isinstance(value, bool):
            return index
    return 5


def order(left: Value, right: Value) -> int:
    """Compare two values of any types: negative, 0 or positive."""
    if rank(left) != rank(right):
        return rank(left) - rank(right)
    if isinstance(left, dict):
        return _first(
            (rank(a[1]) - rank(b[1]) or _sign(a[0], b[0]) or order(a[1], b[1]))
            for a, b in zip(left.items(), right.items(), strict=False)
        ) or len(left) - len(right)
    if isinstance(left, list):
        each = (order(a, b) for a, b in zip(left, right, strict=False))
        return _first(each) or len(left) - len(right)
    return 0 if left is None else _sign(left, right)


def _first(orders: Iterable[int]) -> int:
    return next((one for one in orders if one != 0), 0)


def _sign(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def projected(entity: Value, fields: list[str]) -> Value:
    """Leave some members of an entity.

    A path leads into the objects of arrays, too; what else is in those is left out.
    """
    always = [["_id"], ["_acl"], ["_kmd"]]
    return _kept(entity, always + [name.split(".") for name in fields])


def _kept(value: Value, paths: list[list[str]]) -> Value:
    if [] in paths:
        return value
    if isinstance(value, list):
        return [_kept(one, paths) for one in value if isinstance(one, (dict, list))]
    shown = {}
    for name, inner in value.items():
        rests = [path[1:] for path in paths if path[0] == name]
        if [] in rests or (rests and isinstance(inner, (dict, list))):
            shown[name] = _kept(inner, rests)
    return shown


def grouped(
    entities: list[Value], keys: list[str], aggregates: dict[str, Any]
) -> list[dict[str, Any]]:
    """Group by what is at paths of objects, in the order of the keys; only numbers add up."""
    groups: list[tuple[list[Value], list[Value]]] = []
    for entity in entities:
        found = [_at(entity, key) for key in keys]
        known = next((group for group in groups if order(group[0], found) == 0), None)
        if known is None:
            groups.append((found, [entity]))
        else:
            known[1].append(entity)
    in_order = functools.cmp_to_key(order)
    groups.sort(key=lambda group: in_order(group[0]))
    return [
        dict(zip(keys, found, strict=True))
        | {name: _aggregate(wanted, members) for name, wanted in aggregates.items()}
        for found, members in groups
    ]


def _at(entity: Value, path: str) -> Value:
    for name in path.split("."):
        entity = entity.get(name) if isinstance(entity, dict) else None
    return entity


def _aggregate(wanted: Any, entities: list[Value]) -> Value:
    if wanted == "count":
        return len(entities)
    [(name, path)] = wanted.items()
    numbers = [number for one in entities if rank(number := _at(one, path)) == 1]
    total = sum(map(Fraction, numbers), Fraction(0))
    if name == "sum":
        return int(total) if total.denominator == 1 and _fits(total) else _nearest(total)
    if not numbers:
        return None
    return _nearest(total / len(numbers)) if name == "avg" else _EXTREMES[name](numbers)


def _fits(number: Fraction) -> bool:
    return -(2**63) <= number < 2**63


def _nearest(number: Fraction) -> float | None:
    """Round once; beyond all doubles there is nothing."""
    try:
        return float(number)
    except OverflowError:
        return None


_EXTREMES: dict[str, Callable[[list[Any]], Any]] = {"min": min, "max": max}


def distinct(entities: list[Value], path: str) -> list[Value]:
    """Give the different values at a path, in order: of an array at its end, the elements."""
    found: list[Value] = []
    for entity in entities:
        for value in values(entity, path.split("."), False):
            plain = value if isinstance(value, list) else [] if value is MISSING else [value]
            for one in plain:
                if all(order(one, other) != 0 for other in found):
                    found.append(one)
    return sorted(found, key=functools.cmp_to_key(order))


def arranged(entities: list[Value], sort: dict[str, int]) -> list[Value]:
    """Sort: an array counts as its smallest element, descending as its largest; ties by _id."""
    result = sorted(entities, key=lambda entity: str(entity["_id"]))
    for path, direction in reversed(sort.items()):
        key = functools.partial(_compare, path=path.split("."), direction=direction)
        # Python's sort is stable, also in reverse.
        result.sort(key=functools.cmp_to_key(key), reverse=direction < 0)
    return result


def _compare(left: Value, right: Value, path: list[str], direction: int) -> int:
    (a, b) = (_sort_value(one, path, direction) for one in (left, right))
    return order(a[1], b[1]) if a[0] == b[0] else a[0] - b[0]


def _sort_value(entity: Value, path: list[str], direction: int) -> tuple[int, Value]:
    """Give the value to sort by, after a 0 for an empty array, which comes before null."""
    found = list(_sortable(entity, path))
    plain = [value for value in found if value is not EMPTY]
    if not plain or (direction > 0 and len(plain) < len(found)):
        return (0, None)
    choose = min if direction > 0 else max
    return (1, choose(plain, key=functools.cmp_to_key(order)))


def _sortable(value: Value, path: list[str]) -> Iterator[Value]:
    """Give what a path leads to for a sort: of an array at its end the elements, or EMPTY.

    A number is an index; past the array's end it is a name, as in every element.
    """
    if not path:
        yield from (value or [EMPTY]) if isinstance(value, list) else [value]
    elif isinstance(value, dict):
        yield from _sortable(value.get(path[0]), path[1:])
    elif isinstance(value, list) and path[0] in map(str, range(len(value))):
        yield from _sortable(value[int(path[0])], path[1:])
    elif isinstance(value, list) and value:
        for element in value:
            member = element.get(path[0]) if isinstance(element, dict) else None
            yield from _sortable(member, path[1:])
    else:
        yield None
