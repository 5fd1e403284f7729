"""Reading and writing a collection without a backend."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import kvstore


def test_a_saved_entity_is_found_by_its_id(notes: kvstore.Store) -> None:
    saved = notes.save({"text": "milk", "count": 2})
    assert saved["text"] == "milk"
    assert notes.find_by_id(saved["_id"]) == saved
    assert notes[saved["_id"]]["count"] == 2


def test_ids_are_found_together_in_their_order(notes: kvstore.Store) -> None:
    notes.save_many([{"_id": "a", "n": 1}, {"_id": "b", "n": 2}])
    found = notes.find_by_ids(iter(["b", "none", "a", "b"]))
    assert [entity and entity["n"] for entity in found] == [2, None, 1, 2]
    assert notes.find_by_ids([]) == []
    assert notes.find_by_ids_async(["a"]).finish() == [{"_id": "a", "n": 1}]
    with pytest.raises(kvstore.InvalidError) as caught:
        notes.find_by_ids(["a", ""])
    assert caught.value.index == 1


def test_an_entity_keeps_the_id_that_it_brings(notes: kvstore.Store) -> None:
    notes.save({"_id": "n1", "text": "a"})
    notes.save({"_id": "n1", "text": "b"})
    assert notes["n1"]["text"] == "b"
    assert notes.count() == 1


def test_text_of_any_script_survives(notes: kvstore.Store) -> None:
    text = 'Škocjan "ኢስካልዴስ" \\ 🜁 \n'
    notes.save({"_id": "žlutý kůň", "text": text})
    assert notes["žlutý kůň"]["text"] == text


def test_json_is_saved_and_read_as_it_is(notes: kvstore.Store) -> None:
    notes.save(b'{"_id":"n1","number":1.50}')
    assert b'"number":1.50' in notes.get_bytes("n1")
    notes.save('{"_id":"n2"}')
    assert "n2" in notes


def test_what_is_not_there_is_a_key_error(notes: kvstore.Store) -> None:
    with pytest.raises(KeyError) as caught:
        notes["nothing"]
    assert isinstance(caught.value, kvstore.NotFoundError)
    assert caught.value.id == "nothing"
    assert notes.get("nothing") is None
    assert notes.get("nothing", 7) == 7
    assert "nothing" not in notes
    assert 7 not in notes


def test_many_are_saved_at_once(notes: kvstore.Store) -> None:
    result = notes.save_many({"_id": f"n{number}"} for number in range(250))
    assert [entity and entity["_id"] for entity in result.entities] == [
        f"n{number}" for number in range(250)
    ]
    assert result.errors == []
    assert notes.count() == 250


def test_nothing_is_saved_if_one_of_many_is_no_entity(notes: kvstore.Store) -> None:
    with pytest.raises(kvstore.InvalidError, match="_id"):
        notes.save_many([{"_id": "n1"}, {"_id": 5}, {"_id": "n3"}])
    assert notes.count() == 0


def test_saving_a_lone_entity_as_many_is_a_type_error(notes: kvstore.Store) -> None:
    with pytest.raises(TypeError):
        notes.save_many({"_id": "n1"})


def test_removed_entities_are_counted(notes: kvstore.Store) -> None:
    notes.save_many({"_id": f"n{number}", "number": number} for number in range(10))
    assert notes.remove_by_id("n0") == 1
    assert notes.remove_by_id("n0") == 0
    assert notes.remove({"number": {"$gte": 5}}) == 5
    with pytest.raises(kvstore.InvalidError, match="all=True"):
        notes.remove()
    with pytest.raises(kvstore.InvalidError, match="all=True"):
        notes.remove(None, read_policy="forceLocal")
    with pytest.raises(kvstore.InvalidError, match="cannot be combined with a query"):
        notes.remove({"n": 1}, all=True)
    assert notes.count() == 4
    assert notes.remove(all=True) == 4
    assert notes.count() == 0


def test_what_is_no_json_is_refused(notes: kvstore.Store) -> None:
    for value in ({"a": object()}, {"a": float("nan")}, {"a": "\ud800"}):
        with pytest.raises(kvstore.InvalidError):
            notes.save(value)
    with pytest.raises(kvstore.InvalidError) as caught:
        notes.save(b'{"a":1,}')
    assert caught.value.position is not None


def test_a_nul_in_an_id_is_refused_instead_of_cut(notes: kvstore.Store) -> None:
    notes.save({"_id": "n1"})
    with pytest.raises(ValueError, match="NUL"):
        notes.find_by_id("n1\0x")
    with pytest.raises(kvstore.InvalidError):
        notes.find_by_id("")


def test_an_unknown_option_is_named(notes: kvstore.Store) -> None:
    with pytest.raises(kvstore.InvalidError, match="noSuchThing"):
        notes.count(no_such_thing=1)  # type: ignore[call-arg]


def test_collections_are_apart_and_stores_of_one_share_it(local: kvstore.Client) -> None:
    local.collection("a").save({"_id": "x"})
    assert local.collection("b").count() == 0
    assert local.collection("a").count() == 1
    assert local.collection("a", tag="other").count() == 0


def test_a_closed_store_is_misuse(local: kvstore.Client) -> None:
    store = local.collection("notes")
    store.close()
    store.close()
    with pytest.raises(kvstore.MisuseError):
        store.count()


def test_data_survives_the_client(tmp_path: Path) -> None:
    for expected in (0, 1):
        with kvstore.Client(app_key="kid", host=None, data_directory=tmp_path) as client:
            store = client.collection("notes")
            assert store.count() == expected
            store.save({"_id": "n1"})


def test_many_threads_use_one_store(notes: kvstore.Store) -> None:
    def work(name: int) -> None:
        for number in range(50):
            notes.save({"_id": f"{name}-{number}"})
            assert notes[f"{name}-{number}"]["_id"] == f"{name}-{number}"

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert notes.count() == 400


def test_network_calls_of_a_local_client_say_why(local: kvstore.Client) -> None:
    with pytest.raises(kvstore.UnsupportedError):
        local.collection("notes").pull()
