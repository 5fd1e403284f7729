"""`kvstored admin migrate`: a directory's data moves to PostgreSQL, byte for byte."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from admin import ENVIRONMENT, FAILED, MISUSE, NOT_FOUND, PARTLY, command, rows
from conftest import APP, MASTER, call, sign_up
from kvstored import PROGRAM, Server, until
from postgres import sql

PATH = "/appdata/kid/books"


@pytest.fixture
def address(postgres: str) -> str:
    """Give the address of an empty schema."""
    schema = "test_" + uuid.uuid4().hex
    subprocess.run(["psql", "-q", postgres, "-c", f"CREATE SCHEMA {schema}"], check=True)
    return f"{postgres}&options=-csearch_path%3D{schema}"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """Run a server on SQLite."""
    server = Server(tmp_path / "data", "kid:sec:mas", "--delta-days", "15", storage="sqlite")
    yield server
    server.stop()


def on(address: str, tmp_path: Path) -> Server:
    """Run a server on the database."""
    return Server(tmp_path / "other", "kid:sec:mas", "--delta-days", "15", storage=address)


def migrate(tmp_path: Path, address: str, *more: str) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return command("migrate", "--data", str(tmp_path / "data"), "--to", address, *more)


def raw(server: Server, path: str, who: str = MASTER) -> tuple[bytes, dict[str, str]]:
    """Get something as it is."""
    request = urllib.request.Request(server.host + path)
    request.add_header("Authorization", who)
    request.add_header("X-Kinvey-API-Version", "5")
    with urllib.request.urlopen(request) as answer:
        return answer.read(), dict(answer.headers)


def fill(server: Server) -> dict[str, str]:
    """Make entities, users, a group, settings, deletions; give what authorises the users."""
    who = {name: sign_up(server, name) for name in ("ana", "bob", "eve")}
    ids = {name: call(server, "GET", "/user/kid/_me", who=who[name])[1]["_id"] for name in who}
    group = {"_id": "friends", "users": {"list": [{"_id": ids["ana"]}, {"_id": ids["bob"]}]}}
    assert call(server, "POST", "/group/kid", group)[0] == 201
    odd = '{"_id":"a/b ü\\u0000","big":9007199254740993,"e":1.50e3,"t":"line\\nend \\u0000"}'
    request = urllib.request.Request(server.host + PATH, odd.encode(), method="POST")
    request.add_header("Authorization", MASTER)
    request.add_header("Content-Type", "application/json")
    try:
        urllib.request.urlopen(request).close()
    except urllib.error.HTTPError as error:
        error.close()
    for number in range(30):
        acl: dict[str, Any] = {"gr": number % 2 == 0, "r": [ids["eve"]] if number % 3 == 0 else []}
        if number % 5 == 0:
            acl["groups"] = {"r": ["friends"]}
        entity = {"n": number, "text": "ü" * number, "_acl": acl, "_id": f"e{number:03}"}
        assert call(server, "POST", PATH, entity, who=who["ana"])[0] == 201
    call(server, "PUT", PATH + "/_permissions", {"read": "acl"})
    call(server, "PUT", PATH + "/_indexes", {"name": "by_n", "keys": {"n": 1}})
    for number in range(0, 30, 7):
        assert call(server, "DELETE", f"{PATH}/e{number:03}", who=who["ana"])[0] == 200
    call(server, "PUT", f"{PATH}/e001", {"n": -1}, who=who["ana"])
    call(server, "DELETE", f"/user/kid/{ids['bob']}?hard=true")
    return who


def view(server: Server, who: dict[str, str], since: str) -> dict[str, Any]:
    """Give what each user sees, as bytes, and what administrators are shown."""
    seen: dict[str, Any] = {}
    delta = "/_deltaset?since=" + urllib.parse.quote(since)
    for name, header in {**who, "master": MASTER}.items():
        for path in (PATH, PATH + delta, "/user/kid", "/group/kid/friends"):
            try:
                seen[f"{name} {path}"] = raw(server, path, header)[0]
            except urllib.error.HTTPError as error:
                seen[f"{name} {path}"] = error.code
                error.close()
    for path in ("/_permissions", "/_history", "/_indexes"):
        seen[path] = call(server, "GET", PATH + path)
    status, sessions = call(server, "GET", "/user/kid/_sessions")
    # Without their ends, which move with each use.
    seen["sessions"] = (status, [(session["_id"], session["user"]) for session in sessions])
    seen["collections"] = call(server, "GET", "/appdata/kid/_collections")
    return seen


def test_everything_is_there_as_it_was(server: Server, address: str, tmp_path: Path) -> None:
    since = raw(server, PATH)[1]["X-Kinvey-Request-Start"]
    who = fill(server)
    expected = view(server, who, since)
    epoch = raw(server, PATH)[1]["X-Kvstored-Data-Epoch"]
    server.stop()
    done = migrate(tmp_path, address, "--json")
    counts = {(row["table"], row["collection"]): row for row in rows(done)}
    assert counts["entities", "books"]["rows"] == expected["collections"][1][0]["count"]
    assert counts["deletions", "books"]["rows"] == 5
    assert counts["accounts", None]["rows"] == 2
    assert len(counts["entities", "books"]["checksum"]) == 64
    other = on(address, tmp_path)
    try:
        assert view(other, who, since) == expected
        headers = raw(other, PATH)[1]
        assert headers["X-Kvstored-Data-Epoch"] == epoch
        login = {"username": "ana", "password": "pass"}
        assert call(other, "POST", "/user/kid/login", login, who=APP)[0] == 200
        # What is written now is later than all that was, and rows get numbers of their own.
        moment = headers["X-Kinvey-Request-Start"]
        assert call(other, "POST", PATH, {"_id": "new"}, who=who["ana"])[0] == 201
        changes = json.loads(raw(other, f"{PATH}/_deltaset?since={urllib.parse.quote(moment)}")[0])
        assert [entity["_id"] for entity in changes["changed"]] == ["new"]
        explained = urllib.parse.quote('{"n":{"$gt":3}}')
        assert len(call(other, "GET", f"{PATH}?query={explained}")[1]) > 10
    finally:
        other.stop()


def test_a_server_goes_on_until_the_last_run(server: Server, address: str, tmp_path: Path) -> None:
    who = fill(server)
    first = migrate(tmp_path, address)
    assert first.returncode == PARTLY, first.stderr
    assert "stop it and run this again" in first.stderr
    assert not (tmp_path / "data" / "migration.copy").exists()
    with pytest.raises(RuntimeError, match="not all data is here yet"):
        on(address, tmp_path)
    # Names, ids and row numbers are used again.
    chosen = random.Random(7)
    for number in range(100, 140):
        call(server, "PUT", f"{PATH}/e{number % 120:03}", {"n": number}, who=who["ana"])
        if chosen.random() < 0.5:
            call(server, "DELETE", f"{PATH}/e{chosen.randrange(140):03}")
    eve = call(server, "GET", "/user/kid/_me", who=who["eve"])[1]["_id"]
    call(server, "DELETE", f"/user/kid/{eve}?hard=true")
    sign_up(server, "eve")
    call(server, "POST", "/appdata/kid/letters", {"_id": "l"})
    call(server, "PUT", PATH + "/_permissions", {"read": "shared"})
    since = "2020-01-01T00:00:00.000Z"
    expected = view(server, who, since)
    server.stop()
    done = migrate(tmp_path, address)
    assert done.returncode == 0, done.stderr
    assert "letters" in done.stdout
    other = on(address, tmp_path)
    try:
        assert view(other, who, since) == expected
    finally:
        other.stop()
    again = migrate(tmp_path, address)
    assert again.returncode == 0
    assert "was moved to this database already" in again.stderr


#: Lets whoever inserts an entity wait there.
HOLD = """
CREATE OR REPLACE FUNCTION hold() RETURNS trigger AS $$ BEGIN
  PERFORM pg_sleep(600);
  RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE OR REPLACE TRIGGER hold BEFORE INSERT ON entity
  FOR EACH ROW WHEN (NEW.id = '{id}') EXECUTE FUNCTION hold()
"""
HELD = "FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
LOCKED = "FROM pg_locks WHERE locktype = 'advisory'"


def test_a_run_that_was_killed_is_run_again(server: Server, address: str, tmp_path: Path) -> None:
    # Makes the tables.
    assert migrate(tmp_path, address).returncode == PARTLY
    for start in range(0, 6000, 100):
        many = [{"_id": f"e{number:05}", "text": "x" * 300} for number in range(start, start + 100)]
        assert call(server, "POST", PATH, many)[0] == 207
    expected = raw(server, PATH + '?sort={"_id":1}')[0]
    server.stop()
    words = ["migrate", "--data", str(tmp_path / "data"), "--to", address]
    for attempt in range(1, 4):
        # It gets so far, and is there until it is killed.
        sql(address, HOLD.format(id=f"e{attempt * 1000:05}"))
        with subprocess.Popen(
            [PROGRAM, "admin", *words], env=ENVIRONMENT, stderr=subprocess.DEVNULL
        ) as process:
            until(lambda: sql(address, f"SELECT count(*) {HELD}") == "1")
            process.send_signal(signal.SIGKILL)
        assert process.returncode == -signal.SIGKILL
        # The database has to notice that nobody moves data any more.
        sql(address, f"SELECT pg_terminate_backend(pid) {HELD}")
        until(lambda: sql(address, f"SELECT count(*) {LOCKED}") == "0")
        assert int(sql(address, "SELECT count(*) FROM entity")) >= attempt * 1000
    sql(address, "DROP TRIGGER hold ON entity")
    assert migrate(tmp_path, address).returncode == 0
    other = on(address, tmp_path)
    try:
        assert raw(other, PATH + '?sort={"_id":1}')[0] == expected
    finally:
        other.stop()


def test_damage_and_misuse_are_told(server: Server, address: str, tmp_path: Path) -> None:
    call(server, "PUT", PATH + "/a", {"text": "sound"})
    server.stop()
    other = on(address, tmp_path)
    other.stop()
    used = migrate(tmp_path, address)
    assert used.returncode == FAILED
    assert "has data already, or a server uses it" in used.stderr
    assert migrate(tmp_path, "mysql://x").returncode == MISUSE
    assert migrate(tmp_path / "none", address).returncode == NOT_FOUND
    assert command("migrate", "--to", address).returncode == MISUSE


def test_a_damaged_entity_is_named_and_nothing_is_taken_for_complete(
    server: Server, address: str, tmp_path: Path
) -> None:
    call(server, "PUT", PATH + "/a", {"text": "sound"})
    server.stop()
    file = tmp_path / "data" / "kvstored.db"
    content = file.read_bytes()
    assert content.count(b'"sound"') == 1
    file.write_bytes(content.replace(b'"sound"', b'"wound"'))
    done = migrate(tmp_path, address)
    assert done.returncode == FAILED
    assert "the entity a of books is damaged" in done.stderr
    with pytest.raises(RuntimeError, match="not all data is here yet"):
        on(address, tmp_path)
