"""Functions that make records of a former schema those of a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import uuid4

from . import _native
from ._callbacks import (
    FREE_POINTER,
    MIGRATION_POINTER,
    MigrationDelivery,
    refuse_coroutine,
)
from ._json import from_json
from ._options import to_json, to_text
from .errors import KVError
from .results import Entity

_register = _native.function("kv_migration_register")
_unregister = _native.function("kv_migration_unregister")


@dataclass(frozen=True, slots=True)
class MigratingRecord:
    """A record whose schema has changed."""

    #: The name of its model in the former schema.
    former_model: str
    #: The name of its model in the new schema.
    model: str
    #: Its id, which stays.
    id: str
    #: The record as it is stored.
    former: Entity
    #: The record as the rules change it. It may lack what the new model requires.
    record: Entity


#: Returns the whole record of the new model, or None: it is as the rules change it.
MigrationHandler: TypeAlias = Callable[[MigratingRecord], Mapping[str, Any] | None]

_OPTION: Final = "on_schema_change"


@contextmanager
def naming_handler(options: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Give the options of a client with the name of a handler in place of the function.

    The client keeps the handler; the name is gone afterwards. What the handler has raised is the
    cause of the exception.
    """
    change = options.get(_OPTION)
    handler = change.get("handler") if isinstance(change, Mapping) else None
    if not isinstance(change, Mapping) or not callable(handler):
        yield options
        return
    refuse_coroutine(handler, "a migration handler")
    delivery = MigrationDelivery(_deliverable(handler))
    name = f"python {uuid4()}"
    text = to_text(name, "name")
    _native.call(_register, text, MIGRATION_POINTER, delivery.token, FREE_POINTER)
    try:
        yield {**options, _OPTION: {**change, "handler": name}}
    except KVError as error:
        raised = delivery.raised
        if raised is None:
            raise
        if not isinstance(raised, Exception):
            raise raised from None
        raise error from raised
    finally:
        _native.call(_unregister, text)


def _deliverable(handler: MigrationHandler) -> Callable[[Any], bytes | None]:
    def migrate(lent: Any) -> bytes | None:
        asked = MigratingRecord(
            lent.former_model.decode(),
            lent.model.decode(),
            lent.id.decode(),
            from_json(lent.former),
            from_json(lent.record),
        )
        made = handler(asked)
        if made is None:
            return None
        if not isinstance(made, Mapping):
            raise TypeError(f"a migration handler returned a {type(made).__name__}, not a mapping")
        return to_json(made)

    return migrate
