"""Several users of one device: whose data, queue and session is what."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from conftest import APP_KEY, APP_SECRET, open_client
from kvstored import Server

import kvstore

PASSWORD = "a password"


def creator(notes: kvstore.Store, entity_id: str) -> object:
    """Tell who made an entity, as the backend said it."""
    entity = notes.get(entity_id)
    assert entity is not None
    return entity["_acl"]["creator"]


def test_nobody_signs_up_over_unsent_work(online: kvstore.Client, unique: str) -> None:
    ana = online.active_user
    assert ana is not None
    with online.collection(unique) as notes:
        notes.save({"_id": "n1", "_acl": {"gr": False}})
        with pytest.raises(kvstore.PendingError, match="push"):
            online.signup(unique + "b", PASSWORD)
        assert not online.user_exists(unique + "b")
        assert online.active_user == ana
        notes.push()
        assert creator(notes, "n1") == ana["_id"]
        online.signup(unique + "b", PASSWORD)
        assert notes.count() == 0
        notes.pull()
        assert notes.count() == 0


def test_what_is_saved_before_a_login_is_the_first_users(
    server: Server, tmp_path: Path, unique: str
) -> None:
    with open_client(server.host, tmp_path) as client, client.collection(unique) as notes:
        notes.save({"_id": "n1"})
        ana = client.signup(unique, PASSWORD)
        with pytest.raises(kvstore.PendingError):
            client.signup(unique + "b", PASSWORD)
        notes.push()
        assert creator(notes, "n1") == ana["_id"]


def ask(server: Server, path: str, who: str, body: object = None) -> Any:
    """Ask the server itself; give the answer."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(server.host + path, data, headers={"Authorization": who})
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def named(host: str, directory: Path, name: str) -> kvstore.Client:
    """Open a client on a device of a name."""
    return kvstore.Client(
        app_key=APP_KEY,
        app_secret=APP_SECRET,
        host=host,
        data_directory=directory,
        device_name=name,
    )


def test_a_device_has_the_name_that_the_program_gives_it(
    server: Server, tmp_path: Path, unique: str
) -> None:
    name = "Anaïs\u2019 🖥 " + "é" * 40
    assert len(name.encode()) <= 100
    with named(server.host, tmp_path, name) as client:
        client.signup(unique, PASSWORD)
    app = "Basic " + base64.b64encode(f"{APP_KEY}:{APP_SECRET}".encode()).decode()
    user = {"username": unique, "password": PASSWORD}
    token = ask(server, f"/user/{APP_KEY}/login", app, user)["_kmd"]["authtoken"]
    sessions = ask(server, f"/user/{APP_KEY}/_sessions", f"Kinvey {token}")
    devices = [session["device"] for session in sessions]
    assert sum(device.startswith(f"{name}, ") for device in devices) == 1, devices


@pytest.mark.parametrize(
    "name", ["", "é" * 50 + "x", "a\nb", "a\x00b", "a\x7fb", "a\x9bb", "a\ufffdb"]
)
def test_a_name_that_no_device_can_have_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(kvstore.InvalidError, match=r"deviceName|UTF-8"):
        named("http://127.0.0.1:1", tmp_path, name)


def test_a_name_that_is_no_unicode_is_refused(tmp_path: Path) -> None:
    with pytest.raises((kvstore.InvalidError, UnicodeEncodeError)):
        named("http://127.0.0.1:1", tmp_path, "a\udcffb")


def test_tags_have_sessions_of_their_own(server: Server, tmp_path: Path, unique: str) -> None:
    def client(tag: str) -> kvstore.Client:
        return kvstore.Client(
            app_key=APP_KEY,
            app_secret=APP_SECRET,
            host=server.host,
            data_directory=tmp_path,
            tag=tag,
        )

    with client("a") as a, client("b") as b:
        ana = a.signup(unique, PASSWORD)
        assert b.active_user is None
        b.signup(unique + "b", PASSWORD)
        assert (a.active_user or {})["_id"] == ana["_id"]
        with pytest.raises(kvstore.ConflictError):
            a.collection("notes", tag="b").close()
        b.logout()
        assert (a.active_user or {})["_id"] == ana["_id"]


def test_a_shared_device_keeps_its_data(server: Server, tmp_path: Path, unique: str) -> None:
    with (
        kvstore.Client(
            app_key=APP_KEY,
            app_secret=APP_SECRET,
            host=server.host,
            data_directory=tmp_path,
            shared_device=True,
        ) as client,
        client.collection(unique) as notes,
    ):
        client.signup(unique, PASSWORD)
        notes.save({"_id": "n1"})
        with pytest.raises(kvstore.PendingError):
            client.signup(unique + "b", PASSWORD)
        notes.push()
        client.signup(unique + "b", PASSWORD)
        assert notes.count() == 1
        client.logout()
        assert notes.count() == 1
        client.login(unique, PASSWORD)
        client.logout(keep_data=False)
        assert notes.count() == 0


_OTHER_PROCESS = """
import sys, kvstore
host, directory, key, secret, name = sys.argv[1:]
with kvstore.Client(app_key=key, app_secret=secret, host=host, data_directory=directory) as client:
    client.signup(name, "a password")
    with client.collection("notes") as notes:
        notes.save({"_id": "n2"})
        notes.push()
"""


def test_a_client_notices_another_process_that_logs_in_somebody_else(
    server: Server, tmp_path: Path, unique: str
) -> None:
    with open_client(server.host, tmp_path) as client, client.collection("notes") as notes:
        client.signup(unique, PASSWORD)
        notes.save({"_id": unique})
        notes.push()
        arguments = [server.host, str(tmp_path), APP_KEY, APP_SECRET, unique + "b"]
        subprocess.run([sys.executable, "-c", _OTHER_PROCESS, *arguments], check=True)
        for use in (
            lambda: notes.get("n2"),
            lambda: list(notes.find()),
            lambda: notes.save({"_id": "n3"}),
            lambda: notes.push(),
            lambda: client.me(),
        ):
            with pytest.raises(kvstore.NoUserError):
                use()
        assert client.active_user is None
        client.login(unique, PASSWORD)
        assert notes.count() == 0
