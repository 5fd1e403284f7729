"""`kvstored admin collections` and `indexes` on both storages."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import threading

from admin import (
    FAILED,
    MISUSE,
    NOT_FOUND,
    Approach,
)
from conftest import Start, call


def test_collections_settings_and_indexes(place: Approach) -> None:
    for number in range(3):
        call(place.server, "POST", "/appdata/kid/books", {"n": number, "title": "ü"})
    call(place.server, "GET", "/appdata/kid/books")
    at = place()
    (books,) = at.rows("collections", "list")
    assert (books["name"], books["count"]) == ("books", 3)
    assert books["bytes"] > 3 * 100
    assert at.rows("permissions", "set", "books", "read=acl", "create=never")[0]["read"] == "acl"
    assert at.rows("permissions", "show", "books")[0]["create"] == "never"
    assert at.run("permissions", "set", "books", "read=nobody").returncode == FAILED
    assert at.run("permissions", "set", "books", "read").returncode == MISUSE
    # A visit without the settings of the server changes nothing of what they have begun.
    assert at.rows("history", "show", "books")[0]["enabled"]
    assert at.rows("history", "set", "books", "7")[0]["days"] == 7
    assert at.rows("history", "set", "books", "off") == [{"enabled": False}]
    (index,) = at.rows("indexes", "add", "books", '{"name":"by_n","keys":{"n":1}}')
    assert (index["name"], index["state"]) == ("by_n", "ready")
    assert [row["name"] for row in at.rows("indexes", "list", "books")] == ["by_n"]
    at.rows("indexes", "drop", "books", "by_n")
    assert at.run("indexes", "drop", "books", "by_n").returncode == NOT_FOUND
    assert at.rows("collections", "drop", "books")[0]["count"] == 3
    assert at.rows("export", "books") == []
    assert at.run("collections", "drop", "letters").returncode == NOT_FOUND


def test_a_collection_is_renamed(place: Approach) -> None:
    for name in ("books", "letters"):
        call(place.server, "POST", f"/appdata/kid/{name}", {"in": name})
    at = place()
    at.rows("indexes", "add", "books", '{"name":"by_in","keys":{"in":1}}')
    assert at.run("collections", "rename", "books", "letters").returncode == FAILED
    assert at.run("collections", "rename", "nothing", "volumes").returncode == NOT_FOUND
    for name in ("user", "_x", "a b"):
        assert at.run("collections", "rename", "books", name).returncode == MISUSE
    assert at.rows("collections", "rename", "books", "volumes") == [{"name": "volumes"}]
    assert [entity["in"] for entity in at.rows("export", "volumes")] == ["books"]
    assert [index["name"] for index in at.rows("indexes", "list", "volumes")] == ["by_in"]
    assert at.rows("export", "books") == []
    assert at.rows("history", "show", "books")[0]["enabled"]
    assert [entity["in"] for entity in at.rows("export", "letters")] == ["letters"]


def test_a_renaming_that_is_killed_is_done_or_not(start: Start) -> None:
    server = start("--delta-days", "15")
    names = ["books", "volumes"]
    batch = [{"_id": f"e{number}", "n": number} for number in range(100)]
    call(server, "POST", "/appdata/kid/books", batch)
    call(server, "PUT", "/appdata/kid/books/_indexes", {"keys": {"n": 1}})
    for round_number in range(6):
        answered = threading.Semaphore(0)

        def rename(answered: threading.Semaphore = answered) -> None:
            with contextlib.suppress(OSError, http.client.HTTPException):
                while True:
                    for old, new in itertools.permutations(names):
                        call(server, "POST", f"/appdata/kid/{old}/_rename", {"name": new})
                        answered.release()

        renaming = threading.Thread(target=rename)
        renaming.start()
        for _ in range(2 + round_number):
            answered.acquire()
        server.kill()
        renaming.join()
        server.start()
        found = {name: call(server, "GET", f"/appdata/kid/{name}")[1] for name in names}
        assert sorted(len(entities) for entities in found.values()) == [0, 100]
        (name,) = (name for name, entities in found.items() if entities)
        status, indexes = call(server, "GET", f"/appdata/kid/{name}/_indexes")
        assert (status, [index["name"] for index in indexes]) == (200, ["n_1"])
        assert call(server, "PUT", f"/appdata/kid/{name}/e7", {"n": 7})[0] == 200
