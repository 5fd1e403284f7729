"""What `make wheel go-static ARCH=arm64` leave, used in an emulator of such a processor."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from bills import ALWAYS, components
from test_go import BINDING, MODULE_FILES, go, with_checkout
from test_wheel import FIRST, FROM_THE_SYSTEM, output

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "arm64"
SYSTEM = ROOT / "build" / "sdk" / "arm64" / "root"
EMULATE = ROOT / "scripts" / "emulate"
LOADER = "ld-linux-aarch64.so.1"
INSIDE = ALWAYS | {"curl", "sqlite3", "jansson", "openssl", "nghttp2", "zlib"}


@pytest.fixture(scope="session")
def wheel() -> Path:
    """Give the wheel."""
    (path,) = (BUILD / "wheel").glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a directory with the wheel in it, as pip on a machine of that kind takes it."""
    directory = tmp_path_factory.mktemp("installed")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps"]
    platform = ["--platform", "manylinux_2_28_aarch64", "--only-binary", ":all:"]
    output([*install, *platform, "--target", directory, wheel])
    return directory


def test_the_wheel_is_all_that_is_needed(installed: Path, tmp_path: Path) -> None:
    """A program runs with it, and with no other library of ours."""
    python = SYSTEM / "usr/bin/python3"
    said = output(
        [EMULATE, "-E", "LD_LIBRARY_PATH=", python, "-c", FIRST, tmp_path],
        variables={"PYTHONPATH": str(installed)},
    )
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", said)


def test_the_library_of_the_wheel_needs_glibc_only(installed: Path) -> None:
    """Of the version that the wheel's name promises."""
    library = installed / "kvstore" / "libkvstore.so"
    dynamic = output(["readelf", "--dynamic", "--wide", library])
    system = FROM_THE_SYSTEM - {"ld-linux-x86-64.so.2"} | {LOADER}
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)) <= system
    assert "RELR" not in dynamic
    versions = output(["readelf", "--version-info", "--wide", library])
    needed = {tuple(map(int, each.split("."))) for each in re.findall(r"GLIBC_([\d.]+)", versions)}
    assert max(needed) <= (2, 28)
    segments = output(["readelf", "--segments", "--wide", library])
    assert {line.split()[-1] for line in segments.splitlines() if " LOAD " in line} == {"0x10000"}


def test_bills_name_what_is_inside(wheel: Path) -> None:
    """With the Swift runtime that is inside, which is not this machine's."""
    assert components(wheel) >= INSIDE - {"swift"} | {"swiftlang"}
    assert components(BINDING / "static/arm64/libkvstore.a") >= INSIDE - {"swift"} | {"swiftlang"}


def test_a_static_go_program_needs_no_library(tmp_path: Path) -> None:
    """GOARCH chooses the archive."""
    program = tmp_path / "program"
    program.mkdir()
    for name, text in MODULE_FILES.items():
        (program / name).write_text(text)
    with_checkout(program)
    compiler = subprocess.run(
        ["bash", "-c", '. scripts/processor arm64; printf "%s " "${c_compiler[@]}"'],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    variables = {"GOARCH": "arm64", "CGO_ENABLED": "1", "CC": compiler, "PKG_CONFIG_PATH": ""}
    words = ["build", "-tags", "kvstore_static", "-o", "program", "."]
    go(program, *words, variables=variables)
    dynamic = output(["readelf", "--dynamic", "--wide", program / "program"])
    system = FROM_THE_SYSTEM - {"ld-linux-x86-64.so.2"} | {LOADER}
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)) <= system
    data = tmp_path / "data"
    assert output([EMULATE, "-E", "LD_LIBRARY_PATH=", program / "program", data]) == "milk <nil>\n"
