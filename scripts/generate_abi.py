"""Makes from include/kvstore.h and docs/options.md what else has to agree with them.

    scripts/generate_abi.py            writes it
    scripts/generate_abi.py --check    fails, and names the files, if something else is there

What is made is checked in, so that nobody needs this to build. docs/development.md tells what else
a new function or option takes.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from abi import aio, facade, manual, misuse, native, options, statuses
from abi.header import Header, read

ROOT = Path(__file__).resolve().parent.parent

#: Each file and what makes it.
MADE: dict[str, Callable[[Header], str]] = {
    "Sources/Library/KVClient/Options/Options.swift": options.swift,
    "bindings/go/options_made.go": options.go,
    "bindings/python/src/kvstore/_abi.py": native.make,
    "bindings/python/src/kvstore/_option_types.py": options.python,
    "Sources/Library/KVSync/Errors/StoreError.Kind+Status.swift": statuses.make,
    **{
        f"Sources/Library/KVStoreC/EntryPoints/{file}": partial(facade.make, file)
        for file in facade.FILES
    },
    "bindings/python/src/kvstore/aio/_calls.py": aio.make,
    "Tests/CAPI/functions.h": misuse.make,
    "docs/man/libkvstore.3": manual.make,
}

RUFF = [sys.executable, "-m", "ruff"]

#: What brings a file into the form that the formatters of the tree want, from stdin to stdout.
FORMATTERS = {
    ".py": [
        [*RUFF, "check", "--select", "F401,I", "--fix", "--quiet", "--stdin-filename"],
        [*RUFF, "format", "--stdin-filename"],
    ],
    ".go": [["gofmt"]],
    ".swift": [["swift", "format", "--assume-filename"]],
}


def main(arguments: list[str]) -> int:
    """Gives 0 if everything is written, or is as it should be."""
    header = read()
    different = []
    for name, make in MADE.items():
        path = ROOT / name
        text = formatted(make(header), path)
        if path.exists() and path.read_text() == text:
            continue
        different.append(name)
        if arguments != ["--check"]:
            path.write_text(text)
    if arguments == ["--check"] and different:
        print(f"not what include/kvstore.h and docs/options.md make: {', '.join(different)}")
        print("Run scripts/generate_abi.py.")
        return 1
    print(f"ok: {len(MADE)} files for {len(header.functions)} functions")
    return 0


def formatted(text: str, path: Path) -> str:
    """Gives a text as its formatter writes it."""
    for command in FORMATTERS.get(path.suffix, []):
        result = subprocess.run(
            [*command, *([] if path.suffix == ".go" else [str(path)])],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        )
        text = result.stdout
    return text


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
