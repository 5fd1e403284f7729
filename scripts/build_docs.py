#!/usr/bin/env python3
"""Builds the documentation site, or only looks whether everything is in it.

    scripts/build_docs.py            build/docs/site, and the diagrams in docs/images
    scripts/build_docs.py --check    the same in `make test`: changes nothing in the tree

The site loads no styles, scripts or fonts of other hosts, so it works from file:// and any
static server.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from docs import completeness, diagrams, stage

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "build" / "docs"
MKDOCS = ROOT / "build" / "venv-docs" / "bin" / "mkdocs"
#: What a page would load from elsewhere.
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video)\b[^>]*\bsrc=["']?(https?:[^"'> ]*)"""
    r"""|<link\b(?![^>]*rel=["']?(?:canonical|next|prev))[^>]*\bhref=["']?(https?:[^"'> ]*)"""
)


def main(arguments: list[str]) -> int:
    """Give 0 if the site is built and complete."""
    if "--check" not in arguments:
        diagrams.draw_all(diagrams.IMAGES, dark=False)
    problems = completeness.missing()
    stage.stage(TARGET)
    problems += built()
    problems += loaded_from_elsewhere()
    for problem in problems:
        print(f"not ok: {problem}")
    pages = len(list((TARGET / "site").rglob("*.html")))
    print(f"{len(problems)} failed, {pages} passed")
    print(f"the site is {TARGET / 'site' / 'index.html'}")
    return 1 if problems else 0


def built() -> list[str]:
    """Run mkdocs, which names dead links and pages that the navigation lacks; give that."""
    settings = ROOT / "docs" / "site" / "mkdocs.yml"
    command = [str(MKDOCS), "build", "--strict", "--config-file", str(settings)]
    plain = os.environ | {"NO_MKDOCS_2_WARNING": "1", "NO_COLOR": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, env=plain)
    if done.returncode == 0:
        return []
    lines = (done.stdout + done.stderr).splitlines()
    return [line for line in lines if line.strip() and not line.startswith("INFO")]


def loaded_from_elsewhere() -> list[str]:
    """Name what pages of the site load from other hosts."""
    return [
        f"{page.relative_to(TARGET)}: loads {found[1] or found[2]}"
        for page in sorted((TARGET / "site").rglob("*.html"))
        for found in LOADED.finditer(page.read_text())
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
