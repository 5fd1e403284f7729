"""The tarball of the sources: everything that git has, and nothing else."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_tarball_has_what_git_has() -> None:
    """Under one directory that names the version."""
    subprocess.run(["make", "dist"], cwd=ROOT, check=True, capture_output=True)
    (path,) = (ROOT / "build").glob("kvstore-*.tar.xz")
    top = path.name.removesuffix(".tar.xz")
    with tarfile.open(path) as archive:
        names = {member.name for member in archive if not member.isdir()}
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "-z", "HEAD"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert names == {f"{top}/{name}" for name in listed.stdout.split("\0") if name}
