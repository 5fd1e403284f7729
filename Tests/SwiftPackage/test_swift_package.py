"""Programs of a package that depends on a version of this one do what they should."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "Sources" / "Library" / "KVStore"
sys.path.insert(0, str(ROOT / "scripts"))

import samples  # noqa: E402
from kvstored import Server  # noqa: E402

#: Where the README's server is.
ADDRESS = "http://127.0.0.1:8080"
OUTPUT = """\
important: milk
important: call Ann
waiting: 3
refused: conflict
shown: bread, milk
moved: 1 left: 2
pushed: 2
pulled: 2
live: tea
there: 3
merged: tea 2 ["shop"]
watching: ended
closed: misuse
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Give a server for the app of the examples."""
    with Server(tmp_path_factory.mktemp("server"), "kid_demo:secret") as server:
        yield server


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Path:
    """Give the example and all samples, built against a tagged version of this tree."""
    directory = tmp_path_factory.mktemp("swift")
    released(directory / "kvstore")
    package = directory / "notes"
    shutil.copytree(ROOT / "examples" / "swift", package, ignore=shutil.ignore_patterns(".build"))
    sample = package / "Sources" / "sample"
    sample.mkdir()
    (sample / "main.swift").write_text(sample_of_documentation().replace(ADDRESS, server.host))
    comments = package / "Sources" / "comments"
    comments.mkdir()
    (comments / "Samples.swift").write_text(samples.program(SOURCES))
    manifest = package / "Package.swift"
    text = manifest.read_text()
    ours = '.package(name: "kvstore", path: "../..")'
    assert ours in text
    text = text.replace(ours, f'.package(url: "file://{directory}/kvstore", from: "0.1.0")')
    target = re.search(r" *\.executableTarget\(.*?\]\)\n", text, re.DOTALL)
    assert target is not None
    beside = target[0].replace('"notes"', '"sample"').rstrip() + ",\n"
    beside += beside.replace(
        '.executableTarget(\n      name: "sample"', '.target(\n      name: "comments"'
    )
    assert '"comments"' in beside
    manifest.write_text(text.replace(target[0], beside + target[0]))
    apart = ["--disable-dependency-cache", "--security-path", "security", "--config-path", "config"]
    environment = {key: value for key, value in os.environ.items() if key != "KVSTORE_SHIPPED"}
    run(package, "swift", "build", "--quiet", *apart, "-debug-info-format", "none", env=environment)
    return package


def released(directory: Path) -> None:
    """Make a repository of the tree as it is now, with the tag of a version."""
    names = run(ROOT, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in names.split("\0"):
        if (source := ROOT / name).is_file():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, directory / name)
    who = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    run(directory, "git", "init", "--quiet")
    run(directory, "git", "add", "--all")
    run(directory, "git", *who, "commit", "--quiet", "--message", "as it is")
    run(directory, "git", "tag", "0.1.0")


def sample_of_documentation() -> str:
    """Give the first program of docs/swift.md."""
    samples: list[str] = re.findall(
        r"^```swift\n(.*?)^```$", (ROOT / "docs" / "swift.md").read_text(), re.MULTILINE | re.DOTALL
    )
    assert len(samples) == 1
    return samples[0]


def test_the_example_does_what_it_says(package: Path, server: Server, tmp_path: Path) -> None:
    program = package / ".build" / "debug" / "notes"
    assert run(tmp_path, str(program), server.host, str(tmp_path)) == OUTPUT


def test_the_sample_of_the_documentation_runs(package: Path, tmp_path: Path) -> None:
    program = package / ".build" / "debug" / "sample"
    home = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": ""}
    assert "milk" in run(tmp_path, str(program), env=home)


def test_every_public_type_shows_how_it_is_used() -> None:
    assert samples.types_without_example(SOURCES) == []


def run(directory: Path, *command: str, env: dict[str, str] | None = None) -> str:
    """Run a program and give what it prints."""
    process = subprocess.run(
        command, cwd=directory, env=env, capture_output=True, text=True, check=False, timeout=800
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout
