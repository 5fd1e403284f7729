"""Finds the store: the data directory, the application and the tag of a client."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from .failures import Exit, Failure

#: The default tag of a client.
DEFAULT_TAG = "kinvey"


@dataclass(frozen=True)
class Location:
    """The store of one tag of an application."""

    directory: Path
    app_key: str
    tag: str

    @property
    def file(self) -> Path:
        """Return the data file: ``<data directory>/<app key>/<tag>.kvs``."""
        return self.directory / _encoded(self.app_key) / f"{_encoded(self.tag)}.kvs"


def default_directory() -> Path:
    """Return the default data directory of clients."""
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "kvstore"


def locate(directory: Path | None, app_key: str | None, tag: str | None) -> Location:
    """Return an existing store.

    If the application is not given, it is the only one in the directory. If the tag is not given,
    it is "kinvey" or the only one. Instead of a directory, the data file itself can be given.
    """
    root = directory or default_directory()
    if root.suffix == ".kvs" and root.is_file():
        file = root.absolute()
        location = Location(file.parent.parent, unquote(file.parent.name), unquote(file.stem))
        if location.file != file:
            raise Failure(
                f"No client would look for {file}: {location.file} would be its name.", Exit.USAGE
            )
        return location
    if not root.is_dir():
        raise Failure(f"There is no directory {root}.", Exit.NOT_FOUND)
    key = app_key or _only(root, "application", "--app", _applications(root))
    tags = _tags(root / _encoded(key))
    if tag is None and DEFAULT_TAG in tags:
        tag = DEFAULT_TAG
    location = Location(root, key, tag or _only(root, "tag", "--tag", tags))
    if not location.file.is_file():
        raise Failure(f"There is no store {location.file}.", Exit.NOT_FOUND)
    return location


def locate_or_make(directory: Path | None, app_key: str | None, tag: str | None) -> Location:
    """Return a store; if it does not exist, its first use creates it."""
    root = directory or default_directory()
    if app_key is None or root.suffix == ".kvs":
        return locate(directory, app_key, tag)
    return Location(root, app_key, tag or DEFAULT_TAG)


def _applications(root: Path) -> list[str]:
    return sorted(unquote(each.name) for each in root.iterdir() if each.is_dir() and _tags(each))


def _tags(application: Path) -> list[str]:
    files = application.glob("*.kvs")
    return sorted(unquote(file.stem) for file in files if file.name != "_session.kvs")


def _only(root: Path, kind: str, option: str, names: list[str]) -> str:
    if not names:
        raise Failure(f"There is no store in {root}.", Exit.NOT_FOUND)
    if len(names) > 1:
        raise Failure(
            f"{root} has several {kind}s; say one with {option}: {', '.join(names)}", Exit.USAGE
        )
    return names[0]


def _encoded(name: str) -> str:
    """Write a name as the library does in paths: `%XX` for all but letters, digits, hyphens."""
    plain = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"
    return "".join(chr(byte) if byte in plain else f"%{byte:02X}" for byte in name.encode())
