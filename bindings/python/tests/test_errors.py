"""Exceptions by kind."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

import kvstore
from kvstore.errors import error_from_json


@pytest.mark.parametrize(
    ("status", "kind", "also"),
    [
        (10, kvstore.MisuseError, RuntimeError),
        (11, kvstore.InvalidError, ValueError),
        (12, kvstore.NotFoundError, KeyError),
        (16, kvstore.ForbiddenError, PermissionError),
        (20, kvstore.NetworkError, ConnectionError),
        (21, kvstore.TimeoutError, builtins.TimeoutError),
        (32, kvstore.FullError, kvstore.StorageError),
        (77, kvstore.KVError, Exception),
    ],
)
def test_each_status_has_a_class(
    status: int, kind: type[kvstore.KVError], also: type[Exception]
) -> None:
    error = error_from_json({"status": status, "message": "no"})
    assert type(error) is kind
    assert isinstance(error, also)
    assert isinstance(error, kvstore.KVError)
    assert "no" in str(error)
    assert kind.__name__ in repr(error)


def test_an_error_has_all_members() -> None:
    error = error_from_json(
        b'{"status":23,"name":"KV_SERVER","message":"refused","http":500,"error":"E",'
        b'"description":"words","debug":"more","requestId":"r","index":3,"id":"i","position":9,"code":7}'
    )
    assert str(error) == "refused (KV_SERVER, HTTP 500, id 'i', index 3, at byte 9): words: more"
    assert (error.http, error.error, error.description, error.debug) == (500, "E", "words", "more")
    assert (error.request_id, error.index, error.id) == ("r", 3, "i")
    assert (error.position, error.code) == (9, 7)


@pytest.mark.parametrize(
    ("message", "description", "debug", "text"),
    [
        ("It failed.", None, None, "It failed (KV_SERVER)."),
        ("It failed.", "No.", "the reason", "It failed (KV_SERVER). No: the reason"),
        ("It failed.", "No.", "A reason.", "It failed (KV_SERVER). No. A reason."),
        ("It failed.", "the reason", None, "It failed (KV_SERVER): the reason"),
        ("refused", "No.", "5 of 6", "refused (KV_SERVER): No. 5 of 6"),
        ("", "No.", "the reason", "KV_SERVER: No: the reason"),
    ],
)
def test_what_the_backend_said_follows_as_a_sentence(
    message: str, description: str | None, debug: str | None, text: str
) -> None:
    details = {"message": message, "description": description, "debug": debug}
    error = error_from_json({"status": 23, "name": "KV_SERVER", **details})
    assert str(error) == text


def test_what_the_message_says_already_is_not_said_again() -> None:
    error = error_from_json(b'{"status":23,"name":"KV_SERVER","message":"d: g","debug":"g"}')
    assert str(error) == "d: g (KV_SERVER)"


def test_an_error_says_which_id_and_where(notes: kvstore.Store) -> None:
    with pytest.raises(kvstore.NotFoundError, match="id 'nothing'"):
        notes.find_by_id("nothing")
    with pytest.raises(kvstore.InvalidError, match="at byte 5"):
        kvstore.Query.from_format("a == == %@", 1)
    with pytest.raises(kvstore.InvalidError, match=r"unknown operator \$gtx.*at byte 6"):
        kvstore.Query({"a": {"$gtx": 1}})


@pytest.mark.parametrize("id", [None, 5, b"n1", 1.5])
def test_an_id_is_text(notes: kvstore.Store, id: Any) -> None:
    for call in (notes.find_by_id, notes.get, notes.remove_by_id, notes.pending.get):
        with pytest.raises(kvstore.InvalidError, match=f"a str, not {type(id).__name__}"):
            call(id)


def test_a_client_without_a_key_is_invalid() -> None:
    with pytest.raises(kvstore.InvalidError, match="appKey"):
        kvstore.Client(host=None)  # type: ignore[call-arg]


@pytest.mark.plain_file
def test_a_foreign_file_is_left_untouched(tmp_path: Path) -> None:
    with kvstore.Client(app_key="kid", host=None, data_directory=tmp_path) as client:
        client.collection("notes").save({"_id": "n1"})
    [database] = [
        path
        for path in tmp_path.rglob("*")
        if path.suffix not in ("-wal", "-shm")
        and path.is_file()
        and path.read_bytes()[:6] == b"SQLite"
    ]
    for path in tmp_path.rglob(database.name + "-*"):
        path.unlink()
    database.write_bytes(b"not a database " * 1000)
    with pytest.raises(kvstore.CorruptError):
        kvstore.Client(app_key="kid", host=None, data_directory=tmp_path).collection("notes")
    assert database.read_bytes() == b"not a database " * 1000


def test_the_library_tells_about_itself() -> None:
    assert kvstore.version() == kvstore.__version__
    assert kvstore.has_feature("store")
    assert not kvstore.has_feature("no such feature")
