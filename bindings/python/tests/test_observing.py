"""Following a query over local data."""

from __future__ import annotations

import threading
from pathlib import Path

import kvstore


class Mirror:
    """A copy of a result that only notifications change."""

    def __init__(self) -> None:
        self.result: list[kvstore.Entity] = []
        self._news = threading.Condition()

    def __call__(self, changes: kvstore.Changes | kvstore.KVError) -> None:
        """Take a change."""
        assert isinstance(changes, kvstore.Changes)
        with self._news:
            changes.apply(self.result)
            self._news.notify_all()

    def wait(self, names: list[str]) -> None:
        """Wait for a result."""
        with self._news:
            assert self._news.wait_for(
                lambda: [entity["name"] for entity in self.result] == names, timeout=20
            ), self.result


def test_a_copy_follows_writes_of_this_client_and_of_another_one(tmp_path: Path) -> None:
    with (
        kvstore.Client(app_key="kid", host=None, data_directory=tmp_path) as here,
        kvstore.Client(app_key="kid", host=None, data_directory=tmp_path) as there,
    ):
        mirror, single = Mirror(), Mirror()
        notes, others = here.collection("notes"), there.collection("notes")
        notes.save({"_id": "1", "name": "b"})
        query = kvstore.Query({"hidden": {"$ne": True}}, sort={"name": 1})
        with notes.observe(query, mirror), notes.observe_by_id("2", single):
            mirror.wait(["b"])
            others.save({"_id": "2", "name": "a"})
            mirror.wait(["a", "b"])
            single.wait(["a"])
            notes.save({"_id": "2", "name": "c"})
            mirror.wait(["b", "c"])
            others.save({"_id": "1", "name": "b", "hidden": True})
            mirror.wait(["c"])
            others.clear()
            mirror.wait([])
