#!/usr/bin/env python3
"""Checks that rooms and the folders inside them look one way.

A room imports what Package.swift says that it may look into, and nothing else: the compiler alone
would let it import whatever happens to be built already. Inside a room a type is used by its own
folder and later ones; the order of the folders, lowest first, is the table below and is explained
in docs/architecture.md. What is looked at are names of types: where they are declared, and which
files mention them outside comments and texts.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "Sources"
PACKAGE = SOURCES.parent / "Package.swift"

ROOM = re.compile(r'room\(\s*"(\w+)"(?:,\s*looksInto:\s*\[([^\]]*)\])?')
IMPORT = re.compile(r"^(?:@\w+ )?(?:\w+ )?import (\w+)", re.M)

ORDER = {
    "KVServerCore": [
        "Base",
        "Security",
        "Identity",
        "Messages",
        "Protocol",
        "Files",
        "Live",
        "Store",
        "SQL",
        "Metrics",
        "Logic",
        "Service",
    ],
    "KVQuery": [
        "Values",
        "Regex",
        "Text",
        "Geo",
        "Predicate",
        "Query",
        "Matching",
        "Parsing",
        "Writing",
        "Planning",
        "Aggregation",
        "Update",
    ],
    # The files beside the folders are in order as well: the name of the room stands for them.
    "KVStoreC": ["Handles", "Boundary", "Objects", "EntryPoints", "KVStoreC"],
    "KVModels": ["SDL", "Schema", "Validation"],
    "KVObjects": ["Store", "Merging", "Context"],
    "KVSQLite": ["Base", "Encryption", "KVSQLite"],
    "KVSync": [
        "Errors",
        "Record",
        "Writes",
        "Conflict",
        "Remote",
        "Rows",
        "Local",
        "Engine",
        "Paging",
        "Live",
        "Direct",
        "Sending",
        "Refreshing",
        "Operations",
        "Fetching",
        "Follow",
        "Synced",
    ],
    "KVStorage": [
        "Core",
        "Entities",
        "Queue",
        "Refresh",
        "Indexes",
        "Observing",
        "Transactions",
        "Repair",
        "Directory",
    ],
    "KVAppSync": ["KVAppSync", "Realtime"],
    "KVCallback": ["KVCallback", "Stores"],
    "KVClient": ["Options", "Session", "Sync", "Client", "Stores", "Calls", "Objects"],
    "KVStore": [
        "Base",
        "Coding",
        "Client",
        "Query",
        "Sequences",
        "Store",
        "Pending",
        "Conflicts",
        "Sharing",
        "Transactions",
        "Following",
        "Streams",
        "Backends",
        "Contexts",
        "Calls",
    ],
    "KVServerPostgres": ["Database", "Rows", "Store", "KVServerPostgres"],
    "KVServerAdmin": ["Output", "Connection", "Commands"],
}

DECLARATION = re.compile(
    r"^(?:(?:package|public|final|indirect) )*"
    r"(?:struct|class|enum|protocol|actor|typealias) (\w+)",
    re.M,
)


def swift_files(room: str) -> list[Path]:
    """Return the files of a room, whichever house it is in."""
    return sorted(SOURCES.glob(f"*/{room}/**/*.swift"))


def code(path: Path) -> str:
    """Return a file's text without comments and string literals."""
    return re.sub(r'"(?:\\.|[^"\\\n])*"|//.*', "", path.read_text())


def wrong_arrows(room: str, folders: list[str]) -> tuple[int, list[str]]:
    """Return how many files there are, and which of them use a type of a later folder."""
    files = {path: code(path) for path in swift_files(room)}
    rank = {path: folders.index(path.parent.name) for path in files if path.parent.name in folders}
    found = [f"{path}: not in a folder of the order" for path in files if path not in rank]
    types = {name: path for path in rank for name in DECLARATION.findall(files[path])}
    for path, own in rank.items():
        for name in sorted(set(re.findall(r"(?<![\w.])[A-Z]\w*", files[path])) & types.keys()):
            if rank[types[name]] > own:
                folder = types[name].parent.name
                found.append(f"{path}: {name} is declared in {folder}, which comes later")
    return len(files), found


def wrong_imports() -> tuple[int, list[str]]:
    """Return how many rooms there are, and which files import what their room may not look into."""
    rooms = {
        name: set(re.findall(r"\w+", into)) for name, into in ROOM.findall(PACKAGE.read_text())
    }
    ours = {path.name for path in SOURCES.glob("*/*")}
    found = []
    for room, into in rooms.items():
        for path in swift_files(room):
            for name in IMPORT.findall(path.read_text()):
                if name in ours and name not in into:
                    found.append(f"{path}: {room} may not look into {name}")
    return len(rooms), found


def main() -> int:
    """Print what is wrong; fail if anything is, or if a room has no files."""
    rooms, found = wrong_imports()
    print(*found, f"looked at the imports of {rooms} rooms", sep="\n")
    failed = bool(found) or rooms == 0
    for room, folders in ORDER.items():
        count, found = wrong_arrows(room, folders)
        print(*found, f"looked at {count} files of {room}", sep="\n")
        failed |= bool(found) or count == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
