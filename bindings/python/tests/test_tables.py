"""Entities as DataFrames of pandas and tables of Arrow."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]  # it has no types
import pytest
from model_types import Note

import kvstore
from kvstore.tables import columns

MOMENT = datetime(2026, 2, 3, 4, 5, 6, 789_000, tzinfo=UTC)
NOTES: list[dict[str, Any]] = [
    {"_id": "a", "n": 1, "price": 2, "text": "milk", "at": MOMENT, "done": True, "tags": ["x"]},
    {"_id": "b", "n": None, "price": 2.5, "text": None, "done": False, "from": {"year": 2019}},
    {"_id": "c", "n": 3, "at": None, "from": {"year": 2020, "place": {"city": "Porto"}}},
]


@pytest.fixture
def notes(local: kvstore.Client) -> kvstore.Store:
    """Give a store with these notes."""
    store = local.collection("notes")
    store.save_many(NOTES)
    return store


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let each batch be a page, of which the first has 32 entities."""
    monkeypatch.setattr(columns.batches, "__defaults__", (1,))


# pandas


def test_a_frame_has_the_ids_as_index_and_a_type_for_each_column(notes: kvstore.Store) -> None:
    frame = notes.to_pandas()
    assert frame.index.name == "_id"
    assert list(frame.index) == ["a", "b", "c"]
    assert frame.dtypes.astype(str).to_dict() == {
        "n": "Int64",
        "price": "Float64",
        "text": "string",
        "at": "datetime64[ms, UTC]",
        "done": "boolean",
        "tags": "object",
        "from": "object",
    }
    assert frame["n"].sum() == 4
    assert frame.loc["a", "at"] == pd.Timestamp(MOMENT)
    assert frame.loc["b", "from"] == {"year": 2019}
    assert frame.loc["a", "tags"] == ["x"]


def test_what_is_missing_or_null_is_na(notes: kvstore.Store) -> None:
    frame = notes.to_pandas()
    for row, column in [("b", "n"), ("b", "text"), ("c", "text"), ("c", "done"), ("a", "from")]:
        assert frame.loc[row, column] is pd.NA, (row, column)
    assert frame["at"].isna().tolist() == [False, True, True]


def test_a_frame_takes_a_query(notes: kvstore.Store) -> None:
    query = kvstore.Query({"n": {"$gte": 1}}, sort={"n": -1}, fields=["n"])
    frame = notes.to_pandas(query)
    assert frame.to_dict() == {"n": {"c": 3, "a": 1}}
    assert notes.to_pandas({"n": 7}).shape == (0, 0)
    assert notes.to_pandas({"n": 7}).index.name == "_id"


def test_objects_can_be_columns(notes: kvstore.Store) -> None:
    frame = notes.to_pandas(flatten=True)
    assert frame["from.year"].tolist() == [pd.NA, 2019, 2020]
    assert frame.loc["c", "from.place.city"] == "Porto"
    assert "from" not in frame


def test_moments_may_stay_texts_and_other_texts_do(notes: kvstore.Store) -> None:
    assert notes.to_pandas(dates=False).loc["a", "at"] == "2026-02-03T04:05:06.789Z"
    notes.save({"_id": "d", "at": "tomorrow"})
    assert notes.to_pandas().loc["a", "at"] == "2026-02-03T04:05:06.789Z"
    notes.save({"_id": "d", "at": "2026-02-30T00:00:00.000Z"})
    assert notes.to_pandas()["at"].dtype == "string"
    assert notes.to_arrow().schema.field("at").type == pa.string()


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize(
    ("first", "last", "dtype"),
    [
        (1, 2.5, "Float64"),
        (2**60, 2.5, "object"),
        (1, 2**60, "Int64"),
        (1, 2**70, "object"),
        (True, 1, "object"),
        ("2026-02-03T04:05:06.789Z", "milk", "string"),
        (1, "milk", "object"),
        (None, 1, "Int64"),
        ({"a": 1}, [2], "object"),
        (None, None, "object"),
    ],
)
def test_values_of_different_batches_keep_what_they_are(
    local: kvstore.Client, first: Any, last: Any, dtype: str
) -> None:
    store = local.collection("many")
    store.save_many({"_id": f"{n:03}", "v": first, "early": n} for n in range(40))
    store.save_many({"_id": f"{n:03}", "v": last, "late": n} for n in range(40, 80))
    frame = store.to_pandas()
    assert frame["v"].dtype == dtype
    wanted = [first] * 40 + [last] * 40
    assert [None if value is pd.NA else value for value in frame["v"]] == wanted
    assert frame["early"].count() == frame["late"].count() == 40
    assert frame["late"].dropna().tolist() == list(range(40, 80))


def test_a_typed_store_gives_columns_of_what_is_stored(local: kvstore.Client) -> None:
    store = local.collection("typed", model=Note)
    store.save(Note(text="milk"))
    assert store.to_pandas()["text"].tolist() == ["milk"]


def test_a_cursor_is_closed_though_a_frame_cannot_be_made(
    notes: kvstore.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.delitem(sys.modules, "kvstore.tables.frames", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'libkvstore\[pandas\]'"):
        notes.to_pandas()


# Arrow


def test_a_table_has_a_type_for_each_column(notes: kvstore.Store) -> None:
    table = notes.to_arrow()
    moment = pa.timestamp("ms", tz="UTC")
    assert table.schema.names == ["_id", "n", "price", "text", "at", "done", "tags", "from"]
    assert table.schema.types[:7] == [
        *(pa.string(), pa.int64(), pa.float64(), pa.string(), moment, pa.bool_()),
        pa.list_(pa.string()),
    ]
    assert table.to_pylist()[0]["at"] == MOMENT
    assert table["from"].to_pylist()[2] == {"year": 2020, "place": {"city": "Porto"}}
    assert table["n"].null_count == 1
    flat = notes.to_arrow(flatten=True)
    assert flat["from.year"].to_pylist() == [None, 2019, 2020]


def test_values_without_a_common_type_are_json(local: kvstore.Client) -> None:
    store = local.collection("mixed")
    store.save_many([{"_id": "a", "v": 1}, {"_id": "b", "v": "é"}, {"_id": "c", "v": {"x": 2}}])
    table = store.to_arrow()
    assert table["v"].to_pylist() == ["1", '"é"', '{"x":2}']
    assert table.schema.field("v").metadata == {b"kvstore": b"json"}


@pytest.mark.usefixtures("small_batches")
def test_a_table_of_many_batches_is_one(local: kvstore.Client) -> None:
    store = local.collection("many")
    store.save_many({"_id": f"{n:04}", "v": n if n < 900 else n + 0.5} for n in range(1000))
    table = store.to_arrow()
    assert table.schema.field("v").type == pa.float64()
    assert table["v"].to_pylist() == [n if n < 900 else n + 0.5 for n in range(1000)]


def test_batches_are_made_while_entities_are_read(local: kvstore.Client) -> None:
    store = local.collection("many")
    store.save_many({"_id": f"{n:04}", "n": n, "at": MOMENT} for n in range(2000))
    reader = store.arrow_batches(rows=500)
    sizes = [batch.num_rows for batch in reader]
    assert sum(sizes) == 2000
    assert max(sizes) < 1024
    assert reader.schema.field("at").type == pa.timestamp("ms", tz="UTC")
    assert store.arrow_batches({"n": -1}).read_all().num_rows == 0


def test_what_does_not_fit_into_the_first_batch_is_named(local: kvstore.Client) -> None:
    store = local.collection("many")
    store.save_many({"_id": f"{n:04}", "n": n} for n in range(1000))
    store.save({"_id": "x", "n": "many"})
    with pytest.raises(kvstore.InvalidError, match="'n' of the entity 'x' is not of type int64"):
        store.arrow_batches(rows=100).read_all()
    store.save({"_id": "x", "n": 1, "new": True})
    with pytest.raises(kvstore.InvalidError, match="no member 'new'"):
        store.arrow_batches(rows=100).read_all()


def test_a_schema_says_what_is_read(notes: kvstore.Store) -> None:
    schema = pa.schema(
        [("_id", pa.string()), ("n", pa.float32()), ("at", pa.timestamp("us")), ("x", pa.int8())]
    )
    with pytest.raises(kvstore.InvalidError, match="'at' of the entity 'a'"):
        notes.arrow_batches(schema=schema).read_all()
    schema = schema.set(2, pa.field("at", pa.timestamp("us", tz="UTC")))
    table = notes.arrow_batches(schema=schema).read_all()
    assert table.schema == schema
    assert table["n"].to_pylist() == [1.0, None, 3.0]
    assert table["at"].to_pylist() == [MOMENT, None, None]


# Lists that load little by little


@pytest.mark.usefixtures("small_batches")
def test_a_list_becomes_columns_while_it_is_read(local: kvstore.Client) -> None:
    store = local.collection("many")
    store.save_many({"_id": f"{n:04}", "n": n, "at": MOMENT} for n in range(2000))
    with store.results(kvstore.Query(sort={"n": -1}), cache_bytes=20_000) as found:
        store.remove_by_id("0007")
        frame = found.to_pandas()
        assert list(frame.index) == [f"{n:04}" for n in reversed(range(2000)) if n != 7]
        assert frame.dtypes.astype(str).to_dict() == {"n": "Int64", "at": "datetime64[ms, UTC]"}
        assert found.statistics()["reads"] == 20
        assert found.statistics()["cachedBytes"] <= 20_000
        assert found.to_arrow() == store.to_arrow(kvstore.Query(sort={"n": -1}))
        assert found[10:20].to_arrow()["n"].to_pylist() == list(range(1989, 1979, -1))
        assert found[1990::3].to_pandas()["n"].to_list() == [9, 6, 3, 0]
        batches = list(found.arrow_batches(rows=500))
        assert sum(batch.num_rows for batch in batches) == 1999
        assert max(batch.num_rows for batch in batches) < 1024
    assert isinstance(store.results({"n": -1}).to_pandas().index, pd.Index)


def test_rows_without_ids_are_numbered_and_ids_have_no_columns(local: kvstore.Client) -> None:
    store = local.collection("things")
    store.save_many({"kind": "ab"[n % 2], "n": n} for n in range(10))
    groups = store.rows(group_by=["kind"], aggregates={"sum": {"sum": "n"}})
    assert groups.to_pandas().to_dict("list") == {"kind": ["a", "b"], "sum": [20, 25]}
    assert groups.to_arrow().to_pylist() == [{"kind": "a", "sum": 20}, {"kind": "b", "sum": 25}]
    with pytest.raises(kvstore.InvalidError, match="these are ids"):
        store.ids().to_pandas()


def test_a_typed_list_gives_columns_of_what_is_stored(local: kvstore.Client) -> None:
    store = local.collection("notes", model=Note)
    store.save(Note(text="milk"))
    assert store.results().to_arrow()["text"].to_pylist() == ["milk"]
