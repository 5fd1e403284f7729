"""MongoDB's updates once more, written down from its manual in the plainest way there is. It shares
nothing with the library: it works on parsed values and knows nothing of bytes."""

from __future__ import annotations

import copy
import functools
import math
from collections.abc import Callable
from typing import Any

import reference

Value = Any
MISSING = reference.MISSING


class RefusedError(Exception):
    """The update is none, or does not fit the entity."""


def updated(update: dict[str, Any], entity: dict[str, Any]) -> dict[str, Any]:
    """Give the entity after the update."""
    steps = [
        (path, name, operand) for name, each in update.items() for path, operand in each.items()
    ]
    _check_paths(
        [path for path, _, _ in steps] + [to for _, name, to in steps if name == "$rename"]
    )
    result = copy.deepcopy(entity)
    # In the order of the paths that are written: numbers by value, names by their text.
    steps.sort(key=lambda step: _order_key(step[2] if step[1] == "$rename" else step[0]))
    for path, name, operand in steps:
        if name == "$rename":
            _rename(result, path.split("."), operand.split("."))
        else:
            _apply(result, path.split("."), name, operand)
    return result


def _order_key(path: str) -> list[tuple[int, int, str]]:
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in path.split(".")]


def _check_paths(paths: list[str]) -> None:
    for at, path in enumerate(paths):
        for other in paths[at + 1 :]:
            if f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}."):
                raise RefusedError(f"{path} and {other}")


CREATING = {"$set", "$inc", "$mul", "$min", "$max", "$push", "$addToSet"}


def _apply(holder: Value, path: list[str], name: str, operand: Any) -> None:
    """Change what is at a path inside an object or an array."""
    while len(path) > 1:
        inner = _get(holder, path[0])
        if inner is MISSING:
            if name not in CREATING:
                return
            inner = {}
            _put(holder, path[0], inner)
        if not isinstance(inner, (dict, list)):
            if name in CREATING:
                raise RefusedError(f"{path[0]} holds a scalar")
            return
        holder, path = inner, path[1:]
    if isinstance(holder, list) and not path[0].isdigit():
        if name in CREATING:
            raise RefusedError("an array has no members")
        return
    old = _get(holder, path[0])
    new = OPERATORS[name](old, operand)
    if new is not MISSING:
        _put(holder, path[0], new)
    elif old is not MISSING:
        if isinstance(holder, list):
            holder[int(path[0])] = None
        else:
            del holder[path[0]]


def _get(holder: Value, name: str) -> Value:
    if isinstance(holder, dict):
        return holder.get(name, MISSING)
    return holder[int(name)] if name.isdigit() and int(name) < len(holder) else MISSING


def _put(holder: Value, name: str, value: Value) -> None:
    if isinstance(holder, dict):
        holder[name] = value
        return
    if not name.isdigit():
        raise RefusedError("an array has no members")
    holder.extend([None] * (int(name) + 1 - len(holder)))
    holder[int(name)] = value


def value_at(entity: Value, path: str) -> Value:
    """Give what is at a path through objects; MISSING if nothing is."""
    for name in path.split("."):
        entity = entity.get(name, MISSING) if isinstance(entity, dict) else MISSING
    return entity


def _rename(entity: Value, source: list[str], destination: list[str]) -> None:
    holder = entity
    for name in source[:-1]:
        if isinstance(holder, list):
            raise RefusedError("the source is in an array")
        holder = holder.get(name, MISSING) if isinstance(holder, dict) else MISSING
    if isinstance(holder, list):
        raise RefusedError("the source is in an array")
    if not isinstance(holder, dict) or source[-1] not in holder:
        return
    inner: Value = entity
    for name in destination[:-1]:
        inner = inner.get(name, MISSING) if isinstance(inner, dict) else inner
    if isinstance(inner, list):
        raise RefusedError("the destination is in an array")
    value = holder.pop(source[-1])
    _apply(entity, destination, "$set", value)


def _number(value: Value) -> Any:
    if reference.rank(value) != 1:
        raise RefusedError("no number")
    return value


def _checked(value: Any) -> Any:
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise RefusedError("more than 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise RefusedError("more than any double")
    return value


def _sum(old: Value, amount: Any) -> Any:
    return amount if old is MISSING else _checked(_number(old) + amount)


def _product(old: Value, factor: Any) -> Any:
    return _checked((0 if old is MISSING else _number(old)) * factor)


def _elements(old: Value) -> list[Any]:
    if old is MISSING:
        return []
    if not isinstance(old, list):
        raise RefusedError("no array")
    return list(old)


def _each(operand: Any) -> list[Any]:
    return list(operand["$each"]) if _is_operators(operand) else [operand]


def _is_operators(operand: Any) -> bool:
    return isinstance(operand, dict) and next(iter(operand), "").startswith("$")


def _push(old: Value, operand: Any) -> list[Any]:
    elements, added = _elements(old), _each(operand)
    modifiers = operand if _is_operators(operand) else {}
    at = modifiers.get("$position", len(elements))
    elements[at:at] = added
    if sort := modifiers.get("$sort"):
        elements = _sorted(elements, sort)
    if (slice := modifiers.get("$slice")) is not None:
        elements = elements[:slice] if slice >= 0 else elements[slice:]
    return elements


def _sorted(elements: list[Any], sort: Any) -> list[Any]:
    if isinstance(sort, dict):
        by = list(sort.items())
        members = [one if isinstance(one, dict) else {} for one in elements]
        indices = list(range(len(elements)))
        for path, direction in reversed(by):
            key = functools.cmp_to_key(
                functools.partial(reference._compare, path=[path], direction=direction)
            )
            indices.sort(key=lambda at: key(members[at]), reverse=direction < 0)
        return [elements[at] for at in indices]
    return sorted(elements, key=functools.cmp_to_key(reference.order), reverse=sort < 0)


def _add_to_set(old: Value, operand: Any) -> list[Any]:
    elements = _elements(old)
    for value in _each(operand):
        if all(reference.order(value, known) != 0 for known in elements):
            elements.append(value)
    return elements


def _pop(old: Value, operand: int) -> Value:
    if old is MISSING:
        return MISSING
    elements = _elements(old)
    return elements[:-1] if operand > 0 else elements[1:]


def _pull(old: Value, operand: Any) -> Value:
    if old is MISSING:
        return MISSING
    return [one for one in _elements(old) if not _is_pulled(one, operand)]


def _is_pulled(element: Value, operand: Any) -> bool:
    if not isinstance(operand, dict):
        return reference.order(element, operand) == 0
    if _is_operators(operand):
        return all(reference._holds(test, element) for test in reference._tests(operand))
    return isinstance(element, dict) and reference.matches(operand, element)


def _extreme(wanted: int) -> Callable[[Value, Any], Any]:
    def choose(old: Value, operand: Any) -> Any:
        return operand if old is MISSING or reference.order(operand, old) * wanted > 0 else old

    return choose


OPERATORS: dict[str, Callable[[Value, Any], Any]] = {
    "$set": lambda old, operand: operand,
    "$unset": lambda old, operand: MISSING,
    "$inc": _sum,
    "$mul": _product,
    "$min": _extreme(-1),
    "$max": _extreme(1),
    "$rename": lambda old, operand: operand,
    "$push": _push,
    "$addToSet": _add_to_set,
    "$pop": _pop,
    "$pull": _pull,
}
