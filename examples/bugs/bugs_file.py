"""A store that keeps the records of all collections in one JSON file."""

from __future__ import annotations

import json
import os
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kvstore import CustomStore
from kvstore.backend import (
    Change,
    Conflicts,
    Fetch,
    Integer,
    Location,
    Metadata,
    Page,
    Record,
    Save,
    Saved,
)


class BugsFile(CustomStore):
    """Keeps ``{"<collection>": {"<id>": record}}`` in ``bugs.json``, which each save replaces."""

    version = Integer("revision")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._path = Path()
        self._collections: dict[str, dict[str, Record]] = {}

    def load(self, location: Location) -> Metadata:
        with self._lock:
            self._path = location.data_directory / "bugs.json"
            self._path.parent.mkdir(parents=True, exist_ok=True)
            if self._path.exists():
                self._collections = json.loads(self._path.read_text())
            # The same for each program that opens the same file.
            return Metadata(
                "bugs-file", str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self._path.resolve()}"))
            )

    def fetch(self, request: Fetch) -> Page:
        with self._lock:
            records = self._collections.get(request.collection, {})
            ids = sorted(id for id in records if request.after is None or id > request.after)
            page = ids[: request.page_size]
            return Page(
                [records[id] for id in page], next=page[-1] if len(page) < len(ids) else None
            )

    def values(self, collection: str, ids: Sequence[Any]) -> list[Record]:
        with self._lock:
            records = self._collections.get(collection, {})
            return [records[id] for id in ids if id in records]

    def save(self, save: Save) -> Saved | Conflicts:
        with self._lock:
            changes = [*save.inserted, *save.updated, *save.deleted]
            conflicts = [
                (change, there)
                for change, there in ((change, self._stored(change)) for change in changes)
                if not change.may_replace(there and there["revision"])
            ]
            if conflicts:
                return Conflicts(conflicts)
            records = [self._with_revision(change) for change in (*save.inserted, *save.updated)]
            existed = [self._stored(change) is not None for change in save.deleted]
            changed = {name: dict(records) for name, records in self._collections.items()}
            for change, record in zip((*save.inserted, *save.updated), records, strict=True):
                changed.setdefault(change.collection, {})[change.id] = record
            for change in save.deleted:
                changed.get(change.collection, {}).pop(change.id, None)
            self._write(changed)
            return Saved(records, existed)

    def _stored(self, change: Change) -> Record | None:
        return self._collections.get(change.collection, {}).get(change.id)

    def _with_revision(self, change: Change) -> Record:
        there = self._stored(change)
        return {**(change.record or {}), "revision": there["revision"] + 1 if there else 1}

    def _write(self, changed: dict[str, dict[str, Record]]) -> None:
        """Replace the file as a whole, and then what is in memory."""
        draft = self._path.with_suffix(".new")
        with draft.open("w") as file:
            json.dump(changed, file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._path)
        self._collections = changed
