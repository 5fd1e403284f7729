"""Runs ruff and mypy over all Python of the tree."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLACES = ["bindings/python", "examples/python", "scripts", "Benchmarks"]


def main() -> int:
    places = [place for place in PLACES if any((ROOT / place).rglob("*.py"))]
    commands = [
        ["ruff", "check", *places],
        ["ruff", "format", "--check", *places],
        *(["mypy", "--strict", place] for place in places),
    ]
    codes = [
        subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False).returncode
        for command in commands
    ]
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
