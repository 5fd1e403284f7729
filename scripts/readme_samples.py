"""Compiles or runs every sample of the README and of the pages in docs, so that none of them lies.

* C, C++ and Go samples are whole programs: compiled with every warning an error, and run.
* Python samples of one page are run one after the other in one interpreter, as a reader would.
* Shell samples: every `make` target exists, the rest is at least valid shell.
* JSON samples are valid JSON.
* Swift samples are built and run by Tests/SwiftPackage, in a package of their own.

Samples that speak to a server say http://127.0.0.1:8080; they get a kvstored of their own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kvstored import Server

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
#: The README of the Python binding is run by the tests of the binding.
PAGES = ["README.md", *(f"docs/{page.name}" for page in sorted((ROOT / "docs").glob("*.md")))]
BLOCK = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ADDRESS = "http://127.0.0.1:8080"
#: What a page shows for reading only, such as a program's output.
PLAIN = {"text", "console"}
#: What other tests run.
ELSEWHERE = {"swift", "nginx", "haproxy", "caddy"}


@dataclass(frozen=True)
class Sample:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str


class SampleError(Exception):
    """A sample that does not do what its page says."""


def main() -> int:
    """Gives 0 if all samples work."""
    samples = [sample for page in PAGES for sample in samples_of(page)]
    passed = failed = 0
    with tempfile.TemporaryDirectory() as data, Server(Path(data), "kid_demo:secret") as server:
        for group in groups(samples, server.host):
            first = group[0]
            try:
                check(group)
            except (SampleError, subprocess.TimeoutExpired) as problem:
                failed += 1
                print(f"not ok: {first.page}:{first.line} ({first.language})\n{problem}")
            else:
                passed += len(group)
                for sample in group:
                    print(f"ok: {sample.page}:{sample.line} ({sample.language})")
    print(f"{failed} failed, {passed} passed")
    return 1 if failed else 0


def samples_of(page: str) -> Iterator[Sample]:
    """The fenced blocks of a page that can be checked."""
    text = (ROOT / page).read_text()
    for match in BLOCK.finditer(text):
        language = match[1]
        if language not in PLAIN | ELSEWHERE:
            yield Sample(page, text.count("\n", 0, match.start()) + 1, language, match[2])


def groups(samples: list[Sample], address: str) -> Iterator[list[Sample]]:
    """Each sample alone, except that the Python of a page belongs together."""
    pythons: dict[str, list[Sample]] = {}
    for sample in samples:
        moved = Sample(
            sample.page, sample.line, sample.language, sample.text.replace(ADDRESS, address)
        )
        if sample.language == "python":
            pythons.setdefault(sample.page, []).append(moved)
        else:
            yield [moved]
    yield from pythons.values()


def check(group: list[Sample]) -> None:
    """Runs the checker of the group's language in a directory of its own."""
    checkers = {
        "c": check_c,
        "cpp": check_cpp,
        "go": check_go,
        "python": check_python,
        "sh": check_shell,
    }
    text = "\n".join(sample.text for sample in group)
    language = group[0].language
    with tempfile.TemporaryDirectory() as directory:
        if language == "json":
            check_json(text)
        elif language in checkers:
            checkers[language](text, Path(directory))
        else:
            raise SampleError(f"a sample in {language or 'no language'}: who would check it?")


def check_c(text: str, directory: Path) -> None:
    compile_and_run(directory, text, "sample.c", "gcc", "-std=c11")


def check_cpp(text: str, directory: Path) -> None:
    compile_and_run(directory, text, "sample.cc", "g++", "-std=c++17")


def compile_and_run(directory: Path, text: str, name: str, *compiler: str) -> None:
    (directory / name).write_text(text)
    flags = run(directory, "pkg-config", "--cflags", "--libs", "kvstore").split()
    strict = ["-Wall", "-Wextra", "-Werror", "-pedantic"]
    run(directory, *compiler, *strict, name, "-o", "sample", *flags)
    run(directory, "./sample")


def check_go(text: str, directory: Path) -> None:
    binding = ROOT / "bindings" / "go"
    module = (binding / "go.mod").read_text().split()[1]
    (directory / "main.go").write_text(text)
    (directory / "go.mod").write_text(
        f"module sample\n\ngo 1.19\n\nrequire {module} v0.0.0\n\nreplace {module} => {binding}\n"
    )
    if formatted := run(directory, "gofmt", "-l", "main.go"):
        raise SampleError(f"not formatted: {formatted}")
    run(directory, "go", "run", ".")


def check_python(text: str, directory: Path) -> None:
    (directory / "sample.py").write_text(text)
    run(directory, sys.executable, "-W", "error", "sample.py")


def check_shell(text: str, directory: Path) -> None:
    (directory / "sample.sh").write_text(text)
    run(directory, "bash", "-n", "sample.sh")
    for arguments in re.findall(r"^make (.+)", text, re.MULTILINE):
        words = shlex.split(arguments, comments=True)
        run(ROOT, "make", "--dry-run", "--no-print-directory", *words)


def check_json(text: str) -> None:
    try:
        json.loads(text)
    except ValueError as problem:
        raise SampleError(str(problem)) from problem


def run(directory: Path, *command: str) -> str:
    """Runs a command in a directory that is also its home; gives its output or raises it."""
    home = {"HOME": str(directory), "XDG_DATA_HOME": "", "GOFLAGS": "-mod=mod", "GOPROXY": "off"}
    caches = {"GOCACHE": str(BUILD / "go-cache"), "GOPATH": str(BUILD / "go")}
    paths = {
        "PYTHONPATH": str(ROOT / "bindings" / "python" / "src"),
        "KVSTORE_LIBRARY": str(BUILD / "lib" / "libkvstore.so"),
        "PKG_CONFIG_PATH": str(BUILD / "lib" / "pkgconfig"),
        "LD_LIBRARY_PATH": str(BUILD / "lib"),
    }
    result = subprocess.run(
        command,
        cwd=directory,
        env=os.environ | home | caches | paths,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    if result.returncode != 0:
        raise SampleError(f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout}")
    return result.stdout


if __name__ == "__main__":
    sys.exit(main())
