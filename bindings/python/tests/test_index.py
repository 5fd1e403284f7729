"""Indexes: made, used, listed, dropped."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest

import kvstore


def _fill(notes: kvstore.Store) -> None:
    notes.save_many({"_id": f"n{number:03}", "number": number} for number in range(200))


def test_an_index_is_used_once_it_is_made(notes: kvstore.Store) -> None:
    _fill(notes)
    few = {"number": {"$gte": 195}}
    assert notes.explain(few).access == "scan"
    assert notes.explain(few).examined == 200
    notes.create_index({"number": 1}, name="byNumber")
    explained = notes.explain(few)
    assert (explained.access, explained.indexes) == ("index", ["byNumber"])
    assert (explained.examined, explained.returned) == (5, 5)
    assert explained.exact
    assert explained.covering
    assert [entity["number"] for entity in notes.find(few)] == list(range(195, 200))


def test_indexes_are_listed_and_dropped(notes: kvstore.Store) -> None:
    notes.create_index({"a.b": 1, "c": -1})
    assert notes.indexes() == [
        kvstore.Index("a.b_1_c_-1", {"a.b": 1, "c": -1}, "ready", arrays=False)
    ]
    notes.drop_index("a.b_1_c_-1")
    assert notes.indexes() == []
    with pytest.raises(kvstore.NotFoundError):
        notes.drop_index("a.b_1_c_-1")


def test_an_index_with_totals_gives_the_groups_that_entities_give(notes: kvstore.Store) -> None:
    notes.save_many({"_id": f"n{n}", "of": f"g{n % 3}", "n": n} for n in range(9))
    before = notes.group(["of"], {"n": "count", "mean": {"avg": "n"}})
    notes.create_index({"of": 1, "n": 1}, totals=True)
    assert notes.indexes()[0].totals
    assert notes.group(["of"], {"n": "count", "mean": {"avg": "n"}}) == before
    notes.save({"_id": "n0", "of": "g1", "n": 0})
    assert [group["n"] for group in notes.group(["of"], {"n": "count"})] == [2, 4, 3]


def test_an_index_with_a_collation_serves_queries_with_it(notes: kvstore.Store) -> None:
    names = ["Zoe", "Ärger", "anna", "ärger"]
    notes.save_many({"_id": str(n), "name": name} for n, name in enumerate(names))
    loose = {"locale": "de", "ignoreCase": True, "ignoreAccents": True}
    queries = [
        kvstore.Query(sort={"name": 1}, collation="de"),
        kvstore.Query({"name": "arger"}, collation=loose),
        kvstore.Query({"name": {"$gte": "B"}}, collation="de"),
    ]
    before = [list(notes.find(query)) for query in queries]
    notes.create_index({"name": 1}, collation="de")
    notes.create_index({"name": 1}, collation=loose, name="loose")
    assert [index.name for index in notes.indexes()] == ["name_1_de", "loose"]
    assert [index.collation for index in notes.indexes()] == [{"locale": "de"}, loose]
    assert [notes.explain(query).indexes[0] for query in queries] == [
        "name_1_de",
        "loose",
        "name_1_de",
    ]
    assert [list(notes.find(query)) for query in queries] == before
    assert notes.explain(kvstore.Query({"name": "anna"})).access == "scan"
    with pytest.raises(kvstore.InvalidError, match="without totals, has a collation"):
        notes.create_index({"name": "text"}, collation="de")


@pytest.mark.parametrize("automatic", [True, False])
def test_what_scans_again_and_again_gets_an_index(tmp_path: Path, *, automatic: bool) -> None:
    with (
        kvstore.Client(
            app_key="kid_test", host=None, data_directory=tmp_path, auto_index=automatic
        ) as client,
        client.collection("notes") as notes,
    ):
        notes.save_many({"_id": f"n{n}", "number": n} for n in range(2_000))
        deadline = time.monotonic() + 60
        for count in itertools.count():
            assert notes.count({"number": 7}) == 1
            # One is made in the background, and measured; that none is made shows soon.
            made = [index.automatic for index in notes.indexes() if index.automatic]
            if any(each["bytes"] for each in made) or (
                time.monotonic() > deadline if automatic else count == 200
            ):
                break
        assert [index.name for index in notes.indexes()] == ["automatic: number"] * automatic
        for index in notes.indexes():
            assert index.automatic is not None
            assert index.automatic["examined"] == 2_000 * index.automatic["scans"]
            assert index.automatic["returned"] == index.automatic["scans"]
            assert index.automatic["bytes"] > 0


def test_what_is_no_index_is_refused(notes: kvstore.Store) -> None:
    with pytest.raises(kvstore.InvalidError) as caught:
        notes.create_index({"a": 2})
    assert caught.value.position is not None
    with pytest.raises(kvstore.InvalidError):
        notes.create_index({})
    for keys in ("b", ["b"], {"b"}):
        with pytest.raises(kvstore.InvalidError, match="keys must be a mapping"):
            notes.create_index(keys)  # type: ignore[arg-type]
