"""The file that keeps the records over a restart, or a kill."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from .record import Record


class Journal:
    """A line for each row that was written: model, key, row."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def read(self) -> Iterator[tuple[str, str, Record]]:
        """The rows in the order of their writing. A last line that was cut off is left out."""
        if not self._path.exists():
            return
        whole, _, _ = self._path.read_text("utf-8").rpartition("\n")
        for line in whole.splitlines():
            model, key, row = json.loads(line)
            yield model, key, row

    def open(self) -> None:
        """Begins to append, after the last whole line."""
        if self._path.exists():
            content = self._path.read_bytes()
            self._path.write_bytes(content[: content.rfind(b"\n") + 1])
        self._file = self._path.open("a", encoding="utf-8")

    def append(self, model: str, key: str, row: Record) -> None:
        if self._file is not None:
            self._file.write(json.dumps([model, key, row]) + "\n")
            self._file.flush()

    def clear(self) -> None:
        if self._file is not None:
            self._file.truncate(0)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
