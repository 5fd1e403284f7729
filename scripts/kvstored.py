"""A real ``kvstored`` for tests, examples and the demo."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Self

from ports import hold_port
from postgres import sql

CHECKOUT = Path(__file__).resolve().parents[1]
PROGRAM = os.environ.get("KVSTORED", str(CHECKOUT / "build" / "bin" / "kvstored"))


def usual_storage(data: Path) -> str:
    """Give where a server keeps its data unless the caller says it.

    That is SQLite, or, with KVSTORED_TEST_STORAGE=postgres in the environment, the database of
    KVSTORED_TEST_POSTGRES: there each data directory has a schema.
    """
    if os.environ.get("KVSTORED_TEST_STORAGE") != "postgres":
        return "sqlite"
    address = os.environ["KVSTORED_TEST_POSTGRES"]
    schema = "data_" + hashlib.sha256(bytes(data.resolve())).hexdigest()[:32]
    sql(address, f"CREATE SCHEMA IF NOT EXISTS {schema}")
    return f"{address}{'&' if '?' in address else '?'}options=-csearch_path%3D{schema}"


def until(condition: Callable[[], bool]) -> None:
    """Wait for what a server does in its own time."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


class Server:
    """A server process with a data directory; stopped and started again it keeps its port."""

    def __init__(
        self, data: Path, app: str | None, *options: str, storage: str | None = None
    ) -> None:
        """Start a server for an app, such as "key:secret"; None: a file names the apps.

        `storage`: "sqlite", for what concerns the files of the data directory, or the address of a
        PostgreSQL database.
        """
        # Tests sign up many users from one address, with short passwords, and change them as
        # original SDKs do.
        habits = (
            *("--password-length", "1"),
            *("--signups-per-hour", "0"),
            *("--collections-per-hour", "0"),
            *("--change-password-by-session", "--insecure-secrets"),
        )
        self._options = (*habits, "--storage", storage or usual_storage(data), *options)
        self._data = data
        self._app = app
        self._process: subprocess.Popen[str] | None = None
        self._reader: threading.Thread | None = None
        self._port = hold_port()
        self._scheme = "http"
        self.start()

    @property
    def host(self) -> str:
        """Give the address for a client."""
        return f"{self._scheme}://127.0.0.1:{self._port}"

    @property
    def pid(self) -> int:
        """Give the number of the process."""
        assert self._process is not None
        return self._process.pid

    @property
    def storage(self) -> str | None:
        """Give the address of the PostgreSQL database; None: the data is in SQLite."""
        last = max(place for place, name in enumerate(self._options) if name == "--storage")
        address = self._options[last + 1]
        return None if address == "sqlite" else address

    def start(self, *once: str) -> None:
        """Start the server and wait until it listens; `once`: options for this start alone."""
        process = subprocess.Popen(
            [
                PROGRAM,
                *("--data", str(self._data)),
                *("--listen", f"127.0.0.1:{self._port}"),
                *(("--app", self._app) if self._app else ()),
                *self._options,
                *once,
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self._process = process
        output = process.stdout or iter(())
        log = []
        for line in output:
            log.append(line)
            if found := re.search(r"listening on (\w+)://.*:(\d+)", line):
                # Of several options --listen the last one counts, which may be the caller's.
                self._scheme, self._port = found[1], int(found[2])
                # A pipe that nobody reads would stop the server once it is full.
                self._reader = threading.Thread(target=deque, args=(output, 0))
                self._reader.start()
                return
        self._end("kill")
        raise RuntimeError("kvstored did not start:\n" + "".join(log))

    def hang_up(self) -> None:
        """Send SIGHUP."""
        if self._process is not None:
            self._process.send_signal(signal.SIGHUP)

    def kill(self) -> None:
        """Kill the server at once: from now on connections are refused."""
        self._end("kill")

    def stop(self) -> None:
        """Stop the server in its own time."""
        self._end("terminate")

    def _end(self, how: str) -> None:
        process, self._process = self._process, None
        if process is not None:
            getattr(process, how)()
            process.wait()
            if self._reader is not None:
                self._reader.join()
            if process.stdout is not None:
                process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
