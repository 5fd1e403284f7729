"""Puts the pages of the site together: those of `docs`, and copies of what they link to."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from docs import c, cpp, diagrams, go, python, swift

ROOT = Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/libkvstore/libkvstore/blob/main"
#: Pages from elsewhere in the tree, and where they are in the site.
COPIES = {
    "CHANGELOG.md": "changelog.md",
    "bindings/python/README.md": "python.md",
    "bindings/go/README.md": "go.md",
    "examples/README.md": "examples.md",
    "examples/demo/README.md": "demo.md",
}
#: What has a page of its own in the site.
MADE = {
    "include/kvstore.h": "reference/c.md",
    "include/kvstore.hpp": "reference/cpp.md",
    "README.md": "index.md",
}
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\]\()([^)\s]+)(\))")
FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)


def stage(target: Path) -> None:
    """Write everything that mkdocs builds the site from."""
    shutil.rmtree(target, ignore_errors=True)
    pages = target / "pages"
    reference = pages / "reference"
    reference.mkdir(parents=True)
    for page in sorted((ROOT / "docs").glob("*.md")):
        (pages / page.name).write_text(moved(page))
    for source, name in COPIES.items():
        (pages / name).write_text(moved(ROOT / source))
    (reference / "c.md").write_text(c.page())
    (reference / "cpp.md").write_text(cpp.page())
    (reference / "go.md").write_text(go.page())
    (reference / "swift.md").write_text(swift.page())
    for name, text in python.pages().items():
        (reference / name).write_text(text)
    python.stage_sources(target / "python")
    shutil.copytree(ROOT / "docs" / "images", pages / "images")
    diagrams.draw_all(pages / "images", dark=False)
    diagrams.draw_all(pages / "images", dark=True, suffix="-dark")
    shutil.copytree(
        ROOT / "docs" / "site", pages / "assets", ignore=shutil.ignore_patterns("*.yml")
    )


def moved(page: Path) -> str:
    """Give a page with its links as they are in the site."""
    parts = FENCE.split(page.read_text())
    for at in range(0, len(parts), 2):
        parts[at] = LINK.sub(lambda link: relinked(link, page), parts[at])
    return "".join(parts)


def relinked(link: re.Match[str], page: Path) -> str:
    """Give a link as it is in the site; a diagram becomes two, for light and dark."""
    target, _, anchor = link[2].partition("#")
    if not target or "://" in target or target.startswith("mailto:"):
        return link[0]
    path = (page.parent / target).resolve()
    if path.suffix == ".svg" and (diagrams.SOURCES / f"{path.stem}.dot").exists():
        return "".join(
            f"{link[1]}images/{path.stem}{suffix}.svg#only-{mode}{link[3]}"
            for suffix, mode in (("", "light"), ("-dark", "dark"))
        )
    label = titled(link[1], path)
    return f"{label}{address(path)}{'#' + anchor if anchor else ''}{link[3]}"


def titled(label: str, path: Path) -> str:
    """Give the label of a link, which is the title of the page where the tree has its name."""
    if re.fullmatch(r"\[[\w/-]+\.md\]\(", label) and path.exists():
        return f"[{path.read_text().splitlines()[0].lstrip('# ')}]("
    return label


def address(path: Path) -> str:
    """Give where a file of the tree is: in the site if it is there, else in the repository."""
    name = path.relative_to(ROOT).as_posix()
    if name in COPIES | MADE:
        return (COPIES | MADE)[name]
    if path.parent == ROOT / "docs" and path.suffix == ".md":
        return path.name
    if name.startswith("docs/images/"):
        return f"images/{path.name}"
    return f"{REPOSITORY}/{name}".removesuffix("/")
