"""Builds a platform wheel that carries libkvstore.so."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

CHECKOUT = Path(__file__).resolve().parents[2]


def shared_library() -> Path:
    """Give the library to carry: $KVSTORE_LIBRARY, or the checkout's own, built if missing."""
    if chosen := os.environ.get("KVSTORE_LIBRARY"):
        return Path(chosen)
    built = CHECKOUT / "build" / "lib" / "libkvstore.so"
    if not built.exists():
        subprocess.run(["make", "-C", str(CHECKOUT), "lib"], check=True)
    return built


class BuildWithLibrary(build_py):
    """Puts the shared library next to the modules."""

    def run(self) -> None:
        """Build the modules, then copy the library."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "kvstore", "libkvstore.so")
            shutil.copyfile(shared_library(), target)


class LinuxWheel(bdist_wheel):
    """A wheel for any Python 3 on this platform: the library is called through ctypes."""

    def get_tag(self) -> tuple[str, str, str]:
        """Keep the platform, drop the interpreter."""
        return ("py3", "none", super().get_tag()[2])


class BinaryDistribution(Distribution):
    """A distribution that is not pure Python."""

    def has_ext_modules(self) -> bool:
        """Tell setuptools that the wheel belongs to one platform."""
        return True


#: Not next to the sources, where the remains of a build could get into the next wheel.
WORKSHOP = tempfile.TemporaryDirectory(prefix="kvstore-wheel-")

setup(
    distclass=BinaryDistribution,
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": LinuxWheel},
    options={"build": {"build_base": WORKSHOP.name}},
)
