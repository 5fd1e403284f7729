"""Backends that a program registers: classes with a few methods.

>>> from collections.abc import Iterable, Sequence
>>> from typing import Any
>>> import kvstore
>>> class Shelf(Backend):
...     def __init__(self) -> None:
...         self.records: dict[str, Record] = {}
...
...     def fetch(self, request: Fetch) -> Page:
...         return Page(list(self.records.values()))
...
...     def fetch_ids(self, collection: str, ids: Sequence[Any]) -> Iterable[Record]:
...         return [self.records[id] for id in ids if id in self.records]
...
...     def write(self, collection: str, writes: Sequence[Write]) -> Iterable[Result]:
...         return [self.carry_out(write) for write in writes]
...
...     def carry_out(self, write: Write) -> Result:
...         if write.record is None:
...             return Deleted(self.records.pop(write.id, None) is not None)
...         self.records[write.id] = write.record
...         return Stored(write.record)
>>> with (
...     register_backend("shelf", Shelf()),
...     kvstore.Client(app_key="kid", backend="shelf", data_directory=directory) as client,
... ):
...     notes = client.collection("notes")
...     saved = notes.save({"_id": "a", "text": "milk"})
...     notes.push().pushed
1

``docs/backends.md`` describes the arguments and the answer of each method.
"""

from __future__ import annotations

from .base import Backend
from .custom import Change, Conflicts, CustomStore, Location, Metadata, Save, Saved
from .host import is_cancelled
from .registration import Registration, StoreRegistration, register_backend, register_store
from .requests import (
    ChangedPage,
    Conflicting,
    Delete,
    Deleted,
    Fetch,
    Integer,
    Later,
    LivePage,
    Ordered,
    Page,
    Record,
    Refused,
    Result,
    Stored,
    Unconditional,
    Upsert,
    Write,
)

__all__ = [
    "Backend",
    "Change",
    "ChangedPage",
    "Conflicting",
    "Conflicts",
    "CustomStore",
    "Delete",
    "Deleted",
    "Fetch",
    "Integer",
    "Later",
    "LivePage",
    "Location",
    "Metadata",
    "Ordered",
    "Page",
    "Record",
    "Refused",
    "Registration",
    "Result",
    "Save",
    "Saved",
    "StoreRegistration",
    "Stored",
    "Unconditional",
    "Upsert",
    "Write",
    "is_cancelled",
    "register_backend",
    "register_store",
]
