"""Callbacks that fail, and callbacks that can not be called."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from conftest import Printed

import kvstore


def fail(*_: object) -> None:
    raise ZeroDivisionError("out of a callback")


def shows_where_it_failed(text: str) -> bool:
    """Tell whether a text is the traceback of `fail`."""
    wanted = ("Exception ignored", "Traceback", "in fail", "ZeroDivisionError: out of a callback")
    return all(part in text for part in wanted)


class Failing:
    """A callback that fails, and says that it was called."""

    def __init__(self) -> None:
        self._called = threading.Event()

    def __call__(self, *_: object) -> None:
        """Fail."""
        self._called.set()
        fail()

    def wait(self) -> None:
        """Wait for a call."""
        assert self._called.wait(60)


def test_what_the_callback_of_an_answer_raises_is_printed_if_nobody_asks(
    online: kvstore.Client, printed: Printed
) -> None:
    failing = Failing()
    request = online.ping_async(on_answer=failing)
    failing.wait()
    request.close()
    online.close()
    assert shows_where_it_failed(printed())


def test_what_the_callback_of_an_event_raises_is_printed(
    notes: kvstore.Store, local: kvstore.Client, printed: Printed
) -> None:
    failing = Failing()
    notes.observe(None, failing)
    failing.wait()
    local.close()
    assert shows_where_it_failed(printed())


def test_what_a_log_raises_is_printed_and_fails_nothing(
    online: kvstore.Client, printed: Printed, unique: str
) -> None:
    online.set_log(fail, "debug")
    assert online.collection(unique, "network").count() == 0
    online.close()
    assert shows_where_it_failed(printed())


def test_what_ended_raises_is_printed(local: kvstore.Client, printed: Printed) -> None:
    local.observe_sync(lambda event: None, ended=fail)
    local.close()
    assert shows_where_it_failed(printed())


async def awaited(*_: object) -> Any:
    raise AssertionError("nobody awaits this")


class Awaited:
    """An object whose call must be awaited."""

    async def __call__(self, *_: object) -> Any:
        """Never run."""
        raise AssertionError("nobody awaits this")


@pytest.mark.parametrize("callback", [awaited, Awaited()])
@pytest.mark.parametrize(
    "give",
    [
        lambda client, notes, it: notes.set_conflict_handler(it),
        lambda client, notes, it: notes.observe(None, it),
        lambda client, notes, it: notes.observe_by_id("n1", it),
        lambda client, notes, it: notes.subscribe(it),
        lambda client, notes, it: notes.subscribe(on_ready=it),
        lambda client, notes, it: notes.reduce(it, int),
        lambda client, notes, it: notes.count_async(on_answer=it),
        lambda client, notes, it: client.observe_sync(it),
        lambda client, notes, it: client.set_log(it),
    ],
)
def test_what_must_be_awaited_is_refused_when_it_is_given(
    local: kvstore.Client,
    notes: kvstore.Store,
    give: Callable[[kvstore.Client, kvstore.Store, Any], object],
    callback: Any,
) -> None:
    with pytest.raises(TypeError, match="cannot be an async function"):
        give(local, notes, callback)


def test_the_level_of_the_log_is_one_of_four(local: kvstore.Client) -> None:
    level: Any
    for level in ("verbose", "", 1, None, []):
        with pytest.raises(kvstore.InvalidError, match="error, warning, info, debug"):
            local.set_log(print, level)
