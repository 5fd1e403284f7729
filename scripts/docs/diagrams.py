"""Draws the diagrams: docs/diagrams/*.dot by Graphviz, for a light and a dark background.

The light ones are checked in (docs/images), so that the pages can be read without the site. Each
says which source it was made from, and the tests compare that.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "docs" / "diagrams"
IMAGES = ROOT / "docs" / "images"
#: The colours of the sources, and what they are on a dark background.
DARK = {
    "#ffffff": "#1e2129",
    "#1f2937": "#e5e7eb",
    "#64748b": "#94a3b8",
    "#e8f0fe": "#1e3a5f",
    "#e6f4ea": "#1d4030",
    "#fef3e0": "#4a3512",
    "#fde8e8": "#552222",
    "#f1f3f5": "#2b2f38",
}


def draw(source: Path, *, dark: bool) -> str:
    """Give a diagram as SVG."""
    text = source.read_text()
    if dark:
        text = re.sub("|".join(DARK), lambda color: DARK[color[0]], text)
    done = subprocess.run(["dot", "-Tsvg"], input=text, check=True, capture_output=True, text=True)
    svg = done.stdout[done.stdout.index("<svg") :]
    return f"<!-- {mark(source)} -->\n{svg}"


def mark(source: Path) -> str:
    """Give what tells which source an image was made from."""
    return f"{source.name} {hashlib.sha256(source.read_bytes()).hexdigest()}"


def draw_all(directory: Path, *, dark: bool, suffix: str = "") -> None:
    """Draw all diagrams into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    for source in sorted(SOURCES.glob("*.dot")):
        (directory / f"{source.stem}{suffix}.svg").write_text(draw(source, dark=dark))


def stale() -> list[str]:
    """Name the sources whose images were made from something else."""
    return [
        source.name
        for source in sorted(SOURCES.glob("*.dot"))
        if not (image := IMAGES / f"{source.stem}.svg").exists()
        or mark(source) not in image.read_text()
    ]
