"""Child processes, made by fork() and by spawning."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import kvstore


def open_notes(directory: Path) -> tuple[kvstore.Client, kvstore.Store]:
    """Open a collection without a backend."""
    client = kvstore.Client(app_key="kid", host=None, data_directory=directory)
    return client, client.collection("notes")


def save_in_child(directory: Path) -> None:
    """Save one entity; for processes that are spawned."""
    client, notes = open_notes(directory)
    notes.save({"_id": "spawned"})
    client.close()


def in_child(body: Callable[[], str]) -> str:
    """Fork, and return what `body` returns in the child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, body().encode())
        except BaseException as error:
            os.write(writing, repr(error).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text


def test_a_child_cannot_open_what_was_open_at_the_fork(tmp_path: Path) -> None:
    client, notes = open_notes(tmp_path)
    notes.save({"_id": "before"})

    def child() -> str:
        with pytest.raises(kvstore.MisuseError, match=r"open in the parent.*spawn"):
            open_notes(tmp_path)
        with pytest.raises(kvstore.MisuseError, match="own client"):
            notes.save({})
        client.close()
        own, others = open_notes(tmp_path / "other")
        others.save({})
        count = others.count()
        own.close()
        return f"refused, {count} elsewhere"

    assert in_child(child) == "refused, 1 elsewhere"
    notes.save({"_id": "after"})
    client.close()
    client, notes = open_notes(tmp_path)
    assert sorted(note["_id"] for note in notes.find()) == ["after", "before"]
    client.close()


def test_a_child_opens_what_was_closed_before_the_fork(tmp_path: Path) -> None:
    client, notes = open_notes(tmp_path)
    notes.save({"_id": "before"})
    client.close()

    def child() -> str:
        save_in_child(tmp_path)
        return "saved"

    assert in_child(child) == "saved"
    client, notes = open_notes(tmp_path)
    assert notes.count() == 2
    client.close()


def test_a_child_of_a_callback_has_callbacks_of_its_own(tmp_path: Path) -> None:
    client = kvstore.Client(app_key="kid", host=None, data_directory=tmp_path, callbacks="pump")
    notes = client.collection("notes")
    told: list[str] = []

    def child() -> str:
        own, others = open_notes(tmp_path / "other")
        answers: list[object] = []
        others.save_async({}, on_answer=answers.append).result()
        own.close()
        return f"{len(answers)} answer"

    notes.save_async({}, on_answer=lambda _: told.append(in_child(child))).result()
    while not told:
        client.dispatch(1)
    client.close()
    assert told == ["1 answer"]


def test_a_spawned_process_opens_what_is_open(tmp_path: Path) -> None:
    client, notes = open_notes(tmp_path)
    notes.save({"_id": "before"})
    process = multiprocessing.get_context("spawn").Process(target=save_in_child, args=(tmp_path,))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert notes.count() == 2
    client.close()
