"""Makes the reference of the Swift module KVStore: Markdown from the compiler's symbol graph."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "Sources" / "Library" / "KVStore"
#: The folders of the module, and their headings, in the order of the page.
SECTIONS = {
    "Client": "Clients and users",
    "Store": "Stores",
    "Query": "Queries and updates",
    "Sequences": "Results and events",
    "Transactions": "Transactions",
    "Pending": "Pending writes",
    "Conflicts": "Conflicts",
    "Following": "Follows",
    "Sharing": "Sharing",
    "Streams": "Streams",
    "Backends": "Backends of your own",
    "Coding": "Types of members",
    "KVStore": "Errors",
}
#: The types that a section begins with.
FIRST = {"KVStoreClient", "DataStore", "Query", "PendingWrites", "UserStream"}
#: What a protocol of Swift's own demands, which says nothing about this library.
USUAL = {
    "Element",
    "Failure",
    "Iterator",
    "encode(to:)",
    "init(from:)",
    "init(rawValue:)",
    "makeAsyncIterator()",
    "next()",
    "next(isolation:)",
}
#: As in Package.swift.
FEATURES = ["InternalImportsByDefault", "MemberImportVisibility", "ExistentialAny"]


@dataclass(frozen=True)
class Symbol:
    """One public declaration."""

    path: tuple[str, ...]
    kind: str
    code: str
    text: str
    file: Path
    line: int

    @property
    def name(self) -> str:
        """The name as a program writes it, such as `DataStore.find`."""
        return ".".join(part.split("(")[0] for part in self.path)

    @property
    def is_type(self) -> bool:
        """Whether it has members."""
        return self.kind in {"swift.struct", "swift.class", "swift.enum", "swift.protocol"}

    @property
    def is_usual(self) -> bool:
        """Whether a protocol of Swift's own demands it."""
        return bool(USUAL & set(self.path))


@functools.cache
def symbols() -> list[Symbol]:
    """Read the symbol graph: the public declarations in the order of the sources."""
    read = [symbol(one) for one in graph()["symbols"] if is_own(one)]
    return sorted(read, key=lambda one: (one.path[0] not in FIRST, one.file, one.line))


def graph() -> Any:
    """Let the compiler write the graph; `make lib` has built the modules that KVStore imports."""
    target = ROOT / "build" / "symbols"
    target.mkdir(parents=True, exist_ok=True)
    command = ["swiftc", "-emit-module", "-module-name", "KVStore", "-swift-version", "6"]
    command += ["-parse-as-library", "-experimental-skip-non-inlinable-function-bodies"]
    command += [part for name in FEATURES for part in ("-enable-upcoming-feature", name)]
    # SwiftPM names the package after its folder.
    command += ["-package-name", re.sub(r"\W", "_", ROOT.name.lower())]
    command += ["-I", str(ROOT / ".build" / "release" / "Modules")]
    # Those of the system's libraries, and those that SwiftPM makes of our targets in C.
    modules = [*(ROOT / "Sources").glob("Shims/C*/module.modulemap")]
    modules += (ROOT / ".build" / "release").glob("C*.build/module.modulemap")
    for module in sorted(modules):
        command += ["-Xcc", f"-fmodule-map-file={module}"]
    for headers in sorted((ROOT / "Sources").glob("Shims/C*/include")):
        command += ["-Xcc", f"-I{headers}"]
    command += ["-emit-symbol-graph", "-emit-symbol-graph-dir", str(target)]
    command += ["-symbol-graph-minimum-access-level", "public"]
    command += ["-emit-module-path", str(target / "KVStore.swiftmodule")]
    command += [str(source) for source in sorted(SOURCES.rglob("*.swift"))]
    subprocess.run(command, check=True, cwd=ROOT)
    return json.loads((target / "KVStore.symbols.json").read_text())


def is_own(one: dict[str, Any]) -> bool:
    """Tell whether a symbol is written in the sources, and not made by the compiler."""
    return "location" in one and "::SYNTHESIZED::" not in one["identifier"]["precise"]


def symbol(one: dict[str, Any]) -> Symbol:
    """Read one symbol of the graph."""
    location = one["location"]
    return Symbol(
        path=tuple(one["pathComponents"]),
        kind=one["kind"]["identifier"],
        code="".join(part["spelling"] for part in one["declarationFragments"]),
        text="\n".join(line["text"] for line in one.get("docComment", {}).get("lines", [])),
        file=Path(location["uri"].removeprefix("file://")),
        line=location["position"]["line"],
    )


def undocumented() -> Iterator[str]:
    """Name what is declared without a comment."""
    for one in symbols():
        if not one.text and not one.is_usual:
            yield f"{one.file.relative_to(ROOT)}:{one.line + 1}: {one.name}"


def page() -> str:
    """Give the page of the reference."""
    parts = ["# Swift reference\n", "`import KVStore`\n", "Guide: [Swift](../swift.md)\n"]
    shown = [one for one in symbols() if not one.is_usual]
    anchors = anchors_of(shown)
    for folder, title in SECTIONS.items():
        parts.append(f"## {title}\n")
        for one in shown:
            if one.file.parent.name != folder or not (one.is_type or len(one.path) == 1):
                continue
            parts += lines_of(one, anchors, level=3)
            for member in shown:
                if member.path[:-1] == one.path and not member.is_type:
                    parts += lines_of(member, anchors, level=4)
    return "\n".join(parts)


def anchors_of(shown: list[Symbol]) -> dict[Symbol, str]:
    """Give each symbol an anchor of its own."""
    anchors: dict[Symbol, str] = {}
    used: set[str] = set()
    for one in shown:
        anchor = plain = re.sub(r"[\W_]+", "-", ".".join(one.path)).strip("-") or "operator"
        number = 2
        while anchor in used:
            anchor, number = f"{plain}-{number}", number + 1
        used.add(anchor)
        anchors[one] = anchor
    return anchors


def lines_of(one: Symbol, anchors: dict[Symbol, str], *, level: int) -> Iterator[str]:
    """Give the heading, the declaration and the text of a symbol."""
    title = ".".join(one.path) if one.is_type else one.path[-1]
    title = re.sub(r"[<>*_|]", r"\\\g<0>", title)
    yield f"{'#' * level} {title} {{ #{anchors[one]} }}\n"
    yield f"```swift\n{wrapped(one.code)}\n```\n"
    yield linked(one.text, anchors) + "\n"


def wrapped(code: str) -> str:
    """Give a long declaration a line for each parameter."""
    opening = code.find("(")
    if len(code) <= 80 or opening < 0:
        return code
    depth, start, parts = 0, opening + 1, []
    for index in range(opening, len(code)):
        depth += (code[index] in "([") - (code[index] in ")]")
        if (depth == 1 and code[index] == ",") or depth == 0:
            parts.append(code[start:index].strip())
            start = index + 1
        if depth == 0:
            return f"{code[:opening]}(\n    " + ",\n    ".join(parts) + f"\n){code[start:]}"
    return code


def linked(text: str, anchors: dict[Symbol, str]) -> str:
    """Link the names of symbols and the pages of `docs` outside of samples."""
    known = {one.name: anchor for one, anchor in reversed(anchors.items())}

    def name(match: re.Match[str]) -> str:
        plain = re.sub(r"\(.*", "", match[1])
        return f"[{match[0]}](#{known[plain]})" if "." in plain and plain in known else match[0]

    parts = re.split(r"(^    .*$)", text, flags=re.MULTILINE)
    for at in range(0, len(parts), 2):
        parts[at] = re.sub(r"`?docs/([\w-]+)\.md`?", r"[\1](../\1.md)", parts[at])
        parts[at] = re.sub(r"`([A-Z][\w.]+(?:\([^)`]*\))?)`", name, parts[at])
    return "".join(parts)
