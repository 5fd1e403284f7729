"""Finding users, groups of users, and sharing entities with them; blocking and with asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import APP_KEY, APP_SECRET, open_client
from kvstored import Server

import kvstore
from kvstore import aio

PRIVATE = {"gr": False}


@pytest.fixture
def other(server: Server, tmp_path: Path, unique: str) -> Iterator[kvstore.Client]:
    """Give a client of another user, who has a name and an address."""
    with open_client(server.host, tmp_path / "other") as client:
        members = {"email": f"{unique}@example.org", "shoe_size": 43}
        client.signup(f"{unique}-other", "a password", members=members)
        yield client


def user_id(client: kvstore.Client) -> str:
    """Give the id of the active user."""
    user = client.active_user
    assert user is not None
    identifier: str = user["_id"]
    return identifier


def seen(notes: kvstore.Store) -> list[str]:
    """Give the ids that a user may read on the backend."""
    with notes.find(read_policy="forceNetwork") as cursor:
        return sorted(note["_id"] for note in cursor)


def test_users_are_found_by_name_address_and_id(
    online: kvstore.Client, other: kvstore.Client, unique: str
) -> None:
    wanted = user_id(other)
    for found in (
        online.users.lookup(username=f"{unique}-other"),
        online.users.lookup(email=f"{unique}@example.org"),
        online.users.lookup(id=wanted),
        online.users.lookup({"email": f"{unique}@example.org"}, id=wanted),
    ):
        assert [user["_id"] for user in found] == [wanted]
        assert "shoe_size" not in found[0]
    assert online.users.lookup(username="nobody at all") == []
    assert online.users.lookup(username=f"{unique}-other", id="somebody else") == []


def test_nobody_lists_all_users(online: kvstore.Client, other: kvstore.Client) -> None:
    members: dict[str, Any]
    for members in ({}, {"shoe_size": 43}, {"username": {"$ne": ""}}, {"$or": []}):
        with pytest.raises(kvstore.InvalidError):
            online.users.lookup(members)
    online.logout()
    with pytest.raises(kvstore.NoUserError):
        online.users.lookup(id=user_id(other))


def test_a_group_is_made_read_changed_and_deleted(
    online: kvstore.Client, other: kvstore.Client
) -> None:
    me, them = user_id(online), user_id(other)
    made = online.groups.create("team", [them], acl={"r": [them]})
    assert (made.name, made.members) == ("team", [them])
    assert made.entity["_acl"]["creator"] == me
    assert online.groups.get(made.id) == made == other.groups.get(made.id)
    assert [group.id for group in other.groups.all()] == [made.id]

    changed = online.groups.update(made.id, add=[me, them], name="crew")
    assert (changed.name, changed.members) == ("crew", [them, me])
    assert changed.entity["_acl"]["r"] == [them]
    assert online.groups.update(made.id, add=[me]) == changed
    assert online.groups.update(made.id, remove=[them]).members == [me]
    with pytest.raises(kvstore.ForbiddenError):
        other.groups.update(made.id, add=[them])

    online.groups.delete(made.id)
    with pytest.raises(kvstore.NotFoundError):
        online.groups.get(made.id)
    with pytest.raises(kvstore.NotFoundError):
        online.groups.delete(made.id)


def test_two_who_change_a_group_at_once_both_have_their_change(online: kvstore.Client) -> None:
    group = online.groups.create("team").id
    users = [f"user{number}" for number in range(12)]
    requests = [online.groups.update_async(group, add=[user]) for user in users]
    refused = []
    for user, request in zip(users, requests, strict=True):
        try:
            request.finish()
        except kvstore.ConflictError:
            refused.append(user)
    assert sorted(online.groups.get(group).members) == sorted(set(users) - set(refused))


def test_what_is_no_group_is_refused_before_it_is_sent(online: kvstore.Client) -> None:
    wrong: Any
    for wrong in ("ada", [1], [""], [{"_id": "ada"}]):
        with pytest.raises(kvstore.InvalidError):
            online.groups.create("team", wrong)
        with pytest.raises(kvstore.InvalidError):
            online.groups.update("g", add=wrong)
    with pytest.raises(kvstore.InvalidError):
        online.groups.get("")


def test_an_entity_is_shared_and_unshared(
    online: kvstore.Client, other: kvstore.Client, unique: str
) -> None:
    mine, theirs = online.collection(unique), other.collection(unique, "network")
    them = user_id(other)
    with mine, theirs:
        mine.save({"_id": "n1", "text": "milk", "_acl": PRIVATE})
        mine.push()
        assert seen(theirs) == []

        mine.share("n1", readers=[them])
        assert seen(theirs) == []
        mine.push()
        assert seen(theirs) == ["n1"]
        with pytest.raises(kvstore.ForbiddenError):
            theirs.save({"_id": "n1", "text": "bread"})
        mine.unshare("n1", readers=[them])
        mine.push()
        assert seen(theirs) == []

        group = online.groups.create("team", [them]).id
        mine.share("n1", writer_groups=[group])
        mine.push()
        assert theirs.save({"_id": "n1", "text": "bread"})["text"] == "bread"
        mine.pull()
        mine.unshare("n1", writer_groups=[group])
        mine.share("n1", everybody_reads=True)
        mine.push()
        assert seen(theirs) == ["n1"]
        mine.unshare("n1", everybody_reads=True, everybody_writes=True)
        mine.push()
        assert seen(theirs) == []
        note = mine.find_by_id("n1")
        assert note["text"] == "bread"
        assert note["_acl"]["creator"] == user_id(online)


def test_a_network_store_shares_on_the_backend_what_others_change_too(
    online: kvstore.Client, unique: str
) -> None:
    with online.collection(unique, "network") as notes:
        notes.save({"_id": "n1", "_acl": PRIVATE})
        users = [f"user{number}" for number in range(8)]
        requests = [notes.share_async("n1", readers=[user]) for user in users]
        refused = []
        for user, request in zip(users, requests, strict=True):
            try:
                request.finish()
            except kvstore.ConflictError:
                refused.append(user)
        assert sorted(notes.find_by_id("n1")["_acl"]["r"]) == sorted(set(users) - set(refused))


def test_a_queued_sharing_never_replaces_what_was_changed_meanwhile(
    server: Server, tmp_path: Path, online: kvstore.Client, unique: str
) -> None:
    with open_client(server.host, tmp_path / "phone") as phone, online.collection(unique) as notes:
        phone.login(unique, "a password")
        notes.save({"_id": "n1", "_acl": {"gr": False, "r": ["ben"]}})
        notes.push()
        there = phone.collection(unique, "network")
        there.unshare("n1", readers=["ben"])
        # The default is that the client wins; not with who may read.
        notes.share("n1", readers=["cleo"])
        assert [error.id for error in notes.push().errors] == ["n1"]
        assert there.find_by_id("n1")["_acl"].get("r", []) == []
        there.close()
        assert notes.pending.get("n1").state == "conflict"


def test_nothing_is_shared_with_nobody_or_by_halves(online: kvstore.Client, unique: str) -> None:
    with online.collection(unique) as notes:
        notes.save({"_id": "n1"})
        wrong: Any
        for wrong in ({}, {"readers": []}, {"readers": "ada"}, {"writers": [""]}):
            with pytest.raises(kvstore.InvalidError):
                notes.share("n1", **wrong)
        with pytest.raises(kvstore.NotFoundError) as caught:
            notes.share("n2", readers=["ada"])
        assert caught.value.id == "n2"
        notes.share("n1", readers=["ada"])
        notes.share("n1", readers=["ada", "ben"], writers=["ben"])
        assert notes.find_by_id("n1")["_acl"] == {"r": ["ada", "ben"], "w": ["ben"]}


def test_the_same_with_asyncio(server: Server, tmp_path: Path, unique: str) -> None:
    def opened(name: str) -> aio.Client:
        return aio.Client(
            app_key=APP_KEY,
            app_secret=APP_SECRET,
            host=server.host,
            data_directory=tmp_path / name,
        )

    async def main() -> None:
        async with opened("a") as client, opened("b") as other:
            await client.signup(unique, "a password")
            them = (await other.signup(f"{unique}-other", "a password"))["_id"]
            found = await client.users.lookup(username=f"{unique}-other")
            assert [user["_id"] for user in found] == [them]
            group = await client.groups.create("team")
            group = await client.groups.update(group.id, add=[them])
            assert (await client.groups.get(group.id)).members == [them]
            assert [one.id for one in await client.groups.all()] == [group.id]
            async with (
                client.collection(unique) as notes,
                other.collection(unique, "network") as theirs,
            ):
                await notes.save({"_id": "n1", "_acl": PRIVATE})
                await notes.share("n1", reader_groups=[group.id])
                await notes.push()
                assert (await theirs.find_by_id("n1"))["_id"] == "n1"
                await notes.unshare("n1", reader_groups=[group.id])
                await notes.push()
                with pytest.raises(kvstore.ForbiddenError):
                    await theirs.find_by_id("n1")
            await client.groups.delete(group.id)

    asyncio.run(main())
