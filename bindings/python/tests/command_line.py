"""Running the command line tool in tests."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kvstore.cli.program import run

#: The tool as a process of its own.
PROGRAM = [sys.executable, "-c", "import sys; from kvstore.cli import main; sys.exit(main())"]


@dataclass(frozen=True)
class Result:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Give the output as JSON; it must have succeeded."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """Give the lines of the output; it must have succeeded."""
        assert self.code == 0, self.err
        return self.out.splitlines()


class Tool:
    """The tool on one data directory."""

    def __init__(
        self,
        directory: Path,
        capture: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        *common: str,
    ) -> None:
        self.directory = directory
        self._capture = capture
        self._monkeypatch = monkeypatch
        self._common = common

    def __call__(self, *words: str, stdin: str = "") -> Result:
        """Run a command in this process."""
        text = io.TextIOWrapper(io.BytesIO(stdin.encode()))
        self._monkeypatch.setattr(sys, "stdin", text)
        self._capture.readouterr()
        code = run(["--dir", str(self.directory), *self._common, *words])
        printed = self._capture.readouterr()
        return Result(code, printed.out, printed.err)


class Terminal:
    """A terminal of tmux's, with a server of its own."""

    def __init__(self, directory: Path, command: str) -> None:
        self._tmux = ["tmux", "-f", "/dev/null", "-S", str(directory / "tmux")]
        self("new-session", "-d", "-x", "110", "-y", "30", command)

    def __call__(self, *words: str) -> str:
        """Run a command of tmux."""
        done = subprocess.run(
            [*self._tmux, *words], capture_output=True, text=True, check=False, timeout=30
        )
        return done.stdout

    def wait_for(self, words: str) -> str:
        """Wait until something is on the screen; give the screen."""
        end = time.monotonic() + 30
        while words not in (shown := self("capture-pane", "-p")):
            assert time.monotonic() < end, shown
            time.sleep(0.05)
        return shown
