"""Runs build/bench/sqlcipher.so with the SQLCipher that the package sqlcipher3 has.

sqlcipher.py LIBRARY WORKLOAD DIRECTORY COUNT
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys

# So that the library finds its functions there.
sys.setdlopenflags(os.RTLD_NOW | os.RTLD_GLOBAL)

importlib.import_module("sqlcipher3")


def main(library: str, workload: str, directory: str, count: str) -> int:
    measure = ctypes.CDLL(library).sqlcipher_measure
    return int(measure(workload.encode(), directory.encode(), int(count)))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
