"""An entity whose copy in kvstored's file is damaged: what clients still have of it stays."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from conftest import APP, open_client
from kvstored import Server

import kvstore


@pytest.mark.parametrize("paged", [False, True])
def test_a_pull_does_not_remove_what_the_backend_can_not_read(tmp_path: Path, paged: bool) -> None:
    with (
        Server(tmp_path / "server", APP, storage="sqlite") as server,
        open_client(server.host, tmp_path / "client") as client,
    ):
        client.signup("ana", "secret")
        store = client.collection("notes", auto_pagination=paged)
        store.save_many([{"_id": id_, "mark": f"mark of {id_}"} for id_ in "abc"])
        store.push()
        server.stop()
        assert damage(tmp_path / "server" / "kvstored.db", "mark of b") == 1
        server.start()

        for query in (None, {"mark": {"$regex": "^mark"}}):
            assert store.pull(query).removed == 0
        assert sorted(note["_id"] for note in store.find()) == ["a", "b", "c"]
        with pytest.raises(kvstore.KVError, match="damaged"):
            store.pull({"_id": {"$in": ["a", "b"]}})

        # Whoever still has it can mend it.
        store.save(store["b"])
        store.push()
        assert store.pull().pulled == 3


def damage(file: Path, text: str) -> int:
    """Change a byte of each body that has a text, as a bad sector would; give how many."""
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    content = file.read_bytes()
    wrong = text.encode().replace(b"mark", b"mbrk")
    file.write_bytes(content.replace(text.encode(), wrong))
    return content.count(text.encode())
