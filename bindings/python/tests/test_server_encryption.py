"""kvstored with encrypted data: its files, a wrong key, backups, encrypting and decrypting."""

from __future__ import annotations

import base64
import os
import subprocess
from pathlib import Path

import pytest
from kvstored import PROGRAM, Server

import kvstore

MARKER = "marker-that-must-not-be-seen"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run kvstored to its end."""
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def key_file(path: Path, *, as_base64: bool = False) -> Path:
    """Write a new key."""
    key = os.urandom(32)
    path.write_text((base64.b64encode(key).decode() if as_base64 else key.hex()) + "\n")
    path.chmod(0o600)
    return path


def client(server: Server, directory: Path) -> kvstore.Client:
    """Open a client of a server."""
    return kvstore.Client(
        app_key="kid", app_secret="secret", host=server.host, data_directory=directory
    )


def save(server: Server, directory: Path) -> None:
    """Save ten notes, in the name of a new user."""
    with client(server, directory) as opened:
        opened.signup("ana", "password")
        notes = opened.collection("notes", "network")
        notes.save_many([{"_id": str(n), "text": f"{MARKER} {n}"} for n in range(10)])


def count(server: Server, directory: Path) -> int:
    """Count the notes."""
    with client(server, directory) as opened:
        opened.login("ana", "password")
        return opened.collection("notes", "network").count()


def shows(directory: Path) -> list[str]:
    """Return the files that have the notes' text in plain bytes."""
    files = [path for path in directory.rglob("*") if path.is_file()]
    return [path.name for path in files if MARKER.encode() in path.read_bytes()]


@pytest.mark.parametrize("as_base64", [False, True])
def test_no_file_shows_the_data_and_another_key_opens_nothing(
    tmp_path: Path, as_base64: bool
) -> None:
    data, key = tmp_path / "data", key_file(tmp_path / "key", as_base64=as_base64)
    options = ("--encryption-key-file", str(key))
    with Server(data, "kid:secret", *options, storage="sqlite") as server:
        save(server, tmp_path / "a")
        assert shows(data) == []
    assert shows(data) == []
    other = key_file(tmp_path / "other")
    for wrong in (("--encryption-key-file", other), ()):
        refused = run("--data", data, "--app", "kid:secret:master", "--insecure-secrets", *wrong)
        assert refused.returncode == 1
        assert "key" in refused.stderr
    with Server(data, "kid:secret", *options, storage="sqlite") as server:
        assert count(server, tmp_path / "b") == 10


def test_a_backup_is_encrypted_with_the_same_key(tmp_path: Path) -> None:
    data, copy, restored = tmp_path / "data", tmp_path / "copy", tmp_path / "restored"
    options = ("--encryption-key-file", str(key_file(tmp_path / "key")))
    with Server(data, "kid:secret", *options, storage="sqlite") as server:
        save(server, tmp_path / "a")
        assert run("backup", "--data", data, "--to", copy).returncode == 1
        made = run("backup", "--data", data, "--to", copy, *options)
        assert made.returncode == 0, made.stderr
    assert shows(copy) == []
    back = run("restore", "--data", restored, "--from", copy, *options)
    assert back.returncode == 0, back.stderr
    with Server(restored, "kid:secret", *options, storage="sqlite") as server:
        assert count(server, tmp_path / "b") == 10


def test_data_is_encrypted_and_decrypted_while_no_server_uses_it(tmp_path: Path) -> None:
    data, key = tmp_path / "data", key_file(tmp_path / "key")
    with Server(data, "kid:secret", storage="sqlite") as server:
        save(server, tmp_path / "a")
        busy = run("admin", "encrypt", "--data", data, "--new-key-file", key)
        assert busy.returncode != 0
        assert "in use" in busy.stderr
    assert shows(data) != []
    assert run("admin", "encrypt", "--data", data).returncode == 2
    done = run("admin", "encrypt", "--data", data, "--new-key-file", key)
    assert done.returncode == 0, done.stderr
    assert shows(data) == []
    options = ("--encryption-key-file", str(key))
    with Server(data, "kid:secret", *options, storage="sqlite") as server:
        assert count(server, tmp_path / "b") == 10
    done = run("admin", "encrypt", "--data", data, "--encryption-key-file", key, "--decrypt")
    assert done.returncode == 0, done.stderr
    with Server(data, "kid:secret", storage="sqlite") as server:
        assert count(server, tmp_path / "c") == 10


@pytest.mark.parametrize("content", ["", "abc", "zz" * 32, "00" * 31])
def test_what_is_no_key_is_named(tmp_path: Path, content: str) -> None:
    key = tmp_path / "key"
    key.write_text(content)
    key.chmod(0o600)
    refused = run("--data", tmp_path / "data", "--encryption-key-file", key)
    assert refused.returncode == 1
    assert str(key) in refused.stderr
    key.chmod(0o644)
    refused = run("--data", tmp_path / "data", "--encryption-key-file", key)
    assert refused.returncode == 1
