"""One version everywhere, and a changelog that is in order."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: Where the version stands besides the header, and what stands around it.
ELSEWHERE = {
    "Sources/Library/KVClient/Options/Version.swift": r'text = "(.*)"',
    "Sources/Server/KVServerCore/Base/Version.swift": r'text = "(.*)"',
    "bindings/python/pyproject.toml": r'^version = "(.*)"',
    "bindings/python/src/kvstore/__init__.py": r'^__version__ = "(.*)"',
    "bindings/go/README.md": r"bindings/go v(\d+\.\d+\.\d+)",
    "examples/swift/Package.swift": r'from: "(.*?)"',
    "docs/swift.md": r'from: "(.*?)"',
}
RELEASE = re.compile(r"^## (\d+\.\d+\.\d+) \N{EN DASH} (\d{4}-\d\d-\d\d)$", re.MULTILINE)


def version() -> str:
    """Give the version of the header."""
    header = (ROOT / "include/kvstore.h").read_text()
    return ".".join(re.findall(r"define KV_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))


def releases() -> list[tuple[str, date]]:
    """Give the versions of the changelog with their days, the newest first."""
    text = (ROOT / "CHANGELOG.md").read_text()
    return [(number, date.fromisoformat(day)) for number, day in RELEASE.findall(text)]


def test_every_file_has_the_version_of_the_header() -> None:
    """A release changes them all."""
    for name, pattern in ELSEWHERE.items():
        found = re.findall(pattern, (ROOT / name).read_text(), re.MULTILINE)
        assert found, name
        assert set(found) == {version()}, name


def test_the_changelog_has_the_version_with_its_day() -> None:
    """And every heading is one of a release, but for what is not released yet."""
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert len(headings) - 1 == len(releases())
    assert releases()[0][0] == version()


def test_versions_and_days_of_the_changelog_are_in_order() -> None:
    """The newest first."""
    numbers = [tuple(map(int, number.split("."))) for number, _ in releases()]
    days = [day for _, day in releases()]
    assert numbers == sorted(set(numbers), reverse=True)
    assert days == sorted(days, reverse=True)


def test_the_page_about_upgrades_has_the_version() -> None:
    """Also if there is nothing to do."""
    assert f"## To {version()}" in (ROOT / "docs/upgrading.md").read_text()
