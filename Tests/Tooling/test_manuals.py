"""The manual pages say what the server and the library are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import generate_server_manual  # noqa: E402
from abi import header, manual  # noqa: E402


def shown(name: str, width: int = 300) -> str:
    """Give a page as man shows it; it must have nothing to complain of."""
    done = subprocess.run(
        ["man", "--warnings", "-l", str(ROOT / "docs" / "man" / name)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": str(width), "MAN_KEEP_FORMATTING": ""},
    )
    assert done.stderr == ""
    return done.stdout


def test_the_page_of_the_server_is_made_of_what_it_says() -> None:
    assert generate_server_manual.main(["--check"]) == 0


@pytest.mark.parametrize("name", ["kvstored.1", "libkvstore.3"])
def test_a_page_has_its_sections_and_pleases_man(name: str) -> None:
    text = shown(name, width=80)
    for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLE", "SEE ALSO"):
        assert re.search(rf"^{section}", text, re.MULTILINE), section


def test_the_page_of_the_server_has_every_option() -> None:
    text = generate_server_manual.output_of_server("--help")
    options = re.findall(r"^  (--[a-z-]+)", text, re.MULTILINE)
    assert len(options) > 20
    page = shown("kvstored.1")
    assert re.findall(r"^ +(--[a-z-]+)", page, re.MULTILINE) == options


def test_the_page_of_the_library_has_every_function_and_status() -> None:
    page = shown("libkvstore.3")
    lines = page.splitlines()
    for function in header.read().functions:
        where = lines.index(f"       {function.name}()")
        assert lines[where + 1].strip(), function.name
    for status in re.findall(r"^  (KV_\w+) = \d+", header.HEADER.read_text(), re.M):
        assert f"       {status}" in page, status


def test_the_example_is_one_that_the_tests_compile_and_run() -> None:
    page = shown("libkvstore.3").partition("\nEXAMPLE\n")[2]
    words = manual.EXAMPLE.read_text().split()
    assert " ".join(words) in " ".join(page.split())
