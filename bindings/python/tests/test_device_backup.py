"""Copies of a device's data, made while programs use it."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Tool
from conftest import APP_KEY, open_client
from kvstored import Server

import kvstore

#: The directory of an app in a data directory: an underscore in its name is written out.
APP_DIRECTORY = APP_KEY.replace("_", "%5F")


def open_local(directory: Path, tag: str = "kinvey") -> kvstore.Client:
    return kvstore.Client(app_key=APP_KEY, host=None, data_directory=directory, tag=tag)


def ids(directory: Path, tag: str = "kinvey") -> list[str]:
    """Return the ids in a copy, which is opened as a data directory."""
    with open_local(directory, tag) as client, client.collection("notes") as notes:
        return sorted(note["_id"] for note in notes.find())


def test_a_copy_has_all_tags_and_pending_writes(tmp_path: Path) -> None:
    with open_local(tmp_path / "data") as client:
        client.collection("notes").save({"_id": "a"})
        client.collection("notes", tag="other").save({"_id": "b"})
        report = client.backup(tmp_path / "copy")
        client.collection("notes").save({"_id": "later"})
    assert report.tags == ["kinvey", "other"]
    assert report.bytes == sum(file.stat().st_size for file in (tmp_path / "copy").rglob("*.kvs"))
    assert ids(tmp_path / "copy") == ["a"]
    assert ids(tmp_path / "copy", "other") == ["b"]
    with open_local(tmp_path / "copy") as client:
        assert len(client.collection("notes").pending) == 1
    for file in (tmp_path / "copy").rglob("*.kvs"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in (tmp_path / "copy").iterdir()] == [APP_DIRECTORY]


def test_a_copy_replaces_nothing(tmp_path: Path) -> None:
    with open_local(tmp_path / "data") as client:
        client.collection("notes").save({"_id": "a"})
        for taken in (tmp_path / "data", tmp_path / "copy"):
            if taken.name == "copy":
                client.backup(taken)
            client.collection("notes").save({"_id": "b"})
            with pytest.raises(kvstore.ConflictError, match="replaces nothing"):
                client.backup(taken)
        # Another application's data is no obstacle.
        (tmp_path / "shared" / "another").mkdir(parents=True)
        client.backup(tmp_path / "shared")
        with pytest.raises(kvstore.InvalidError):
            client.backup("")
    assert ids(tmp_path / "copy") == ["a", "b"]
    assert ids(tmp_path / "data") == ["a", "b"]


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Give a process that saves pairs, each in one transaction, and prints their number."""
    program = f"""
import itertools, kvstore
client = kvstore.Client(app_key={APP_KEY!r}, host=None, data_directory={str(tmp_path / "data")!r},
                        durability="normal")
notes = client.collection("notes")
for number in itertools.count():
    with client.transaction() as changes:
        changes.save(notes, {{"_id": f"a{{number}}", "text": "x" * 500}})
        changes.save(notes, {{"_id": f"b{{number}}"}})
    print(number, flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout is not None
    # A pipe that is full would stop it.
    lines = process.stdout
    acknowledged: list[int] = []
    reading = threading.Thread(target=lambda: acknowledged.extend(map(int, lines)))
    assert lines.readline() == "0\n"
    reading.start()
    yield process
    process.kill()
    process.wait()
    reading.join()
    lines.close()


def test_a_copy_is_of_one_moment_while_another_process_writes(
    tmp_path: Path, writer: subprocess.Popen[str]
) -> None:
    sizes = []
    with open_local(tmp_path / "data") as client:
        notes = client.collection("notes")
        for number in range(10):
            mine = notes.save({"text": "mine"})["_id"]
            client.backup(tmp_path / f"copy{number}")
            there = ids(tmp_path / f"copy{number}")
            assert mine in there
            firsts = [each[1:] for each in there if each[0] == "a"]
            assert firsts == [each[1:] for each in there if each[0] == "b"]
            sizes.append(len(firsts))
    assert writer.poll() is None
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0]


def test_a_process_that_is_killed_leaves_no_copy_or_a_whole_one(tmp_path: Path) -> None:
    with open_local(tmp_path / "data") as client:
        notes = client.collection("notes")
        notes.save_many({"_id": f"{number:05}", "text": "x" * 1000} for number in range(5000))
    program = f"""
import itertools, kvstore
client = kvstore.Client(app_key={APP_KEY!r}, host=None, data_directory={str(tmp_path / "data")!r})
for number in itertools.count():
    print(number, flush=True)
    client.backup({str(tmp_path)!r} + f"/copy{{number}}")
"""
    turns, left = 0, 0
    # Most kills come while a copy is made, since they wait until one has begun.
    while turns < 10 or (left == 0 and turns < 100):
        turns += 1
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        for _ in range(turns % 3 + 1):
            number = int(process.stdout.readline())
        copy = tmp_path / f"copy{number}"
        while not copy.exists() or not any(copy.iterdir()):
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        for copy in tmp_path.glob("copy*"):
            for made in copy.glob(APP_DIRECTORY):
                if any(made.iterdir()):
                    assert len(ids(copy)) == 5000
            left += len(list(copy.glob(".*partial*")))
            subprocess.run(["rm", "-r", str(copy)], check=True)
    assert left > 0


def test_a_copy_that_does_not_fit_leaves_nothing(tmp_path: Path) -> None:
    program = f"""
import pathlib, kvstore
directory = pathlib.Path({str(tmp_path)!r})
client = kvstore.Client(app_key={APP_KEY!r}, host=None, data_directory=directory / "data")
notes = client.collection("notes")
notes.save_many({{"text": "x" * 1000}} for _ in range(1000))
try:
    client.backup(directory / "small" / "copy")
    print("it fits")
except kvstore.FullError:
    print(list((directory / "small" / "copy").iterdir()), notes.count())
client.close()
"""
    (tmp_path / "small").mkdir()
    script = 'mount -t tmpfs -o size=256k none "$1"; shift; exec "$@"'
    unshare = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-m"]
    command = [*unshare, "sh", "-ec", script, "sh", str(tmp_path / "small"), sys.executable, "-c"]
    done = subprocess.run([*command, program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[] 1000\n", "")


@pytest.mark.plain_file
def test_a_copy_is_another_device(server: Server, tmp_path: Path, unique: str) -> None:
    with open_client(server.host, tmp_path / "data") as client:
        user = client.signup(unique, "a password")
        notes = client.collection(unique)
        notes.save({"_id": unique + "-sent"})
        notes.push()
        notes.save({"_id": unique + "-pending"})
        client.backup(tmp_path / "copy")
        token = token_of(tmp_path / "data")
        assert token
        for file in (tmp_path / "copy").rglob("*"):
            assert file.is_dir() or token not in file.read_bytes()
        with open_client(server.host, tmp_path / "copy") as other:
            assert other.active_user is None
            # What is pending waits for its user.
            with pytest.raises(kvstore.PendingError):
                other.signup(unique + "-another", "a password")
            assert other.login(unique, "a password")["_id"] == user["_id"]
            copied = other.collection(unique)
            assert copied.push().pushed == 1
            assert copied.pull().pulled == 2
            other.logout()
        # The original has its session, and sends what the copy has sent: it is there once.
        assert client.active_user is not None
        assert notes.push().errors == []
        assert client.collection(unique, "network").count() == 2


def test_a_copy_does_not_repeat_what_the_original_has_sent(
    server: Server, tmp_path: Path, unique: str
) -> None:
    """An older write of a copy replaces nothing that was written since."""
    with open_client(server.host, tmp_path / "data") as client:
        client.signup(unique, "a password")
        notes = client.collection(unique)
        for id in ("changed", "deleted"):
            notes.save({"_id": id, "n": 1})
        notes.push()
        notes.save({"_id": "changed", "n": 2})
        notes.remove_by_id("deleted")
        client.backup(tmp_path / "copy")
        assert notes.push().pushed == 2
        there = client.collection(unique, "network")
        for id in ("changed", "deleted"):
            there.save({"_id": id, "n": 3})
        with open_client(server.host, tmp_path / "copy") as other:
            other.login(unique, "a password")
            copied = other.collection(unique)
            pushed = copied.push()
            assert (pushed.pushed, pushed.errors, pushed.overwritten) == (2, [], 0)
            copied.pull()
            assert {note["_id"]: note["n"] for note in copied.find()} == {
                "changed": 3,
                "deleted": 3,
            }
        assert {note["_id"]: note["n"] for note in there.find()} == {"changed": 3, "deleted": 3}


def test_a_device_that_is_brought_back_takes_what_is_newer(
    server: Server, tmp_path: Path, unique: str
) -> None:
    """What it has from before is no loss of the server's."""
    with open_client(server.host, tmp_path / "data") as client:
        client.signup(unique, "a password")
        notes = client.collection(unique)
        for id in ("changed", "deleted", "same"):
            notes.save({"_id": id, "n": 1})
        notes.sync()
        client.backup(tmp_path / "copy")
        notes.save({"_id": "changed", "n": 2})
        notes.save({"_id": "new", "n": 2})
        notes.remove_by_id("deleted")
        notes.sync()
    with open_client(server.host, tmp_path / "copy") as client:
        client.login(unique, "a password")
        notes = client.collection(unique)
        notes.sync()
        assert len(notes.pending) == 0
        there = {"changed": 2, "new": 2, "same": 1}
        assert {note["_id"]: note["n"] for note in notes.find()} == there


def test_a_copied_directory_is_another_device(server: Server, tmp_path: Path, unique: str) -> None:
    """Two devices with one identity, session included, lose nothing of each other."""
    with open_client(server.host, tmp_path / "data") as client:
        client.signup(unique, "a password")
        notes = client.collection(unique, delta_set=True)
        notes.save({"_id": "sent", "n": 1})
        notes.sync()
        notes.save({"_id": "both", "n": 1})
    shutil.copytree(tmp_path / "data", tmp_path / "copy")
    with (
        open_client(server.host, tmp_path / "data") as client,
        open_client(server.host, tmp_path / "copy") as other,
    ):
        assert client.active_user is not None
        assert other.active_user is not None
        devices = [one.collection(unique, delta_set=True) for one in (client, other)]
        for n, notes in enumerate(devices):
            notes.save({"_id": f"of {n}", "n": n})
            # A write that both have, and that one of them changes before it is sent.
            if n == 1:
                notes.save({"_id": "both", "n": 2})
            assert notes.sync().errors == []
        for notes in devices:
            notes.sync()
            assert {note["_id"]: note["n"] for note in notes.find()} == {
                "sent": 1,
                "both": 2,
                "of 0": 0,
                "of 1": 1,
            }
            assert len(notes.pending) == 0


def token_of(directory: Path) -> bytes:
    """Return the token of the session in a data directory; another process reads it."""
    file = directory / APP_DIRECTORY / "_session.kvs"
    program = f"""
import json, sqlite3
file = sqlite3.connect({str(file)!r})
row = file.execute("SELECT value FROM facts WHERE name LIKE 'user/%'").fetchone()
print(json.loads(row[0])["token"], end="")
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout


def test_the_tool_copies_and_brings_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_local(tmp_path / "data") as client:
        client.collection("notes").save({"_id": "a"})
        tool = Tool(tmp_path / "data", capsys, monkeypatch)
        made = tool("backup", str(tmp_path / "copy"), "--json").json
        assert made["tags"] == ["kinvey"]
        again = tool("backup", str(tmp_path / "copy"))
        assert again.code == 2
        assert "replaces nothing" in again.err
    new = Tool(tmp_path / "restored", capsys, monkeypatch)
    assert f"copied to {tmp_path / 'restored'}" in new("restore", str(tmp_path / "copy")).out
    assert ids(tmp_path / "restored") == ["a"]
    assert new("restore", str(tmp_path / "copy")).code == 2
    assert new("restore", str(tmp_path / "nothing")).code == 3
