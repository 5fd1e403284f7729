"""Requests: waiting, cancelling, callbacks, Ctrl-C."""

from __future__ import annotations

import logging
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import APP_KEY, APP_SECRET, Silence, open_client
from kvstored import Server

import kvstore


@pytest.fixture
def hung(silence: Silence, tmp_path: Path) -> Iterator[kvstore.Client]:
    """Give a client whose backend never answers."""
    with open_client(silence.host, tmp_path / "hung") as client:
        yield client


@pytest.fixture
def pumped(server: Server, tmp_path: Path, unique: str) -> Iterator[kvstore.Client]:
    """Give a client whose callbacks run in dispatch()."""
    with kvstore.Client(
        app_key=APP_KEY,
        app_secret=APP_SECRET,
        host=server.host,
        data_directory=tmp_path / "pumped",
        callbacks="pump",
    ) as client:
        client.signup(unique, "a password")
        yield client


def test_a_request_gives_its_result_again_and_again(online: kvstore.Client, unique: str) -> None:
    with online.collection(unique, "network").save_async({"_id": "n1"}) as request:
        assert request.result()["_id"] == "n1"
        assert request.result(0)["_id"] == "n1"
        assert request.done()


def test_a_find_is_lazy_when_it_is_asynchronous(online: kvstore.Client, unique: str) -> None:
    store = online.collection(unique, "network")
    store.save_many({"_id": f"n{number}"} for number in range(100))
    with store.find_async() as request, request.result() as cursor:
        assert len(list(cursor)) == 100
        assert request.result() is cursor


def test_a_wait_that_times_out_leaves_the_operation_running(
    hung: kvstore.Client, silence: Silence
) -> None:
    with hung.ping_async() as request:
        assert silence.asked.wait(60)
        with pytest.raises(TimeoutError):
            request.result(0.01)
        assert not request.done()
        request.cancel()
        with pytest.raises(kvstore.CancelledError):
            request.result()
        assert silence.closed.wait(60)


def test_an_operation_that_times_out_is_another_thing(hung: kvstore.Client) -> None:
    with pytest.raises(kvstore.TimeoutError):
        hung.ping(timeout=0.05)


def test_progress_counts_entities(online: kvstore.Client, unique: str) -> None:
    online.collection(unique, "network").save_many({"_id": f"n{n}"} for n in range(120))
    with online.collection(unique).pull_async() as request:
        assert request.result().pulled == 120
        assert request.progress().entities_done == 120


def test_ctrl_c_ends_a_blocking_call_and_cancels_it(hung: kvstore.Client, silence: Silence) -> None:
    main = threading.main_thread().ident or 0

    def interrupt() -> None:
        silence.asked.wait(60)
        # Who is interrupted before it waits has nothing to cancel yet.
        deadline, pause = time.monotonic() + 60, threading.Event()
        while not _is_waiting(main) and time.monotonic() < deadline:
            pause.wait(0.001)
        signal.pthread_kill(main, signal.SIGINT)

    # Whoever started the tests may have them ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            hung.ping()
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert silence.closed.wait(60)


def _is_waiting(thread: int) -> bool:
    """Tell whether a thread waits for the answer of a request."""
    frames = traceback.walk_stack(sys._current_frames()[thread])
    return any(frame.f_code is kvstore.Request.wait.__code__ for frame, _ in frames)


def test_closing_the_client_ends_what_waits(hung: kvstore.Client, silence: Silence) -> None:
    def close() -> None:
        silence.asked.wait(60)
        hung.close()

    thread = threading.Thread(target=close)
    thread.start()
    with pytest.raises((kvstore.CancelledError, kvstore.MisuseError)):
        hung.ping()
    thread.join()


def test_a_callback_gets_the_answer_on_the_client_s_thread(online: kvstore.Client) -> None:
    answers: list[kvstore.Answer[Any]] = []
    threads: list[threading.Thread] = []

    def note(answer: kvstore.Answer[Any]) -> None:
        answers.append(answer)
        threads.append(threading.current_thread())

    with online.ping_async(on_answer=note) as request:
        found = request.result()
    assert [(answer.value, answer.error, answer.is_final) for answer in answers] == [
        (found, None, True)
    ]
    assert threads[0] is not threading.current_thread()


def test_a_callback_gets_the_error(online: kvstore.Client, unique: str) -> None:
    answers: list[kvstore.Answer[Any]] = []
    store = online.collection(unique, "network")
    with (
        store.find_by_id_async("nothing", on_answer=answers.append) as request,
        pytest.raises(kvstore.NotFoundError),
    ):
        request.result()
    assert isinstance(answers[0].error, kvstore.NotFoundError)
    assert answers[0].value is None


def test_a_cache_store_answers_a_find_twice(online: kvstore.Client, unique: str) -> None:
    online.collection(unique, "network").save({"_id": "n1"})
    seen: list[tuple[bool, bool, list[str]]] = []
    cursors: list[kvstore.Cursor] = []

    def note(answer: kvstore.Answer[kvstore.Cursor]) -> None:
        assert answer.value is not None
        found = [entity["_id"] for entity in answer.value]
        seen.append((answer.is_local, answer.is_final, found))
        cursors.append(answer.value)

    with online.collection(unique, "cache").find_async(on_answer=note) as request:
        assert request.result() is None
    assert seen == [(True, False, []), (False, True, ["n1"])]
    assert [list(cursor) for cursor in cursors] == [[], []]


def test_what_a_callback_raises_comes_out_of_the_result(online: kvstore.Client) -> None:
    def fail(answer: object) -> None:
        raise ZeroDivisionError

    with online.ping_async(on_answer=fail) as request, pytest.raises(ZeroDivisionError):
        request.result()


def test_a_callback_may_call_and_close(online: kvstore.Client, unique: str) -> None:
    called = threading.Event()

    def note(answer: object) -> None:
        online.collection(unique).save({"_id": "n1"})
        online.close()
        called.set()

    online.ping_async(on_answer=note)
    assert called.wait(60)


def test_a_program_that_forgets_to_close_ends_all_the_same(
    silence: Silence, tmp_path: Path
) -> None:
    program = (
        "import kvstore, sys\n"
        "client = kvstore.Client(app_key='k', app_secret='s', host=sys.argv[1],"
        " data_directory=sys.argv[2])\n"
        "request = client.ping_async(on_answer=lambda answer: print(answer.error))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, silence.host, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "KV_CANCELLED" in ended.stdout


def test_pumped_callbacks_run_in_dispatch(pumped: kvstore.Client) -> None:
    threads: list[threading.Thread] = []
    request = pumped.ping_async(on_answer=lambda _: threads.append(threading.current_thread()))
    _pump(pumped, lambda: bool(threads))
    assert threads == [threading.current_thread()]
    assert "version" in request.result()
    request.close()
    assert pumped.dispatch() == 0


def test_what_a_pumped_callback_raises_comes_out_of_dispatch(pumped: kvstore.Client) -> None:
    def fail(answer: object) -> None:
        raise ZeroDivisionError

    with pumped.ping_async(on_answer=fail), pytest.raises(ZeroDivisionError):
        _pump(pumped, lambda: False)


def test_a_client_with_a_thread_has_nothing_to_dispatch(online: kvstore.Client) -> None:
    with pytest.raises(kvstore.UnsupportedError):
        online.fileno()
    with pytest.raises(kvstore.UnsupportedError):
        online.dispatch()


def test_the_log_comes_without_secrets(online: kvstore.Client, unique: str) -> None:
    lines: list[str] = []
    online.set_log(lambda level, text: lines.append(f"{level}: {text}"), "debug")
    online.collection(unique, "network").save({"text": "the body"})
    online.login(unique, "a password")
    online.set_log(None)
    online.close()
    assert lines
    found = "\n".join(lines)
    assert "a password" not in found
    assert APP_SECRET not in found
    assert "the body" not in found


def test_the_log_goes_to_a_logger_with_a_line_for_each_request(
    online: kvstore.Client, unique: str, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger(f"kvstore.{unique}")
    logger.setLevel(logging.DEBUG)
    online.set_log(logger, "debug")
    notes = online.collection(unique, "network")
    notes.save({"text": "a body"})
    list(notes.find({"text": "value"}))
    online.close()
    requests = [one for one in caplog.records if one.name == logger.name and "GET /" in one.message]
    assert requests
    assert all(one.levelno == logging.DEBUG for one in requests)
    assert f"/{unique} 200, " in requests[-1].message
    assert "value" not in caplog.text


def _pump(client: kvstore.Client, over: Callable[[], bool]) -> None:
    """Run an event loop until something has happened."""
    with selectors.DefaultSelector() as selector:
        selector.register(client, selectors.EVENT_READ)
        while not over():
            assert selector.select(60)
            client.dispatch()


def test_wait_tells_whether_the_answer_is_there(silence: Silence, tmp_path: Path) -> None:
    with open_client(silence.host, tmp_path) as client, client.ping_async() as request:
        assert not request.wait(0.05)
        request.cancel()
        assert request.wait(60)
