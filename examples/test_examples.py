"""The first programs are short, and run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent
sys.path.insert(0, str(EXAMPLES.parent / "scripts"))

import kvstore  # noqa: E402
from kvstored import Server  # noqa: E402


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Give a server for the app of the examples."""
    with Server(tmp_path_factory.mktemp("server"), "kid_demo:secret") as server:
        yield server


@pytest.mark.parametrize(
    "program", ["c/first.c", "python/first.py", "python/progress.py", "go/first/first.go"]
)
def test_a_small_program_has_at_most_40_lines(program: str) -> None:
    assert len((EXAMPLES / program).read_text().splitlines()) <= 40


def test_the_first_program_in_c(server: Server, tmp_path: Path) -> None:
    flags = run(tmp_path, "pkg-config", "--cflags", "--libs", "kvstore").split()
    source = str(EXAMPLES / "c" / "first.c")
    run(tmp_path, "gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", source, "-o", "first", *flags)
    told = run(tmp_path, "./first", server.host)
    assert "saved {" in told
    assert "found {" in told
    assert '"pushed":1' in told


def test_the_first_program_in_python(server: Server, tmp_path: Path) -> None:
    told = run(tmp_path, sys.executable, str(EXAMPLES / "python" / "first.py"), server.host)
    assert "found {" in told
    assert "1 to push\npushed 1 with errors []" in told


def test_the_progress_bar_reaches_its_end(server: Server, tmp_path: Path) -> None:
    with kvstore.Client(
        app_key="kid_demo",
        app_secret="secret",
        host=server.host,
        data_directory=tmp_path / "filler",
    ) as client:
        client.signup()
        many = client.collection("many", "network")
        assert not many.save_many({"n": number} for number in range(2500)).errors
    program = EXAMPLES / "python" / "progress.py"
    told = run(tmp_path, sys.executable, str(program), server.host, "many")
    assert "2500/2500" in told
    assert "pulled 2500" in told


def test_the_first_program_in_go(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "first"
    run(EXAMPLES / "go", "go", "build", "-o", str(program), "./first")
    told = run(tmp_path, str(program), server.host)
    assert "found [{" in told
    assert "pushed 1" in told


def run(place: Path, *command: str) -> str:
    """Run a program and give what it prints."""
    process = subprocess.run(
        command,
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "bindings" / "python" / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout
