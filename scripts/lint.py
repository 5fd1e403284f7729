"""Checks format and types of the tree's Swift, Go, Python and shell.

    scripts/lint.py              everything
    scripts/lint.py --changed    what has changed since everything passed last, if that is known

`make format` mends the format.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BINDING = ROOT / "bindings" / "python"
#: The commit at which everything passed last.
PASSED = ROOT / "build" / "test-records" / "lint-commit"
SWIFT = ("Package.swift", "Sources/", "Tests/", "examples/swift/")
GO = ("bindings/go/", "examples/go/", "Tests/AppSync/programs/go/")
#: Directories that share the settings of the tree; the binding has settings of its own.
PYTHON = (
    "examples",
    "scripts",
    "packaging/portable",
    "Benchmarks",
    "Tests/AppSync",
    "Tests/Browser",
    "Tests/Cluster",
    "Tests/Torture",
    "Tests/Differential",
    "Tests/Emulated",
    "Tests/Packages",
    "Tests/Operator",
    "Tests/PubNub",
    "Tests/SwiftPackage",
    "Tests/Tooling",
    "Tests/Upgrade",
)
#: What the types of other directories depend on.
SHARED = ("bindings/python/", "scripts/", "ruff.toml")


def main(arguments: list[str]) -> int:
    """Give 0 if no tool complains; all of them run."""
    files = changed() if arguments == ["--changed"] else git("ls-files")
    print(f"looks at {len(files)} files", flush=True)
    checks = [check_swift(files), check_shell(files), check_go(files), check_python(files)]
    if not all(checks):
        return 1
    PASSED.parent.mkdir(parents=True, exist_ok=True)
    PASSED.write_text("".join(git("rev-parse", "HEAD")))
    return 0


def changed() -> list[str]:
    """Give the files that differ from the commit at which everything passed, and new ones."""
    since = PASSED.read_text() if PASSED.exists() else ""
    if not since or not git("rev-parse", "--verify", "--quiet", f"{since}^{{commit}}"):
        return git("ls-files")
    new = git("ls-files", "--others", "--exclude-standard")
    return [name for name in [*git("diff", "--name-only", since), *new] if (ROOT / name).exists()]


def check_swift(files: list[str]) -> bool:
    """Lint Swift; its names that are C's are not ours to choose."""
    sources = [name for name in files if name.endswith(".swift") and name.startswith(SWIFT)]
    if not sources:
        return True
    done = subprocess.run(
        ["swift", "format", "lint", "--parallel", *sources],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    names_of_c = re.compile(r"\[AlwaysUseLowerCamelCase\] rename the .* '_?kv_")
    complaints = [line for line in done.stdout.splitlines() if not names_of_c.search(line)]
    print("\n".join(complaints), flush=True)
    return done.returncode == 0 and not complaints


def check_shell(files: list[str]) -> bool:
    """Let bash read the scripts."""
    scripts = [
        name
        for name in files
        if name == ".ci/run" or (name.startswith("scripts/") and "." not in Path(name).name)
    ]
    bash = [name for name in scripts if b"bash" in (ROOT / name).read_bytes().split(b"\n", 1)[0]]
    return all(list(map(reads, bash)))


def reads(script: str) -> bool:
    return run("bash", "-n", script)


def check_go(files: list[str]) -> bool:
    sources = [name for name in files if name.endswith(".go") and name.startswith(GO)]
    if not sources:
        return True
    done = subprocess.run(
        ["gofmt", "-l", *sources], cwd=ROOT, capture_output=True, text=True, check=False
    )
    print(done.stdout + done.stderr, end="", flush=True)
    return done.returncode == 0 and not done.stdout


def check_python(files: list[str]) -> bool:
    """Run ruff over the tree, which is quick, and mypy where types may have changed."""
    checks = [run(*python("ruff", "check", ".")), run(*python("ruff", "format", "--check", "."))]
    if any(name.startswith(SHARED) for name in files):
        directories = [name for name in PYTHON if any((ROOT / name).rglob("*.py"))]
        checks.append(run(*python("mypy"), directory=BINDING))
    else:
        directories = [
            name
            for name in PYTHON
            if any(file.startswith(f"{name}/") and file.endswith(".py") for file in files)
        ]
    checks += [run(*python("mypy", "--strict", name)) for name in directories]
    return all(checks)


def python(*command: str) -> list[str]:
    """Give the command of a module of this interpreter's environment."""
    return [sys.executable, "-m", *command]


def run(*command: str, directory: Path = ROOT) -> bool:
    """Run a tool that finds our package in its sources."""
    environment = os.environ | {"MYPYPATH": f"{BINDING}/src:{ROOT}/scripts:{ROOT}/Tests/AppSync"}
    return subprocess.run(command, cwd=directory, env=environment, check=False).returncode == 0


def git(*arguments: str) -> list[str]:
    """Give the lines that git prints; none if it fails."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.splitlines() if done.returncode == 0 else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
