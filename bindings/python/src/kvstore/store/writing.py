"""The writes of a store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Unpack, overload

from .. import _native
from .._callbacks import Reader
from .._option_types import CallOptions
from .._options import WriteOptions, encode_options, to_json, to_text
from ..errors import invalid
from ..query import Query, QueryLike, as_query, handle_of
from ..request import OnAnswer, Request, TextReader
from ..results import (
    E,
    Entity,
    EntityLike,
    SaveManyResult,
    UpdateResult,
    decode_count,
    decode_update,
)
from .base import StoreBase, T

_save = _native.function("kv_store_save")
_save_many = _native.function("kv_store_save_many")
_remove_by_id = _native.function("kv_store_remove_by_id")
_remove = _native.function("kv_store_remove")
_update = _native.function("kv_store_update")
_version = _native.function("kv_store_version")
_clear = _native.function("kv_store_clear")

_COUNT: Final = TextReader(decode_count)
_UPDATED: Final = TextReader(decode_update)


class Writing(StoreBase[E]):
    """Saves and removes entities."""

    @overload
    def save(
        self: Writing[Entity], entity: EntityLike, **options: Unpack[WriteOptions]
    ) -> Entity: ...

    @overload
    def save(self, entity: E, **options: Unpack[WriteOptions]) -> E: ...

    def save(self, entity: Any, **options: Unpack[WriteOptions]) -> Any:
        """Save one entity and return it as stored, with a new ``_id`` if it had none.

        With a condition, as in ``notes.save(note, if_version=version)``, the entity is saved only
        if the condition holds. Otherwise :class:`kvstore.ConflictError` is raised: see
        :class:`kvstore.Condition`.
        """
        if not self._writes(options):
            return self.save_async(entity, **options).finish()
        text = self.mapper.write(entity)
        return self.mapper.parse(
            _native.call_for_text(_save, self.handle, text, len(text), encode_options(options))
        )

    @overload
    def insert(
        self: Writing[Entity], entity: EntityLike, **options: Unpack[CallOptions]
    ) -> Entity: ...

    @overload
    def insert(self, entity: E, **options: Unpack[CallOptions]) -> E: ...

    def insert(self, entity: Any, **options: Unpack[CallOptions]) -> Any:
        """Save a new entity; if its ``_id`` exists, raise :class:`kvstore.ConflictError`."""
        return self.save(entity, **options, if_missing=True)

    @overload
    def save_many(
        self: Writing[Entity], entities: Iterable[EntityLike], **options: Unpack[WriteOptions]
    ) -> SaveManyResult[Entity]: ...

    @overload
    def save_many(
        self, entities: Iterable[E], **options: Unpack[WriteOptions]
    ) -> SaveManyResult[E]: ...

    def save_many(self, entities: Any, **options: Unpack[WriteOptions]) -> Any:
        """Save many entities, locally in one transaction. The result says which ones failed.

        A network store inserts them: it never replaces an entity that exists.
        """
        if not self._writes(options):
            return self.save_many_async(entities, **options).finish()
        text = self._array_json(entities)
        return self.mapper.parse_save_many(
            _native.call_for_text(_save_many, self.handle, text, len(text), encode_options(options))
        )

    def remove_by_id(self, id: str, **options: Unpack[WriteOptions]) -> int:
        """Remove one entity; return 1, or 0 if there was none."""
        if not self._writes(options):
            return self.remove_by_id_async(id, **options).finish()
        return _native.call_for_count(
            _remove_by_id, self.handle, to_text(id, "id"), encode_options(options)
        )

    def remove(
        self, query: QueryLike = None, *, all: bool = False, **options: Unpack[CallOptions]
    ) -> int:
        """Remove the entities that match, and count them. None requires ``all=True``."""
        if not self._writes(options):
            return self.remove_async(query, all=all, **options).finish()
        made = _chosen(query, all)
        return _native.call_for_count(
            _remove, self.handle, handle_of(made), encode_options(options)
        )

    def update(
        self, query: QueryLike, update: Mapping[str, Any], **options: Unpack[CallOptions]
    ) -> UpdateResult:
        """Change members of the entities that match, in MongoDB's update language.

        An example is ``notes.update({"done": False}, {"$set": {"done": True}})``. Members that the
        update does not name stay as they are. Locally all entities change at once, or none does.
        """
        if not self._writes(options):
            return self.update_async(query, update, **options).finish()
        made, text = as_query(query), to_json(update)
        return decode_update(
            _native.call_for_text(
                _update, self.handle, handle_of(made), text, len(text), encode_options(options)
            )
        )

    def version(self, id: str) -> int:
        """Return the local version of one entity. Each local change of the entity increases it."""
        return _native.call_for_count(_version, self.handle, to_text(id, "id"))

    def clear(self, query: QueryLike = None) -> int:
        """Remove matching entities and their pending writes locally only; count the entities."""
        made = as_query(query)
        return _native.call_for_count(_clear, self.handle, handle_of(made))

    # The asynchronous forms

    @overload
    def save_async(
        self: Writing[Entity],
        entity: EntityLike,
        *,
        on_answer: OnAnswer[Entity] | None = None,
        **options: Unpack[WriteOptions],
    ) -> Request[Entity]: ...

    @overload
    def save_async(
        self, entity: E, *, on_answer: OnAnswer[E] | None = None, **options: Unpack[WriteOptions]
    ) -> Request[E]: ...

    def save_async(
        self, entity: Any, *, on_answer: Any = None, **options: Unpack[WriteOptions]
    ) -> Any:
        """Start to save one entity."""
        reader, text = TextReader(self.mapper.parse), self.mapper.write(entity)
        return self._start_save("kv_store_save", reader, text, options, on_answer)

    @overload
    def save_many_async(
        self: Writing[Entity],
        entities: Iterable[EntityLike],
        *,
        on_answer: OnAnswer[SaveManyResult[Entity]] | None = None,
        **options: Unpack[WriteOptions],
    ) -> Request[SaveManyResult[Entity]]: ...

    @overload
    def save_many_async(
        self,
        entities: Iterable[E],
        *,
        on_answer: OnAnswer[SaveManyResult[E]] | None = None,
        **options: Unpack[WriteOptions],
    ) -> Request[SaveManyResult[E]]: ...

    def save_many_async(
        self, entities: Any, *, on_answer: Any = None, **options: Unpack[WriteOptions]
    ) -> Any:
        """Start to save many entities."""
        reader, text = TextReader(self.mapper.parse_save_many), self._array_json(entities)
        return self._start_save("kv_store_save_many", reader, text, options, on_answer)

    def remove_by_id_async(
        self, id: str, *, on_answer: OnAnswer[int] | None = None, **options: Unpack[WriteOptions]
    ) -> Request[int]:
        """Start to remove one entity."""
        key = to_text(id, "id")
        return self._start(
            "kv_store_remove_by_id", _COUNT, key, options=options, on_answer=on_answer
        )

    def remove_async(
        self,
        query: QueryLike = None,
        *,
        all: bool = False,
        on_answer: OnAnswer[int] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[int]:
        """Start to remove the entities that match."""
        chosen = _chosen(query, all)
        return self._start_query("kv_store_remove", _COUNT, chosen, options, on_answer)

    def update_async(
        self,
        query: QueryLike,
        update: Mapping[str, Any],
        *,
        on_answer: OnAnswer[UpdateResult] | None = None,
        **options: Unpack[CallOptions],
    ) -> Request[UpdateResult]:
        """Start to change members of the entities that match."""
        made, text = as_query(query), to_json(update)
        return self._start(
            "kv_store_update",
            _UPDATED,
            handle_of(made),
            text,
            len(text),
            options=options,
            on_answer=on_answer,
        )

    def _start_save(
        self,
        name: str,
        reader: Reader[T],
        text: bytes,
        options: WriteOptions,
        on_answer: OnAnswer[T] | None,
    ) -> Request[T]:
        return self._start(name, reader, text, len(text), options=options, on_answer=on_answer)

    def _array_json(self, entities: Any) -> bytes:
        if isinstance(entities, (bytes, str, Mapping)):
            raise TypeError("save_many takes several entities; save takes one")
        return b"[" + b",".join(map(self.mapper.write, entities)) + b"]"


def _chosen(query: QueryLike, all: bool) -> Query | None:
    """Return the query of what to remove; everything is removed only with `all`."""
    if query is None and not all:
        raise invalid("remove needs a query; all=True removes every entity")
    if query is not None and all:
        raise invalid("all=True cannot be combined with a query")
    return as_query(query)
