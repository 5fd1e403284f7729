"""Backends of the program's own that misbehave."""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import pytest
from backends import Opened, Shelf, ids

import kvstore
from kvstore.backend import (
    Later,
    Page,
    Refused,
    Result,
    Stored,
)


def test_a_write_that_is_refused_is_set_aside_and_one_that_is_late_waits(opened: Opened) -> None:
    shelf = Shelf()
    answers: dict[str, Result] = {"bad": Refused("not here", 16), "slow": Later("busy", 0.01)}
    shelf.instead["write"] = lambda _, writes: [
        answers.get(write.id) or Stored(write.record) for write in writes
    ]
    store = opened(shelf, retries=0).collection("notes")
    for name in ("bad", "good", "slow"):
        store.save({"_id": name})
    errors = {error.id: error for error in store.push().errors}
    assert isinstance(errors["bad"], kvstore.ForbiddenError)
    assert "not here" in errors["bad"].message
    assert {write.id: write.state for write in store.pending} == {
        "bad": "refused",
        "slow": "waiting",
    }
    answers.clear()
    assert store.push().pushed == 1
    store.pending.retry("bad")
    assert len(store.pending) == 0


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ConnectionError("cut"), kvstore.NetworkError),
        (TimeoutError("slow"), kvstore.TimeoutError),
        (PermissionError("no"), kvstore.ForbiddenError),
        (kvstore.TooLargeError({"status": 25, "message": "too much"}), kvstore.TooLargeError),
    ],
)
def test_what_a_method_raises_is_the_error_and_loses_nothing(
    opened: Opened, raised: Exception, expected: type[kvstore.KVError]
) -> None:
    shelf = Shelf()
    client = opened(shelf, retries=0)
    store = client.collection("notes")
    store.save({"_id": "a"})

    def fail(_: str) -> None:
        raise raised

    shelf.before = fail
    with pytest.raises(expected):
        list(client.collection("notes", "network").find())
    with contextlib.suppress(expected):
        assert [type(error) for error in store.push().errors] == [expected]
    assert len(store.pending) == 1
    shelf.before = lambda _: None
    store.pending.retry("a")
    assert len(store.pending) == 0


def test_a_defect_of_a_backend_is_shown_with_its_traceback(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = Shelf()
    shown: list[BaseException | None] = []
    monkeypatch.setattr(
        sys, "unraisablehook", lambda unraisable: shown.append(unraisable.exc_value)
    )
    store = opened(shelf, retries=0).collection("notes", "network")

    def fail(_: str) -> None:
        raise LookupError("my defect")

    shelf.before = fail
    with pytest.raises(kvstore.ServerError, match="LookupError: my defect"):
        list(store.find())
    assert [str(error) for error in shown] == ["my defect"]


_WRONG: list[Any] = [7, object(), {"_id": 5}]


@pytest.mark.parametrize("given", [None, 7, *(Page([wrong]) for wrong in _WRONG)])
def test_an_answer_that_is_none_is_an_error(
    opened: Opened, given: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    shelf = Shelf()
    shelf.instead["fetch"] = lambda _: given
    store = opened(shelf, retries=0).collection("notes")
    with pytest.raises((kvstore.ProtocolError, kvstore.InvalidError)):
        store.pull()
    assert store.count() == 0


def test_what_cannot_be_json_is_a_defect_and_no_refusal(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    shelf = Shelf()
    store = opened(shelf, retries=0).collection("notes")
    store.save({"_id": "a"})
    shelf.instead["write"] = lambda _, writes: [
        Stored({**(write.record or {}), "n": float("nan")}) for write in writes
    ]
    [error] = store.push().errors
    assert isinstance(error, kvstore.ProtocolError)
    assert [write.state for write in store.pending] == ["waiting"]
    shelf.instead.clear()
    assert store.push().pushed == 1


def test_a_network_store_gives_ids_to_what_has_none(opened: Opened) -> None:
    shelf = Shelf()
    saved = opened(shelf).collection("notes", "network").save({"n": 1})
    assert shelf.records["notes"][saved["_id"]]["n"] == 1


def test_fewer_results_than_writes_leave_the_others_pending(opened: Opened) -> None:
    shelf = Shelf()
    shelf.instead["write"] = lambda name, writes: shelf.carry_out_all(name, writes[:1])
    store = opened(shelf, retries=0).collection("notes")
    store.save_many({"_id": name} for name in "abc")
    store.push()
    assert len(store.pending) == 2
    shelf.instead.clear()
    store.push()
    assert ids(shelf.records["notes"].values()) == ["a", "b", "c"]
    assert len(store.pending) == 0
