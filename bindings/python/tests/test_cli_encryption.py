"""The command line tool on encrypted data."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest
from command_line import PROGRAM, Tool

import kvstore

WRONG_KEY = 8


@pytest.fixture
def tool(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Tool:
    """Give the tool on a store that is not encrypted yet."""
    for name in [name for name in os.environ if name.startswith("KVSTORE_")]:
        if name not in ("KVSTORE_LIBRARY", "KVSTORE_TEST_KEY"):
            monkeypatch.delenv(name)
    with kvstore.Client(app_key="app", host=None, data_directory=tmp_path / "data") as client:
        client.collection("notes").save_many([{"_id": "a", "text": "milk"}, {"_id": "b"}])
    return Tool(tmp_path / "data", capsys, monkeypatch)


def key_file(path: Path, form: str) -> str:
    """Write a new key in one of the forms."""
    key = os.urandom(32)
    path.write_bytes(key if form == "bytes" else key.hex().encode() + b"\n")
    return str(path)


def test_data_is_encrypted_read_and_decrypted(tool: Tool, tmp_path: Path) -> None:
    key = key_file(tmp_path / "key", "hexadecimal")
    assert tool("encrypt", "--new-key-file", key, "--json").json["files"] == 1
    assert tool("count", "notes").code == WRONG_KEY
    assert tool("count", "notes", "--key-file", key_file(tmp_path / "x", "bytes")).code == WRONG_KEY
    assert tool("--key-file", key, "count", "notes", "--json").json == {"count": 2}
    command = f"cat {shlex.quote(str(key))}"
    assert tool("--key-command", command, "get", "notes", "a", "--json").json["text"] == "milk"
    assert tool("--key-file", key, "doctor").code == 0
    copy = str(tmp_path / "copy")
    assert tool("--key-file", key, "backup", copy).code == 0
    assert tool("decrypt", "--key-file", key).code == 0
    assert tool("count", "notes", "--json").json == {"count": 2}


def test_keys_are_added_and_removed(tool: Tool, tmp_path: Path) -> None:
    first = key_file(tmp_path / "first", "bytes")
    second = key_file(tmp_path / "second", "hexadecimal")
    tool("encrypt", "--new-key-file", first)
    words = ("change-key", "--name", "recovery", "--new-key-file", second, "--json")
    assert tool("--key-file", first, *words).json["keys"] == ["main", "recovery"]
    assert tool("--key-file", second, "change-key", "--remove", "--json").json["keys"] == [
        "recovery"
    ]
    assert tool("--key-file", first, "count", "notes").code == WRONG_KEY
    assert tool("--key-file", second, "count", "notes").code == 0


def test_what_is_no_key_is_a_mistake_of_the_command_line(tool: Tool, tmp_path: Path) -> None:
    short = tmp_path / "short"
    short.write_text("abc")
    assert tool("encrypt").code == 2
    assert tool("encrypt", "--new-key-file", str(short)).code == 2
    assert tool("encrypt", "--new-key-file", str(tmp_path / "none")).code == 2
    assert tool("--key-command", "false", "count", "notes").code == 1


def test_what_is_salvaged_is_encrypted_unless_it_is_wanted_plain(
    tool: Tool, tmp_path: Path
) -> None:
    key = key_file(tmp_path / "key", "hexadecimal")
    tool("encrypt", "--new-key-file", key)
    saved = tmp_path / "saved"
    report = tool("--key-file", key, "salvage", str(saved), "--json").json
    file = saved / report["collections"]["notes"]["file"]
    assert b"milk" not in file.read_bytes() + (saved / report["pending"]["file"]).read_bytes()
    command = [*PROGRAM, "decrypt-file", str(file), "--key-file"]
    printed = subprocess.run([*command, key], capture_output=True, text=True, check=True).stdout
    assert [json.loads(line)["_id"] for line in printed.splitlines()] == ["a", "b"]
    other = key_file(tmp_path / "other", "bytes")
    refused = subprocess.run([*command, other], capture_output=True, check=False)
    assert (refused.returncode, refused.stdout) == (WRONG_KEY, b"")
    assert tool("decrypt-file", str(file)).code == 2
    plain = tmp_path / "plain"
    assert tool("--key-file", key, "salvage", str(plain), "--plain").code == 0
    names = ["notes.entities.ndjson", "pending.ndjson"]
    assert sorted(path.name for path in plain.iterdir()) == names
    assert {path.stat().st_mode & 0o777 for path in plain.iterdir()} == {0o600}
    assert "milk" in (plain / "notes.entities.ndjson").read_text()
