"""Conflicts: entities that were changed both on this device and on the backend."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic

from . import _abi, _native
from ._callbacks import CONFLICT_POINTER, FREE_POINTER, ConflictDelivery, refuse_coroutine
from ._options import entity_json
from .model import PLAIN, Mapper
from .results import E, EntityLike

_set_handler = _native.function("kv_store_set_conflict_handler")
_MERGED = 3


@dataclass(frozen=True, slots=True)
class Conflict(Generic[E]):
    """An entity that was changed or deleted here, while the backend has another version of it."""

    id: str
    #: The version that both started from. None if there was none, or if it is unknown.
    base: E | None
    #: The local version, which would be sent. None if the entity was deleted here.
    local: E | None
    #: The backend's version. None if the entity was deleted there.
    remote: E | None


class Decision(enum.Enum):
    """The decision of a conflict handler that returns no entity."""

    #: The conflict stays open: the write is quarantined.
    LEAVE = _abi.KV_CONFLICT_LEAVE
    #: The local version replaces the backend's.
    KEEP = 1
    #: The backend's version replaces the local one.
    TAKE = 2
    #: The entity is deleted, locally and on the backend.
    DELETE = 4


#: Returns a decision, or the entity that replaces both versions.
ConflictHandler = Callable[[Conflict[E]], Decision | E | EntityLike]


def set_handler(store: int, handler: ConflictHandler[E] | None, mapper: Mapper[E]) -> None:
    """Set the conflict handler of a store. None removes it."""
    if handler is None:
        _native.call(_set_handler, store, None, None, None)
        return
    refuse_coroutine(handler, "a conflict handler")

    def decide(lent: _abi.ConflictStruct) -> tuple[int, bytes | None]:
        versions = [_read(text, mapper) for text in (lent.base, lent.local, lent.remote)]
        answer = handler(Conflict(lent.id.decode(), *versions))
        if isinstance(answer, Decision):
            return answer.value, None
        if isinstance(answer, (Mapping, str, bytes)):
            return _MERGED, entity_json(answer)
        if answer is None or mapper is PLAIN:
            raise TypeError("a conflict handler must return a kvstore.Decision or an entity")
        return _MERGED, mapper.write(answer)

    delivery = ConflictDelivery(decide)
    _native.call(_set_handler, store, CONFLICT_POINTER, delivery.token, FREE_POINTER)


def _read(text: bytes | None, mapper: Mapper[E]) -> E | None:
    return None if text is None else mapper.parse(text)
