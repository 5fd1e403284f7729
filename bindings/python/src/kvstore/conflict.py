"""Conflicts: entities that were changed here and on the backend."""

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
    #: What both started from; None: there was nothing, or it is unknown.
    base: E | None
    #: What would be sent; None: it was deleted here.
    local: E | None
    #: What the backend has; None: it was deleted there.
    remote: E | None


class Decision(enum.Enum):
    """What a conflict handler says, if it gives no entity."""

    #: The conflict stays open: the write is quarantined.
    LEAVE = _abi.KV_CONFLICT_LEAVE
    #: Ours replaces theirs.
    KEEP = 1
    #: Theirs replaces ours.
    TAKE = 2
    #: The entity is deleted, here and there.
    DELETE = 4


#: Gives a decision, or the entity that replaces both.
ConflictHandler = Callable[[Conflict[E]], Decision | E | EntityLike]


def set_handler(store: int, handler: ConflictHandler[E] | None, mapper: Mapper[E]) -> None:
    """Set who decides the conflicts of a store; None: nobody."""
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
            raise TypeError("a conflict handler gives a kvstore.Decision or an entity")
        return _MERGED, mapper.write(answer)

    delivery = ConflictDelivery(decide)
    _native.call(_set_handler, store, CONFLICT_POINTER, delivery.token, FREE_POINTER)


def _read(text: bytes | None, mapper: Mapper[E]) -> E | None:
    return None if text is None else mapper.parse(text)
