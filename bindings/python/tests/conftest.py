"""Fixtures."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from backends import Opened
from kvstored import Server

import kvstore
from kvstore import Backend, register_backend

_backend_names = itertools.count(1)

APP_KEY = "kid_test"
APP_SECRET = "secret_test"
APP = f"{APP_KEY}:{APP_SECRET}"
_numbers = itertools.count(1)
#: The fixtures that start a server.
SERVERS = {"server", "own_server", "three_devices"}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """On PostgreSQL only what talks to a server runs: nothing else can differ."""
    if os.environ.get("KVSTORED_TEST_STORAGE") == "postgres":
        alike = [item for item in items if not SERVERS & set(getattr(item, "fixturenames", []))]
        config.hook.pytest_deselected(items=alike)
        items[:] = [item for item in items if item not in alike]


@pytest.fixture(scope="session", autouse=True)
def interrupts() -> None:
    """Interrupts reach what the tests start, also where a shell has this in the background."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def nothing_leaks() -> Iterator[None]:
    """Every test gives back all handles."""
    yield
    gc.collect()
    assert kvstore.live_objects() == 0
    # What is left has no handle, so the next test need not look through it again: with pandas and
    # pyarrow loaded that took longer than most tests.
    gc.freeze()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Give a server that all tests share."""
    with Server(tmp_path_factory.mktemp("server"), APP) as server:
        yield server


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[Server]:
    """Give a server that the test may stop."""
    with Server(tmp_path / "server", APP) as server:
        yield server


@pytest.fixture
def local(tmp_path: Path) -> Iterator[kvstore.Client]:
    """Give a client without a backend."""
    with kvstore.Client(app_key=APP_KEY, host=None, data_directory=tmp_path / "local") as client:
        yield client


@pytest.fixture
def notes(local: kvstore.Client) -> Iterator[kvstore.Store]:
    """Give an empty collection without a backend."""
    with local.collection("notes") as notes:
        yield notes


@pytest.fixture
def unique() -> str:
    """Give a name that no other test uses on the shared server."""
    return f"name{next(_numbers)}"


@pytest.fixture
def online(server: Server, tmp_path: Path, unique: str) -> Iterator[kvstore.Client]:
    """Give a client of the shared server, with a user of its own logged in."""
    with open_client(server.host, tmp_path / "online") as client:
        client.signup(unique, "a password")
        yield client


def open_client(
    host: str, directory: Path, callbacks: Literal["thread", "pump"] = "thread"
) -> kvstore.Client:
    """Open a client of the test application."""
    return kvstore.Client(
        app_key=APP_KEY,
        app_secret=APP_SECRET,
        host=host,
        data_directory=directory,
        callbacks=callbacks,
    )


Printed = Callable[[], str]


@pytest.fixture
def printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Printed:
    """Let the interpreter's own hook print what nobody catches; give what has been printed."""
    monkeypatch.setattr(sys, "unraisablehook", sys.__unraisablehook__)
    return lambda: capsys.readouterr().err


class Silence:
    """A host that accepts connections and never answers."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.host = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        #: Set when a request has arrived, and when its connection was closed by the client.
        self.asked = threading.Event()
        self.closed = threading.Event()
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        with connection:
            while connection.recv(65536):
                self.asked.set()
            self.closed.set()

    def end(self) -> None:
        """Stop listening."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


@pytest.fixture
def silence() -> Iterator[Silence]:
    """Give a host that never answers."""
    silence = Silence()
    yield silence
    silence.end()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Open clients of a backend, each with a data directory of its own."""
    names: dict[int, kvstore.backend.Registration] = {}
    clients: list[kvstore.Client] = []

    def open_client(backend: Backend, **options: Any) -> kvstore.Client:
        if id(backend) not in names:
            names[id(backend)] = register_backend(f"backend {next(_backend_names)}", backend)
        client = kvstore.Client(
            app_key="kid",
            backend=names[id(backend)].name,
            data_directory=tmp_path / str(len(clients)),
            **options,
        )
        clients.append(client)
        return client

    yield open_client
    for client in clients:
        client.close()
    for registration in names.values():
        registration.close()
