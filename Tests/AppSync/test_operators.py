"""Operators of several devices, towards an API that merges writes and one that refuses them."""

from __future__ import annotations

from typing import Any

import pytest
from devices import Device, Open
from standin import StandIn


@pytest.fixture(params=["AUTOMERGE", "OPTIMISTIC_CONCURRENCY"])
def devices(request: pytest.FixtureRequest, server: StandIn, device: Open) -> tuple[Device, Device]:
    """Two devices that have the same task."""
    server.control("conflicts", Task=request.param)
    first, second = device("a"), device("b")
    task = {"id": "t", "title": "A", "rank": 1, "tags": ["x"]}
    first.client.collection("Task").save(task)
    for one in (first, second):
        assert one.client.collection("Task").sync().errors == []
    return first, second


def stored(server: StandIn) -> dict[str, Any]:
    """The task as the API has it."""
    row: dict[str, Any] = server.control("tables/Task", "GET")["rows"][0]
    return row


def test_increments_and_new_elements_of_two_devices_are_all_there(
    server: StandIn, devices: tuple[Device, Device]
) -> None:
    for number, device in enumerate(devices):
        operators = {"$inc": {"rank": 1}, "$push": {"tags": str(number)}}
        assert device.client.collection("Task").update({"id": "t"}, operators).modified == 1
    for device in devices:
        result = device.client.collection("Task").push()
        assert (result.pushed, result.errors, result.discarded) == (1, [], 0)
    assert (stored(server)["rank"], stored(server)["tags"]) == (3, ["x", "0", "1"])
    assert devices[1].client.collection("Task").find_by_id("t")["rank"] == 3


def test_equal_increments_alone_are_no_agreement(
    server: StandIn, devices: tuple[Device, Device]
) -> None:
    for device in devices:
        assert device.client.collection("Task").update({"id": "t"}, {"$inc": {"rank": 1}}).modified
    for device in devices:
        result = device.client.collection("Task").push()
        assert (result.pushed, result.errors, result.discarded) == (1, [], 0)
    assert stored(server)["rank"] == 3
