"""The queue of pending writes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

import kvstore


def test_the_queue_lists_each_entity_once(notes: kvstore.Store) -> None:
    before = datetime.now(UTC)
    first = notes.save({"text": "a"})
    notes.save({**first, "text": "b"})
    notes.save({"_id": "chosen"})
    created, updated = notes.pending
    assert (created.id, created.operation) == (first["_id"], "create")
    assert (updated.id, updated.operation) == ("chosen", "create")
    assert created.attempts == 0
    assert created.last_error is None
    assert abs((created.created_at - before).total_seconds()) < 60
    assert created.changed_at >= created.created_at


def test_a_long_queue_is_read_in_pages(notes: kvstore.Store) -> None:
    notes.save_many({"_id": f"n{number:04}"} for number in range(1200))
    assert len(notes.pending) == 1200
    assert [write.id for write in notes.pending] == [f"n{number:04}" for number in range(1200)]


@pytest.mark.parametrize("count", [1, 500, 1200])
def test_writes_that_go_meanwhile_end_no_iteration(notes: kvstore.Store, count: int) -> None:
    notes.save_many({"_id": f"{number:04}"} for number in range(count))
    given = []
    for write in notes.pending:
        notes.pending.drop(write.id)
        given.append(write.id)
    assert given == [f"{number:04}" for number in range(count)]
    assert len(notes.pending) == 0


def test_one_write_shows_what_it_would_send(notes: kvstore.Store) -> None:
    notes.save({"_id": "n1", "text": "a"})
    detail = notes.pending.get("n1")
    assert detail.entity is not None
    assert detail.entity["text"] == "a"
    assert detail.base is None
    with pytest.raises(KeyError):
        notes.pending.get("nothing")


def test_a_write_is_edited(notes: kvstore.Store) -> None:
    notes.save({"_id": "n1", "text": "a"})
    notes.pending.edit("n1", {"_id": "n1", "text": "b"})
    assert notes["n1"]["text"] == "b"


def test_a_write_is_dropped_and_the_entity_stays(notes: kvstore.Store) -> None:
    notes.save({"_id": "n1"})
    notes.pending.drop("n1")
    assert not notes.pending
    assert "n1" in notes


def test_a_queue_is_purged_by_a_query(notes: kvstore.Store) -> None:
    notes.save_many({"_id": f"n{number}", "number": number} for number in range(6))
    assert notes.purge({"number": {"$lt": 2}}) == 2
    assert notes.purge() == 4
    assert notes.count() == 6


def test_clear_takes_entities_and_their_writes(notes: kvstore.Store) -> None:
    notes.save_many({"_id": f"n{number}", "number": number} for number in range(6))
    assert notes.clear({"number": {"$lt": 2}}) == 2
    assert (notes.count(), len(notes.pending)) == (4, 4)
    assert notes.clear() == 4
    assert not notes.pending


def test_one_write_is_sent_alone(online: kvstore.Client, unique: str) -> None:
    notes = online.collection(unique)
    notes.save_many([{"_id": "n1"}, {"_id": "n2"}])
    notes.pending.retry("n2")
    assert [write.id for write in notes.pending] == ["n1"]
    with pytest.raises(kvstore.NotFoundError):
        notes.pending.retry("n2")
