"""Tells what each part of libkvstore.so takes, and writes it into docs/benchmarks.md.

    scripts/library_size.py

`make lib` must have run: the functions are read from the symbols that were split off. A function
counts for the room, or the library, whose name its symbol has first; a generic function of Swift's
standard library that is made for a type of a room counts for that room.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "build" / "lib" / "libkvstore.so"
PAGE = ROOT / "docs" / "benchmarks.md"
MARKS = ("<!-- size -->", "<!-- /size -->")

#: A part of a mangled name that is a room's.
ROOM = re.compile(r"(?<!\d)(\d{1,2})(KV[A-Z][A-Za-z]*)")
#: What takes less is not listed by itself.
LEAST = 20_000


def rooms() -> set[str]:
    """Give the names of the rooms."""
    return {directory.name for directory in (ROOT / "Sources").glob("*/KV*")}


def owner(symbol: str, known: set[str]) -> str:
    """Tell what a function belongs to."""
    if symbol.startswith("$s"):
        for length, text in ROOM.findall(symbol):
            if (name := text[: int(length)]) in known:
                return str(name)
        return "Swift's standard library"
    if symbol.startswith(("_ZN5swift", "_ZNK5swift", "_ZZN5swift", "swift_", "_swift", "_ZN12_")):
        return "Swift's runtime, in C++"
    return "C: PCRE2, wslay, what the rooms include, the runtime's"


def output(*command: str) -> list[list[str]]:
    """Run a program and give the words of its lines."""
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def functions() -> Counter[str]:
    """Count the bytes of the functions by what they belong to."""
    symbols = next(LIBRARY.parent.glob("libkvstore.so.*.debug"))
    known = rooms()
    bytes_of: Counter[str] = Counter()
    # Functions of the same code have one place.
    counted: set[str] = set()
    for words in output("nm", "--print-size", "--defined-only", str(symbols)):
        if len(words) != 4 or words[2] not in "tTwW" or words[0] in counted:
            continue
        counted.add(words[0])
        bytes_of[owner(words[3], known)] += int(words[1], 16)
    return bytes_of


def sections() -> dict[str, int]:
    """Give the bytes of each section."""
    sizes: dict[str, int] = {}
    for words in output("size", "--format=sysv", str(LIBRARY)):
        if len(words) == 3 and words[1].isdigit():
            sizes[words[0]] = int(words[1])
    return sizes


def table() -> str:
    """Write the table."""
    size, of = LIBRARY.stat().st_size, sections()
    parts = functions()
    rows = [("the file, stripped", size), ("`.text`, all functions", of[".text"])]
    rows += [(name, count) for name, count in parts.most_common() if count >= LEAST]
    rows += [
        (
            "`.eh_frame` and `.eh_frame_hdr`, tables for unwinding",
            of[".eh_frame"] + of[".eh_frame_hdr"],
        ),
        ("`.rodata`", of[".rodata"]),
        (
            "what Swift's runtime knows of types: `swift5_…`",
            sum(count for name, count in of.items() if name.startswith("swift5_")),
        ),
        ("`.data` and `.data.rel.ro`", of[".data"] + of[".data.rel.ro"]),
    ]
    lines = [f"| {name} | {count / 1000:,.0f} |" for name, count in rows]
    return "\n".join(["", "| part | kB |", "|---|---:|", *lines, ""])


def main() -> None:
    """Replace the table of the page."""
    page = PAGE.read_text()
    before, rest = page.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    text = table()
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}")
    print(text)


if __name__ == "__main__":
    main()
