"""Where things are, and the environment of every test."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
#: The output of each section of the last run.
LOGS = BUILD / "test-logs"
#: What each section was like when it passed last: see records.py.
RECORDS = BUILD / "test-records"
#: The same, as measured on a quiet machine, for the documentation and for `.ci/run`.
MEASURED = ROOT / "scripts" / "testing" / "measured.json"


def environment() -> dict[str, str]:
    """Give what every test finds the library, the server and the tools by."""
    return os.environ | {
        "PATH": f"{BUILD}/venv/bin:{os.environ['PATH']}",
        "PKG_CONFIG_PATH": f"{BUILD}/lib/pkgconfig",
        "LD_LIBRARY_PATH": f"{BUILD}/lib",
        "KVSTORE_LIBRARY": f"{BUILD}/lib/libkvstore.so",
        "KVSTORED": f"{BUILD}/bin/kvstored",
        "PYTHONPATH": f"{ROOT}/bindings/python/src:{ROOT}/scripts",
        # Fills memory when it is allocated and when it is freed: nothing works because memory
        # happens to be zero, or happens to be still there.
        "MALLOC_PERTURB_": "165",
        # Without it a crash takes minutes to print.
        "SWIFT_BACKTRACE": "enable=no",
    }
