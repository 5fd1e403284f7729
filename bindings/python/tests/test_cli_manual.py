"""The manual of the command line tool says what the tool does."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import generate_cli_manual
import pytest
from kvstored import Server

PAGE = generate_cli_manual.PAGE
ADDRESS = "http://127.0.0.1:8080"
NOTES = """\
{"_id":"bread","text":"bread","price":3}
{"_id":"milk","text":"milk","price":1.5}
{"_id":"wine","text":"wine","price":12}
"""


def samples(text: str) -> list[tuple[str, str]]:
    """Give the commands of the page and what it says that they print."""
    blocks = re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    lines = "".join(blocks)
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", lines, re.MULTILINE)


def transcript(directory: Path, commands: list[str]) -> list[str]:
    """Run commands in one shell, as a reader would; give what each of them prints."""
    tool = directory / "kvstore"
    tool.write_text(
        f"#!{sys.executable}\nimport sys\nfrom kvstore.cli import main\nsys.exit(main())\n"
    )
    tool.chmod(0o755)
    mark = "----"
    script = "".join(
        f'{command}\ncode=$?; [ $code = 0 ] || echo "[exit code $code]"; echo {mark}\n'
        for command in commands
    )
    result = subprocess.run(
        ["bash", "-c", script],
        stdin=subprocess.DEVNULL,
        cwd=directory,
        env=os.environ | {"PATH": f"{directory}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=120,
    )
    return result.stdout.split(f"{mark}\n")[:-1]


def matches(expected: str, printed: str) -> bool:
    """Compare; an … in the page stands for anything, on a line of its own for any lines."""
    lines = [re.escape(line).replace("…", ".*") for line in expected.splitlines()]
    pattern = "".join("(.*\n)*" if line == ".*" else f"{line}\n" for line in lines)
    return re.fullmatch(pattern, printed) is not None


def test_every_sample_of_the_page_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    (tmp_path / "notes.ndjson").write_text(NOTES)
    expected = samples(PAGE.read_text())
    assert len(expected) > 10
    with Server(tmp_path / "server", "kid_demo:secret") as server:
        commands = [command.replace(ADDRESS, server.host) for command, _ in expected]
        printed = transcript(tmp_path, commands)
    for (command, words), output in zip(expected, printed, strict=True):
        assert matches(words, output), f"$ {command}\n{output}"


def test_the_reference_and_the_manual_page_are_made_of_the_tool() -> None:
    assert generate_cli_manual.main(["--check"]) == 0


def test_every_command_and_option_is_described() -> None:
    for entry in [*generate_cli_manual.entries(generate_cli_manual.root())]:
        assert entry.paragraphs != [""], entry.usage
        assert all(meaning for _, meaning in entry.options), entry.usage


def test_the_manual_page_is_one_for_man() -> None:
    result = subprocess.run(
        ["man", "--warnings", "-l", str(generate_cli_manual.MAN)],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": "80"},
    )
    assert result.stderr == ""
    assert "Exit" not in result.stdout.partition("EXIT STATUS")[0]
