"""Clients and users, against a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import open_client
from kvstored import Server

import kvstore


def test_a_ping_tells_the_version(online: kvstore.Client) -> None:
    assert online.ping()["version"]


def test_a_user_signs_up_and_is_active(online: kvstore.Client, unique: str) -> None:
    user = online.active_user
    assert user is not None
    assert user["username"] == unique
    assert "authtoken" not in str(user)
    assert online.me()["_id"] == user["_id"]


def test_the_active_user_survives_a_restart(server: Server, tmp_path: Path, unique: str) -> None:
    with open_client(server.host, tmp_path) as client:
        client.signup(unique, "a password")
    with open_client(server.host, tmp_path) as client:
        assert client.active_user is not None
        assert client.me()["username"] == unique


def test_an_implicit_user_needs_no_name(server: Server, tmp_path: Path) -> None:
    with open_client(server.host, tmp_path) as client:
        assert client.signup()["username"]


def test_a_user_logs_out_and_in(online: kvstore.Client, unique: str) -> None:
    online.logout()
    assert online.active_user is None
    with pytest.raises(kvstore.NoUserError):
        online.collection(unique, "network").save({})
    assert online.login(unique, "a password")["username"] == unique


def test_a_wrong_password_is_unauthorized(online: kvstore.Client, unique: str) -> None:
    with pytest.raises(kvstore.UnauthorizedError) as caught:
        online.login(unique, "another password")
    assert caught.value.http == 401
    assert "another password" not in repr(caught.value.details)


def test_a_taken_name_is_a_conflict(online: kvstore.Client, unique: str) -> None:
    with pytest.raises(kvstore.ConflictError):
        online.signup(unique, "a password")
    assert online.user_exists(unique)
    assert not online.user_exists(unique + "-nobody")


def test_a_user_changes_its_members(online: kvstore.Client, unique: str) -> None:
    online.update_user({"nickname": "Ana", "password": "a new password"})
    assert online.me()["nickname"] == "Ana"
    online.logout()
    assert online.login(unique, "a new password")["nickname"] == "Ana"


def test_a_user_is_deleted(online: kvstore.Client, unique: str) -> None:
    online.delete_user(hard=True)
    assert online.active_user is None
    with pytest.raises(kvstore.UnauthorizedError):
        online.login(unique, "a password")


def test_a_logout_refuses_to_wipe_unsent_work(online: kvstore.Client, unique: str) -> None:
    store = online.collection(unique)
    store.save({"_id": "n1"})
    with pytest.raises(kvstore.PendingError):
        online.logout()
    assert len(store.pending) == 1
    online.logout(discard_pending=True)
    assert store.count() == 0


def test_a_logout_may_keep_the_data(online: kvstore.Client, unique: str) -> None:
    store = online.collection(unique)
    store.save({"_id": "n1"})
    online.logout(keep_data=True)
    assert (store.count(), len(store.pending)) == (1, 1)


def test_an_unreachable_backend_is_a_connection_error(tmp_path: Path) -> None:
    with open_client("http://127.0.0.1:1", tmp_path) as client, pytest.raises(ConnectionError):
        client.ping()


def test_a_closed_client_is_misuse(online: kvstore.Client) -> None:
    online.close()
    online.close()
    with pytest.raises(kvstore.MisuseError):
        online.ping()


def test_a_host_is_never_guessed(tmp_path: Path) -> None:
    with pytest.raises(kvstore.InvalidError, match="host"):
        kvstore.Client(app_key="kid_test", app_secret="secret", data_directory=tmp_path)


def test_what_is_no_id_is_an_error_of_ours(notes: kvstore.Store) -> None:
    wrong: Any
    for wrong in (None, 7, b"a"):
        with pytest.raises(kvstore.InvalidError, match="id must be a str"):
            notes.find_by_id(wrong)
    with pytest.raises(kvstore.NotFoundError) as caught:
        notes.find_by_id("nowhere")
    assert caught.value.id == "nowhere"
