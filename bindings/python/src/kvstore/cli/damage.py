"""Finding damaged entities: those whose stored body no longer has its checksum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .._json import from_json
from ..client import Client
from ..cursor import Cursor
from ..errors import CorruptError, KVError
from ..store import Store
from .output import counted
from .settings import names_of_collections


@dataclass(frozen=True)
class Damage:
    """A part of a collection that cannot be read."""

    collection: str
    #: The id of the damaged entity. None if it is unknown, or if the rest cannot be read.
    id: str | None
    problem: str
    #: Whether its pending write is quarantined already.
    is_quarantined: bool = False

    def __str__(self) -> str:
        return f"{self.collection}: {self.problem}"


def damage_of(client: Client) -> Iterator[Damage]:
    """Read each entity and pending write of all collections; yield the damaged ones."""
    for name in names_of_collections(client):
        with client.collection(name) as store:
            yield from _damage_of(store, name)


def _damage_of(store: Store, name: str) -> Iterator[Damage]:
    try:
        quarantined = {write.id for write in store.pending if write.state == "refused"}
        with store.find() as found:
            for each in readable(found):
                if isinstance(each, CorruptError):
                    yield Damage(name, each.id, str(each), each.id in quarantined)
                elif (problem := _parsed(each)) is not None:
                    yield Damage(name, None, problem)
    except (KVError, ValueError) as error:
        yield Damage(name, None, str(error))


def readable(found: Cursor) -> Iterator[bytes | CorruptError]:
    """Yield the entities as JSON, and an error in place of each damaged one."""
    while True:
        try:
            yield from found.raw()
        except CorruptError as error:
            if error.id is None:
                raise
            yield error
        else:
            return


def _parsed(text: bytes) -> str | None:
    """Return the problem of a body, if any; older versions stored bodies without a checksum."""
    try:
        from_json(text)
    except ValueError as error:
        return f"The entity is not JSON: {error}"
    return None


def listed(damages: list[Damage], limit: int = 5) -> str:
    """Return the names of the first damaged entities as text.

    >>> listed([Damage("notes", id, "") for id in "abc"], 2)
    'notes "a", notes "b" and 1 more'
    """
    names = [f'{each.collection} "{each.id}"' if each.id else str(each) for each in damages]
    rest = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + rest


def summary(damages: list[Damage]) -> str:
    """Return the number and the names of the damaged entities."""
    verb = "is" if len(damages) == 1 else "are"
    return f"{counted(len(damages), 'entity', 'entities')} {verb} damaged: {listed(damages)}"
