"""Several users of one device: whose data, queue and session is what."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
