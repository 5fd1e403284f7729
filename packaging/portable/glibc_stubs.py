"""Writes stand-ins for the shared objects of an older glibc, to link against.

    glibc_stubs.py LIMIT DIRECTORY

CC and NM in the environment name the compiler and the lister of symbols, with options, if they are
not gcc and nm: for another processor.

The linker binds every function to its newest version, so that a library which is linked on this
machine needs this machine's glibc. The stand-ins offer, of what this glibc has, only what was there
in version LIMIT already, each symbol in its newest version up to LIMIT. A symbol that is newer is
then undefined: the linker names it, and older_glibc.c is where to write it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

#: The name to link by, and the name of the object.
OBJECTS = {"libc": "libc.so.6", "libm": "libm.so.6"}
#: Parts of libc since glibc 2.34. Their stand-ins are empty: a library that names them finds the
#: functions in older ones.
FORMER_PARTS = {"libpthread": "libpthread.so.0", "libdl": "libdl.so.2"}

SYMBOL = re.compile(
    r"^[0-9a-f]+ (?P<type>[A-Za-z]) (?P<name>\w+)@@?GLIBC_(?P<version>[0-9.]+)$", re.MULTILINE
)

#: __tls_get_addr is in it.
NEEDED_LOADER = re.compile(r"NEEDED.*\[(ld-linux.*)\]")

CC = shlex.split(os.environ.get("CC", "gcc"))
NM = shlex.split(os.environ.get("NM", "nm"))

Version = tuple[int, ...]


def main(limit_text: str, directory: Path) -> None:
    """Write the stand-ins, and scripts that the linker finds them by."""
    limit = number(limit_text)
    directory.mkdir(parents=True, exist_ok=True)
    loader = NEEDED_LOADER.search(run("readelf", "--dynamic", "--wide", real_path("libc.so.6")))
    if loader is None:
        sys.exit("glibc_stubs: this machine's libc.so.6 names no loader")
    for name, file in (OBJECTS | {"loader": loader[1]}).items():
        link(directory, name, file, symbols_until(limit, real_path(file)))
    for name, file in FORMER_PARTS.items():
        link(directory, name, file, {})
    # The few functions of glibc that are linked statically.
    (directory / "libc.so").unlink()
    nonshared = real_path("libc_nonshared.a")
    parts = [str(directory / "libc.so.6"), str(directory / "loader.so"), nonshared]
    (directory / "libc.so").write_text(f"GROUP ( {' '.join(parts)} )\n")


def number(version: str) -> Version:
    """Make a version comparable."""
    return tuple(int(part) for part in version.split("."))


def real_path(file: str) -> str:
    """Find a file of this machine's glibc."""
    return run(*CC, f"-print-file-name={file}").strip()


def symbols_until(limit: Version, path: str) -> dict[str, tuple[Version, str]]:
    """Give each symbol's newest version up to the limit, and the letter of its type."""
    found: dict[str, tuple[Version, str]] = {}
    for match in SYMBOL.finditer(run(*NM, "--dynamic", "--with-symbol-versions", path)):
        version = number(match["version"])
        if version <= limit and version > found.get(match["name"], ((), ""))[0]:
            found[match["name"]] = (version, match["type"])
    return found


def link(directory: Path, name: str, file: str, symbols: dict[str, tuple[Version, str]]) -> None:
    """Make the shared object from an assembler file and a version script."""
    source, script = directory / f"{name}.s", directory / f"{name}.map"
    source.write_text("".join(definition(*item) for item in symbols.items()))
    script.write_text(version_script(symbols))
    versions = [f"-Wl,--version-script={script}"] if symbols else []
    target = directory / file
    named = ["-nostdlib", f"-Wl,-soname,{file}", *versions]
    run(*CC, "-shared", *named, "-o", str(target), str(source))
    shortcut = directory / f"{name}.so"
    shortcut.unlink(missing_ok=True)
    shortcut.symlink_to(file)


def definition(name: str, what: tuple[Version, str]) -> str:
    """Define a symbol of the same kind, with nothing behind it."""
    is_function = what[1] in "TtWi"
    kind, section = ("function", ".text") if is_function else ("object", ".data")
    return f"{section}\n.globl {name}\n.type {name},@{kind}\n{name}: .quad 0\n.size {name},8\n"


def version_script(symbols: dict[str, tuple[Version, str]]) -> str:
    """Give each symbol its version, the oldest first."""
    by_version: dict[Version, list[str]] = {}
    for name, (version, _) in symbols.items():
        by_version.setdefault(version, []).append(name)
    return "".join(
        f"GLIBC_{'.'.join(map(str, version))} {{ global: {' '.join(f'{n};' for n in names)} }};\n"
        for version, names in sorted(by_version.items())
    )


def run(*command: str) -> str:
    """Run a command and give its output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve())
