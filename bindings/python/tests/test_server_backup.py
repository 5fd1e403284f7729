"""kvstored's copies of its data: made while it is written to, put back, and noticed by clients."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import pytest
from kvstored import PROGRAM, Server

import kvstore

APP = "kid:secret"
SECONDS = 60


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run kvstored to its end."""
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def client(server: Server, directory: Path) -> kvstore.Client:
    """Open a client of a server."""
    return kvstore.Client(
        app_key="kid", app_secret="secret", host=server.host, data_directory=directory
    )


def test_a_copy_made_under_writes_is_put_back(tmp_path: Path) -> None:
    """It has everything from before, is one moment, and clients come to what it has."""
    data, copy, restored = tmp_path / "data", tmp_path / "copy", tmp_path / "restored"
    with (
        Server(data, APP, "--delta-days", "10", storage="sqlite") as server,
        client(server, tmp_path / "b") as theirs,
    ):
        with client(server, tmp_path / "a") as ours:
            ours.signup("ana", "password")
            theirs.login("ana", "password")
            notes = ours.collection("notes", "network")
            notes.save_many([{"_id": f"before-{n}"} for n in range(100)])
            done = threading.Event()

            def save_pairs() -> None:
                number = 0
                while not done.is_set():
                    notes.save_many([{"_id": f"{side}-{number}"} for side in ("left", "right")])
                    number += 1

            writer = threading.Thread(target=save_pairs)
            writer.start()
            try:
                made = run("backup", "--data", data, "--to", copy)
            finally:
                done.set()
                writer.join()
            assert made.returncode == 0, made.stderr
        synced = theirs.collection("notes", "sync", delta_set_caching=True)
        synced.pull()
        assert synced.count() == notes_on(server, tmp_path / "c")
        server.stop()
        assert run("restore", "--data", restored, "--from", copy).returncode == 0
        # The server is the same to its clients: the address, and the directory's name.
        data.rename(tmp_path / "old")
        restored.rename(data)
        server.start()
        synced.pull()
        found = {note["_id"] for note in synced.find()}
    assert {f"before-{n}" for n in range(100)} <= found
    lefts = {name.removeprefix("left-") for name in found if name.startswith("left-")}
    rights = {name.removeprefix("right-") for name in found if name.startswith("right-")}
    assert lefts == rights


def notes_on(server: Server, directory: Path) -> int:
    """Count the notes of a server."""
    with client(server, directory) as other:
        other.login("ana", "password")
        return other.collection("notes", "network").count()


def test_a_copy_has_the_app(tmp_path: Path) -> None:
    """A server of the copy serves the app that the first start had made."""
    data, copy, restored = tmp_path / "data", tmp_path / "copy", tmp_path / "restored"
    with Server(data, APP, storage="sqlite"):
        pass
    own = {"app": "kid_own:secret:master"}
    (data / "app.json").write_text(json.dumps(own))
    assert run("backup", "--data", data, "--to", copy).returncode == 0
    assert run("restore", "--data", restored, "--from", copy).returncode == 0
    assert json.loads((restored / "app.json").read_text()) == own
    for file in ("app.json", "kvstored.db"):
        assert (restored / file).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("what", ["backup", "restore"])
def test_a_copy_that_is_killed_is_no_data_and_can_be_made_again(tmp_path: Path, what: str) -> None:
    """Whenever the process dies there is all of the data or none."""
    data, copy = tmp_path / "data", tmp_path / "copy"
    with Server(data, APP, storage="sqlite") as server, client(server, tmp_path / "a") as ours:
        ours.signup("ana", "password")
        notes = ours.collection("notes", "network")
        for first in range(0, 1000, 100):
            notes.save_many([{"_id": f"{first + n}", "text": "x" * 20_000} for n in range(100)])
    assert run("backup", "--data", data, "--to", copy).returncode == 0
    size = (copy / "kvstored.db").stat().st_size
    killed = 0
    for part in range(4):
        place = tmp_path / f"{what}-{part}"
        names = ("--data", data, "--to", place)
        if what == "restore":
            names = ("--data", place, "--from", copy)
        process = subprocess.Popen([PROGRAM, what, *map(str, names)], stderr=subprocess.DEVNULL)
        draft, target = place / "kvstored.db.new", place / "kvstored.db"
        while process.poll() is None and not is_larger(draft, size * part // 4):
            pass
        process.kill()
        process.wait()
        if not target.exists():
            killed += 1
            if what == "backup":
                place.rename(tmp_path / f"broken-{part}")
            assert run(what, *names).returncode == 0
        with Server(place, APP, storage="sqlite") as server:
            assert notes_on(server, tmp_path / f"c{part}") == 1000
    assert killed > 0


def is_larger(file: Path, size: int) -> bool:
    """Tell whether there is a file of more bytes."""
    try:
        return file.stat().st_size > size
    except OSError:
        return False


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["backup"], 2, "--data DIR is missing"),
        (["backup", "--data", "data"], 2, "--to DIR is missing"),
        (["backup", "--data", "data", "--to", "x", "--from", "y"], 2, "unknown option --from"),
        (["backup", "--data", "none", "--to", "x"], 1, "there is no none/kvstored.db"),
        (["backup", "--data", "data", "--to", "full"], 1, "full is not empty"),
        (["backup", "--data", "foreign", "--to", "x"], 1, "cannot copy foreign/kvstored.db"),
        (["restore", "--data", "x", "--from", "none"], 1, "there is no none/kvstored.db"),
        (["restore", "--data", "data", "--from", "data"], 1, "exists"),
        (["restore", "--data", "x", "--from", "foreign"], 1, "cannot copy foreign/kvstored.db"),
    ],
)
def test_says_what_is_wrong(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    status: int,
    message: str,
) -> None:
    """And leaves alone what is there."""
    monkeypatch.chdir(tmp_path)
    with Server(Path("data"), APP, storage="sqlite"):
        pass
    for name in ("full", "foreign"):
        Path(name).mkdir()
        (Path(name) / "kvstored.db").write_text("somebody's text")
    done = run(*arguments)
    assert (done.returncode, message in done.stderr) == (status, True), done.stderr
    assert not Path("x", "kvstored.db").exists()
    assert Path("full", "kvstored.db").read_text() == "somebody's text"


def test_data_in_use_is_not_replaced(tmp_path: Path) -> None:
    """A server that runs keeps its directory."""
    copy = tmp_path / "copy"
    with Server(tmp_path / "data", APP, storage="sqlite"):
        assert run("backup", "--data", tmp_path / "data", "--to", copy).returncode == 0
        done = run("restore", "--data", tmp_path / "data", "--from", copy)
        assert done.returncode == 1
        assert "in use" in done.stderr
