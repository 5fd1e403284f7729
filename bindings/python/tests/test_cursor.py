"""How long cursors live, and what they keep alive."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from conftest import APP_KEY

import kvstore

#: More than the first page and the second one.
MANY = 1000


def opened(directory: Path) -> kvstore.Store:
    client = kvstore.Client(app_key=APP_KEY, host=None, data_directory=directory)
    return client.collection("notes")


def test_a_cursor_keeps_its_store_and_its_client_alive(tmp_path: Path) -> None:
    opened(tmp_path).save_many({"n": number} for number in range(MANY))
    gc.collect()
    found = opened(tmp_path).find()
    gc.collect()
    assert sum(1 for _ in found) == MANY


def test_the_cursor_of_a_request_does_so_too(tmp_path: Path) -> None:
    opened(tmp_path).save_many({"n": number} for number in range(MANY))
    request = opened(tmp_path).find_async()
    found = request.result()
    request.close()
    del request
    gc.collect()
    assert sum(1 for _ in found) == MANY


def test_a_request_keeps_its_store_and_its_client_alive(tmp_path: Path) -> None:
    request = opened(tmp_path).find_async()
    gc.collect()
    with request:
        assert list(request.result()) == []


def test_a_borrowed_cursor_ends_with_its_callback(notes: kvstore.Store) -> None:
    notes.save_many({"n": number} for number in range(MANY))
    kept: list[kvstore.Cursor] = []
    seen: list[kvstore.Entity] = []

    def keep(answer: kvstore.Answer[kvstore.Cursor]) -> None:
        assert answer.value is not None
        seen.append(next(answer.value))
        kept.append(answer.value)

    with notes.find_async(on_answer=keep) as request:
        request.result()
    [cursor] = kept
    assert len(seen) == 1
    assert list(cursor) == []
    assert cursor.page() == []
    assert list(cursor.raw()) == []
    cursor.close()


def test_a_cursor_that_was_closed_gives_nothing(notes: kvstore.Store) -> None:
    notes.save_many({"n": number} for number in range(MANY))
    with notes.find() as found:
        next(found)
    assert list(found) == []
    with pytest.raises(StopIteration):
        next(found)
