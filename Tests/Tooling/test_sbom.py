"""Bills of materials: complete, or an error that says what is missing."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: What apt knows here: one package that is not installed, of another source.
APT = """#!/bin/sh
for name; do :; done
[ "$name" = absent ] || { echo "E: No packages found" >&2; exit 100; }
printf 'Package: absent\\nSource: its-source (1.2-3)\\nVersion: 1.2-3+b1\\nDepends: libc6\\n'
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Give a search path with an apt of ours."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "apt-cache").write_text(APT)
    (folder / "apt-cache").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def package(folder: Path, name: str, *fields: str) -> Path:
    """Make a Debian package with nothing in it."""
    control = folder / name / "DEBIAN" / "control"
    control.parent.mkdir(parents=True)
    lines = [f"Package: {name}", "Version: 9", "Architecture: all", "Description: none"]
    control.write_text(
        "\n".join([*lines, "Maintainer: ours <ours@libkvstore.example>", *fields, ""])
    )
    made = folder / f"{name}_9_all.deb"
    command = ["dpkg-deb", "--root-owner-group", "--build", str(folder / name), str(made)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def bill(made: Path, path: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ROOT / "scripts" / "sbom.py"), "9", str(made), *more],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PATH": path},
    )


def test_a_bill_has_what_is_not_installed_too(tmp_path: Path, path: str) -> None:
    package(tmp_path, "sibling")
    made = package(
        tmp_path,
        "ours",
        "Pre-Depends: dpkg (>= 1.15)",
        "Depends: libc6:any (>= 2.30), absent (>= 1), sibling (= 9), unknown | libc6",
    )
    done = bill(made, path)
    assert done.returncode == 0, done.stderr
    found = json.loads(made.with_name(f"{made.name}.cdx.json").read_text())["components"]
    versions = {part["name"]: part["version"] for part in found}
    assert set(versions) == {"dpkg", "glibc", "its-source", "sibling"}
    assert (versions["its-source"], versions["sibling"]) == ("1.2-3", "9")
    assert all(part["scope"] == "required" for part in found)


@pytest.mark.parametrize(
    ("fields", "more", "missing"),
    [
        (("Depends: libc6, unknown | other",), (), "needs unknown or other"),
        ((), ("--inside", "absent"), "absent is inside"),
    ],
)
def test_no_bill_is_written_that_leaves_something_out(
    tmp_path: Path, path: str, fields: tuple[str, ...], more: tuple[str, ...], missing: str
) -> None:
    made = package(tmp_path, "ours", *fields)
    done = bill(made, path, *more)
    assert done.returncode == 1
    assert missing in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not made.with_name(f"{made.name}.cdx.json").exists()
