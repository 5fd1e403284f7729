"""Devices and servers whose clocks are wrong: nothing that was acknowledged is lost or doubled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import pytest
from kvstored import PROGRAM, Server

DAY = 86_400
HERE = Path(__file__).resolve().parent

#: A device: it evaluates what it reads, line by line.
PROGRAM_OF_A_DEVICE = """
import json, sys
import kvstore
host, directory, name, reset = sys.argv[1:]
client = kvstore.Client(app_key="kid", app_secret="secret", host=host, data_directory=directory,
                        on_backend_reset=reset, retries=0)
try:
    client.login("ana", "password")
except kvstore.KVError:
    client.signup("ana", "password")
notes = client.collection("notes", "sync", delta_set=True)

def put(id, n):
    notes.save({"_id": id, "n": n})

def push():
    result = notes.push()
    return [result.pushed, len(result.errors)]

def sync():
    return len(notes.sync().errors)

def here():
    return {note["_id"]: note["n"] for note in notes.find()}

def states():
    return {write.id: [write.operation, write.state] for write in notes.pending}

print("ready", flush=True)
for line in sys.stdin:
    print(json.dumps(eval(line)), flush=True)
client.close()
"""


class Device:
    """A process with a client, whose clock may be wrong."""

    def __init__(
        self, server: Server, directory: Path, clock: dict[str, str], reset: str = "resend"
    ) -> None:
        arguments = [server.host, str(directory), directory.name, reset]
        self._process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM_OF_A_DEVICE, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | clock,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def __call__(self, *lines: str) -> Any:
        """Evaluate lines; give the result of the last one."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        result = None
        for line in lines:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            result = json.loads(self._process.stdout.readline())
        return result

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], dict[str, str]]:
    """Return a function that gives the environment of a process whose clock is wrong by seconds."""
    library = tmp_path_factory.mktemp("clock") / "wrong_clock.so"
    flags = ["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    source = HERE / "wrong_clock.c"
    subprocess.run(["gcc", *flags, str(source), "-o", str(library)], check=True)
    return lambda offset: {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset)}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(
        tmp_path / "server", "kid:secret", "--delta-days", "10", storage="sqlite"
    ) as server:
        yield server


def test_clocks_of_devices_decide_nothing(
    server: Server, tmp_path: Path, clock: Callable[[int], dict[str, str]]
) -> None:
    with ExitStack() as stack:
        fast, slow, right = (
            stack.enter_context(Device(server, tmp_path / name, clock(offset)))
            for name, offset in (("fast", 400 * DAY), ("slow", -400 * DAY), ("right", 0))
        )
        assert fast("put('a', 1)", "put('deleted', 1)", "push()") == [2, 0]
        # The later write wins, whatever the clock of its device says.
        assert slow("sync()", "put('a', 2)", "notes.remove_by_id('deleted')", "push()") == [2, 0]
        assert fast("sync()", "here()") == {"a": 2}
        # What was deleted can be made again, and is deleted again.
        assert fast("put('deleted', 3)", "push()") == [1, 0]
        assert slow("sync()", "here()") == {"a": 2, "deleted": 3}
        assert slow("notes.remove_by_id('deleted')", "sync()") == 0
        # Both add to the same number.
        add = "notes.update({'_id': 'a'}, {'$inc': {'n': 10}}).modified"
        for device in (fast, slow, right):
            assert device("sync()", add) == 1
        for device in (fast, slow, right):
            assert device("push()") == [1, 0]
        for device in (fast, slow, right):
            assert device("sync()", "here()") == {"a": 32}
            assert device("states()") == {}


def test_a_device_whose_clock_is_set_right_again(
    server: Server, tmp_path: Path, clock: Callable[[int], dict[str, str]]
) -> None:
    """Its queue and what it knows of deletions are of another time."""
    with Device(server, tmp_path / "a", clock(400 * DAY)) as device:
        assert device("put('a', 1)", "put('deleted', 1)", "sync()") == 0
        assert device("notes.remove_by_id('deleted')", "sync()") == 0
        device("put('a', 2)")
        add = "notes.update({'_id': 'a'}, {'$inc': {'n': 10}}).modified"
        device("put('waiting', 1)", add)
    with (
        Device(server, tmp_path / "a", clock(0)) as device,
        Device(server, tmp_path / "b", clock(0)) as other,
    ):
        assert other("sync()", "here()") == {"a": 1}
        assert device("put('later', 1)", "push()") == [3, 0]
        assert device("sync()", "here()") == {"a": 12, "waiting": 1, "later": 1}
        assert other("sync()", "here()") == {"a": 12, "waiting": 1, "later": 1}


@pytest.mark.parametrize("reset", ["keep", "resend"])
@pytest.mark.parametrize("offset", [-400 * DAY, 5 * DAY])
def test_a_server_that_goes_back_with_another_clock(
    tmp_path: Path,
    clock: Callable[[int], dict[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    offset: int,
    reset: str,
) -> None:
    """The clock of the server was wrong, and is right when its backup is put back."""
    data, copy = tmp_path / "server", tmp_path / "copy"
    with (
        Server(data, "kid:secret", "--delta-days", "10", storage="sqlite") as server,
        Device(server, tmp_path / "a", clock(0), reset) as device,
        Device(server, tmp_path / "b", clock(0), reset) as other,
    ):
        for id in ("changed", "both", "deleted", "same"):
            device(f"put({id!r}, 1)")
        assert device("sync()") == 0
        other("sync()")
        _run("backup", "--data", data, "--to", copy)
        server.stop()
        with monkeypatch.context() as changed:
            for name, value in clock(offset).items():
                changed.setenv(name, value)
            server.start()
        for id in ("changed", "both", "new"):
            device(f"put({id!r}, 2)")
        assert device("notes.remove_by_id('deleted')", "sync()") == 0
        server.stop()
        data.rename(tmp_path / "lost")
        _run("restore", "--data", data, "--from", copy)
        server.start()
        # Another device changes one of them before the first one has read, or knows.
        assert other("put('both', 5)", "sync()") == 0
        device("sync()", "sync()")
        there = {"changed": 2, "both": 5, "new": 2, "same": 1}
        conflict = {"both": ["update", "backendWentBack"]}
        if reset == "resend":
            assert device("states()") == conflict
        else:
            assert device("states()") == {
                **conflict,
                "changed": ["update", "backendWentBack"],
                "new": ["create", "backendWentBack"],
                "deleted": ["delete", "backendWentBack"],
            }
            device("[notes.pending.retry(id) for id in ('changed', 'new', 'deleted')]")
        assert device("here()") == {**there, "both": 2}
        assert other("sync()", "here()") == there
        assert other("states()") == {}


def _run(*arguments: str | Path) -> None:
    subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, timeout=60)
