"""Runs ruff and mypy over all Python of the tree."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINDING = ROOT / "bindings" / "python"
#: The binding has settings of its own; these share those of the tree.
DIRECTORIES = [
    "examples",
    "scripts",
    "packaging/portable",
    "Benchmarks",
    "Tests/AppSync",
    "Tests/Browser",
    "Tests/Cluster",
    "Tests/Torture",
    "Tests/Differential",
    "Tests/Packages",
    "Tests/Operator",
    "Tests/PubNub",
    "Tests/SwiftPackage",
    "Tests/Tooling",
    "Tests/Upgrade",
]


def main() -> int:
    """Gives 0 if no tool complains; all of them run."""
    directories = [directory for directory in DIRECTORIES if any((ROOT / directory).rglob("*.py"))]
    codes = [run(ROOT, "ruff", "check", "."), run(ROOT, "ruff", "format", "--check", ".")]
    codes += [run(ROOT, "mypy", "--strict", directory) for directory in directories]
    codes.append(run(BINDING, "mypy"))
    return int(any(codes))


def run(directory: Path, *command: str) -> int:
    """Runs a tool of this interpreter's environment; our package is found in its sources."""
    environment = os.environ | {"MYPYPATH": f"{BINDING}/src:{ROOT}/scripts:{ROOT}/Tests/AppSync"}
    words = [sys.executable, "-m", *command]
    return subprocess.run(words, cwd=directory, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
