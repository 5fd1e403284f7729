"""kvstored and its disk: full (a real one of 12 MB, in a namespace of its own), and flushed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kvstored import Server

import kvstore

ROOT = Path(__file__).resolve().parents[3]

#: Runs on the small disk. Its last line says how many entities are there after all.
PROGRAM = """
import sys
import tempfile
from pathlib import Path

import kvstore
from kvstored import Server

text = "word " * 2000
with (
    Server(Path(sys.argv[1]) / "server", "app:secret", *sys.argv[2:], storage="sqlite") as server,
    tempfile.TemporaryDirectory() as directory,
    kvstore.Client(
        app_key="app", app_secret="secret", host=server.host, data_directory=directory
    ) as client,
):
    client.signup("writer", "a password")
    notes = client.collection("notes", "network")
    stored = 0
    try:
        for stored in range(100_000):
            notes.save({"_id": f"{stored}", "text": text})
    except kvstore.ServerError as error:
        print(stored, error)
    assert notes.count() == stored
    mirror = client.collection("notes", "sync", delta_set_caching=True)
    mirror.pull()
    assert mirror.count() == stored
    for number in range(stored):
        assert notes.remove_by_id(f"{number}") == 1
    # With a history or without: what was deleted is known to have gone.
    mirror.pull()
    assert mirror.count() == 0
    for number in range(stored // 2):
        notes.save({"_id": f"{number}", "text": text})
    server.stop()
    server.start()
    notes.save({"_id": "last"})
    print(notes.count() - stored // 2)
"""

#: A file that does not fit leaves the entities alone, and goes with what is said about it.
FILES = """
import sys
from pathlib import Path

from kvstored import Server
from test_server_files import APP, MASTER, announce, ask, received

size = 20 << 20
with Server(Path(sys.argv[1]) / "server", APP, storage="sqlite") as server:
    file = announce(server, {"size": size})
    try:
        status, _, body = ask(server, "PUT", file["_uploadURL"], bytes(size))
        print(status, body.decode())
    except OSError as error:
        print(error)
    assert received(server, file["_uploadURL"], size) > 4 << 20
    there = f"/blob/kid/{file['_id']}"
    assert ask(server, "DELETE", there, Authorization=MASTER)[0] == 200
    file = announce(server, {"size": 4 << 20})
    assert ask(server, "PUT", file["_uploadURL"], bytes(4 << 20))[0] == 201
    print("stored")
"""


def run_on_small_disk(program: str, disk: Path, *arguments: str) -> list[str]:
    """Give the lines that a program prints, whose first argument is a directory on the disk."""
    script = 'mount -t tmpfs -o size=12m none "$1"; shift; exec "$@"'
    unshare = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-m"]
    source = ROOT / "bindings" / "python"
    paths = [str(ROOT / "scripts"), str(source / "src"), str(source / "tests")]
    done = subprocess.run(
        [
            *(*unshare, "sh", "-ec", script, "sh", str(disk)),
            *(sys.executable, "-c", program, str(disk), *arguments),
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("options", [[], ["--delta-days", "10"]], ids=["plain", "history"])
def test_deleting_makes_room_on_a_full_disk(options: list[str], tmp_path: Path) -> None:
    """What was refused can be stored again, also by a server that was started anew."""
    refused, counted = run_on_small_disk(PROGRAM, tmp_path, *options)
    assert "status 500" in refused
    assert counted == "1"


def test_a_file_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    """Its sender is told, and what had come goes when the file is removed."""
    told, stored = run_on_small_disk(FILES, tmp_path)
    assert "the disk may be full" in told or "reset" in told or "Broken pipe" in told
    assert stored == "stored"


#: Stands before the system's calls and writes a byte to a file for each.
COUNTER = """
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static void count(void) {
  int file = open(getenv("FLUSHES"), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (write(file, "x", 1) != 1) abort();
  close(file);
}
int fsync(int file) { return count(), (int)syscall(SYS_fsync, file); }
int fdatasync(int file) { return count(), (int)syscall(SYS_fdatasync, file); }
"""


@pytest.mark.parametrize(("durability", "flushes"), [("full", True), ("normal", False)])
def test_durability_reaches_the_disk(
    durability: str, flushes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each write is flushed when it is answered, or none is."""
    library, source, count = (tmp_path / name for name in ("count.so", "count.c", "flushes"))
    source.write_text(COUNTER)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, source], check=True)
    # A path of its own directory, since the linker ends names at a space.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LD_PRELOAD", f"./{library.name}")
    monkeypatch.setenv("FLUSHES", str(count))
    server = Server(tmp_path / "server", "app:secret", "--durability", durability, storage="sqlite")
    monkeypatch.delenv("LD_PRELOAD")
    with (
        server,
        kvstore.Client(
            app_key="app", app_secret="secret", host=server.host, data_directory=tmp_path / "client"
        ) as client,
    ):
        client.signup("writer", "a password")
        notes = client.collection("notes", "network")
        notes.save({"_id": "first"})
        before = count.stat().st_size
        for number in range(20):
            notes.save({"_id": f"{number}"})
        flushed = count.stat().st_size - before
    assert flushed >= 20 if flushes else flushed == 0
