"""The wheel carries the library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from kvstore import _native

PACKAGE = Path(__file__).resolve().parents[1]


def test_an_installed_wheel_needs_nothing_else(tmp_path: Path) -> None:
    source = tmp_path / "source"
    shutil.copytree(
        PACKAGE, source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__", ".*")
    )
    library = os.environ.get("KVSTORE_LIBRARY", _native._lib._name)
    _run("pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(tmp_path),
         str(source), KVSTORE_LIBRARY=library)  # fmt: skip
    [wheel] = tmp_path.glob("*.whl")
    assert "-py3-none-linux_" in wheel.name

    place = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        archive.extractall(place)
    assert {"kvstore/libkvstore.so", "kvstore/py.typed", "kvstore/__init__.py"} <= set(names)

    program = "import kvstore; print(kvstore.version(), kvstore._native._lib._name)"
    told = _run("-c", program, PYTHONPATH=str(place), KVSTORE_LIBRARY="", LD_LIBRARY_PATH="")
    assert str(place / "kvstore" / "libkvstore.so") in told


def _run(*arguments: str, **environment: str) -> str:
    module = [] if arguments[0] == "-c" else ["-m"]
    return subprocess.run(
        [sys.executable, *module, *arguments],
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
