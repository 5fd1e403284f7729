"""Plays the story of the inspection program on two devices, with a server that fails."""

from __future__ import annotations

import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Self

import kvstore
import pytest

EXAMPLES = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(EXAMPLES.parent / "scripts"))

from kvstored import Server  # noqa: E402

COLLECTIONS = ("workOrders", "inspections", "readings", "parts")
#: How many readings, and how many parts, each technician has in the burst.
BURST = 20


class Device:
    """The program in a terminal of its own, whose data stays when it is started again."""

    def __init__(self, program: list[str], username: str, server: Server, folder: Path) -> None:
        self.data = folder / username
        self._command = [*program, username, server.host, str(self.data)]
        self.start()

    def start(self) -> None:
        """Start the program."""
        self._process = subprocess.Popen(
            self._command,
            env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent / "bindings/python/src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._shown: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(line)
        self._lines.put(None)

    def enter(self, *commands: str) -> None:
        """Type commands, and do not wait for them."""
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{command}\n" for command in commands))
        self._process.stdin.flush()

    def do(self, *commands: str) -> None:
        """Type commands, and wait until each is done."""
        for command in commands:
            before = len(self._shown)
            self.enter(command)
            self.expect(re.escape(f"done: {command}"), since=before)

    def expect(self, *patterns: str, since: int = 0) -> re.Match[str]:
        """Wait until each pattern is in a line; give the match of the last one."""
        found = None
        for pattern in patterns:
            place = since
            while not (found := self._search(pattern, place)):
                place = len(self._shown)
                self._shown.append(self._next_line(pattern))
        assert found is not None
        return found

    def _next_line(self, pattern: str) -> str:
        try:
            line = self._lines.get(timeout=60)
        except queue.Empty:
            pytest.fail(f"no line has {pattern!r}: {self._shown}")
        assert line is not None, f"the program has ended: {self._shown}"
        assert not line.startswith("error: "), [*self._shown, line]
        return line

    def _search(self, pattern: str, since: int) -> re.Match[str] | None:
        matches = (re.search(pattern, line) for line in self._shown[since:])
        return next((match for match in matches if match), None)

    def kill(self) -> None:
        """End the program as the system does when it needs the memory."""
        self._process.kill()
        self._end()

    def quit(self) -> None:
        """End the program as its user does."""
        self.enter("quit")
        assert self._end() == 0

    def _end(self) -> int:
        status = self._process.wait(timeout=60)
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        return status

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.returncode is None:
            self.kill()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Yield a server for the app of the examples."""
    with Server(tmp_path / "server", "kid_demo:secret") as server:
        yield server


@pytest.fixture
def devices(
    request: pytest.FixtureRequest, server: Server, tmp_path: Path
) -> Iterator[tuple[Device, Device]]:
    """Yield the devices of Ana and Ben, in the languages of the test."""
    with ExitStack() as stack:
        ana, ben = (
            stack.enter_context(Device(PROGRAMS[language](tmp_path), name, server, tmp_path))
            for language, name in zip(request.param, ("ana", "ben"), strict=True)
        )
        yield ana, ben


def python(_: Path) -> list[str]:
    return [sys.executable, str(EXAMPLES / "inspection" / "inspection.py")]


def go(folder: Path) -> list[str]:
    program = folder / "inspection"
    command = ["go", "build", "-o", str(program), "./inspection"]
    subprocess.run(command, cwd=EXAMPLES / "go", check=True)
    return [str(program)]


PROGRAMS: dict[str, Callable[[Path], list[str]]] = {"python": python, "go": go}
LANGUAGES = [("python", "python"), ("go", "go"), ("python", "go")]


@pytest.mark.parametrize("devices", LANGUAGES, ids="-".join, indirect=True)
def test_two_technicians_work_while_server_and_programs_fail(
    devices: tuple[Device, Device], server: Server, tmp_path: Path
) -> None:
    ana, ben = devices
    for device in devices:
        device.expect(*(f"{name} is current" for name in COLLECTIONS))
    share_an_order(ana, ben)
    mend_a_refused_change(ana, ben)

    server.stop()
    for device in devices:
        device.expect(*(f"{name} is offline" for name in COLLECTIONS))
    work_offline(ana, ben)
    server.start()
    for device in devices:
        device.expect(
            "order WO-17: Boiler room, status=done, contact=Ms Lee",
            "inspection I-1: boiler, verdict=fail, comments=clean; leaks",
            "part fuse: 93 left, taken 4 times",
        )
    mend_a_refused_reading(ana, ben)

    work_while_the_server_is_killed(ana, ben, server)
    for device in devices:
        device.do("sent", "report")
        device.expect(
            rf"I-1\s+pressure\s+{2 * BURST}\s+0(\.0)?\s+{2 * BURST - 1}(\.0)?$",
            r"I-1\s+temperature\s+2\s+20\.5\s+71\.5$",
        )
        device.quit()
    check_all_data(ana, ben, server, tmp_path)


def share_an_order(ana: Device, ben: Device) -> None:
    ana.do('order WO-17 "Boiler room"', "crew WO-17 ben")
    ben.expect("remote: order WO-17: Boiler room, status=open")
    ana.do("inspect I-1 WO-17 boiler", "part fuse WO-17 100")
    ben.expect("remote: inspection I-1: boiler, verdict=none", "remote: part fuse: 100 left")
    ben.do("read I-1 temperature 71.5 13.4 52.5")
    ana.expect(r"remote: reading \w+: temperature=71.5 of I-1")


def mend_a_refused_change(ana: Device, ben: Device) -> None:
    """Ben may see the order and not change it, until Ana lets him."""
    ana.do("order WO-18 Roof", "show WO-18 ben")
    ben.expect("remote: order WO-18: Roof, status=open")
    ben.do("status WO-18 done")
    ben.expect("refused WO-18: .*InsufficientCredentials")
    ben.do("refused")
    ben.expect("update WO-18 is refused")
    ana.do("crew WO-18 ben", "sent")
    ben.do("retry WO-18")
    ana.expect("remote: order WO-18: Roof, status=done")


def work_offline(ana: Device, ben: Device) -> None:
    """Both change the same entities; Ben's program is killed, too, and starts without a server."""
    ana.do("status WO-17 done", "judge I-1 pass clean", "take fuse 1", "take fuse 1")
    ben.do('contact WO-17 "Ms Lee"', "judge I-1 fail leaks", "take fuse 2")
    ben.kill()
    ben.start()
    ben.do("take fuse 3", "read I-1 temperature 20.5 13.4 520.5")


def mend_a_refused_reading(ana: Device, ben: Device) -> None:
    """Ben has mistyped a place."""
    id = ben.expect(r"refused (\w+): .*ParameterValueOutOfRange")[1]
    ben.do("refused")
    ben.expect(f"create {id} is refused")
    ben.do(f"place {id} 13.4 52.5")
    ana.expect(f"remote: reading {id}: temperature=20.5 of I-1")


def work_while_the_server_is_killed(ana: Device, ben: Device, server: Server) -> None:
    """What is on its way when the server dies arrives once."""
    for device, numbers in ((ana, range(BURST)), (ben, range(BURST, 2 * BURST))):
        for number in numbers:
            device.enter("take fuse 1", f"read I-1 pressure {number} 13.4 52.5")
    ana.expect(r"remote: reading \w+: pressure=")
    server.kill()
    ana.expect(f"done: read I-1 pressure {BURST - 1} ")
    ben.expect(f"done: read I-1 pressure {2 * BURST - 1} ")
    server.start()
    for device in (ana, ben):
        device.expect(f"remote: part fuse: {93 - 2 * BURST} left, taken {4 + 2 * BURST} times")
        device.expect(*(rf"remote: reading \w+: pressure={each} of" for each in range(2 * BURST)))


def check_all_data(ana: Device, ben: Device, server: Server, folder: Path) -> None:
    """Server and devices have the same, and it is what was done."""
    stored = read_server(server, "ana", folder / "look-ana")
    assert read_server(server, "ben", folder / "look-ben") == stored
    assert read_device(ana, server) == stored
    assert read_device(ben, server) == stored

    orders = {id: (each["status"], each["contact"]) for id, each in stored["workOrders"].items()}
    assert orders == {"WO-17": ("done", "Ms Lee"), "WO-18": ("done", "")}
    [inspection] = stored["inspections"].values()
    assert inspection["verdict"] == "fail"
    assert sorted(inspection["comments"]) == ["clean", "leaks"]
    [part] = stored["parts"].values()
    assert part["left"] == 93 - 2 * BURST
    taken = ["1 by ana"] * (2 + BURST) + ["1 by ben"] * BURST + ["2 by ben", "3 by ben"]
    assert sorted(part["taken"]) == taken
    readings = [(each["quantity"], each["value"]) for each in stored["readings"].values()]
    pressures = [("pressure", number) for number in range(2 * BURST)]
    assert sorted(readings) == [*pressures, ("temperature", 20.5), ("temperature", 71.5)]


Data = dict[str, dict[str, kvstore.Entity]]


def read_server(server: Server, username: str, directory: Path) -> Data:
    """Give what a user may read, by collection and id."""
    with open_client(server, directory) as client:
        client.login(username, "a password")
        for name in COLLECTIONS:
            client.collection(name).pull()
        return read_all(client)


def read_device(device: Device, server: Server) -> Data:
    """Give what a device has, where nothing may wait any more."""
    with open_client(server, device.data) as client:
        assert client.status().pending == 0
        return read_all(client)


def open_client(server: Server, directory: Path) -> kvstore.Client:
    return kvstore.Client(
        app_key="kid_demo", app_secret="secret", host=server.host, data_directory=directory
    )


def read_all(client: kvstore.Client) -> Data:
    return {
        name: {entity["_id"]: entity for entity in client.collection(name).find()}
        for name in COLLECTIONS
    }
