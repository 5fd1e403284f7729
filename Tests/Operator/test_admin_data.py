"""`kvstored admin` on both storages: export, import, backup and restore."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from admin import (
    ENVIRONMENT,
    FAILED,
    MISUSE,
    PARTLY,
    UNAVAILABLE,
    Approach,
    command,
    rows,
)
from conftest import Start, call, sign_up
from kvstored import PROGRAM


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


def test_backup_and_restore_find_the_data_by_the_servers_configuration(
    start: Start, tmp_path: Path
) -> None:
    server = start()
    if server.storage:
        return
    call(server, "POST", "/appdata/kid/books", {"n": 1})
    copy = str(tmp_path / "copy")
    ours, restored, cluster = (tmp_path / f"{n}.json" for n in ("ours", "restored", "pg"))
    data = str(tmp_path / "data")
    ours.write_text(json.dumps({"data": data}))
    restored.write_text(json.dumps({"data": str(tmp_path / "new")}))
    cluster.write_text(json.dumps({"data": data, "storage": "postgres://127.0.0.1/kvstored"}))
    refused = command("backup", "--config", str(cluster), "--to", copy)
    assert refused.returncode == MISUSE
    assert "PostgreSQL's own tools" in refused.stderr
    assert command("backup", "--to", copy).returncode == MISUSE
    done = command("backup", "--config", str(ours), "--to", copy)
    assert done.returncode == 0, done.stderr
    assert command("restore", "--config", str(restored), "--from", copy).returncode == 0
    assert (
        rows(command("collections", "list", "--config", str(restored), "--json"))[0]["count"] == 1
    )
    # What is written out counts more than what the file says.
    other = str(tmp_path / "other")
    words = ("restore", "--config", str(restored), "--data", other, "--from", copy)
    assert command(*words).returncode == 0
