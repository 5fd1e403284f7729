"""A server that is put back from a copy, and devices that have what it has lost."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest
from command_line import Tool
from kvstored import PROGRAM, Server, until
from postgres import sql

import kvstore

APP = "kid:secret"
SECONDS = 60
NAMES = ("ana", "bea", "cid")

Reset = Literal["keep", "resend", "accept"]


class Copied:
    """A server whose data can be copied and put back, in SQLite or PostgreSQL."""

    def __init__(self, directory: Path) -> None:
        """Start the server."""
        self.data, self.copy = directory / "data", directory / "copy"
        self.server = Server(self.data, APP, "--delta-days", "10")

    def back_up(self) -> None:
        """Copy the data while the server runs."""
        if self.server.storage is None:
            _run("backup", "--data", self.data, "--to", self.copy)
        else:
            self._copy_schema(self._schema, f"{self._schema}_copy")

    def put_back(self) -> None:
        """Put the copy in the place of the data."""
        self.server.stop()
        if self.server.storage is None:
            restored = self.data.with_name("restored")
            _run("restore", "--data", restored, "--from", self.copy)
            self.data.rename(self.data.with_name("lost"))
            restored.rename(self.data)
            self.server.start()
        else:
            self._copy_schema(f"{self._schema}_copy", self._schema)
            self.server.start("--restored")

    @property
    def _schema(self) -> str:
        return str(self.server.storage).rpartition("%3D")[2]

    def _copy_schema(self, source: str, target: str) -> None:
        address = str(self.server.storage).rpartition("options=")[0][:-1]
        dump = subprocess.run(
            ["pg_dump", "--schema", source, "--no-owner", address],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=True,
        ).stdout
        sql(address, f"DROP SCHEMA IF EXISTS {target} CASCADE")
        restore = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", address]
        subprocess.run(
            restore,
            input=dump.replace(source, target),
            text=True,
            timeout=SECONDS,
            check=True,
            stdout=subprocess.DEVNULL,
        )


def _run(*arguments: str | Path) -> None:
    command = [PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr


class Device:
    """A device whose notes the tests look at."""

    def __init__(self, server: Server, directory: Path, reset: Reset) -> None:
        """Open a client; its user logs in."""
        self.client = kvstore.Client(
            app_key="kid",
            app_secret="secret",
            host=server.host,
            data_directory=directory,
            on_backend_reset=reset,
            retries=0,
        )
        try:
            self.client.login("ana", "password")
        except kvstore.KVError:
            self.client.signup("ana", "password")
        self.notes = self.client.collection("notes", "sync", delta_set=True)

    def put(self, id: str, n: int) -> None:
        """Save a note and push it."""
        self.notes.save({"_id": id, "n": n})
        assert not self.notes.push().errors

    def delete(self, id: str) -> None:
        """Delete a note and push that."""
        self.notes.remove_by_id(id)
        assert not self.notes.push().errors

    @property
    def here(self) -> dict[str, int]:
        """Give what the device has."""
        return {note["_id"]: note["n"] for note in self.notes.find()}

    @property
    def states(self) -> dict[str, tuple[str, str]]:
        """Give the pending writes."""
        return {write.id: (write.operation, write.state) for write in self.notes.pending}


Start = Callable[[Reset], tuple[Copied, list[Device]]]


@pytest.fixture
def three_devices(tmp_path: Path) -> Iterator[Start]:
    """Give a function that opens a server and three devices of its user."""
    opened: list[Device] = []
    servers: list[Server] = []

    def start(reset: Reset) -> tuple[Copied, list[Device]]:
        copied = Copied(tmp_path)
        servers.append(copied.server)
        opened.extend(Device(copied.server, tmp_path / name, reset) for name in NAMES)
        return copied, opened

    yield start
    for device in opened:
        device.client.close()
    for server in servers:
        server.stop()


def lose(copied: Copied, ana: Device, bea: Device, cid: Device) -> None:
    """Confirm changes of three devices that the server loses then."""
    for id in ("changed", "deleted", "same", "early"):
        ana.put(id, 1)
    for device in (bea, cid):
        device.notes.pull()
    # This one is gone for good, although one device does not know it yet.
    bea.delete("early")
    copied.back_up()
    ana.put("changed", 2)
    ana.put("of ana", 2)
    bea.notes.pull()
    bea.put("of bea", 2)
    bea.delete("deleted")
    copied.put_back()


def test_what_was_confirmed_is_listed_and_decided(three_devices: Start) -> None:
    """Nothing that a device has goes with the server's data."""
    copied, (ana, bea, cid) = three_devices("keep")
    events: list[kvstore.SyncEvent] = []
    bea.client.observe_sync(events.append)
    lose(copied, ana, bea, cid)
    for device in (ana, bea, cid):
        device.notes.pull()
    lost = ("update", "backendWentBack")
    # The server has none of these.
    missing = ("create", "backendWentBack")
    assert ana.states == {"changed": lost, "of ana": missing}
    assert bea.states == {
        "changed": lost,
        "of ana": missing,
        "of bea": missing,
        "deleted": ("delete", "backendWentBack"),
    }
    assert cid.states == {}
    assert bea.here == {"changed": 2, "same": 1, "of ana": 2, "of bea": 2}
    assert cid.here == {"changed": 1, "deleted": 1, "same": 1}
    assert bea.client.status().quarantined == 4
    for write in list(bea.notes.pending):
        bea.notes.pending.retry(write.id)
    ana.notes.pending.revert("of ana")
    for device in (ana, cid):
        device.notes.pull()
    for device in (ana, bea, cid):
        assert device.states == {}
        assert device.here == {"changed": 2, "same": 1, "of ana": 2, "of bea": 2}
    lost_ids = {"changed", "of ana", "of bea", "deleted"}
    until(lambda: {one["id"] for one in told(events)} == lost_ids)


def told(events: list[kvstore.SyncEvent]) -> list[dict[str, Any]]:
    """Give the entities of the events."""
    return [
        entity
        for event in events
        if event.event == "backendWentBack"
        for entity in event.members["entities"]
    ]


def test_what_was_confirmed_is_sent_again(three_devices: Start) -> None:
    """The server has it again, once, whichever device comes first."""
    copied, all_devices = three_devices("resend")
    lose(copied, *all_devices)
    for device in all_devices:
        device.notes.pull()
    for device in all_devices:
        assert not device.notes.push().errors
    for device in all_devices:
        device.notes.pull()
        assert device.states == {}
        assert device.here == {"changed": 2, "same": 1, "of ana": 2, "of bea": 2}


def test_what_was_confirmed_is_given_up(three_devices: Start) -> None:
    """The devices have what the server has."""
    copied, all_devices = three_devices("accept")
    lose(copied, *all_devices)
    for device in all_devices:
        device.notes.sync()
        assert device.states == {}
        assert device.here == {"changed": 1, "deleted": 1, "same": 1}


def test_a_device_and_its_copy_send_it_once(tmp_path: Path) -> None:
    """Two devices with one identity have lost the same, and each changes something."""
    copied = Copied(tmp_path)
    try:
        ana = Device(copied.server, tmp_path / "ana", "resend")
        for id in ("changed", "deleted", "same"):
            ana.put(id, 1)
        copied.back_up()
        ana.put("changed", 2)
        ana.put("new", 2)
        ana.delete("deleted")
        ana.client.close()
        shutil.copytree(tmp_path / "ana", tmp_path / "twin")
        copied.put_back()
        with ExitStack() as stack:
            devices = [
                stack.enter_context(
                    kvstore.Client(
                        app_key="kid",
                        app_secret="secret",
                        host=copied.server.host,
                        data_directory=tmp_path / name,
                        on_backend_reset="resend",
                        retries=0,
                    )
                ).collection("notes", "sync", delta_set=True)
                for name in ("ana", "twin")
            ]
            for number, notes in enumerate(devices):
                notes.pull()
                notes.save({"_id": f"of {number}", "n": number})
            for notes in devices:
                assert not notes.push().errors
            for notes in devices:
                notes.pull()
                assert list(notes.pending) == []
                assert {note["_id"]: note["n"] for note in notes.find()} == {
                    "changed": 2,
                    "new": 2,
                    "same": 1,
                    "of 0": 0,
                    "of 1": 1,
                }
    finally:
        copied.server.stop()


def test_the_tool_lists_and_decides(
    three_devices: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """What was kept can be seen, sent again and given up without a program."""
    copied, (ana, bea, cid) = three_devices("keep")
    lose(copied, ana, bea, cid)
    monkeypatch.setenv("KVSTORE_APP_SECRET", "secret")
    monkeypatch.setenv("KVSTORE_PASSWORD", "password")
    tool = Tool(tmp_path / "bea", capsys, monkeypatch, "--app", "kid", "--host", copied.server.host)
    assert tool("pull", "notes").code == 0
    assert tool("import", "notes", stdin='{"_id": "waiting", "n": 1}\n').code == 0
    listed = tool("pending", "list", "--state", "backendWentBack", "--json").json
    assert {row["id"]: row["operation"] for row in listed} == {
        "changed": "update",
        "of ana": "create",
        "of bea": "create",
        "deleted": "delete",
    }
    assert tool("collections", "--json").json[0]["quarantined"] == 4
    shown = tool("pending", "show", "notes", "changed").out
    assert "went back" in shown
    reverting = ("pending", "revert", "notes", "of ana", "--yes")
    assert tool(*reverting).code == 0
    retried = tool("pending", "retry", "notes", "--all", "--state", "backendWentBack")
    assert retried.out == "3 writes sent.\n"
    # What only waits was not chosen.
    assert [row["id"] for row in tool("pending", "--json").json] == ["waiting"]
    cid.notes.pull()
    assert cid.here == {"changed": 2, "same": 1, "of bea": 2}


def test_the_tool_adopts_the_data_of_an_account_that_is_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """A user signs up again and goes on with what the device has."""
    copied = Copied(tmp_path)
    try:
        copied.back_up()
        with kvstore.Client(
            app_key="kid",
            app_secret="secret",
            host=copied.server.host,
            data_directory=tmp_path / "device",
        ) as client:
            client.signup("ana", "password")
            notes = client.collection("notes", "sync")
            notes.save({"_id": "sent", "n": 1})
            notes.push()
            notes.save({"_id": "waiting", "n": 1})
        copied.put_back()
        monkeypatch.setenv("KVSTORE_APP_SECRET", "secret")
        monkeypatch.setenv("KVSTORE_PASSWORD", "password")
        common = ("--app", "kid", "--host", copied.server.host)
        tool = Tool(tmp_path / "device", capsys, monkeypatch, *common)
        refused = tool("signup", "ana")
        assert refused.code != 0
        assert "adopt" in refused.err
        assert tool("signup", "ana", "--adopt").code == 0
        assert tool("push", "notes").code == 0
        assert tool("pull", "notes").code == 0
        assert tool("pending", "retry", "notes", "--all").out == "1 write sent.\n"
        assert len(tool("find", "notes", "--json").json) == 2
    finally:
        copied.server.stop()
