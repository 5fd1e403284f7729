"""Installs the wheel, the Debian packages and what a container has into fresh systems; uses them.

    roots.py          every system
    roots.py trixie   some
    roots.py bookworm:container   one check

`make packages-check` runs it, as root, after `make wheel deb`. A system is made by debootstrap from
the mirror that APT uses on this machine, kept in build/roots, and copied for each check.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
SYSTEMS = BUILD / "roots"

#: Saves and finds in a local database.
PYTHON = """
import sys, kvstore
with kvstore.Client(app_key="kid_root", host=None, data_directory="/tmp/python") as client:
    notes = client.collection("notes")
    notes.save({"_id": "a", "text": "milk"})
    assert [note["text"] for note in notes.find({"text": "milk"})] == ["milk"]
print("ok: Python", sys.version.split()[0], "with kvstore", kvstore.version())
"""

#: The same in C, through the library of the wheel alone.
C = r"""
#include <kvstore.h>
#include <stdio.h>
int main(void) {
  static const char options[] =
      "{\"appKey\":\"kid_root\",\"host\":null,\"dataDirectory\":\"/tmp/c\"}";
  static const char entity[] = "{\"_id\":\"a\"}";
  kv_client *client = NULL;
  kv_store *notes = NULL;
  kv_error *error = NULL;
  char *note = NULL;
  if (kv_client_open(options, KV_NUL_TERMINATED, &client, &error) == KV_OK &&
      kv_store_open(client, "notes", "sync", NULL, &notes, &error) == KV_OK &&
      kv_store_save(notes, entity, KV_NUL_TERMINATED, NULL, NULL, NULL, &error) == KV_OK &&
      kv_store_find_by_id(notes, "a", NULL, &note, NULL, &error) == KV_OK)
    printf("ok: C with kvstore %s: %s\n", kv_version(), note);
  else
    printf("not ok: %s\n", kv_error_message(error));
  kv_client_close(client);
  return note == NULL;
}
"""


def wheel(root: Path) -> None:
    """Check that pip installs the wheel, and a program runs with nothing else of ours there."""
    (file,) = (BUILD / "wheel").glob("*.whl")
    shutil.copy(file, root / "tmp")
    inside(root, "python3 -m venv /opt/venv")
    inside(root, f"/opt/venv/bin/pip install --quiet --no-index /tmp/{file.name}")
    (root / "tmp/program.py").write_text(PYTHON)
    inside(root, "/opt/venv/bin/python /tmp/program.py")


def wheel_library(root: Path) -> None:
    """Check that a C program runs with the library of the wheel, on an old glibc."""
    shutil.copy(BUILD / "portable/libkvstore.so", root / "tmp")
    source = root / "tmp/program.c"
    source.write_text(C)
    # The program itself is made for the old glibc, too.
    options = [f"-L{BUILD}/portable/link", f"-I{ROOT}/include", "-Wl,--allow-shlib-undefined"]
    words = ["gcc", *options, source, root / "tmp/libkvstore.so", "-o", root / "tmp/program"]
    subprocess.run([str(word) for word in words], check=True)
    inside(root, "ln -s libkvstore.so /tmp/libkvstore-portable.so")
    inside(root, "LD_LIBRARY_PATH=/tmp /tmp/program")


def packages(root: Path) -> None:
    """Check that APT installs the Debian packages with all they need, and that they work."""
    for file in (BUILD / "deb").glob("*.deb"):
        shutil.copy(file, root / "tmp")
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    install = "apt-get install --yes --quiet=2 --no-install-recommends /tmp/*.deb"
    inside(
        root, f"apt-get update --quiet=2; {install} >/tmp/log 2>&1 || {{ cat /tmp/log; exit 1; }}"
    )
    (root / "tmp/program.py").write_text(PYTHON)
    inside(root, "python3 /tmp/program.py")
    inside(root, "kvstored --version && kvstore --version && ldconfig -p | grep libkvstore.so.0")
    inside(root, "apt-get remove --yes --quiet=2 libkvstore0 kvstored >/tmp/log 2>&1")
    inside(root, "! command -v kvstore && ! command -v kvstored")


def container(root: Path) -> None:
    """Check that the last stage of Containerfile makes a system in which kvstored is well."""
    text = (ROOT / "Containerfile").read_text().rpartition("FROM ")[2].replace("\\\n", "")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")][1:]
    steps = [(word, rest) for word, rest in (line.split(maxsplit=1) for line in lines)]
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    for word, rest in steps:
        if word == "RUN":
            inside(root, rest)
        elif word == "COPY":
            shutil.copy(ROOT / rest.split()[1].removeprefix("/source/"), root / rest.split()[2][1:])
    last = dict(steps)
    program = shlex.join(json.loads(last["ENTRYPOINT"]))
    probe = shlex.join(json.loads(last["HEALTHCHECK"].partition("CMD ")[2]))
    (root / "tmp/check").write_text(
        f"""
        {program} >/tmp/log 2>&1 &
        for try in $(seq 100); do
          if {probe} 2>/tmp/probe; then kill -TERM $!; wait $!; ls -l /var/lib/kvstored; exit 0; fi
          sleep 0.1
        done
        cat /tmp/log /tmp/probe; kill -KILL $!; exit 1
        """
    )
    inside(root, f"setpriv --reuid={last['USER']} --clear-groups sh /tmp/check")


Check = Callable[[Path], None]

#: An older and a newer system for the wheel and the packages; and glibc 2.31, which still has its
#: threads in a library of their own, and no Python that the wheel is for.
CHECKS: dict[str, list[Check]] = {
    "bookworm": [container, wheel, packages],
    "trixie": [wheel, packages],
    "bullseye": [wheel_library],
}


def main(names: list[str]) -> int:
    """Give 0 if everything works everywhere."""
    if os.geteuid() != 0:
        sys.exit("roots.py must run as root: it makes the file systems of other machines")
    SYSTEMS.mkdir(parents=True, exist_ok=True)
    for name, _, only in (name.partition(":") for name in names or CHECKS):
        for check in CHECKS[name]:
            if only and check.__name__ != only:
                continue
            with tempfile.TemporaryDirectory(dir=SYSTEMS) as directory:
                root = Path(directory) / "root"
                subprocess.run(["cp", "--archive", str(base(name)), str(root)], check=True)
                print(f"== {name}: {check.__doc__}", flush=True)
                check(root)
    return 0


def base(name: str) -> Path:
    """Give a fresh system, made once."""
    root = SYSTEMS / name
    if not (root / "made").exists():
        shutil.rmtree(root, ignore_errors=True)
        print(f"== {name}: making it", flush=True)
        options = ["--variant=minbase", "--include=python3-venv,ca-certificates"]
        with (SYSTEMS / f"{name}.log").open("w") as log:
            words = ["debootstrap", *options, name, str(root), mirror()]
            subprocess.run(words, check=True, stdout=log, stderr=log)
        (root / "made").touch()
    return root


def mirror() -> str:
    """Give the mirror of Debian's packages that APT uses here."""
    words = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Origin: Debian"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()[0]


def inside(root: Path, command: str) -> None:
    """Run a shell command in a system, which has a /proc meanwhile."""
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C.UTF-8"}
    mounted = 'mount -t proc proc "$0/proc" && exec chroot "$0" /bin/sh -ec "$1"'
    subprocess.run(
        ["unshare", "--mount", "/bin/sh", "-ec", mounted, str(root), command],
        check=True,
        env=environment | {"DEBIAN_FRONTEND": "noninteractive"},
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
