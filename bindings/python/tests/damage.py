"""Damaging a store as a bad sector would."""

from __future__ import annotations

from pathlib import Path


def damage(data: Path, old: str, new: str) -> None:
    """Change stored bytes; the store must be closed."""
    (path,) = data.glob("*/kinvey.kvs")
    stored = path.read_bytes()
    assert old.encode() in stored
    path.write_bytes(stored.replace(old.encode(), new.encode()))
