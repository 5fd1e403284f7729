"""Makes the reference of the Python binding: pages that mkdocstrings fills."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "bindings" / "python" / "src" / "kvstore"
FIRST = [
    "Client",
    "Store",
    "Query",
    "F",
    "Field",
    "Cursor",
    "Request",
    "Transaction",
    "PendingQueue",
]
ROLE = re.compile(r":(?:class|meth|attr|func|mod|exc|data|obj):`~?\.?([\w.()]+)`")

#: What a comment shows of the interpreter.
SESSION = re.compile(r"(?P<indent>^ *)>>> .*\n(?:(?P=indent)(?!\"\"\")\S.*\n)*", re.MULTILINE)


def exported(module: Path) -> list[str]:
    """Give the names of a module's `__all__`."""
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets
        ):
            names: list[str] = ast.literal_eval(node.value)
            return names
    return []


def pages() -> dict[str, str]:
    """Give the pages of the reference by their names."""
    names = exported(SOURCES / "__init__.py")
    errors = [name for name in names if name.endswith("Error")]
    first = [name for name in FIRST if name in names]
    others = [name for name in names if name not in {*errors, *first, "aio"}]
    kvstore = section("kvstore", first) + section("kvstore", others)
    return {
        "python.md": f"# Python reference\n\n{kvstore}",
        "python-errors.md": f"# Python exceptions\n\n{section('kvstore', errors)}",
        "python-aio.md": "# Python: kvstore.aio\n\n"
        + section("kvstore.aio", exported(SOURCES / "aio" / "__init__.py")),
        "python-backend.md": "# Python: kvstore.backend\n\n"
        + section("kvstore.backend", exported(SOURCES / "backend" / "__init__.py")),
    }


def fenced(session: re.Match[str]) -> str:
    """Give a session of the interpreter as code."""
    return f"{session['indent']}```pycon\n{session[0]}{session['indent']}```\n"


def section(module: str, names: list[str]) -> str:
    """Give what tells mkdocstrings to describe these names."""
    return "".join(f"::: {module}.{name}\n\n" for name in names)


def stage_sources(directory: Path) -> None:
    """Copy the sources with the roles of their comments as Markdown."""
    for source in SOURCES.rglob("*.py"):
        target = directory / "kvstore" / source.relative_to(SOURCES)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = SESSION.sub(fenced, ROLE.sub(r"`\1`", source.read_text()))
        target.write_text(re.sub(r"(?<!`)``([^`\n]+)``(?!`)", r"`\1`", text))
