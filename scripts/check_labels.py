#!/usr/bin/env python3
"""Checks that no function takes a third parameter without a label.

Two values in a row are read from the name of a function; a third one is not. What implements the C
interface, the room KVStoreC, has C's parameters, which have no labels.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ["Sources", "Tests", "examples", "Benchmarks"]
FACADE = ROOT / "Sources" / "Library" / "KVStoreC"

# Comments and texts: no bracket in them counts.
SILENT = re.compile(r'//[^\n]*|(#*)"""[\s\S]*?"""\1|(#*)"(?:\\.|[^"\\\n])*"\2')
DECLARATION = re.compile(
    r"\bfunc\s+([^\s(<]+)\s*(?:<[^(]*>)?\(|(?<![.\w])(init)[?]?\s*(?:<[^(]*>)?\("
)


def parameters(code: str, start: int) -> list[str]:
    """Return the parameters whose list begins at `start`, which is behind its bracket."""
    depth, found = 0, [""]
    for index, character in enumerate(code[start:], start):
        if character in ")]}" and depth == 0:
            break
        depth += (character in "([{<") - (character in ")]}")
        depth -= character == ">" and code[index - 1] != "-"
        if character == "," and depth == 0:
            found.append("")
        else:
            found[-1] += character
    return [parameter.strip() for parameter in found]


def unlabelled(path: Path) -> tuple[int, list[str]]:
    """Return how many functions a file declares, and which have three parameters without labels."""
    code = SILENT.sub("", path.read_text())
    found = []
    count = 0
    for declaration in DECLARATION.finditer(code):
        count += 1
        without = [it for it in parameters(code, declaration.end()) if it.startswith("_ ")]
        if len(without) > 2:
            name = declaration[1] or declaration[2]
            found.append(
                f"{path.relative_to(ROOT)}: {name} has {len(without)} unlabelled parameters"
            )
    return count, found


def main() -> int:
    """Print the functions that miss a label; fail if there are any, or if there is no function."""
    count = 0
    found: list[str] = []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.swift")):
            if FACADE in path.parents or ".build" in path.parts:
                continue
            functions, wrong = unlabelled(path)
            count += functions
            found += wrong
    print(*found, f"looked at the labels of {count} functions", sep="\n")
    return 1 if found or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
