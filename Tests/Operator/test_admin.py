"""`kvstored admin` on both storages: on the data itself, and over HTTP on a running server."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import APP, Start, call, sign_up
from kvstored import PROGRAM, Server

ENVIRONMENT = {**os.environ, "KVSTORED_MASTER_SECRET": "mas"}
FAILED, MISUSE, UNAVAILABLE, NOT_FOUND, PARTLY = 1, 2, 3, 4, 5


def command(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run `kvstored admin`."""
    return subprocess.run(
        [PROGRAM, "admin", *arguments],
        input=given,
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        check=False,
    )


def rows(done: subprocess.CompletedProcess[str]) -> list[Any]:
    """Give the objects that a command has written, which must have succeeded."""
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class Place:
    """Data that commands work on: by a running server, or directly."""

    def __init__(self, server: Server, way: tuple[str, ...]) -> None:
        self.server = server
        self.way = way

    def run(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        return command(*arguments, *self.way, given=given)

    def rows(self, *arguments: str, given: str = "") -> list[Any]:
        return rows(self.run(*arguments, "--json", given=given))


class Approach:
    """A running server, and how commands come to its data once the test has filled it."""

    def __init__(self, server: Server, data: Path, *, is_direct: bool) -> None:
        self.server = server
        self.data = data
        self.is_direct = is_direct

    def __call__(self) -> Place:
        if not self.is_direct:
            return Place(self.server, ("--url", self.server.host, "--app", "kid"))
        if self.server.storage:
            return Place(self.server, ("--storage", self.server.storage))
        self.server.stop()
        return Place(self.server, ("--data", str(self.data)))


@pytest.fixture(params=["http", "direct"])
def place(request: pytest.FixtureRequest, start: Start, tmp_path: Path) -> Approach:
    """Run a server; its data is reached over HTTP or directly."""
    return Approach(
        start("--delta-days", "15"), tmp_path / "data", is_direct=request.param == "direct"
    )


def test_users_are_made_found_disabled_and_deleted(place: Approach) -> None:
    sign_up(place.server, "ana")
    at = place()
    (bob,) = at.rows("users", "add", "bob", "--password-file", "-", given="secret of bob\n")
    (eve,) = at.rows("users", "add", "eve")
    assert len(eve["password"]) >= 16
    assert "password" not in bob
    assert {user["username"] for user in at.rows("users", "list")} == {"ana", "bob", "eve"}
    assert [user["username"] for user in at.rows("users", "list", "--query", '{"username":"eve"}')]
    assert len(at.rows("users", "list", "--limit", "2")) == 2
    assert at.rows("users", "find", "bob")[0]["_id"] == bob["_id"]
    at.rows("users", "disable", "bob")
    assert at.rows("users", "find", bob["_id"])[0]["_kmd"]["status"]["val"] == "disabled"
    at.rows("users", "password", "bob", "--password-file", "-", given="another\n")
    at.rows("users", "enable", "bob")
    assert "status" not in at.rows("users", "find", "bob")[0]["_kmd"]
    at.rows("users", "delete", "eve")
    assert at.run("users", "find", "eve").returncode == NOT_FOUND
    assert at.run("users", "disable", "eve").returncode == NOT_FOUND
    assert at.run("users", "add", "ana").returncode == FAILED
    table = at.run("users", "list")
    assert table.stdout.splitlines()[0].split() == [
        "ID", "NAME", "EMAIL", "STATUS", "CREATED", "LAST", "LOGIN",
    ]  # fmt: skip
    assert "bob" in table.stdout


def test_a_new_password_ends_the_sessions_and_opens_new_ones(start: Start) -> None:
    server = start()
    ana = sign_up(server, "ana")
    at = Place(server, ("--url", server.host, "--app", "kid"))
    assert [row["user"] for row in at.rows("sessions", "list")]
    (made,) = at.rows("users", "password", "ana")
    assert at.rows("sessions", "list", "--user", "ana") == []
    assert call(server, "GET", "/user/kid/_me", who=ana)[0] == 401
    login = {"username": "ana", "password": made["password"]}
    status, user = call(server, "POST", "/user/kid/login", login, who=APP)
    assert status == 200
    again = f"Kinvey {user['_kmd']['authtoken']}"
    at.rows("sessions", "end", "ana")
    assert call(server, "GET", "/user/kid/_me", who=again)[0] == 401
    at.rows("users", "disable", "ana")
    assert call(server, "POST", "/user/kid/login", login, who=APP)[0] == 401
    at.rows("users", "enable", "ana")
    assert call(server, "POST", "/user/kid/login", login, who=APP)[0] == 200


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


def test_what_is_exported_is_imported_as_it_was(place: Approach, tmp_path: Path) -> None:
    odd = {"_id": "a/b ü", "big": 9007199254740993, "text": "line\nend", "_acl": {"creator": "u"}}
    call(place.server, "POST", "/appdata/kid/books", odd)
    for start in range(0, 1200, 100):
        many = [{"_id": f"e{number:05}", "n": number} for number in range(start, start + 100)]
        assert call(place.server, "POST", "/appdata/kid/books", many)[0] in (201, 207)
    at = place()
    path = tmp_path / "books.ndjson"
    done = at.run("export", "books", "--to", str(path))
    assert done.returncode == 0, done.stderr
    assert "exported 1201 entities" in done.stderr
    assert at.run("export", "books", "--to", str(path)).returncode == FAILED
    lines = path.read_text().splitlines()
    assert len(lines) == 1201
    assert "9007199254740993" in lines[0]
    assert at.run("import", "copy", "--from", str(path)).returncode == 0
    copied = at.rows("export", "copy")
    originals = [json.loads(line) for line in lines]
    for entity in (*copied, *originals):
        del entity["_kmd"]
    assert copied == originals
    assert len(at.rows("export", "copy", "--query", '{"n":{"$lt":5}}')) == 5


def test_an_import_says_what_it_could_not_save_and_can_be_repeated(place: Approach) -> None:
    at = place()
    text = '{"n":1}\n\nnot json\n{"n":2}\n{"_id":"x","n":3}\n{"_id":"x","n":4}\n[1]\n{"_id":7}\n'
    for _ in range(2):
        done = at.run("import", "books", given=text)
        assert done.returncode == PARTLY
        assert "line 3: an entity must be a JSON object" in done.stderr
        assert "line 7: " in done.stderr
        assert "line 8: _id" in done.stderr
        assert sorted(row["n"] for row in at.rows("export", "books")) == [1, 2, 4]


@pytest.mark.parametrize(
    ("text", "status", "messages"),
    [
        ("no\n[1]\n", FAILED, ["line 1: ", "line 2: ", "2 lines were not imported"]),
        ("\0\0\n\1\n", FAILED, ["line 1: ", "line 2: "]),
        ('{"n":1}\n\0\n', PARTLY, ["line 2: "]),
        ('{"a":1,"a":2}\n{"n":1e999}\n', FAILED, ["line 1: ", "line 2: n: the number is outside"]),
        (" \t\r\n\n", 0, ["imported 0 entities"]),
    ],
)
def test_an_import_says_what_is_wrong_with_each_line(
    start: Start, text: str, status: int, messages: list[str]
) -> None:
    server = start()
    done = command("import", "books", "--url", server.host, "--app", "kid", given=text)
    assert done.returncode == status
    assert all(message in done.stderr for message in messages), done.stderr
    assert "no JSON object" not in done.stderr


def test_an_import_that_cannot_begin_does_not_say_how_to_go_on(start: Start) -> None:
    server = start("--max-body", "1024")
    way = ("--url", server.host, "--app", "kid")
    large = json.dumps({"text": "x" * 4000}) + "\n"
    first = command("import", "books", *way, given=large)
    assert first.returncode == FAILED
    assert "--skip" not in first.stderr
    many = "".join(f'{{"_id":"{number}"}}\n' for number in range(10))
    later = command("import", "books", *way, given=many + '{"_id":"0"}\n' + large)
    assert later.returncode == PARTLY
    assert "go on with --skip" in later.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["collections", "drop", "NAME"],
        ["import", "NAME"],
        ["export", "NAME"],
        ["permissions", "show", "NAME"],
        ["permissions", "set", "NAME", "read=acl"],
        ["history", "show", "NAME"],
        ["history", "set", "NAME", "off"],
        ["indexes", "list", "NAME"],
        ["indexes", "add", "NAME", '{"keys":{"a":1}}'],
        ["indexes", "drop", "NAME", "a"],
    ],
)
def test_only_names_of_collections_are_taken_for_collections(
    start: Start, words: list[str]
) -> None:
    server = start()
    sign_up(server, "ana")
    way = ("--url", server.host, "--app", "kid")
    for name in ("", "a/b", "_users", ".", "user"):
        if (words[0], name) == ("export", "user"):
            continue
        line = [name if word == "NAME" else word for word in words]
        done = command(*line, *way, given='{"a":1}\n')
        assert done.returncode == MISUSE, name
        expected = "kvstored admin users" if name == "user" else "a collection's name"
        assert expected in done.stderr
    assert [user["username"] for user in rows(command("users", "list", *way, "--json"))] == ["ana"]
    assert rows(command("collections", "list", *way, "--json")) == []


def test_a_restore_that_fails_leaves_nothing(tmp_path: Path) -> None:
    copy, data = tmp_path / "copy", tmp_path / "data"
    copy.mkdir()
    (copy / "kvstored.db").write_bytes(b"no database" * 1000)
    assert command("restore", "--data", str(data), "--from", str(copy)).returncode == FAILED
    assert not data.exists()
    data.mkdir()
    assert command("restore", "--data", str(data), "--from", str(copy)).returncode == FAILED
    assert list(data.iterdir()) == []


def test_an_import_that_was_killed_goes_on(place: Approach, tmp_path: Path) -> None:
    at = place()
    path = tmp_path / "many.ndjson"
    count = 6000
    path.write_text("".join(f'{{"n":{number},"x":"{"y" * 200}"}}\n' for number in range(count)))
    arguments = ["import", "many", "--from", str(path), *at.way]
    with subprocess.Popen(
        [PROGRAM, "admin", *arguments], env=ENVIRONMENT, stderr=subprocess.DEVNULL
    ) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if at.way[0] != "--data" and at.rows("collections", "list"):
                break
            if at.way[0] == "--data":
                time.sleep(0.3)
                break
        process.send_signal(signal.SIGKILL)
    assert command(*arguments).returncode == 0
    entities = at.rows("export", "many")
    assert sorted(entity["n"] for entity in entities) == list(range(count))
    # Lines without an id have the same one in each run.
    assert command(*arguments, "--skip", str(count - 1)).returncode == 0
    assert len(at.rows("export", "many")) == count


def test_data_in_use_is_left_alone(start: Start, tmp_path: Path) -> None:
    server = start()
    call(server, "POST", "/appdata/kid/books", {"n": 1})
    if server.storage:
        return
    done = command("users", "list", "--data", str(tmp_path / "data"))
    assert done.returncode == UNAVAILABLE
    assert "use --url" in done.stderr


def test_a_restored_copy_voids_what_clients_remember(start: Start, tmp_path: Path) -> None:
    server = start()
    if server.storage:
        return
    call(server, "POST", "/appdata/kid/books", {"n": 1})
    copy = str(tmp_path / "copy")
    data = str(tmp_path / "data")
    assert command("backup", "--data", data, "--to", copy).returncode == 0
    new = str(tmp_path / "new")
    assert command("restore", "--data", new, "--from", copy).returncode == 0
    assert command("restore", "--data", new, "--from", copy).returncode == FAILED
    assert rows(command("collections", "list", "--data", new, "--json"))[0]["count"] == 1


def test_misuse_is_told_from_failure(tmp_path: Path) -> None:
    assert command("users", "list").returncode == MISUSE
    assert command("users", "sing").returncode == MISUSE
    assert command("users", "find", "--data", "x").returncode == MISUSE
    assert command("users", "list", "more", "--data", "x").returncode == MISUSE
    assert command("users", "list", "--loud").returncode == MISUSE
    assert command("users", "list", "--data", str(tmp_path / "none")).returncode == NOT_FOUND
    wrong = command("users", "list", "--url", "http://127.0.0.1:1", "--app", "kid")
    assert wrong.returncode == UNAVAILABLE
    assert command("--help").returncode == 0
    assert "kvstored admin users add NAME" in command("users", "add", "--help").stdout


def test_a_wrong_secret_or_app_is_refused(start: Start, tmp_path: Path) -> None:
    server = start()
    secret = tmp_path / "secret"
    secret.write_text("wrong\n")
    way = ("--url", server.host, "--app", "kid", "--master-secret-file", str(secret))
    assert command("users", "list", *way).returncode == FAILED
    assert command("users", "list", "--url", server.host, "--app", "no").returncode == NOT_FOUND


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_the_commands(shell: str, tmp_path: Path) -> None:
    script = tmp_path / "completion"
    script.write_text(command("completion", shell).stdout)
    if shell == "zsh":
        assert script.read_text().startswith("#compdef kvstored\n")
        return
    ask = f"""source {script}
      COMP_WORDS=(kvstored admin users di); COMP_CWORD=3; _kvstored_admin; echo "${{COMPREPLY[*]}}"
      COMP_WORDS=(kvstored admin import books --sk); COMP_CWORD=4; _kvstored_admin
      echo "${{COMPREPLY[*]}}"
      COMP_WORDS=(kvstored admin ""); COMP_CWORD=2; _kvstored_admin; echo "${{COMPREPLY[*]}}" """
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    users, skip, groups = done.stdout.splitlines()
    assert users.split() == ["disable"]
    assert "--skip" in skip
    assert {"users", "collections", "export", "backup"} <= set(groups.split())


def test_names_are_unique() -> None:
    table = json.loads(command("commands").stdout)
    names = [row["name"] for row in table["commands"]]
    assert len(set(names)) == len(names)
