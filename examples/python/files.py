"""A custom backend: a directory of JSON files, which several programs share.

Each program has local data, works while the directory is missing, and sends its changes when the
directory is available.

python files.py shared mine "buy milk"
python files.py shared yours
"""

import fcntl
import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import kvstore
from kvstore.backend import (
    Conflicting,
    Deleted,
    Fetch,
    Integer,
    Page,
    Record,
    Result,
    Stored,
    Write,
)


class Files(kvstore.Backend):
    """Stores records by their "id", with a version "rev" that each write increments."""

    id = "id"
    version = Integer("rev")

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def fetch(self, request: Fetch) -> Page:
        with self.locked(request.collection) as folder:
            ids = sorted(unquote(path.stem) for path in folder.glob("*.json"))
            rest = [id for id in ids if request.after is None or id > request.after]
            page = rest[: request.page_size]
            records = [read(folder, id) for id in page]
        return Page([r for r in records if r], page[-1] if len(rest) > len(page) else None)

    def fetch_ids(self, collection: str, ids: Sequence[Any]) -> list[Record]:
        with self.locked(collection) as folder:
            return [record for id in ids if (record := read(folder, id))]

    def write(self, collection: str, writes: Sequence[Write]) -> list[Result]:
        with self.locked(collection) as folder:
            return [carry_out(folder, write) for write in writes]

    @contextmanager
    def locked(self, collection: str) -> Iterator[Path]:
        """Yield the directory of a collection, which only one program uses at a time."""
        if not self.directory.is_dir():
            raise ConnectionError(f"there is no directory {self.directory}")
        folder = self.directory / quote(collection, safe="")
        folder.mkdir(exist_ok=True)
        with (folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield folder


def file_of(folder: Path, id: str) -> Path:
    return folder / f"{quote(id, safe='')}.json"


def read(folder: Path, id: str) -> Record | None:
    path = file_of(folder, id)
    return json.loads(path.read_bytes()) if path.exists() else None


def carry_out(folder: Path, write: Write) -> Result:
    found = read(folder, write.id)
    if not write.may_replace(found["rev"] if found else None):
        return Conflicting(found)
    path = file_of(folder, write.id)
    if write.record is None:
        path.unlink(missing_ok=True)
        return Deleted(found is not None)
    record = {**write.record, "rev": found["rev"] + 1 if found else 1}
    draft = path.with_suffix(".new")
    with draft.open("w") as file:
        json.dump(record, file)
        file.flush()
        os.fsync(file.fileno())
    draft.rename(path)  # atomic
    return Stored(record)


def main(shared: str, own: str, *texts: str) -> None:
    with (
        kvstore.register_backend("files", Files(Path(shared))),
        kvstore.Client(app_key="files", backend="files", data_directory=own) as client,
    ):
        notes = client.collection("notes")
        for text in texts:
            notes.save({"text": text})
        try:
            print(notes.sync())
        except kvstore.NetworkError as error:
            print(error)
        for note in notes.find():
            print(note["id"], note.get("rev"), note["text"])


main(*sys.argv[1:])
