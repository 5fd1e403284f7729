"""A server goes back to its backup, and five devices give back what it has lost.

    restore.py [DEVICES]

`make demo-restore` calls it. Devices write notes to a real kvstored, of which a backup is made in
the middle. Some notes are changed, added and deleted afterwards, all confirmed. Then the backup
takes the place of the server's data. The devices go on as every day, and read and push: with
`on_backend_reset="resend"` the server has all of it again; one device, with `"keep"`, lists what
it keeps and sends it when its user says so. Each number is checked.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

# Imported first, because it finds the binding and the server.
from run import WrongError, expect

# isort: split
import kvstore
from kvstored import PROGRAM, Server

APP = "kid_demo:secret"
#: How many notes each device writes before the backup, and after it.
NOTES = 20


class Device:
    """One person's device."""

    def __init__(self, server: Server, directory: Path, *, asks: bool) -> None:
        """Sign its user up. `asks`: what the server loses is kept until the user decides."""
        self.name = directory.name
        self.client = kvstore.Client(
            app_key="kid_demo",
            app_secret="secret",
            host=server.host,
            data_directory=directory,
            on_backend_reset="keep" if asks else "resend",
        )
        self.client.signup(self.name, "a password")
        self.notes = self.client.collection("notes", "sync")

    def write(self, kind: str, version: int) -> None:
        """Save notes, new ones or again, and have them confirmed."""
        self.notes.save_many(
            {"_id": f"{self.name}-{kind}-{number}", "version": version} for number in range(NOTES)
        )
        result = self.notes.push()
        if result.errors:
            raise WrongError(f"{self.name}: {result.errors[0]}")

    def delete(self, kind: str) -> None:
        """Delete notes, and have that confirmed."""
        for number in range(NOTES):
            self.notes.remove_by_id(f"{self.name}-{kind}-{number}")
        self.notes.push()

    @property
    def kept(self) -> list[str]:
        """List the notes that wait for a decision, because the server went back."""
        return [write.id for write in self.notes.pending if write.state == "backendWentBack"]


def expect_same(what: str, found: dict[str, int], wanted: dict[str, int]) -> None:
    """Fail unless notes are as expected."""
    wrong = sorted(id for id in found.keys() | wanted if found.get(id) != wanted.get(id))
    expect(what, [(id, found.get(id)) for id in wrong], [(id, wanted.get(id)) for id in wrong])


def tell(text: str) -> None:
    """Print a line of the story."""
    print(text, flush=True)


def play(directory: Path, count: int) -> None:
    """Let the story happen."""
    data, copy = directory / "server", directory / "backup"
    with Server(data, APP, storage="sqlite") as server, ExitStack() as stack:
        devices = [
            Device(server, directory / f"device{number}", asks=number == 0)
            for number in range(count)
        ]
        for device in devices:
            stack.enter_context(device.client)
            for kind in ("changed", "deleted", "same"):
                device.write(kind, 1)
        tell(f"{count} devices have written {3 * NOTES} notes each")
        run("backup", "--data", data, "--to", copy)
        for device in devices:
            device.write("changed", 2)
            device.write("new", 2)
            device.delete("deleted")
        confirmed = on_the_server(devices[0])
        tell(f"after the backup {NOTES} were changed, added and deleted on each: all is confirmed")
        server.kill()
        data.rename(directory / "lost")
        run("restore", "--data", data, "--from", copy)
        server.start()
        expect("notes on the restored server", count_on(devices[1]), 3 * NOTES * count)
        for device in devices:
            device.notes.sync()
        expect("notes that the first device lists", len(devices[0].kept), 3 * NOTES)
        tell(f"one device lists {3 * NOTES} changes that the server has lost; its user sends them")
        for id in devices[0].kept:
            devices[0].notes.pending.retry(id)
        for device in devices * 2:
            device.notes.sync()
        for device in devices:
            if list(device.notes.pending):
                raise WrongError(f"{device.name} still has pending writes")
            here = {note["_id"]: note["version"] for note in device.notes.find()}
            expect_same(f"notes of {device.name}", here, confirmed)
        expect_same("notes on the server", on_the_server(devices[0]), confirmed)
        tell(f"the server has all {len(confirmed)} notes again, each once and as it was")


def on_the_server(device: Device) -> dict[str, int]:
    """Give the versions of the notes that the server has."""
    network = device.client.collection("notes", "network")
    return {note["_id"]: note["version"] for note in network.find()}


def count_on(device: Device) -> int:
    """Count the server's notes."""
    return device.client.collection("notes", "network").count()


def run(*arguments: str | Path) -> None:
    """Run kvstored for one of its commands."""
    subprocess.run([PROGRAM, *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def main(arguments: list[str]) -> int:
    """Give 0 if everything is as it should be."""
    count = int(arguments[0]) if arguments else 5
    with tempfile.TemporaryDirectory(prefix="kvstore-demo-") as directory:
        try:
            play(Path(directory), count)
        except (WrongError, kvstore.KVError) as error:
            print(f"FAILED: {error}")
            return 1
    print("PASSED")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
