"""What a section depends on, as one hash: files as they are now, commands and tools."""

from __future__ import annotations

import functools
import hashlib
import shutil
import subprocess

from testing.places import ROOT
from testing.sections import Section

#: What every section depends on.
ALWAYS = ("scripts/testing", "scripts/test.py", "scripts/setup", "scripts/requirements.txt")


def fingerprint(section: Section) -> str:
    """Give a hash that changes with whatever may change the section's result.

    Empty where git knows no files: then nothing can be compared.
    """
    if not files():
        return ""
    parts = [tools(), repr((section.build, section.commands, sorted(section.env.items())))]
    parts += [f"{path} {files()[path]}" for path in paths_below((*section.inputs, *ALWAYS))]
    return digest("\n".join(parts).encode())


def paths_below(places: tuple[str, ...]) -> list[str]:
    """Give the files in these files and directories; "." has all. Each place must have one."""
    found: set[str] = set()
    for place in places:
        below = {path for path in files() if place in {".", path} or path.startswith(f"{place}/")}
        if not below:
            raise LookupError(f"no file is tracked at {place}")
        found |= below
    return sorted(found)


@functools.cache
def files() -> dict[str, str]:
    """Give a hash of each file that git does not ignore, committed or not."""
    listed = output(["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]).split(
        "\0"
    )
    return {
        path: digest((ROOT / path).read_bytes())
        for path in listed
        if path and (ROOT / path).is_file()
    }


@functools.cache
def tools() -> str:
    """Give a hash of the packages of the system, and of the compiler's version."""
    words = [
        output(command) if shutil.which(command[0]) else ""
        for command in (["dpkg-query", "--show"], ["swift", "--version"])
    ]
    return digest("\n".join(words).encode())


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def output(command: list[str]) -> str:
    """Give what a command prints; empty if it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""
