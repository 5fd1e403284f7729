"""The Debian packages that `make deb` leaves: what they contain, need and promise.

KVSTORE_PROCESSOR=arm64 in the environment: those of `make deb ARCH=arm64`.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from bills import ALWAYS, components

ROOT = Path(__file__).resolve().parents[2]
PROCESSOR = os.environ.get("KVSTORE_PROCESSOR", "")
DEBS = ROOT / "build" / PROCESSOR / "deb"
UNIT = ROOT / "packaging" / "debian" / "kvstored.service"

#: A part of what each package has.
CONTENTS = {
    "libkvstore0": ["usr/lib/[a-z0-9_-]+/libkvstore.so.0", "doc/libkvstore0/NEWS.md.gz"],
    "libkvstore-dev": [
        "usr/include/kvstore.h",
        "usr/include/kvstore.hpp",
        "man3/libkvstore.3.gz",
        "usr/include/kvstore/result.hpp",
        "usr/lib/[a-z0-9_-]+/pkgconfig/kvstore.pc",
        "usr/lib/[a-z0-9_-]+/cmake/kvstore/kvstore-config.cmake",
    ],
    "kvstored": [
        "usr/bin/kvstored",
        "lib/systemd/system/kvstored.service",
        "etc/kvstored/kvstored.json",
        "man1/kvstored.1.gz",
    ],
    "python3-kvstore": ["dist-packages/kvstore/__init__.py", "dist-packages/kvstore/py.typed"],
    "kvstore-cli": ["usr/bin/kvstore", "man1/kvstore.1.gz"],
}


def output(*command: object) -> str:
    """Give what a command prints, which has to succeed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def package(name: str) -> Path:
    """Give the file of a package."""
    (file,) = DEBS.glob(f"{name}_*.deb")
    return file


@pytest.mark.parametrize("name", CONTENTS)
def test_a_package_has_its_files(name: str) -> None:
    """And nothing that belongs to another package."""
    contents = output("dpkg-deb", "--contents", package(name))
    for pattern in CONTENTS[name]:
        assert re.search(pattern + r"( ->.*)?$", contents, re.MULTILINE), (pattern, contents)
    assert name == "kvstored" or "kvstored.service" not in contents
    assert "libkvstore.so" not in contents or name.startswith("libkvstore")


@pytest.mark.parametrize("name", CONTENTS)
def test_a_package_is_for_its_processor(name: str) -> None:
    """What has no machine code is for all of them."""
    wanted = PROCESSOR or output("dpkg", "--print-architecture").strip()
    if name in ("python3-kvstore", "kvstore-cli"):
        wanted = "all"
    assert output("dpkg-deb", "--field", package(name), "Architecture").strip() == wanted


def test_the_library_depends_on_the_system_s_libraries() -> None:
    """On those it is linked with, in versions that are recent enough."""
    depends = output("dpkg-deb", "--field", package("libkvstore0"), "Depends")
    for needed in ("libc6 (>= 2.36)", "libcurl4 (>= 7.88)", "libjansson4", "libsqlite3-0 ("):
        assert needed in depends, depends


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("libkvstore0", ALWAYS | {"curl", "jansson", "sqlite3", "glibc"}),
        ("kvstored", ALWAYS | {"gnutls28", "libmicrohttpd", "postgresql-15", "sqlite3"}),
        ("libkvstore-dev", set()),
        ("python3-kvstore", {"python3-defaults"}),
        ("kvstore-cli", {"python3-defaults"}),
    ],
)
def test_a_bill_beside_a_package_names_what_is_inside_and_what_it_needs(
    name: str, expected: set[str]
) -> None:
    if PROCESSOR and "swift" in expected:
        # The standard library inside is Debian's, not this machine's.
        expected = expected - {"swift"} | {"swiftlang"}
    assert components(package(name)) >= expected


def test_lintian_has_nothing_to_say() -> None:
    """No error and no warning; its hints of the level info are in docs/packages.md."""
    (changes,) = DEBS.glob("*.changes")
    said = output("lintian", "--allow-root", "--fail-on=error,warning", changes)
    assert not re.search(r"^[EW]: ", said, re.MULTILINE), said


def test_the_service_has_nothing_it_does_not_need() -> None:
    """By systemd's own measure: 10 is a service without any protection."""
    said = output(
        "systemd-analyze", "security", "--offline=yes", "--threshold=15", "--no-pager", UNIT
    )
    assert "OK" in said.splitlines()[-1], said
