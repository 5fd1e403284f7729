"""Looks whether everything that is exported is in the documentation."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from abi import header

from docs import c, cpp, diagrams, python, swift

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs"
GO = ROOT / "bindings" / "go"
GO_DECLARATION = re.compile(
    r"(?<=\n)(?P<comment>(?://.*\n)*)(?P<code>(?:func (?:\([^)]*\) )?|type )(?P<name>[A-Z]\w*))"
)


def missing() -> list[str]:
    """Give a sentence for each thing that is missing."""
    return [
        *functions(),
        *errors(),
        *options(),
        *server_options(),
        *python_names(),
        *go_names(),
        *(f"{declaration} has no comment" for declaration in swift.undocumented()),
        *(f"include/{declaration}: has no comment" for declaration in cpp.undocumented()),
        *(
            f"docs/diagrams/{name}: the image is of another version; run make docs"
            for name in diagrams.stale()
        ),
    ]


def functions() -> Iterator[str]:
    """Each function has a comment, in a group with a guide."""
    described: set[str] = set()
    for group in c.groups():
        guide = c.GUIDES.get(group.name)
        if guide is None or not (PAGES / f"{guide}.md").exists():
            yield f"kvstore.h: the group {group.name} has no guide (scripts/docs/c.py)"
        described.update(name for item in group.items for name in item.names)
    for function in header.read().functions:
        if function.name not in described:
            yield f"kvstore.h: {function.name} has no comment in a group"


def errors() -> Iterator[str]:
    """Each status has a row with its number, and each exception is in one."""
    page = (PAGES / "errors.md").read_text()
    for name, number in header.read().constants.items():
        if (
            not name.startswith(("KV_CONFLICT_", "KV_KEY_", "KV_RECORD_"))
            and f"| `{name}` {number} |" not in page
        ):
            yield f"docs/errors.md: {name} {number} has no row"
    for name in python.exported(python.SOURCES / "__init__.py"):
        if name.endswith("Error") and f"`{name}`" not in page:
            yield f"docs/errors.md: {name} is missing"


def options() -> Iterator[str]:
    """Each option that the library reads is in the tables of docs/options.md."""
    page = (PAGES / "options.md").read_text()
    listed = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    for source in sorted((ROOT / "Sources").rglob("*.swift")):
        for name in re.findall(r'\breader\.\w+\(\s*"(\w+)"', source.read_text()):
            if name not in listed:
                yield f"docs/options.md: {name} has no row ({source.relative_to(ROOT)} reads it)"


def server_options() -> Iterator[str]:
    """Each option of the server is on its page."""
    server = Path(os.environ.get("KVSTORED", ROOT / "build" / "bin" / "kvstored"))
    said = subprocess.run([server, "--help"], check=True, capture_output=True, text=True).stdout
    page = (PAGES / "kvstored.md").read_text()
    for name in sorted(set(re.findall(r"^  (--[\w-]+)", said, re.MULTILINE))):
        if f"`{name}" not in page and f" {name}" not in page:
            yield f"docs/kvstored.md: {name} is missing"


def python_names() -> Iterator[str]:
    """Each class and function that the Python binding exports says what it is."""
    exported = set(python.exported(python.SOURCES / "__init__.py"))
    for package in ("aio", "backend"):
        exported |= set(python.exported(python.SOURCES / package / "__init__.py"))
    for source in sorted(python.SOURCES.rglob("*.py")):
        for node in ast.parse(source.read_text()).body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name not in exported:
                continue
            if not ast.get_docstring(node):
                yield f"{source.relative_to(ROOT)}: {node.name} says nothing"
            members = node.body if isinstance(node, ast.ClassDef) else []
            for member in members:
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef) and not is_known(
                    member
                ):
                    yield f"{source.relative_to(ROOT)}: {node.name}.{member.name} says nothing"


def is_known(member: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tell whether a method says what it does, or need not since another form of it does."""
    forms = {ast.unparse(decorator) for decorator in member.decorator_list}
    return (
        bool(ast.get_docstring(member))
        or member.name.startswith("_")
        or bool(forms & {"overload", "override"})
        or any(form.endswith(".setter") for form in forms)
    )


def go_names() -> Iterator[str]:
    """Each exported type and function of the Go binding says what it is."""
    for source in sorted(GO.glob("*.go")):
        if source.name.endswith("_test.go"):
            continue
        for match in GO_DECLARATION.finditer(source.read_text()):
            receiver = re.search(r"\(\w* ?\*?([a-z]\w*)", match["code"])
            if receiver is None and not match["comment"].strip():
                yield f"bindings/go/{source.name}: {match['name']} says nothing"
