"""Files of kvstored: sent in parts over kills, read in parts, and never in memory as a whole."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from kvstored import PROGRAM, Server

APP = "kid:a secret of the app:a master secret"
MASTER = "Basic " + base64.b64encode(b"kid:a master secret").decode()
MIB = 1 << 20
SIZE = 192 * MIB


def pieces(size: int, start: int = 0) -> Iterator[bytes]:
    """Give the content of a file from a position on, which must be a multiple of a MiB."""
    for number in range(start // MIB, -(-size // MIB)):
        piece = hashlib.sha256(number.to_bytes(8, "big")).digest() * (MIB // 32)
        yield piece[: size - number * MIB]


def digest(parts: Iterator[bytes]) -> str:
    """Give the SHA-256 of a content."""
    hashed = hashlib.sha256()
    for part in parts:
        hashed.update(part)
    return hashed.hexdigest()


def ask(
    server: Server, method: str, path: str, body: Any = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Give the answer to a request. `path`: may be a whole address."""
    connection = http.client.HTTPConnection(server.host.rpartition("/")[2], timeout=60)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        parts = urlsplit(path)
        connection.request(method, f"{parts.path}?{parts.query}".rstrip("?"), body, named)
        answer = connection.getresponse()
        return answer.status, {n.lower(): v for n, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def announce(server: Server, members: dict[str, Any]) -> dict[str, Any]:
    """Give what is said about a new file."""
    status, _, body = ask(
        server,
        "POST",
        "/blob/kid",
        json.dumps(members),
        Authorization=MASTER,
        Content_Type="application/json",
    )
    assert status == 201, body
    file: dict[str, Any] = json.loads(body)
    return file


def described(server: Server, file: dict[str, Any]) -> dict[str, Any]:
    """Give what is said about a file, with the address of its bytes."""
    status, _, body = ask(server, "GET", f"/blob/kid/{file['_id']}", Authorization=MASTER)
    assert status == 200, body
    found: dict[str, Any] = json.loads(body)
    return found


def received(server: Server, address: str, size: int) -> int | None:
    """Ask how much has come; None: all."""
    status, headers, body = ask(server, "PUT", address, Content_Range=f"bytes */{size}")
    if status == 200:
        return None
    assert status == 308, body
    return int(headers["range"].rpartition("-")[2]) + 1 if "range" in headers else 0


def peak_memory(server: Server) -> int:
    """Give the most memory that the server has had so far, in bytes."""
    for line in Path(f"/proc/{server.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Give a server with a place for files."""
    with Server(tmp_path / "data", APP, "--files", str(tmp_path / "files")) as server:
        yield server


def test_a_large_file_survives_kills_and_takes_no_memory(server: Server) -> None:
    """It goes on from what has come, in whatever moment the server is killed."""
    whole = digest(pieces(SIZE))
    file = announce(server, {"_filename": "a.bin", "size": SIZE, "sha256": whole})
    address = file["_uploadURL"]
    kills = 0
    before = peak_memory(server)
    most = 0
    while (position := received(server, address, SIZE)) is not None:
        start = position // MIB * MIB
        cut = start + 48 * MIB

        def sending(start: int = start, cut: int = cut) -> Iterator[bytes]:
            nonlocal kills, most
            for piece in pieces(SIZE, start):
                if cut < SIZE and start >= cut:
                    most = max(most, peak_memory(server))
                    server.kill()
                    kills += 1
                start += len(piece)
                yield piece

        try:
            status, _, body = ask(
                server,
                "PUT",
                address,
                sending(),
                Content_Range=f"bytes {start}-{SIZE - 1}/{SIZE}",
                Content_Length=str(SIZE - start),
            )
            assert status == 201, body
            most = max(most, peak_memory(server))
        except OSError:
            server.start()
            there = received(server, address, SIZE)
            assert there is not None
            assert there >= cut - 8 * MIB, "what had come is there"
    assert kills >= 2
    found = described(server, file)
    parts = [(0, SIZE // 3), (SIZE // 3, SIZE // 3 + 1), (SIZE // 3 + 1, SIZE)]
    read = hashlib.sha256()
    for first, end in parts:
        status, headers, body = ask(
            server, "GET", found["_downloadURL"], Range=f"bytes={first}-{end - 1}"
        )
        assert (status, len(body)) == (206, end - first)
        assert headers["content-range"] == f"bytes {first}-{end - 1}/{SIZE}"
        read.update(body)
    assert read.hexdigest() == whole
    assert max(most, peak_memory(server)) - before < 32 * MIB


def test_files_that_are_sent_at_once_do_not_mix(server: Server) -> None:
    """Each has its own bytes, and entities are answered meanwhile."""
    sizes = [n * MIB + n for n in range(1, 13)]
    files = [announce(server, {"size": size}) for size in sizes]
    statuses: list[int] = []

    def send(file: dict[str, Any], size: int) -> None:
        length = str(size)
        status, _, _ = ask(server, "PUT", file["_uploadURL"], pieces(size), Content_Length=length)
        statuses.append(status)

    threads = [threading.Thread(target=send, args=pair) for pair in zip(files, sizes, strict=True)]
    for thread in threads:
        thread.start()
    assert ask(server, "GET", "/appdata/kid", Authorization=MASTER)[0] == 200
    for thread in threads:
        thread.join()
    assert statuses == [201] * len(files)
    for file, size in zip(files, sizes, strict=True):
        status, _, body = ask(server, "GET", described(server, file)["_downloadURL"])
        assert (status, hashlib.sha256(body).hexdigest()) == (200, digest(pieces(size)))


@pytest.fixture(params=["same", "other"])
def copies(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Give a directory on the file system of the data, and one on another."""
    if request.param == "same":
        yield tmp_path
    else:
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
            yield Path(directory)


def run(*arguments: str | Path) -> str:
    """Run a command of the server; give what it has printed."""
    command = [PROGRAM, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_a_backup_has_the_bytes_of_files_and_a_restore_puts_them_back(
    tmp_path: Path, copies: Path
) -> None:
    """What is complete is copied, while the server runs; what was removed later is back."""
    data, copy, restored = tmp_path / "data", copies / "copy", copies / "restored"
    with Server(data, APP, storage="sqlite") as server:
        assert "bytes" not in run("backup", "--data", data, "--to", copies / "without")
        kept, removed, half = (announce(server, {"size": 3 * MIB}) for _ in range(3))
        for file in kept, removed:
            assert ask(server, "PUT", file["_uploadURL"], b"".join(pieces(3 * MIB)))[0] == 201
        part = {"Content_Range": f"bytes 0-{MIB - 1}/{3 * MIB}"}
        assert ask(server, "PUT", half["_uploadURL"], b"".join(pieces(MIB)), **part)[0] == 308
        made = run("backup", "--data", data, "--to", copy)
        assert made == "kvstored: copied the bytes of 2 files\n"
        path = f"/blob/kid/{removed['_id']}"
        assert ask(server, "DELETE", path, Authorization=MASTER)[0] == 200
    assert run("restore", "--data", restored, "--from", copy) == made
    assert len(list((restored / "files").glob("*/*"))) == 2
    with Server(restored, APP, storage="sqlite") as server:
        for file in kept, removed:
            status, _, body = ask(server, "GET", described(server, file)["_downloadURL"])
            assert (status, hashlib.sha256(body).hexdigest()) == (200, digest(pieces(3 * MIB)))
        assert ask(server, "GET", described(server, half)["_downloadURL"])[0] == 404


def test_a_backup_finds_files_by_the_servers_configuration(tmp_path: Path) -> None:
    """The directory of the bytes may be anywhere."""
    data, elsewhere, copy = tmp_path / "data", tmp_path / "elsewhere", tmp_path / "copy"
    settings = tmp_path / "kvstored.json"
    settings.write_text(json.dumps({"data": str(data), "files": str(elsewhere)}))
    settings.chmod(0o600)
    with Server(data, APP, "--files", str(elsewhere), storage="sqlite") as server:
        file = announce(server, {"size": 3})
        assert ask(server, "PUT", file["_uploadURL"], b"abc")[0] == 201
        run("admin", "backup", "--config", settings, "--to", copy)
    assert [path.read_bytes() for path in (copy / "files").glob("*/*")] == [b"abc"]
    shutil.rmtree(data)
    shutil.rmtree(elsewhere)
    run("admin", "restore", "--config", settings, "--from", copy)
    assert [path.read_bytes() for path in elsewhere.glob("*/*")] == [b"abc"]
