"""`kvstored admin` as tests run it: on the data itself, and over HTTP on a running server."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from kvstored import PROGRAM, Server

ENVIRONMENT = {**os.environ, "KVSTORED_MASTER_SECRET": "mas"}
FAILED, MISUSE, UNAVAILABLE, NOT_FOUND, PARTLY = 1, 2, 3, 4, 5


def command(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run `kvstored admin`."""
    return subprocess.run(
        [PROGRAM, "admin", *arguments],
        input=given,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )


def rows(done: subprocess.CompletedProcess[str]) -> list[Any]:
    """Give the objects that a command has written, which must have succeeded."""
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Place:
    """Data that commands work on: by a running server, or directly."""

    def __init__(self, server: Server, way: tuple[str, ...]) -> None:
        self.server = server
        self.way = way

    def run(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return command(*arguments, *self.way, given=given)

    def rows(self, *arguments: str, given: str = "") -> list[Any]:
        return rows(self.run(*arguments, "--json", given=given))


class Approach:
    """A running server, and how commands come to its data once the test has filled it."""

    def __init__(self, server: Server, data: Path, *, is_direct: bool) -> None:
        self.server = server
        self.data = data
        self.is_direct = is_direct

    def __call__(self) -> Place:
        if not self.is_direct:
            return Place(self.server, ("--url", self.server.host, "--app", "kid"))
        if self.server.storage:
            return Place(self.server, ("--storage", self.server.storage))
        self.server.stop()
        return Place(self.server, ("--data", str(self.data)))
