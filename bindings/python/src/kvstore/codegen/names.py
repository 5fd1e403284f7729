"""Names of a schema as names of a language, each once in its scope."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def assign(
    wanted: Iterable[tuple[K, str]], reserved: Collection[str], taken: Collection[str] = ()
) -> dict[K, str]:
    """Return a name for each key: the wanted one, or with ``_`` behind it.

    A name is escaped if it is reserved or taken, or if another key has it already. Names that need
    no escape are given first, so that ``class_`` keeps its name and ``class`` becomes ``class__``.
    """
    pairs = list(wanted)
    used = set(taken)
    given: dict[K, str] = {}
    for key, name in pairs:
        if name not in used and name not in reserved:
            given[key] = name
            used.add(name)
    for key, name in pairs:
        if key in given:
            continue
        while name in used or name in reserved:
            name += "_"
        given[key] = name
        used.add(name)
    return {key: given[key] for key, _ in pairs}
