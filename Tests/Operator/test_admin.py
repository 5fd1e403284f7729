"""`kvstored admin` on both storages: users, and the command itself."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from urllib.parse import quote

import pytest
from admin import (
    FAILED,
    MISUSE,
    NOT_FOUND,
    UNAVAILABLE,
    Approach,
    Place,
    command,
    rows,
)
from conftest import APP, MASTER, Start, call, sign_up


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
    at.rows("users", "password", "bob", "--password-file", "-", given="another password\n")
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


def test_an_invitation_lets_one_user_sign_up(start: Start) -> None:
    server = start("--signup", "kid=invite")
    at = Place(server, ("--url", server.host, "--app", "kid"))
    (made,) = at.rows("users", "invite", "ana", "--days", "2")
    ana = {"username": "ana", "password": "a long password"}
    assert call(server, "POST", "/user/kid", ana, who=APP)[0] == 401
    invited = {**ana, "_invitation": made["_invitation"]}
    assert call(server, "POST", "/user/kid", {**invited, "username": "eve"}, who=APP)[0] == 401
    assert call(server, "POST", "/user/kid", invited, who=APP)[0] == 201
    assert at.run("users", "link", "ana", "--issuer", "https://id.example").returncode == MISUSE
    (ana,) = at.rows("users", "link", "ana", "--issuer", "https://id.example", "--subject", "1")
    assert at.rows("users", "unlink", "ana") == [ana]


def test_an_invitation_that_is_made_without_a_server_is_good_on_it(
    start: Start, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    server = start("--signup", "invite", app=None)
    stored = json.loads((data / "app.json").read_text())["app"]
    key, secret, _ = stored.split(":")
    who = "Basic " + base64.b64encode(f"{key}:{secret}".encode()).decode()
    other = {"username": "eve", "password": "a long password"}

    def invite(name: str) -> dict[str, str]:
        way = ("--storage", server.storage) if server.storage else ()
        server.stop()
        done = command("users", "invite", name, "--json", "--data", str(data), "--app", key, *way)
        return {"username": name, "password": "a long password", **rows(done)[0]}

    ana = invite("ana")
    server = start("--signup", "invite", app=None)
    assert call(server, "POST", f"/user/{key}", other, who=who)[0] == 401
    del ana["expires"]
    assert call(server, "POST", f"/user/{key}", ana, who=who)[0] == 201
    # With a seal of its own, beside named secrets.
    done = command("secrets", "add", "ops", "--scopes", "users", "--data", str(data))
    assert done.returncode == 0
    bob = invite("bob")
    server = start("--signup", "invite", app=None)
    del bob["expires"]
    assert call(server, "POST", f"/user/{key}", bob, who=who)[0] == 201


def test_an_invitation_that_no_server_would_accept_is_not_made(
    start: Start, tmp_path: Path
) -> None:
    """The app stands on the server's command line, of which the command knows nothing."""
    server = start()
    at = Approach(server, tmp_path / "data", is_direct=True)()
    done = at.run("users", "invite", "ana")
    assert done.returncode == FAILED
    assert "not known here" in done.stderr, done.stderr


def test_a_command_without_a_server_keeps_to_the_rules_of_its_configuration(
    start: Start, tmp_path: Path
) -> None:
    server = start()
    at = Approach(server, tmp_path / "data", is_direct=True)()
    config = tmp_path / "kvstored.json"
    config.write_text(json.dumps({"password-length": 12}))
    config.chmod(0o600)
    arguments = ("users", "add", "ana", "--password-file", "-", "--config", str(config))
    assert at.run(*arguments, given="eleven char\n").returncode == FAILED
    assert at.run(*arguments, given="twelve chars\n").returncode == 0


def test_a_decoy_is_not_taken_for_a_user(place: Approach) -> None:
    """Users choose their names: one may be the id of another."""
    sign_up(place.server, "ana")
    _, (ana,) = call(
        place.server, "GET", "/user/kid?query=" + quote('{"username":"ana"}'), who=MASTER
    )
    sign_up(place.server, ana["_id"])
    at = place()
    for words in (
        ("users", "disable"),
        ("users", "password"),
        ("users", "delete"),
        ("sessions", "end"),
    ):
        refused = at.run(*words, ana["_id"])
        assert refused.returncode == FAILED, words
        assert "--id or --name" in refused.stderr
    refused = at.run("sessions", "list", "--user", ana["_id"])
    assert refused.returncode == FAILED
    assert at.run("users", "disable", ana["_id"], "--id", "--name").returncode == MISUSE
    at.rows("users", "disable", ana["_id"], "--id")
    status = {u["username"]: u["_kmd"].get("status") for u in at.rows("users", "list")}
    assert status["ana"]["val"] == "disabled"
    assert status[ana["_id"]] is None
    (deleted,) = at.rows("users", "delete", ana["_id"], "--name")
    assert deleted["_id"] != ana["_id"]
    at.rows("users", "enable", ana["_id"])


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
