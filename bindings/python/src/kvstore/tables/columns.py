"""Sorting the members of entities into columns, a batch of entities at a time.

Each batch of a column is packed as soon as it is read, by the kind of its values, so that only the
result and one batch are in memory. The kind of a column is known at its end.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, Final, Generic, TypeVar

from ..results import Entity

P = TypeVar("P")

#: How many entities are packed at once.
BATCH: Final = 16_384
#: Integers up to this one, and their negatives, are exact as floating-point numbers.
_EXACT: Final = 2**53
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z").fullmatch


class Kind(Enum):
    """The kind of a column's values; missing ones do not count."""

    NOTHING = auto()
    BOOLEAN = auto()
    INTEGER = auto()
    #: 64-bit integers that are not exact as floating-point numbers.
    LONG = auto()
    FLOAT = auto()
    #: Texts in the form in which dates are stored.
    MOMENT = auto()
    TEXT = auto()
    #: Objects, arrays, integers of more than 64 bits, or values of different kinds.
    OTHER = auto()


def kind_of(values: Iterable[Any]) -> Kind:
    """Return the kind of values; None is a missing value.

    >>> kind_of([1, None]), kind_of([1, 2.5]), kind_of([1, "a"]), kind_of([2**60])
    (<Kind.INTEGER: 3>, <Kind.FLOAT: 5>, <Kind.OTHER: 8>, <Kind.LONG: 4>)
    """
    present = [value for value in values if value is not None]
    types = set(map(type, present))
    if not types:
        return Kind.NOTHING
    if types == {bool}:
        return Kind.BOOLEAN
    if types == {str}:
        return Kind.MOMENT if all(map(_MOMENT, present)) else Kind.TEXT
    if types == {float}:
        return Kind.FLOAT
    if types <= {int, float}:
        integers = _integers(value for value in present if type(value) is int)
        return unified([integers, *([Kind.FLOAT] if float in types else [])])
    return Kind.OTHER


def _integers(values: Iterable[int]) -> Kind:
    largest = max(max(value, ~value) for value in values)
    if largest >= 2**63:
        return Kind.OTHER
    return Kind.LONG if largest > _EXACT else Kind.INTEGER


def unified(kinds: Iterable[Kind]) -> Kind:
    """Return the one kind that holds the values of all these kinds exactly.

    >>> unified([Kind.INTEGER, Kind.NOTHING, Kind.FLOAT]), unified([Kind.LONG, Kind.FLOAT])
    (<Kind.FLOAT: 5>, <Kind.OTHER: 8>)
    """
    found = set(kinds) - {Kind.NOTHING}
    if len(found) <= 1:
        return next(iter(found), Kind.NOTHING)
    for wider, narrower in (
        (Kind.LONG, Kind.INTEGER),
        (Kind.FLOAT, Kind.INTEGER),
        (Kind.TEXT, Kind.MOMENT),
    ):
        if found == {wider, narrower}:
            return wider
    return Kind.OTHER


@dataclass(frozen=True)
class Chunk(Generic[P]):
    """The packed values of one column and one batch."""

    kind: Kind
    packed: P


@dataclass
class Columns(Generic[P]):
    """The columns of entities, in chunks."""

    pack: Callable[[Kind, list[Any]], P]
    #: Whether members of objects are columns of their own, such as ``address.city``.
    flatten: bool = False
    #: How many entities each batch had.
    lengths: list[int] = field(default_factory=list)
    _chunks: dict[str, dict[int, Chunk[P]]] = field(default_factory=dict)

    def add(self, entities: list[Entity]) -> None:
        """Add a batch."""
        batch = len(self.lengths)
        self.lengths.append(len(entities))
        for name, values in columns_of(entities, self.flatten).items():
            kind = kind_of(values)
            self._chunks.setdefault(name, {})[batch] = Chunk(kind, self.pack(kind, values))

    @property
    def names(self) -> list[str]:
        """Return the names: the id, the others as they came, those of the backend last."""
        return ordered(self._chunks)

    def take(self, name: str) -> tuple[Kind, list[Chunk[P] | None]]:
        """Return a column's kind and chunks, None for a batch without it, and forget the column."""
        chunks = self._chunks.pop(name)
        kind = unified(chunk.kind for chunk in chunks.values())
        return kind, [chunks.get(batch) for batch in range(len(self.lengths))]


def ordered(names: Iterable[str]) -> list[str]:
    """Sort columns: the id, the others as they came, those of the backend last.

    >>> ordered(["_kmd", "b", "_id", "a"])
    ['_id', 'b', 'a', '_kmd']
    """
    return sorted(names, key=lambda name: (name != "_id", name.startswith("_")))


def columns_of(entities: list[Entity], flatten: bool) -> dict[str, list[Any]]:
    """Return the values of each member; None where an entity has no value."""
    if flatten:
        entities = [dict(_leaves(entity)) for entity in entities]
    names = dict.fromkeys(itertools.chain.from_iterable(entities))
    return {name: [entity.get(name) for entity in entities] for name in names}


def _leaves(members: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield members that are not objects, or are empty ones, with dotted names as in queries."""
    for name, value in members.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def batches(pages: Iterable[list[Entity]], size: int = BATCH) -> Iterator[list[Entity]]:
    """Join pages to batches of about this size.

    >>> [len(batch) for batch in batches([[{}, {}], [{}, {}], [{}]], 3)]
    [4, 1]
    """
    batch: list[Entity] = []
    for page in pages:
        batch += page
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch
