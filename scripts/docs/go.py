"""Makes the reference of the Go binding: Markdown from what `go doc` prints."""

from __future__ import annotations

import re
import subprocess
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECTIONS = {"CONSTANTS", "VARIABLES", "FUNCTIONS", "TYPES"}
DECLARATION = re.compile(r"(?:func|type|var|const)\b")
NAME = re.compile(r"(?:func (?:\(\w* ?\*?(\w+)[^)]*\) )?|type |var |const )\(?(\w+)?")


def page() -> str:
    """Give the page of the reference."""
    lines = documented().splitlines()
    parts = ["# Go reference\n", f"```go\n{lines[0]}\n```\n"]
    code: list[str] = []
    text: list[str] = []

    def flush() -> None:
        if code:
            parts.append(f"{heading(code)}```go\n" + "\n".join(code).rstrip() + "\n```\n")
        if text:
            parts.append(prose("\n".join(text)))
        code.clear()
        text.clear()

    inside = False
    for line in lines[1:]:
        if line in SECTIONS:
            flush()
            parts.append(f"## {line.capitalize()}\n")
            inside = False
        elif DECLARATION.match(line) and has_begun(parts):
            flush()
            code.append(line)
            inside = not ends(code)
        elif inside:
            code.append(line)
            inside = not ends(code)
        else:
            text.append(line)
    flush()
    return "\n".join(parts)


def documented() -> str:
    """Give what `go doc` says of the package; the library is not needed for that."""
    done = subprocess.run(
        ["go", "doc", "-all", "."],
        cwd=ROOT / "bindings" / "go",
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def has_begun(parts: list[str]) -> bool:
    """Tell whether a section has begun: what is in front of it is the package's text."""
    return any(part.startswith("## ") for part in parts)


def ends(code: list[str]) -> bool:
    """Tell whether a declaration is complete: its brackets are closed."""
    joined = re.sub(r'"[^"]*"|`[^`]*`|//.*', "", "\n".join(code))
    return all(joined.count(a) == joined.count(b) for a, b in (("(", ")"), ("{", "}")))


def heading(code: list[str]) -> str:
    """Give the heading of a declaration; methods are below their type."""
    match = NAME.match(code[0])
    if match is None or match[2] is None:
        return ""
    receiver, name = match[1], match[2]
    return f"#### {receiver}.{name}\n\n" if receiver else f"### {name}\n\n"


def prose(text: str) -> str:
    """Give a comment as Markdown: samples are what is indented."""
    plain = textwrap.dedent(text.replace("\t", "    ")).strip("\n")
    return re.sub(r"(?<![\w`])<(\w+)>", r"`<\1>`", plain) + "\n"
