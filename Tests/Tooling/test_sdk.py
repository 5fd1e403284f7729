"""The SDK for arm64 is made of what was tested, or the script says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PINNED = "packaging/sdk/swiftlang-arm64"

#: A Debian unstable that serves another version.
APT_GET = '#!/bin/sh\n[ "$1" != indextargets ] || echo http://debian.example/debian\n'
APT_CACHE = "#!/bin/sh\nprintf 'Package: swiftlang\\nVersion: 9.9-1\\n'\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Give a tree with the script, and APT's programs in front of the machine's."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/make-sdk", tmp_path / "scripts")
    shutil.copytree(ROOT / "packaging/sdk", tmp_path / "packaging/sdk")
    (tmp_path / "bin").mkdir()
    for name, text in (("apt-get", APT_GET), ("apt-cache", APT_CACHE)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    return tmp_path


def make(tree: Path, choice: str = "") -> str:
    """Give what the script says, which has to fail."""
    done = subprocess.run(
        [tree / "scripts/make-sdk", "arm64"],
        env=os.environ | {"PATH": f"{tree}/bin:{os.environ['PATH']}", "SWIFTLANG": choice},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert not (tree / "build/sdk/arm64/made").exists()
    return done.stderr


def test_another_version_is_not_taken_and_the_ways_out_are_named(tree: Path) -> None:
    said = make(tree)
    (tested,) = (
        line.removeprefix("version=")
        for line in (tree / PINNED).read_text().splitlines()
        if line.startswith("version=")
    )
    assert f"serves swiftlang 9.9-1 for arm64 now; {PINNED} names {tested}" in said
    assert "https://snapshot.debian.org/package/swiftlang/" in said
    assert "SWIFTLANG=any make sdk-arm64" in said


def test_a_package_with_another_checksum_is_not_taken(tree: Path) -> None:
    (tree / "swiftlang.deb").write_text("something else")
    assert "the checksum of swiftlang is" in make(tree, str(tree / "swiftlang.deb"))


def test_a_package_that_is_missing_is_named(tree: Path) -> None:
    assert "SWIFTLANG=absent.deb: there is no such file" in make(tree, "absent.deb")
