"""Builds a wheel that carries libkvstore.so, or a pure one for a machine that has it installed.

Which library is carried, the first that there is:

* the one that ``KVSTORE_LIBRARY`` names; the word ``system`` means none;
* that of the checkout around this file, built by ``make lib`` if it is missing;
* none, if the machine has one: the package then loads the system's libkvstore.
"""

import ctypes.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

CHECKOUT = Path(__file__).resolve().parents[2]
#: Where the licences of what the library contains are written beside it.
LICENCES = "THIRD-PARTY-LICENSES.txt"
MISSING = """
libkvstore is missing. This is the source of its Python binding; to build it, do one of these:
  * install libkvstore on this machine (make install, or the package libkvstore0);
  * set KVSTORE_LIBRARY to the path of a libkvstore.so, which the wheel will carry;
  * run pip in a checkout of the whole project, where Swift 6.1 or later builds the library;
  * install a wheel in place of the source: pip install --only-binary libkvstore libkvstore
"""


def carried_library() -> Path | None:
    """Give the library to carry; None if it is the system's that is used."""
    chosen = os.environ.get("KVSTORE_LIBRARY")
    if chosen == "system":
        return None
    if chosen:
        return Path(chosen)
    if (CHECKOUT / "include" / "kvstore.h").exists():
        built = CHECKOUT / "build" / "lib" / "libkvstore.so"
        if not built.exists():
            subprocess.run(["make", "-C", str(CHECKOUT), "lib"], check=True)
        return built
    if ctypes.util.find_library("kvstore"):
        return None
    sys.exit(MISSING)


def is_building() -> bool:
    """Tell whether the command needs the library: a source distribution does not."""
    return bool({"bdist_wheel", "build", "build_py", "install"} & set(sys.argv))


LIBRARY = carried_library() if is_building() else None


class BuildWithLibrary(build_py):
    """Puts the shared library, and the licences of what it contains, next to the modules."""

    def run(self) -> None:
        """Build the modules, then copy the library."""
        super().run()
        if self.editable_mode or LIBRARY is None:
            return
        package = Path(self.build_lib, "kvstore")
        shutil.copyfile(LIBRARY, package / "libkvstore.so")
        licences = LIBRARY.with_name(LICENCES)
        if licences.exists():
            shutil.copyfile(licences, package / LICENCES)


class LinuxWheel(bdist_wheel):
    """A wheel for any Python 3: the library is called through ctypes."""

    def get_tag(self) -> tuple[str, str, str]:
        """Keep the platform if the wheel carries a library, drop the interpreter."""
        return ("py3", "none", super().get_tag()[2])


class BinaryDistribution(Distribution):
    """A distribution that is not pure Python if it carries the library."""

    def has_ext_modules(self) -> bool:
        """Tell setuptools that the wheel belongs to one platform."""
        return LIBRARY is not None


#: Not next to the sources, where the remains of a build could get into the next wheel.
WORKSHOP = tempfile.TemporaryDirectory(prefix="kvstore-wheel-")

setup(
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": LinuxWheel},
    options={"build": {"build_base": WORKSHOP.name}},
)
