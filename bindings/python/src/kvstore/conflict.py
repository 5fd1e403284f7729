"""Conflicts: entities that were changed here and on the backend."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from . import _native
from ._callbacks import CONFLICT_POINTER, FREE_POINTER, ConflictDelivery, refuse_coroutine
from ._options import entity_json
from .results import Entity, EntityLike

_set_handler = _native.function("kv_store_set_conflict_handler")
_MERGED = 3


@dataclass(frozen=True, slots=True)
class Conflict:
    """An entity that was changed or deleted here, while the backend has another version of it."""

    id: str
    #: What both started from; None: there was nothing, or it is unknown.
    base: Entity | None
    #: What would be sent; None: it was deleted here.
    local: Entity | None
    #: What the backend has; None: it was deleted there.
    remote: Entity | None


class Decision(enum.Enum):
    """What a conflict handler says, if it gives no entity."""

    #: Nothing: the write is set aside, in conflict.
    LEAVE = _native.KV_CONFLICT_LEAVE
    #: Ours replaces theirs.
    KEEP = 1
    #: Theirs replaces ours.
    TAKE = 2
    #: The entity is deleted, here and there.
    DELETE = 4


#: Gives a decision, or the entity that replaces both.
ConflictHandler = Callable[[Conflict], Decision | EntityLike]


def set_handler(store: int, handler: ConflictHandler | None) -> None:
    """Set who decides the conflicts of a store; None: nobody."""
    if handler is None:
        _native.call(_set_handler, store, None, None, None)
        return
    refuse_coroutine(handler, "a conflict handler")

    def decide(lent: _native.ConflictStruct) -> tuple[int, bytes | None]:
        answer = handler(
            Conflict(lent.id.decode(), _read(lent.base), _read(lent.local), _read(lent.remote))
        )
        if isinstance(answer, Decision):
            return answer.value, None
        if isinstance(answer, (Mapping, str, bytes)):
            return _MERGED, entity_json(answer)
        raise TypeError("a conflict handler gives a kvstore.Decision or an entity")

    delivery = ConflictDelivery(decide)
    _native.call(_set_handler, store, CONFLICT_POINTER, delivery.token, FREE_POINTER)


def _read(text: bytes | None) -> dict[str, Any] | None:
    return None if text is None else json.loads(text)
