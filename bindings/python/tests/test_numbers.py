"""Numbers that int and float do not hold."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import kvstore
from kvstore import F

DIGITS = "9" * 5_000
LARGE = 2**64
PAGE = (
    f'[{{"_id":"a","n":1e400}},{{"_id":"b","n":{DIGITS},"m":{LARGE}}},'
    f'{{"_id":"c","n":-{DIGITS}}},{{"_id":"d","n":7}}]'
)
BEYOND = "the number is outside the range of 64-bit floating point"


class Backend(BaseHTTPRequestHandler):
    """Answers every find with numbers that no backend should have."""

    def do_GET(self) -> None:
        """Answer with all entities."""
        self.send_response(200)
        self.send_header("X-Kinvey-Request-Start", "2026-02-03T04:05:06.789Z")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE.encode())

    def do_POST(self) -> None:
        """Log a user in."""
        body = b'{"_id":"ana","_kmd":{"authtoken":"token"}}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture
def client(tmp_path: Path) -> Iterator[kvstore.Client]:
    """Give a client of such a backend."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Backend) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        with kvstore.Client(
            app_key="kid",
            app_secret="secret",
            host=f"http://127.0.0.1:{server.server_port}",
            data_directory=tmp_path,
        ) as client:
            client.login("ana", "pw")
            yield client
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("type", ["network", "sync"])
def test_a_page_of_a_backend_is_read_whatever_its_numbers(
    client: kvstore.Client, type: kvstore.StoreType
) -> None:
    with client.collection("notes", type) as notes:
        if type == "sync":
            assert notes.pull().pulled == 4
        entities = {entity["_id"]: entity for entity in notes.find()}
        assert [entities[id]["n"] for id in "abcd"] == [math.inf, math.inf, -math.inf, 7]
        assert entities["b"]["m"] == LARGE
        if type == "sync":
            assert notes.find_by_id("b")["n"] == math.inf
            assert [entity["_id"] for entity in notes.find(F.n < 0)] == ["c"]
            assert b"".join(notes.find({"_id": "b"}).raw()).decode().count("9") > 5_000 - 1


def test_numbers_beyond_floating_point_are_refused_by_name(notes: kvstore.Store) -> None:
    for number in (10**400, -(10**400)):
        with pytest.raises(kvstore.InvalidError, match=rf"^a\.b\[1\]: {BEYOND}"):
            notes.save({"a": {"b": [1, number]}})
        with pytest.raises(kvstore.InvalidError, match=rf"^\[1\]\.n: {BEYOND}"):
            notes.save_many([{}, {"n": number}])
        with pytest.raises(kvstore.InvalidError, match=BEYOND):
            notes.count({"n": number})
    with pytest.raises(kvstore.InvalidError, match=r"a\.b\[1\]: .*4300 digits"):
        notes.save({"a": {"b": [1, 10**5_000]}})
    assert notes.count() == 0


def test_integers_beyond_64_bits_stay_as_they_are_and_can_be_asked_for(
    notes: kvstore.Store,
) -> None:
    for number in (LARGE, -LARGE, 2**63, 10**300 + 1):
        id = notes.save({"n": number})["_id"]
        assert notes.find_by_id(id)["n"] == number
        assert [entity["_id"] for entity in notes.find({"n": number})] == [id]
        assert [entity["_id"] for entity in notes.find(F.n == number)] == [id]
        assert [e["_id"] for e in notes.find(kvstore.Query.from_format("n = %@", number))] == [id]
