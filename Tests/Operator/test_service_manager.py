"""What systemd is told: readiness, reloads, the end, and that the server works."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from kvstored import PROGRAM


class Manager:
    """Stands where systemd stands: a socket for datagrams."""

    def __init__(self, address: str) -> None:
        """Listen."""
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(60)
        self.socket.bind(address.replace("@", "\0"))

    def next(self, ignored: str = "WATCHDOG=1") -> list[str]:
        """Give the lines of the next message that is another one."""
        while True:
            lines = self.socket.recv(4096).decode().split("\n")
            if lines != [ignored]:
                return lines


@pytest.fixture(params=["file", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    """Give a manager."""
    name = f"@kvstored-{os.getpid()}" if request.param == "abstract" else str(tmp_path / "notify")
    manager = Manager(name)
    yield manager
    manager.socket.close()


def start(manager: Manager, data: Path, **environment: str) -> subprocess.Popen[bytes]:
    """Start a server as systemd does."""
    return subprocess.Popen(
        [PROGRAM, "--data", str(data), "--listen", "127.0.0.1:0", "--access-log", "off"],
        env={**os.environ, "NOTIFY_SOCKET": manager.address, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_readiness_reload_and_end_are_told(manager: Manager, tmp_path: Path) -> None:
    with start(manager, tmp_path / "data") as process:
        assert manager.next() == ["READY=1"]
        process.send_signal(signal.SIGHUP)
        reloading, time = manager.next()
        assert reloading == "RELOADING=1"
        assert int(time.removeprefix("MONOTONIC_USEC=")) > 0
        assert manager.next() == ["READY=1"]
        process.terminate()
        assert manager.next() == ["STOPPING=1"]
        assert process.wait() == 0


def test_the_watchdog_is_told_that_the_server_works(manager: Manager, tmp_path: Path) -> None:
    with start(manager, tmp_path / "data", WATCHDOG_USEC="100000") as process:
        assert manager.next() == ["READY=1"]
        for _ in range(3):
            assert manager.next(ignored="") == ["WATCHDOG=1"]
        process.terminate()


def test_a_watchdog_of_another_process_is_not(manager: Manager, tmp_path: Path) -> None:
    with start(manager, tmp_path / "data", WATCHDOG_USEC="1000", WATCHDOG_PID="1") as process:
        assert manager.next(ignored="") == ["READY=1"]
        process.terminate()
        assert manager.next(ignored="") == ["STOPPING=1"]
