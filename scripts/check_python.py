"""Runs ruff and mypy over all Python of the tree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINDING = ROOT / "bindings" / "python"
#: The binding has settings of its own; these share those of the tree.
PLACES = [
    "examples",
    "scripts",
    "packaging/portable",
    "Benchmarks",
    "Tests/AppSync",
    "Tests/Browser",
    "Tests/Torture",
    "Tests/Differential",
    "Tests/Packages",
    "Tests/PubNub",
    "Tests/SwiftPackage",
    "Tests/Tooling",
]


def main() -> int:
    """Gives 0 if no tool complains; all of them run."""
    places = [place for place in PLACES if any((ROOT / place).rglob("*.py"))]
    codes = [run(ROOT, "ruff", "check", "."), run(ROOT, "ruff", "format", "--check", ".")]
    codes += [run(ROOT, "mypy", "--strict", place) for place in places]
    codes.append(run(BINDING, "mypy"))
    return int(any(codes))


def run(place: Path, *command: str) -> int:
    """Runs a tool of this interpreter's environment; our package is found in its sources."""
    environment = os.environ | {"MYPYPATH": f"{BINDING}/src:{ROOT}/scripts"}
    words = [sys.executable, "-m", *command]
    return subprocess.run(words, cwd=place, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
