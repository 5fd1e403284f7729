"""Contexts for asyncio: a working copy of objects, saved in one step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Literal, TypeVar

from .. import context as blocking
from .. import fetched
from ..context import ConflictDecision, MergeConflict, Object, SaveResult
from ..query import QueryLike
from ._waiting import Closing, in_thread
from .fetched import Results

R = TypeVar("R")


class Context(Closing):
    """A working copy of objects of several collections, for asyncio: see :class:`kvstore.Context`.

    ``async with`` saves at its end, unless an exception leaves it. The attributes of an
    :class:`kvstore.Object` may read from the disk or the backend, so a task asks for :meth:`values`
    and :meth:`related`, or has a function work with objects on a thread: :meth:`perform`.
    """

    def __init__(self, context: blocking.Context) -> None:
        self.blocking = context

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await in_thread(self.blocking.__exit__, kind, error, trace)

    async def close(self) -> None:
        """Close the context. Unsaved changes are lost. A second call is harmless."""
        await in_thread(self.blocking.close)

    async def perform(self, function: Callable[[blocking.Context], R]) -> R:
        """Run a function on a thread, with the context whose calls block; return its result."""
        return await in_thread(function, self.blocking)

    # Objects

    async def insert(self, collection: str, members: Mapping[str, Any]) -> Object:
        """Add a new object: see :meth:`kvstore.Context.insert`."""
        return await in_thread(self.blocking.insert, collection, members)

    async def get(self, collection: str, id: str | int) -> Object:
        """Return an object that is read; raise :class:`kvstore.NotFoundError` if there is none."""
        return await in_thread(self.blocking.get, collection, id)

    async def values(self, one: Object) -> dict[str, Any]:
        """Return all members of an object, with unsaved changes."""
        return await in_thread(one.values)

    async def related(self, one: Object, name: str) -> Object | Results[Object] | None:
        """Return what a relationship leads to: an object, None, or a list of objects."""
        found = await in_thread(one.__getitem__, name)
        if isinstance(found, fetched.Results):
            return Results(found)
        return found if isinstance(found, Object) else None

    async def update(self, one: Object, **members: Any) -> None:
        """Change several members of an object at once."""
        await in_thread(lambda: one.update(**members))

    async def delete(self, one: Object) -> None:
        """Delete an object at the next save."""
        await in_thread(one.delete)

    async def fetch(
        self,
        collection: str,
        query: QueryLike = None,
        *,
        prefetch: Sequence[str] = (),
        returns_faults: bool = True,
        includes_pending_changes: bool = True,
    ) -> Results[Object]:
        """Return what a query finds, as a list of faults: see :meth:`kvstore.Context.fetch`."""
        return Results(
            await in_thread(
                lambda: self.blocking.fetch(
                    collection,
                    query,
                    prefetch=prefetch,
                    returns_faults=returns_faults,
                    includes_pending_changes=includes_pending_changes,
                )
            )
        )

    async def count(self, collection: str, query: QueryLike = None) -> int:
        """Count what a query finds, with the unsaved changes."""
        return await in_thread(self.blocking.count, collection, query)

    # Changes

    async def save(self, decide: ConflictDecision | None = None) -> SaveResult:
        """Write all changes in one transaction; `decide` runs on a thread.

        See :meth:`kvstore.Context.save`.
        """
        return await in_thread(self.blocking.save, decide)

    async def conflicts(self) -> list[MergeConflict]:
        """Return the conflicts of the last save."""
        return await in_thread(self.blocking.conflicts)

    async def resolve(
        self, conflict: MergeConflict, decision: Literal["stored", "object"] | Mapping[str, Any]
    ) -> None:
        """Decide a conflict of the last save: see :meth:`kvstore.Context.resolve`."""
        await in_thread(self.blocking.resolve, conflict, decision)

    async def obtain_permanent_ids(self) -> list[tuple[str, str, str]]:
        """Ask a store that chooses ids: see :meth:`kvstore.Context.obtain_permanent_ids`."""
        return await in_thread(self.blocking.obtain_permanent_ids)

    async def rollback(self) -> None:
        """Drop all unsaved changes."""
        await in_thread(self.blocking.rollback)

    async def refresh(self, *objects: Object, keep_changes: bool = True) -> None:
        """Make objects (none given: all) faults again: see :meth:`kvstore.Context.refresh`."""
        await in_thread(lambda: self.blocking.refresh(*objects, keep_changes=keep_changes))

    async def undo(self) -> bool:
        """Take the last edit, or group of edits, back; False: there is none."""
        return await in_thread(self.blocking.undo)

    async def redo(self) -> bool:
        """Make the edits again that were undone last; False: there are none."""
        return await in_thread(self.blocking.redo)
