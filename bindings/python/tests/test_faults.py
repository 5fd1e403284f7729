"""Lists of faults: ids come from the backend first, the records of a batch when one is touched."""

from __future__ import annotations

import base64
import re
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import APP, APP_KEY, open_client
from kvstored import Server

import kvstore
from kvstore import Query, RecordState, Store

Notes = Store[dict[str, Any]]


def ordered(skip: int = 0, limit: int | None = None) -> Query:
    """Order by the number."""
    return Query(sort={"n": 1}, skip=skip, limit=limit)


class Requests:
    """Counts the requests of entities that a server answers."""

    def __init__(self, host: str) -> None:
        """Ask the server at this address, as its administrator."""
        secret = base64.b64encode(f"{APP_KEY}:master_test".encode()).decode()
        self._page = urllib.request.Request(
            f"{host}/metrics", headers={"Authorization": f"Basic {secret}"}
        )

    def count(self) -> int:
        """Give how many there were so far, once all have ended."""
        while "\nkvstored_requests_active 1\n" not in self._read():
            pass
        # The counts of that page may be older than this line of it.
        text = self._read()
        name = r'^kvstored_request_duration_seconds_count\{route="(?:entity|collection)".*\} (\d+)$'
        return sum(int(number) for number in re.findall(name, text, re.MULTILINE))

    def _read(self) -> str:
        with urllib.request.urlopen(self._page) as answer:
            text: str = answer.read().decode()
        return text

    @contextmanager
    def expect(self, count: int) -> Iterator[None]:
        """Prove that the block makes so many."""
        before = self.count()
        yield
        assert self.count() - before == count


@pytest.fixture
def counted(tmp_path: Path) -> Iterator[Server]:
    """Give a server whose requests can be counted, with 250 notes."""
    with Server(tmp_path / "server", f"{APP}:master_test") as server:
        with open_client(server.host, tmp_path / "writer") as client:
            client.signup("somebody", "a password")
            notes = client.collection("notes", type="network")
            notes.save_many({"_id": f"k{n}", "n": n, "text": "x" * n} for n in range(250))
        yield server


@pytest.fixture
def requests(counted: Server) -> Requests:
    """Count the requests of the server."""
    return Requests(counted.host)


@pytest.fixture
def client(counted: Server, tmp_path: Path) -> Iterator[kvstore.Client]:
    """Give a device of the user."""
    with open_client(counted.host, tmp_path / "device") as client:
        client.login("somebody", "a password")
        yield client


@pytest.fixture
def elsewhere(counted: Server, tmp_path: Path) -> Iterator[Notes]:
    """Give the notes as another device of the user changes them."""
    with open_client(counted.host, tmp_path / "elsewhere") as client:
        client.login("somebody", "a password")
        yield client.collection("notes", type="network")


def test_a_network_list_asks_for_each_batch_once(
    client: kvstore.Client, requests: Requests
) -> None:
    notes = client.collection("notes", type="network")
    with requests.expect(1):
        found = notes.results(ordered())
    assert len(found) == 250
    with requests.expect(1), notes.results() as unordered:
        assert len(unordered) == 250
    with requests.expect(1):
        assert [found[n]["n"] for n in (120, 199, 100)] == [120, 199, 100]
    with requests.expect(2):
        assert [note["n"] for note in found] == list(range(250))
    assert found.statistics()["reads"] == 3
    assert found.state(7) is RecordState.UNCHANGED
    with requests.expect(1):
        found.refresh()
        assert found[249]["text"] == "x" * 249
    found.close()


def test_the_cache_of_a_network_list_is_limited(client: kvstore.Client, requests: Requests) -> None:
    notes = client.collection("notes", type="network")
    with notes.results(ordered(), batch_size=10, cache_bytes=8_000) as found:
        assert sum(len(note["text"]) for note in found) == sum(range(250))
        # One batch may be over it.
        assert found.statistics()["cachedBytes"] <= 8_000 + 10 * 400
        with requests.expect(1):
            assert found[0]["n"] == 0


def test_a_batch_of_more_ids_than_a_request_may_name_takes_several(
    client: kvstore.Client, requests: Requests
) -> None:
    notes = client.collection("notes", type="network")
    with notes.results(ordered(), batch_size=250) as found, requests.expect(3):
        assert found[249]["n"] == 249


def test_a_list_is_longer_than_an_answer(client: kvstore.Client, requests: Requests) -> None:
    many = client.collection("many", type="network")
    many.save_many({"_id": f"k{n:05}", "n": n // 2} for n in range(10_050))
    pages = [(2, 0, ordered()), (2, 7, ordered(7)), (2, 0, ordered(limit=10_010)), (3, 0, Query())]
    for expected, skip, query in pages:
        with requests.expect(expected), many.results(query, batch_size=5) as found:
            pass
        with many.ids(query) as ids:
            assert list(ids) == [f"k{skip + n:05}" for n in range(len(found))]
    with many.results(ordered()) as found, requests.expect(1):
        assert found[10_049]["n"] == 5_024


def test_a_page_of_one_batch_comes_whole(client: kvstore.Client, requests: Requests) -> None:
    for kind in ("network", "auto"):
        notes = client.collection("notes", type=kind)
        with (
            requests.expect(1),
            notes.results(ordered(skip=20, limit=100), returns_faults=True) as found,
        ):
            assert [note["n"] for note in found] == list(range(20, 120))


def test_what_changed_after_the_list_is_told(client: kvstore.Client, elsewhere: Notes) -> None:
    for kind in ("network", "auto"):
        notes = client.collection("notes", type=kind)
        with notes.results(ordered(), returns_faults=True, batch_size=50) as found:
            elsewhere.save({"_id": "k60", "n": 6000, "kind": kind})
            elsewhere.remove_by_id("k61")
            assert found.state(60) is RecordState.CHANGED
            assert found[60]["kind"] == kind
            assert found.state(61) is RecordState.DELETED
            with pytest.raises(kvstore.NotFoundError):
                found[61]
            assert found.state(62) is RecordState.UNCHANGED
            assert [note["n"] for note in found[59:63]] == [59, 6000, 62]
            assert len(found) == 250
            elsewhere.save({"_id": "k60", "n": 60})
            elsewhere.save({"_id": "k61", "n": 61})


def test_an_auto_list_asks_for_what_is_not_here(
    client: kvstore.Client, requests: Requests, elsewhere: Notes
) -> None:
    notes = client.collection("notes", type="auto")
    notes.find({"n": {"$lt": 150}})
    with requests.expect(1):
        found = notes.results(ordered(), returns_faults=True)
    with requests.expect(0):
        assert [note["n"] for note in found[:100]] == list(range(100))
    # Of the second batch, half is here; the last one is not.
    with requests.expect(2):
        assert [note["n"] for note in found] == list(range(250))
    found.close()
    with requests.expect(1), notes.results(ordered(), returns_faults=True) as found:
        assert [note["n"] for note in found] == list(range(250))
    elsewhere.save({"_id": "k3", "n": 3, "text": "new"})
    with requests.expect(2), notes.results(ordered(), returns_faults=True) as found:
        assert found[3]["text"] == "new"
        assert {found.state(n) for n in range(250)} == {RecordState.UNCHANGED}


def test_what_was_touched_is_there_offline(
    counted: Server, client: kvstore.Client, requests: Requests
) -> None:
    notes = client.collection("notes", type="auto")
    with notes.results(ordered(), returns_faults=True, batch_size=50) as found:
        assert found[0]["n"] == 0
        assert notes.count(read_policy="forceLocal") == 50
        counted.stop()
        assert found[49]["n"] == 49
        with pytest.raises(kvstore.NetworkError):
            found[50]
        counted.start()
        assert found[50]["n"] == 50
        notes.save({"_id": "k51", "n": -1}, write_policy="forceLocal")
        found.refresh()
        assert found.state(51) is RecordState.CHANGED
        counted.stop()
        assert [note["n"] for note in found[50:54]] == [50, -1, 52, 53]
        with notes.results(ordered(), returns_faults=True) as local:
            assert [note["n"] for note in local] == [-1, *range(51), *range(52, 100)]


def test_unsent_writes_have_their_places(client: kvstore.Client) -> None:
    notes = client.collection("notes", type="auto")
    notes.save({"_id": "mine", "n": 9.5}, write_policy="forceLocal")
    with notes.results(ordered(), returns_faults=True) as found:
        assert [note["n"] for note in found[9:11]] == [9, 9.5]
        assert len(found) == 251


def test_ids_and_members_of_a_network_list(client: kvstore.Client, requests: Requests) -> None:
    notes = client.collection("notes", type="network")
    with requests.expect(1), notes.ids(ordered()) as ids:
        assert list(ids) == [f"k{n}" for n in range(250)]
    with notes.results(Query(sort={"n": -1}, fields=["n"])) as found:
        assert sorted(found[0]) == ["_acl", "_id", "_kmd", "n"]
    with notes.rows(Query(fields=["n"])) as rows:
        assert sorted(row["n"] for row in rows) == list(range(250))


def test_a_query_that_no_backend_knows_comes_whole(
    client: kvstore.Client, requests: Requests
) -> None:
    notes = client.collection("notes", type="network")
    wanted = Query({"$text": {"$search": "xx xxxx"}}, sort={"n": 1})
    with notes.results(wanted) as found, requests.expect(0):
        assert [note["n"] for note in found] == [2, 4]


def test_a_logout_ends_a_list_of_faults(client: kvstore.Client) -> None:
    notes = client.collection("notes", type="network")
    with notes.results(ordered()) as found:
        assert found[0]["n"] == 0
        client.logout()
        for position in (0, 200):
            with pytest.raises(kvstore.NoUserError):
                found[position]


def test_a_wrong_flag_is_refused(client: kvstore.Client) -> None:
    notes = client.collection("notes", type="network")
    with pytest.raises(kvstore.InvalidError, match="returnsObjectsAsFaults"):
        notes.results(returns_faults=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["auto", "cache", "network"])
def test_a_context_asks_for_batches(
    client: kvstore.Client, requests: Requests, elsewhere: Notes, kind: Any
) -> None:
    with client.context(type=kind, fetch_batch_size=50) as ctx:
        with requests.expect(1):
            found = ctx.fetch("notes", ordered())
            assert len(found) == 250
        with requests.expect(1):
            assert [note.n for note in found[100:150]] == list(range(100, 150))
        elsewhere.save({"_id": "k240", "n": 240, "text": "new"})
        elsewhere.remove_by_id("k241")
        with requests.expect(1):
            assert found[240].text == "new"
        with pytest.raises(kvstore.NotFoundError):
            found[241].n  # noqa: B018
        if kind == "network":
            return
        found[100].text = "changed here"
        ctx.save()
    notes = client.collection("notes", type="sync")
    notes.push()
    assert elsewhere.find_by_id("k100")["text"] == "changed here"
