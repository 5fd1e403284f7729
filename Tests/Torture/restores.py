"""The same as faults.py with a server that goes back to copies of its data.

    restores.py [SECONDS] [REPORT]

Now and then kvstored's data is copied while it serves, and sometimes, when the server is killed,
the last copy takes the place of its data. What the server had confirmed since then, and any device
has, is on the server again at the end, or a device lists it.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

# First: it finds the binding and the server.
from torture import APP_KEY, APP_SECRET

# isort: split
from faults import KINVEY, Service, main
from kvstored import PROGRAM, Server


class ForgetfulServer:
    """A server that may have an older copy of its data after it was killed."""

    def __init__(self, directory: Path, chance: random.Random) -> None:
        """Start it, with a copy of nothing."""
        self._directory = directory
        self._chance = chance
        self._copies = 0
        self.restores = 0
        self._server = Server(directory / "server", f"{APP_KEY}:{APP_SECRET}", storage="sqlite")

    @property
    def host(self) -> str:
        """The address for a client."""
        return self._server.host

    def kill(self) -> None:
        """Copy its data, perhaps, and end it at once."""
        if self._copies == 0 or self._chance.random() < 0.4:
            copy = self._directory / f"copy-{self._copies + 1}"
            self._run("backup", "--data", self._data, "--to", copy)
            self._copies += 1
        self._server.kill()

    def start(self) -> None:
        """Start it again, perhaps with the last copy."""
        if self._chance.random() < 0.5:
            self.restores += 1
            self._data.rename(self._directory / f"lost-{self.restores}")
            copy = self._directory / f"copy-{self._copies}"
            self._run("restore", "--data", self._data, "--from", copy)
        self._server.start()

    def close(self) -> None:
        """End it for good."""
        self._server.kill()

    @property
    def _data(self) -> Path:
        return self._directory / "server"

    @staticmethod
    def _run(*arguments: str | Path) -> None:
        subprocess.run([PROGRAM, *map(str, arguments)], check=True, capture_output=True, timeout=60)


@contextmanager
def forgetful_server(directory: Path, chance: random.Random) -> Iterator[Service]:
    """Give a server that goes back."""
    server = ForgetfulServer(directory, chance)
    try:
        yield server
        print(f"the server went back {server.restores} times", flush=True)
    finally:
        server.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], forgetful_server, replace(KINVEY, goes_back=True)))
