"""Contexts: a working copy of objects of several collections, saved in one step."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from . import _abi, _native
from ._closing import Closing
from ._json import from_json
from ._options import to_json, to_text
from .errors import ConflictError, NotFoundError
from .fetched import Results
from .query import QueryLike, as_query, handle_of

if TYPE_CHECKING:
    from .client import Client

_open = _native.function("kv_context_open")
_close = _native.function("kv_context_close")
_insert = _native.function("kv_context_insert")
_get = _native.function("kv_context_get")
_update = _native.function("kv_context_update")
_set = _native.function("kv_context_set")
_delete = _native.function("kv_context_delete")
_status = _native.function("kv_context_status")
_changes = _native.function("kv_context_changes")
_fetch = _native.function("kv_context_fetch")
_related = _native.function("kv_context_related")
_relationships = _native.function("kv_context_relationships")
_hold = _native.function("kv_context_hold")
_release = _native.function("kv_context_release")
_refresh = _native.function("kv_context_refresh")
_undo_begin = _native.function("kv_context_undo_begin")
_undo_end = _native.function("kv_context_undo_end")
_undo = _native.function("kv_context_undo")
_redo = _native.function("kv_context_redo")
_rollback = _native.function("kv_context_rollback")
_save = _native.function("kv_context_save")
_conflicts = _native.function("kv_context_conflicts")
_resolve = _native.function("kv_context_resolve")
_obtain_ids = _native.function("kv_context_obtain_ids")
_describe = _native.function("kv_context_describe")
_locate = _native.function("kv_context_locate")
_statistics = _native.function("kv_context_statistics")

#: What :meth:`Context.save` does with objects that were changed since they were read.
MergePolicy = Literal["error", "storeTrumps", "objectTrumps", "overwrite", "rollback"]


@dataclass(frozen=True)
class MergeConflict:
    """An object that was changed by a context and, since that read it, by another writer."""

    collection: str
    id: str
    #: The version that the context has read; None: the object is new there.
    read_version: int | None
    #: The version that is stored; None: the object was deleted.
    stored_version: int | None
    #: The object as the context has read it.
    read: Mapping[str, Any] | None
    #: The object as the context wants it; None: it wants it deleted.
    object: Mapping[str, Any] | None
    #: The object as it is stored.
    stored: Mapping[str, Any] | None


#: Decides a conflict: ``"stored"``, ``"object"``, an object that is written instead, or None, which
#: lets the save fail.
ConflictDecision = Callable[[MergeConflict], Literal["stored", "object"] | Mapping[str, Any] | None]


@dataclass(frozen=True)
class SaveResult:
    """What a save of a context has done: pairs of collections and ids."""

    inserted: list[tuple[str, str]] = field(default_factory=list)
    updated: list[tuple[str, str]] = field(default_factory=list)
    deleted: list[tuple[str, str]] = field(default_factory=list)
    #: The objects whose conflicts the merge policy has decided.
    merged: list[tuple[str, str]] = field(default_factory=list)
    #: The ids that the store has chosen for new objects: collections, temporary ids, permanent ids.
    permanent_ids: list[tuple[str, str, str]] = field(default_factory=list)


class Object:
    """One object of a context. It is a fault until one of its members is asked for.

    Members are attributes, or items where a member's name is that of a method; one that is absent
    is None. A relationship gives an object, None, or a sequence of objects. Setting a member
    changes the object in its context, which :meth:`Context.save` writes.
    """

    __slots__ = ("__weakref__", "_collection", "_context", "_id")

    _context: Context
    _collection: str
    _id: str

    def __init__(self, context: Context, collection: str, id: str) -> None:
        object.__setattr__(self, "_context", context)
        object.__setattr__(self, "_collection", collection)
        object.__setattr__(self, "_id", id)
        context._held(self)

    @property
    def id(self) -> str:
        """The id; that of a store that chooses ids is a temporary one until the save."""
        return str(self._context._state(self)["id"])

    @property
    def collection(self) -> str:
        """The name of the collection."""
        return self._collection

    @property
    def is_fault(self) -> bool:
        """Whether the object would have to be read to give a member."""
        return bool(self._context._state(self)["isFault"])

    @property
    def state(self) -> str:
        """``unchanged``, ``inserted``, ``updated`` or ``deleted``."""
        return str(self._context._state(self)["state"])

    @property
    def version(self) -> int | None:
        """The local version that the context has read; None if there is none."""
        version: int | None = self._context._state(self)["version"]
        return version

    @property
    def uri(self) -> str:
        """A text that names the object in each context of the store, also after a relaunch."""
        return str(self._context._description(self)["uri"])

    @property
    def reference(self) -> Any:
        """What the store knows it by: a text, an integer or a list; None while it is temporary."""
        return self._context._description(self)["reference"]

    def values(self) -> dict[str, Any]:
        """Return all members; raises :class:`kvstore.NotFoundError` if there is no such object."""
        return self._context._values(self)

    def update(self, **members: Any) -> None:
        """Change several members at once."""
        self._context._update(self, members)

    def replace(self, members: Mapping[str, Any]) -> None:
        """Replace all members but the id and those that the backend makes."""
        self._context._replace(self, members)

    def delete(self) -> None:
        """Delete the object at the next save."""
        self._context._delete(self)

    def __getitem__(self, name: str) -> Any:
        return self._context._member(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        self._context._update(self, {name: value})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        try:
            return self._context._member(self, name)
        except NotFoundError as error:
            raise ObjectGoneError(error.details) from None

    def __setattr__(self, name: str, value: Any) -> None:
        self._context._update(self, {name: value})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Object):
            return NotImplemented
        return (
            self._context is other._context
            and self._collection == other._collection
            and (self._id == other._id or self.id == other.id)
        )

    def __hash__(self) -> int:
        return hash(self._collection)

    def __repr__(self) -> str:
        return f"<kvstore.Object {self._collection}/{self._id}>"


class ObjectGoneError(NotFoundError, AttributeError):  # type: ignore[misc]
    """A member was asked of an object that does not exist, or not any more."""


class Context(Closing):
    """A working copy of objects of several collections. Any thread may use it.

    As a context manager, it saves at the end of the ``with``, unless an exception leaves it:

    >>> import kvstore
    >>> with kvstore.Client(app_key="kid_demo", host=None, data_directory=directory) as client:
    ...     with client.context() as ctx:
    ...         note = ctx.insert("notes", {"title": "milk", "done": False})
    ...         note.done = True
    ...     client.collection("notes").find_by_id(note_id := note._id)["done"]
    True

    An object shows what the context first read of it, with unsaved changes, until it is refreshed.
    A save checks that each changed object is still what was read; if not, the merge policy decides.
    """

    def __init__(self, client: Client, options: Mapping[str, Any]) -> None:
        self._client = client
        self._handle = _native.call_for_handle(_open, client.handle, to_json(options))
        self._finalizer = weakref.finalize(self, _close, self._handle)
        self._known: dict[str, dict[str, dict[str, Any]]] = {}

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.save()
        finally:
            self.close()

    def close(self) -> None:
        """Close the context. Unsaved changes are lost. A second call is harmless."""
        self._finalizer()

    # Objects

    def insert(self, collection: str, members: Mapping[str, Any]) -> Object:
        """Add a new object. Its id is permanent unless the store chooses ids itself."""
        text = to_json(members)
        id = _native.call_for_text(
            _insert, self._handle, to_text(collection, "collection"), text, len(text)
        )
        return Object(self, collection, id.decode())

    def object(self, collection: str, id: str | int) -> Object:
        """Return an object as a fault: nothing is read, and it need not exist."""
        return Object(self, collection, str(id))

    def get(self, collection: str, id: str | int) -> Object:
        """Return an object that is read; raise :class:`kvstore.NotFoundError` if there is none."""
        found = self.object(collection, id)
        found.values()
        return found

    def fetch(
        self,
        collection: str,
        query: QueryLike = None,
        *,
        prefetch: Sequence[str] = (),
        returns_faults: bool = True,
        includes_pending_changes: bool = True,
    ) -> Results[Object]:
        """Return what a query finds, as a sequence of faults, which are read in batches.

        `prefetch` names relationships that are followed at once, each with one query:
        ``["post", "comments.author"]``.
        """
        request = {
            "resultType": "objectId",
            "returnsObjectsAsFaults": returns_faults,
            "includesPendingChanges": includes_pending_changes,
            "relationshipKeyPathsForPrefetching": list(prefetch),
        }
        return self._fetched(collection, request, query, lambda id: Object(self, collection, id))

    def rows(
        self, collection: str, query: QueryLike = None, **request: Any
    ) -> Results[dict[str, Any]]:
        """Return dictionaries: the fields of the query, or groups (``groupBy``, ``aggregates``)."""
        return self._fetched(
            collection, {"resultType": "dictionary", **request}, query, dict[str, Any]
        )

    def count(self, collection: str, query: QueryLike = None) -> int:
        """Count what a query finds, with the unsaved changes."""
        with self._fetched(collection, {"resultType": "count"}, query, int) as found:
            return int(found[0])

    def at_uri(self, uri: str) -> Object:
        """Return the object that a URI names, as a fault."""
        named = from_json(_native.call_for_text(_locate, self._handle, to_text(uri, "uri")))
        return Object(self, named["collection"], named["id"])

    # Changes

    def changes(self) -> dict[str, list[Object]]:
        """Return the unsaved changes: ``inserted``, ``updated`` and ``deleted``."""
        lists = from_json(_native.call_for_text(_changes, self._handle))
        return {
            name: [Object(self, one["collection"], one["id"]) for one in ids]
            for name, ids in lists.items()
        }

    def save(self, decide: ConflictDecision | None = None) -> SaveResult:
        """Write all changes in one transaction, and queue them for the backend.

        Raises :class:`kvstore.ConflictError` if an object was changed since it was read and neither
        the merge policy nor `decide` decides: then nothing is written, and :meth:`conflicts` tells
        more.
        """
        while True:
            try:
                return self._saved(_native.call_for_text(_save, self._handle))
            except ConflictError:
                if decide is None or not self._decided(decide):
                    raise

    def conflicts(self) -> list[MergeConflict]:
        """Return the conflicts of the last save."""
        return [
            MergeConflict(
                one["collection"],
                one["id"],
                one["readVersion"],
                one["storedVersion"],
                one["read"],
                one["object"],
                one["stored"],
            )
            for one in from_json(_native.call_for_text(_conflicts, self._handle))
        ]

    def resolve(
        self,
        conflict: MergeConflict,
        decision: Literal["stored", "object"] | Mapping[str, Any],
    ) -> None:
        """Decide a conflict of the last save: the next one writes that, unless it changed again."""
        answer: dict[str, Any] = (
            {"use": decision}
            if isinstance(decision, str)
            else {"use": "merged", "object": dict(decision)}
        )
        text = to_json(answer)
        _native.call(
            _resolve,
            self._handle,
            to_text(conflict.collection, "collection"),
            to_text(conflict.id, "id"),
            text,
            len(text),
        )

    def rollback(self) -> None:
        """Drop all unsaved changes."""
        _native.call(_rollback, self._handle)

    def refresh(self, *objects: Object, keep_changes: bool = True) -> None:
        """Make objects (none given: all) faults again, so that they are read as they are now.

        Unsaved changes of them are laid over what is stored now, or dropped.
        """
        text = _ids(objects) if objects else None
        size = len(text) if text else 0
        _native.call(_refresh, self._handle, text, size, int(keep_changes))

    def obtain_permanent_ids(self) -> list[tuple[str, str, str]]:
        """Ask a store that chooses ids for those of new objects, before a save does.

        Return them as :attr:`SaveResult.permanent_ids`.
        """
        return _permanent_ids(from_json(_native.call_for_text(_obtain_ids, self._handle)))

    # Undo

    @contextmanager
    def undo_group(self) -> Iterator[None]:
        """Make the edits inside of the ``with`` one, for :meth:`undo`."""
        _native.call(_undo_begin, self._handle)
        try:
            yield
        finally:
            _native.call(_undo_end, self._handle)

    def undo(self) -> bool:
        """Take the last edit, or group of edits, back; False: there is none."""
        return _native.call(_undo, self._handle) == _abi.KV_OK

    def redo(self) -> bool:
        """Make the edits again that were undone last; False: there are none."""
        return _native.call(_redo, self._handle) == _abi.KV_OK

    def statistics(self) -> Mapping[str, int]:
        """Return how often the store was asked, and what the context holds."""
        statistics: Mapping[str, int] = from_json(_native.call_for_text(_statistics, self._handle))
        return statistics

    # What objects ask for

    def _held(self, one: Object) -> None:
        text = _ids([one])
        _native.call(_hold, self._handle, text, len(text))
        weakref.finalize(one, _let_go, self._handle, text)

    def _name(self, one: Object) -> tuple[int, bytes, bytes]:
        return (self._handle, to_text(one._collection, "collection"), to_text(one._id, "id"))

    def _state(self, one: Object) -> dict[str, Any]:
        state: dict[str, Any] = from_json(_native.call_for_text(_status, *self._name(one)))
        return state

    def _description(self, one: Object) -> dict[str, Any]:
        names: dict[str, Any] = from_json(_native.call_for_text(_describe, *self._name(one)))
        return names

    def _values(self, one: Object) -> dict[str, Any]:
        values: dict[str, Any] = from_json(_native.call_for_text(_get, *self._name(one)))
        return values

    def _update(self, one: Object, members: Mapping[str, Any]) -> None:
        text = to_json({name: _reference(value) for name, value in members.items()})
        _native.call(_update, *self._name(one), text, len(text))

    def _replace(self, one: Object, members: Mapping[str, Any]) -> None:
        text = to_json(members)
        _native.call(_set, *self._name(one), text, len(text))

    def _delete(self, one: Object) -> None:
        _native.call(_delete, *self._name(one))

    def _member(self, one: Object, name: str) -> Any:
        relationship = self._relationships_of(one._collection).get(name)
        if relationship is None:
            return self._values(one).get(name)
        target = relationship["to"]
        request = b'{"resultType":"objectId"}'
        found = Results(
            _native.call_for_handle(
                _related, *self._name(one), to_text(name, "relationship"), request, len(request)
            ),
            self,
            lambda id: Object(self, target, id),
        )
        if relationship["toMany"]:
            return found
        with found:
            return found[0] if len(found) else None

    def _relationships_of(self, collection: str) -> dict[str, dict[str, Any]]:
        known = self._known.get(collection)
        if known is None:
            listed = from_json(
                _native.call_for_text(
                    _relationships, self._handle, to_text(collection, "collection")
                )
            )
            known = self._known[collection] = {one["name"]: one for one in listed}
        return known

    def _fetched(
        self,
        collection: str,
        request: Mapping[str, Any],
        query: QueryLike,
        read: Callable[[Any], Any],
    ) -> Results[Any]:
        made = as_query(query)
        text = to_json(request)
        handle = _native.call_for_handle(
            _fetch,
            self._handle,
            to_text(collection, "collection"),
            text,
            len(text),
            handle_of(made),
        )
        return Results(handle, self, read)

    def _decided(self, decide: ConflictDecision) -> bool:
        for conflict in self.conflicts():
            decision = decide(conflict)
            if decision is None:
                return False
            self.resolve(conflict, decision)
        return True

    @staticmethod
    def _saved(text: bytes) -> SaveResult:
        made = from_json(text)

        def pairs(name: str) -> list[tuple[str, str]]:
            return [(one["collection"], one["id"]) for one in made[name]]

        return SaveResult(
            pairs("inserted"),
            pairs("updated"),
            pairs("deleted"),
            pairs("merged"),
            _permanent_ids(made["permanentIds"]),
        )


def _permanent_ids(chosen: list[dict[str, str]]) -> list[tuple[str, str, str]]:
    return [(one["collection"], one["temporary"], one["id"]) for one in chosen]


def _ids(objects: Sequence[Object]) -> bytes:
    return to_json([{"collection": one._collection, "id": one._id} for one in objects])


def _let_go(handle: int, ids: bytes) -> None:
    # The context may be closed already, which has released everything.
    _release(handle, ids, len(ids), None)


def _reference(value: Any) -> Any:
    """Return an object's id in place of it, as members refer to objects."""
    return value.id if isinstance(value, Object) else value
