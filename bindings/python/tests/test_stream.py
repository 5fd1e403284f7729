"""User-to-user streams, over a real kvstored."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import APP_KEY, APP_SECRET, open_client
from kvstored import Server

import kvstore
from kvstore import aio


@pytest.fixture
def pair(
    server: Server, tmp_path: Path, unique: str
) -> Iterator[tuple[kvstore.Client, kvstore.Client]]:
    """Give two clients with users of their own, who may listen."""
    with (
        open_client(server.host, tmp_path / "ana") as ana,
        open_client(server.host, tmp_path / "ben") as ben,
    ):
        for name, client in (("ana", ana), ("ben", ben)):
            client.signup(f"{unique} {name}", "a password")
            client.register_live()
        yield ana, ben


def _id(client: kvstore.Client) -> str:
    user = client.active_user
    assert user is not None
    return str(user["_id"])


def test_a_user_hears_what_another_one_says(pair: tuple[kvstore.Client, kvstore.Client]) -> None:
    ana, ben = pair
    mine, theirs = ana.stream("chat"), ben.stream("chat")
    with pytest.raises(kvstore.ForbiddenError):
        theirs.send("hello", user=_id(ana))
    mine.set_acl(publish=[_id(ben)])
    assert mine.acl() == {"subscribe": [], "publish": [_id(ben)]}
    assert theirs.owners() == [_id(ana)]
    with mine.live() as said:
        for event in said:
            if event.event == "ready":
                theirs.send({"text": "hello", "price": 1.5}, user=_id(ana))
            if event.event == "message":
                assert event.message == {"text": "hello", "price": 1.5}
                break
    with pytest.raises(kvstore.ForbiddenError), theirs.live(_id(ana)) as refused:
        for _ in refused:
            pass


def test_with_asyncio(server: Server, tmp_path: Path, unique: str) -> None:
    async def first(ana: aio.Client) -> object:
        await ana.signup(unique, "a password")
        await ana.register_live()
        stream = ana.stream("notes-to-self")
        await stream.set_acl(publish=["somebody"])
        assert (await stream.acl())["publish"] == ["somebody"]
        assert len(await stream.owners()) == 1
        async with stream.live() as said:
            async for event in said:
                if event.event == "ready":
                    await stream.send([1, 2])
                if event.event == "message":
                    return event.message
        raise AssertionError

    async def run() -> object:
        async with aio.Client(
            app_key=APP_KEY,
            app_secret=APP_SECRET,
            host=server.host,
            data_directory=tmp_path / "aio",
        ) as ana:
            return await first(ana)

    assert asyncio.run(run()) == [1, 2]


def test_what_is_no_message_or_stream_is_refused(
    pair: tuple[kvstore.Client, kvstore.Client],
) -> None:
    ana, _ = pair
    with pytest.raises(ValueError, match="JSON"):
        ana.stream("chat").send(float("nan"))
    with pytest.raises(kvstore.InvalidError):
        ana.stream("no\0name")
    with pytest.raises(kvstore.KVError):
        ana.stream("no.name").send(1)
    with pytest.raises(TypeError):
        ana.stream("chat").subscribe()
    ana.unregister_live()
    with pytest.raises(kvstore.MisuseError):
        ana.stream("chat").send(1)
