"""Data that former versions wrote is opened by this one; data of newer versions is refused."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import tarfile
from pathlib import Path

import kvstore
import pytest
from kvstored import PROGRAM, Server

FIXTURES = Path(__file__).resolve().parent
VERSIONS = [path.name[len("data-") : -len(".tar.xz")] for path in FIXTURES.glob("data-*.tar.xz")]
APP = "kid_fixture"
#: What waited to be pushed: the id and the operation.
PENDING = {("notes", "n0"), ("notes", "n4"), ("notes", "n5"), ("places", "p")}


@pytest.fixture(params=VERSIONS)
def data(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Give the directory with the data of a former version."""
    with tarfile.open(FIXTURES / f"data-{request.param}.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path


def client(data: Path, host: str) -> kvstore.Client:
    """Open the data of the client."""
    return kvstore.Client(
        app_key=APP, app_secret="secret", host=host, data_directory=data / "client", retries=0
    )


def waiting(client: kvstore.Client) -> set[tuple[str, str]]:
    """Give the collections and ids of all pending writes."""
    names = ("notes", "places")
    return {(name, write.id) for name in names for write in client.collection(name).pending}


def test_a_client_finds_everything_offline(data: Path) -> None:
    """Entities, the index, the user, and each write that was not sent."""
    with client(data, "http://127.0.0.1:9") as opened:
        notes = opened.collection("notes")
        texts = {note["_id"]: note["text"] for note in notes.find()}
        assert texts == {"n0": "oat milk", "n1": "Brötchen", "n2": "日本", "n3": "", "n5": "bread"}
        assert notes["n3"]["n"] == 9007199254740993
        assert notes["n2"]["tags"] == ["a", {"b": [2]}]
        assert [index.keys for index in notes.indexes()] == [{"n": 1}]
        found = {note["_id"] for note in notes.find({"n": {"$gte": 2}})}
        assert found == {"n1", "n3", "n5"}
        assert opened.active_user is not None
        assert opened.active_user["username"] == "ana"
        assert waiting(opened) == PENDING


def test_client_and_server_go_on_where_they_were(data: Path) -> None:
    """The server has its users and entities; what the client had not sent arrives."""
    with (
        Server(data / "server", f"{APP}:secret", storage="sqlite") as server,
        client(data, server.host) as opened,
    ):
        for name in ("notes", "places"):
            opened.collection(name).sync()
        assert waiting(opened) == set()
        remote = {
            note["_id"]: note["text"] for note in opened.collection("notes", "network").find()
        }
        assert remote == {"n0": "oat milk", "n1": "Brötchen", "n2": "日本", "n3": "", "n5": "bread"}
        opened.logout()
        opened.login("ana", "password")


def test_data_of_a_newer_client_is_refused_and_left_alone(data: Path) -> None:
    """Nobody knows what the newer version means by it."""
    (file,) = (data / "client").glob("*/kinvey.kvs")
    make_newer(file)
    before = digest(file)
    with (
        client(data, "http://127.0.0.1:9") as opened,
        pytest.raises(kvstore.CorruptError, match="newer version"),
    ):
        opened.collection("notes").count()
    assert digest(file) == before


def test_data_of_a_newer_server_is_refused_and_left_alone(data: Path) -> None:
    """The server does not start, and says why."""
    file = data / "server" / "kvstored.db"
    make_newer(file)
    before = digest(file)
    done = subprocess.run(
        [PROGRAM, "--data", file.parent, "--listen", "127.0.0.1:0", "--app", f"{APP}:secret"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert "newer version" in done.stderr
    assert digest(file) == before


def make_newer(file: Path) -> None:
    """Give a database a schema that nobody knows yet."""
    database = sqlite3.connect(file)
    database.execute("PRAGMA user_version = 9999")
    database.close()


def digest(file: Path) -> str:
    """Tell the contents of a file from all others."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
