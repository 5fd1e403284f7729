"""Models: types of your own in place of dictionaries, for the entities of a collection."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, Protocol, TypeVar

from . import _pydantic
from ._json import from_json
from ._options import entity_json, to_json
from ._reading import fields_of, known_members, member_names, read_fields
from .errors import InvalidError, invalid
from .results import (
    Entity,
    EntityLike,
    PendingDetail,
    SaveManyResult,
    errors_of,
    pending_members,
)

M = TypeVar("M")

_ID: Final = "_id"
#: The members that are left out if they have no value.
_LEFT_OUT: Final = {_ID, "_acl", "_kmd"}


class Model(Protocol[M]):
    """Converts entities to objects, and back: the argument of ``collection(…, model=…)``.

    Dataclasses and models of pydantic do not need one. With it, any other library can be used.
    """

    def from_entity(self, entity: Entity) -> M:
        """Decode an entity into an object; an exception says why the entity does not fit."""

    def to_entity(self, value: M) -> Mapping[str, Any]:
        """Return the members of an object, with an ``_id`` if it has one.

        Values are written by the rules of :func:`kvstore.to_json_value`.
        """

    def members(self) -> Mapping[str, Any] | None:
        """Return the names of the members that objects have, each with True or nested names.

        A save keeps the other members of the stored entity. None means that objects have all of
        them.
        """


class Mapper(Generic[M]):
    """Converts a store's entities to objects and back, by a model, or leaves them as they are."""

    def __init__(self, model: Model[M] | None, kind: type = object) -> None:
        self._model = model
        #: Whether objects have another type than entities.
        self.changes = model is not None
        #: The type that the model writes; ``object`` if that is not known.
        self._kind = kind
        self._name = (type(model) if kind is object else kind).__qualname__

    def members(self) -> Mapping[str, Any] | None:
        """Return the value of the option ``known_members`` for the model."""
        return None if self._model is None else self._model.members()

    def read(self, entity: Entity) -> M:
        """Decode an entity; :class:`kvstore.InvalidError` has its id and the reason."""
        if self._model is None:
            return entity  # type: ignore[return-value]
        try:
            return self._model.from_entity(entity)
        except Exception as error:
            message = f"the entity does not fit {self._name}: {error}"
            details = {"status": 11, "name": "KV_INVALID", "message": message}
            raise InvalidError({**details, "id": entity.get(_ID)}) from error

    def parse(self, text: bytes) -> M:
        """Decode an entity's JSON into an object."""
        entity = from_json(text)
        return self.read(entity) if self.changes else entity

    def parse_list(self, text: bytes) -> list[M | None]:
        """Decode an array of entities, with None for null."""
        return [self.read_if_any(entity) for entity in from_json(text)]

    def read_if_any(self, entity: Entity | None) -> M | None:
        """Decode an entity, or return None for None."""
        return None if entity is None else self.read(entity)

    def parse_save_many(self, text: bytes) -> SaveManyResult[M]:
        """Read the result of a save of many; a saved entity that does not fit is an error too."""
        members = from_json(text)
        errors = errors_of(members)
        saved: list[M | None] = []
        for index, entity in enumerate(members["entities"]):
            try:
                saved.append(self.read_if_any(entity))
            except InvalidError as error:
                saved.append(None)
                errors.append(InvalidError({**error.details, "index": index}))
        return SaveManyResult(saved, errors)

    def parse_pending(self, text: bytes) -> PendingDetail[M]:
        """Read one row of the queue with its entity."""
        members = from_json(text)
        return PendingDetail(
            *pending_members(members),
            entity=self.read_if_any(members.get("entity")),
            base=self.read_if_any(members.get("base")),
            remote=self.read_if_any(members.get("remote")),
        )

    def write(self, value: M | EntityLike) -> bytes:
        """Write an entity as JSON."""
        if self._model is None:
            return entity_json(value)  # type: ignore[arg-type]
        if not isinstance(value, self._kind):
            raise invalid(f"this collection needs {self._name}, not {type(value).__qualname__}")
        return to_json(dict(self._model.to_entity(value)))  # type: ignore[arg-type]


#: The mapper of stores that return and accept dictionaries.
PLAIN: Final[Mapper[Entity]] = Mapper(None)


def mapper_of(model: type[M] | Model[M]) -> Mapper[M]:
    """Return the mapper for a collection that is opened with a model."""
    if not isinstance(model, type):
        return Mapper(model)
    if dataclasses.is_dataclass(model):
        return Mapper(DataclassModel(model), model)
    if _pydantic.is_model_type(model):
        return Mapper(PydanticModel(model), model)
    raise TypeError(
        f"{model.__qualname__} is neither a dataclass nor a pydantic model: use a kvstore.Model"
    )


class DataclassModel(Generic[M]):
    """Reads and writes a dataclass. Its ``id`` is the ``_id``, unless that or an alias is there."""

    def __init__(self, type: type[M]) -> None:
        self._type = type
        self._fields = fields_of(type, _entity_names)
        self._members = known_members(type, _entity_names)

    def from_entity(self, entity: Entity) -> M:
        """Read the fields; members that the dataclass does not have are ignored."""
        read: M = read_fields(self._type, self._fields, entity)
        return read

    def to_entity(self, value: Any) -> Mapping[str, Any]:
        """Return the fields by the names of their members."""
        fields = dataclasses.fields(value)
        names = _entity_names(fields)
        values = [getattr(value, field.name) for field in fields]
        return _without_nothing(dict(zip(names, values, strict=True)))

    def members(self) -> Mapping[str, Any]:
        """Return the names of the members, those of dataclasses in it included."""
        return self._members


class PydanticModel(Generic[M]):
    """Reads and writes a pydantic model. Its field ``id`` is the ``_id``, unless it has one."""

    def __init__(self, type: type[M]) -> None:
        self._type = type
        self._has_id = _pydantic.has_plain_id(type)
        self._members = _pydantic.known_members(type)
        if self._members is not None and self._has_id:
            self._members[_ID] = self._members.pop("id")

    def from_entity(self, entity: Entity) -> M:
        """Let pydantic read the entity."""
        members = dict(entity)
        if self._has_id:
            members.pop("id", None)
            if _ID in members:
                members["id"] = members.pop(_ID)
        read: M = _pydantic.read(self._type, members, _LEFT_OUT)
        return read

    def to_entity(self, value: M) -> Mapping[str, Any]:
        """Let pydantic write the entity."""
        members = _pydantic.members(value)
        if self._has_id:
            members[_ID] = members.pop("id", None)
        return _without_nothing(members)

    def members(self) -> Mapping[str, Any] | None:
        """Return the names of the members, those of models in it included."""
        return self._members


def _entity_names(fields: Sequence[dataclasses.Field[Any]]) -> list[str]:
    """Rename ``id`` to ``_id``, unless there is one, or the field says itself what it is called."""
    names = member_names(fields)
    if _ID in names:
        return names
    return [
        _ID if name == "id" and "alias" not in field.metadata else name
        for name, field in zip(names, fields, strict=True)
    ]


def _without_nothing(members: dict[str, Any]) -> dict[str, Any]:
    """Leave out members that a new entity does not have yet."""
    return {
        name: value
        for name, value in members.items()
        if name not in _LEFT_OUT or (value is not None and value != "")
    }
