"""The checks of the tree fail where there is nothing that they could look at."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from testing import counting  # noqa: E402


def run(copy: Path, *command: str) -> tuple[int, str]:
    """Give the exit code and the output of a script of a copy of the tree."""
    done = subprocess.run(
        [str(copy / "scripts" / command[0]), *command[1:]],
        cwd=copy,
        # A repository around the copy would be found as well.
        env={"PATH": "/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(copy.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Give a tree with the scripts and a page, and without a repository."""
    shutil.copytree(ROOT / "scripts", tmp_path / "copy" / "scripts")
    shutil.copy(ROOT / "README.md", tmp_path / "copy")
    return tmp_path / "copy"


@pytest.mark.parametrize("check", ["check-tree", "check-links"])
def test_no_repository(copy: Path, check: str) -> None:
    """What looks at tracked files fails where git tracks none."""
    code, output = run(copy, check)
    assert code == 1
    assert "this needs the git repository" in output


def test_no_symbols(copy: Path) -> None:
    """What is looked for in the symbols of the library is not absent because there are none."""
    shutil.copytree(ROOT / "include", copy / "include")
    libraries = ROOT / "build" / "lib"
    (copy / "build" / "lib").mkdir(parents=True)
    for library in libraries.glob("libkvstore.so*"):
        if library.suffix != ".debug":
            shutil.copy(library, copy / "build" / "lib", follow_symlinks=False)
    code, output = run(copy, "check-library")
    assert code == 1
    assert "not ok: the split-off symbols are those of this library" in output
    assert "not ok: what programs use first stands together" in output


def test_no_program(copy: Path) -> None:
    """A name that no C program has is a mistake, also beside one that there is."""
    shutil.copytree(ROOT / "include", copy / "include")
    shutil.copytree(ROOT / "Tests" / "CAPI", copy / "Tests" / "CAPI")
    code, output = run(copy, "check-capi", "local", "nonesuch")
    assert code == 1
    assert "no program is named nonesuch" in output


@pytest.mark.parametrize(
    ("output", "passed", "failed"),
    [
        ("Test run with 3 tests in 1 suite passed after 0.1 seconds.", 3, 0),
        ("Test run with 0 tests in 0 suites passed after 0.001 seconds.", 0, 1),
        ("== 12 passed, 0 failed in 3 s", 12, 0),
        ("nothing is counted here", 1, 0),
    ],
)
def test_no_test(output: str, passed: int, failed: int) -> None:
    """A filter that matches no test is a failure; a tool that does not count is one check."""
    assert counting.count(output, succeeded=True) == counting.Tally(passed, failed)


def test_excerpt() -> None:
    """A failure is shown wherever in the output it stands, and long lines are cut."""
    lines = ["✘ Test a() recorded an issue", *(f"{number}" for number in range(300)), "x" * 2000]
    shown = counting.excerpt("\n".join(lines)).splitlines()
    assert shown[0] == lines[0]
    assert shown[1] == "..."
    assert len(shown[-1]) == counting.LINE_LIMIT
