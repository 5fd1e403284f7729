"""Groups: aggregates of the entities that have the same values of some members."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from . import _abi, _native
from ._json import from_json
from ._options import to_json
from .errors import KVError
from .query import Collation
from .results import Entity

A = TypeVar("A")

#: ``"count"``, or ``{"sum": path}``, ``{"avg": path}``, ``{"min": path}``, ``{"max": path}``.
Aggregate = str | Mapping[str, str]

_reduce = _native.function("kv_store_reduce")


def group_json(
    keys: Sequence[str],
    aggregates: Mapping[str, Aggregate],
    initial: Any,
    reduce: str | None,
    collation: Collation | None,
) -> bytes:
    """Write a grouping as C reads it."""
    members: dict[str, Any] = {"keys": _names(keys)}
    if reduce is None:
        members["aggregates"] = aggregates
    else:
        members.update(initial=initial or {}, reduce=reduce)
    if collation is not None:
        members["collation"] = collation
    return to_json(members)


def reduce(
    store: int,
    keys: Sequence[str],
    query: int | None,
    options: bytes | None,
    function: Callable[[A, Entity], A],
    initial: Callable[[], A],
) -> list[tuple[Entity, A]]:
    """Keep an accumulator for each group, and let a function add entities to it."""
    accumulators: list[A] = []
    raised: list[BaseException] = []

    def add(context: Any, group: int, text: Any, length: int) -> int:
        try:
            if group == len(accumulators):
                accumulators.append(initial())
            entity = from_json(ctypes.string_at(text, length))
            accumulators[group] = function(accumulators[group], entity)
        except BaseException as error:
            raised.append(error)
            return 1
        return 0

    names = to_json(_names(keys))
    thunk = _abi.REDUCE_FN(add)
    pointer = ctypes.cast(thunk, ctypes.c_void_p).value
    try:
        text = _native.call_for_text(
            _reduce, store, names, len(names), query, options, pointer, None
        )
    except KVError:
        if raised:
            raise raised[0] from None
        raise
    return list(zip(from_json(text), accumulators, strict=True))


def _names(keys: Sequence[str]) -> list[str]:
    if isinstance(keys, str):
        raise TypeError("keys must be a list of names, not one str")
    return list(keys)
