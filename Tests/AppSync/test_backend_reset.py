"""An API whose table is put back from a copy. It says nothing about which data it has."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kvstore
import pytest
from standin import Process

SCHEMA = "type Note @model { id: ID! text: String }"


class Copied:
    """A stand-in whose table can be copied and put back."""

    def __init__(self, directory: Path) -> None:
        self._schema, self._data, self._copy = (
            directory / name for name in ("notes.graphql", "notes.jsonl", "copy.jsonl")
        )
        self._schema.write_text(SCHEMA)
        self._data.touch()
        self._port = "0"
        self.start()
        self._port = self.process.url.rpartition(":")[2]

    def start(self) -> None:
        options = ("--data", str(self._data), "--port", self._port)
        self.process = Process(self._schema, *options)

    def back_up(self) -> None:
        shutil.copy(self._data, self._copy)

    def put_back(self) -> None:
        self.process.kill()
        shutil.copy(self._copy, self._data)
        self.start()

    def client(self, directory: Path, **options: Any) -> kvstore.Client:
        return kvstore.Client(
            app_key="notes",
            data_directory=directory,
            backend="appsync",
            endpoint=self.process.endpoint,
            auth={"apiKey": "da2-standin"},
            schema=SCHEMA,
            retries=0,
            **options,
        )


@pytest.fixture
def copied(tmp_path: Path) -> Iterator[Copied]:
    copied = Copied(tmp_path)
    yield copied
    copied.process.kill()


def texts(notes: kvstore.Store, **options: str) -> dict[str, str]:
    return {note["id"]: note["text"] for note in notes.find(**options)}  # type: ignore[arg-type]


def states(notes: kvstore.Store) -> dict[str, tuple[str, str]]:
    return {write.id: (write.operation, write.state) for write in notes.pending}


def put(notes: kvstore.Store, id: str, text: str) -> kvstore.PushResult:
    notes.save({**(notes.get(id) or {"id": id}), "text": text})
    result = notes.push()
    assert not result.errors
    return result


def lose(copied: Copied, notes: kvstore.Store) -> None:
    """Confirms changes that the API loses then."""
    for id in ("changed", "deleted", "same"):
        put(notes, id, "1")
    copied.back_up()
    for text in ("2", "3"):
        put(notes, "changed", text)
    put(notes, "new", "2")
    notes.remove_by_id("deleted")
    assert not notes.push().errors
    notes.pull()
    copied.put_back()


def test_a_newer_version_stays_and_is_not_listed(copied: Copied, tmp_path: Path) -> None:
    with copied.client(tmp_path / "device") as client:
        notes = client.collection("Note")
        lose(copied, notes)
        notes.pull()
        assert texts(notes) == {"changed": "3", "new": "2", "same": "1"}
        # A complete read removes what the table lacks.
        notes.pull(delta_set=False)
        assert texts(notes) == {"changed": "3", "same": "1"}
        assert states(notes) == {}


@pytest.mark.parametrize("reset", ["keep", "resend", "accept"])
@pytest.mark.parametrize("strategy", ["clientWins", "serverWins", "automerge", "optimistic"])
def test_a_change_of_a_lost_version_is_a_conflict(
    copied: Copied, tmp_path: Path, strategy: str, reset: str
) -> None:
    with copied.client(tmp_path / "device", on_backend_reset=reset, conflicts=strategy) as client:
        notes = client.collection("Note")
        lose(copied, notes)
        notes.save({**(notes.get("changed") or {}), "text": "4"})
        result = notes.push()
        there = texts(notes, read_policy="forceNetwork")["changed"]
        if strategy == "clientWins" or reset == "resend":
            assert (there, states(notes), result.discarded) == ("4", {}, 0)
        elif reset == "keep" or strategy == "optimistic":
            assert texts(notes)["changed"] == "4"
            assert states(notes) == {"changed": ("update", "conflict")}
            notes.pending.retry("changed")
            assert texts(notes, read_policy="forceNetwork")["changed"] == "4"
        else:
            assert (there, states(notes), result.discarded) == ("1", {}, 1)
