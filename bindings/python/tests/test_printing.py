"""What objects look like when they are printed, copied and pickled."""

from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import APP_KEY

import kvstore
from kvstore import F, aio
from kvstore.live import decode_live_event
from kvstore.model import PLAIN
from kvstore.results import decode_explanation, decode_indexes


def test_what_is_open_says_what_it_is(local: kvstore.Client, notes: kvstore.Store) -> None:
    assert repr(local) == "<kvstore.Client of 'kid_test'>"
    assert repr(notes) == "<kvstore.Store 'notes' of type 'sync'>"
    assert repr(notes.pending) == f"<kvstore.PendingQueue of {notes!r}>"
    found = notes.find()
    assert repr(found) == "<kvstore.Cursor>"
    found.close()
    assert repr(found) == "<kvstore.Cursor, closed>"
    request = notes.count_async()
    request.result()
    assert repr(request) == "<kvstore.Request, done>"
    request.close()
    assert repr(request) == "<kvstore.Request, closed>"
    local.close()
    assert repr(local) == "<kvstore.Client of 'kid_test', closed>"


def test_the_same_for_asyncio(tmp_path: Path) -> None:
    async def main() -> None:
        async with aio.Client(app_key=APP_KEY, host=None, data_directory=tmp_path) as client:
            notes = client.collection("notes")
            assert repr(client) == "<kvstore.aio.Client of <kvstore.Client of 'kid_test'>>"
            assert repr(notes) == "<kvstore.aio.Store 'notes' of type 'sync'>"
            assert repr(notes.pending).startswith("<kvstore.aio.PendingQueue of <kvstore.Pending")
            assert repr(notes.find()).startswith("<kvstore.aio.Cursor at")

    asyncio.run(main())


@pytest.mark.parametrize("taken", [pickle.dumps, copy.copy, copy.deepcopy])
def test_what_is_open_is_not_copied(
    local: kvstore.Client, notes: kvstore.Store, taken: Callable[[Any], object]
) -> None:
    with notes.find() as found, notes.count_async() as request:
        for it in (local, notes, found, request):
            name = type(it).__name__
            with pytest.raises(TypeError, match=f"a {name} can be neither copied nor pickled"):
                taken(it)


def test_queries_and_errors_are_pickled(notes: kvstore.Store) -> None:
    query = (F.n > 2).sort("-n").limit(3)
    assert pickle.loads(pickle.dumps(query)).to_dict() == query.to_dict()
    assert copy.deepcopy(kvstore.Query()).to_dict() == kvstore.Query().to_dict()
    with pytest.raises(kvstore.NotFoundError) as caught:
        notes.find_by_id("n1")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.id) == (kvstore.NotFoundError, "n1")


def test_pending_writes_are_counted_in_both_forms(notes: kvstore.Store) -> None:
    notes.save({"n": 1})
    assert len(notes.pending) == notes.pending.count() == 1


def test_members_that_a_newer_library_adds_do_no_harm() -> None:
    [index] = decode_indexes(
        b'[{"name":"i","keys":{"n":1},"state":"ready","arrays":false,"new":[1]}]'
    )
    assert (index.name, index.totals) == ("i", False)
    explained = decode_explanation(
        b'{"access":"scan","indexes":[],"exact":true,"covering":false,"sql":"","steps":[],'
        b'"examined":1,"returned":1,"new":{}}'
    )
    assert explained.access == "scan"
    event = decode_live_event({"event": "change", "id": "a", "new": 1}, PLAIN)
    assert event == kvstore.LiveEvent("change", id="a")
