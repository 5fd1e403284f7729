"""Master secrets with names, scopes and ends: made, rotated and removed while the server runs."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from admin import FAILED, MISUSE, NOT_FOUND, command, rows
from conftest import Start, call
from kvstored import Server, until


def add(data: Path, name: str, *options: str) -> str:
    """Make a master secret; give it."""
    made = rows(command("secrets", "add", name, *options, "--data", str(data), "--json"))
    secret = made[0]["secret"]
    assert isinstance(secret, str)
    return secret


def reload(server: Server, key: str, secret: str, status: int) -> None:
    """Have the server read its file again, until it answers a secret so."""
    server.hang_up()
    until(lambda: answer(server, key, secret) == status)


def answer(server: Server, key: str, secret: str, method: str = "GET") -> int:
    who = "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()
    body = {"x": 1} if method == "POST" else None
    return call(server, method, f"/appdata/{key}/notes", body, who=who)[0]


def test_secrets_are_rotated_while_the_server_runs(start: Start, tmp_path: Path) -> None:
    data = tmp_path / "data"
    server = start(app=None)
    key, _, plain = json.loads((data / "app.json").read_text())["app"].split(":")
    first = add(data, "first", "--scopes", "read", "--days", "30")
    text = (data / "app.json").read_text()
    assert first not in text
    assert (data / "app.json").stat().st_mode & 0o777 == 0o600
    reload(server, key, first, 200)
    assert answer(server, key, first, "POST") == 401
    # The one of the first start goes on until it is removed.
    assert answer(server, key, plain, "POST") == 201
    second = add(data, "second", "--scopes", "read,data")
    reload(server, key, second, 200)
    assert answer(server, key, first) == 200
    assert answer(server, key, second, "POST") == 201
    for name in ("first", "plain"):
        assert command("secrets", "remove", name, "--data", str(data)).returncode == 0
    assert plain not in (data / "app.json").read_text()
    reload(server, key, first, 401)
    assert answer(server, key, plain) == 401
    assert answer(server, key, second) == 200
    listed = rows(command("secrets", "list", "--data", str(data), "--json"))
    assert [(row["name"], row["scopes"]) for row in listed] == [("second", "read,data")]


def test_mistakes_leave_the_file_as_it_is(start: Start, tmp_path: Path) -> None:
    data = tmp_path / "data"
    start(app=None)
    add(data, "ops", "--scopes", "admin")
    before = (data / "app.json").read_text()
    for arguments, status in (
        (("add", "ops", "--scopes", "read"), FAILED),
        (("add", "plain", "--scopes", "read"), MISUSE),
        (("add", "o:s", "--scopes", "read"), MISUSE),
        (("add", "other"), MISUSE),
        (("add", "other", "--scopes", "all"), MISUSE),
        (("add", "other", "--scopes", "read", "--days", "0"), MISUSE),
        (("add", "other", "--scopes", "read", "--app", "none"), NOT_FOUND),
        (("remove", "other"), NOT_FOUND),
    ):
        done = command("secrets", *arguments, "--data", str(data))
        assert done.returncode == status, done.stderr
    assert (data / "app.json").read_text() == before
