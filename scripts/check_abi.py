"""Compares the ABI that the header promises with the stored description, by abidiff.

    scripts/check_abi.py            fails, and says how, if anything differs
    scripts/check_abi.py --accept   makes the header's ABI the stored one, after a deliberate change

libabigail reads the types of C and C++, not of Swift. So the description is taken from a library of
the header's functions with empty bodies. That the real library has those functions, by name, is
checked by scripts/check-library; that their types are the header's, by the Swift compiler
(`@implementation`).
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADER = ROOT / "include" / "kvstore.h"
STORED = ROOT / "Tests" / "ABI" / "libkvstore.so.0.abi"


def main(arguments: list[str]) -> int:
    """Gives 0 if the ABI is the stored one."""
    with tempfile.TemporaryDirectory() as directory:
        described = describe(Path(directory))
        if arguments == ["--accept"]:
            STORED.parent.mkdir(parents=True, exist_ok=True)
            STORED.write_bytes(described.read_bytes())
            return 0
        result = subprocess.run(["abidiff", str(STORED), str(described)], check=False)
    if result.returncode != 0:
        print(
            "The ABI changed. Was it meant? Then: scripts/check_abi.py --accept, and CHANGELOG.md"
        )
        return 1
    print("ok: the ABI is the stored one")
    return 0


def describe(directory: Path) -> Path:
    """Writes the description of the header's ABI, without anything of this machine in it."""
    (directory / "abi.cc").write_text(stub(HEADER.read_text()))
    library, description = directory / "libkvstore.so", directory / "abi.xml"
    debug = ["-g", "-O0", "-w", f"-ffile-prefix-map={directory}=."]
    shared = ["-shared", "-fPIC", "-Wl,-soname=libkvstore.so.0"]
    subprocess.run(
        ["g++", *debug, *shared, "abi.cc", "-o", str(library)], check=True, cwd=directory
    )
    quiet = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed"]
    subprocess.run(["abidw", *quiet, "--out-file", str(description), str(library)], check=True)
    return description


def stub(header: str) -> str:
    """C++ that defines every function of the header, and a variable of the type of its statuses.

    In C++ an enumerator has its enumeration's type, so the variable brings all status numbers into
    the description; the type needs a name for that.
    """
    code = re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL)
    functions = re.findall(r"^KV_API\s+([^;]+);", code, re.MULTILINE)
    bodies = "\n".join(f"{function} {{ __builtin_trap(); }}" for function in functions)
    named = re.sub(r"\benum \{(?=\s*KV_OK\b)", "enum kv_statuses {", code)
    return f'{named}\nextern "C" {{\nkv_statuses kv_all_statuses;\n{bodies}\n}}\n'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
