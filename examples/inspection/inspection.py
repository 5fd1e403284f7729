"""Field inspection on one device: works offline, and shows what others do as it happens.

    python inspection.py ana http://127.0.0.1:8080 data-ana

It reads commands, one a line. ../README.md has a story for two terminals.

    order ID TITLE            crew ID USER              show ID USER
    status ID STATUS          contact ID NAME           orders
    inspect ID ORDER ASSET    judge ID VERDICT COMMENT  read ID QUANTITY VALUE LONGITUDE LATITUDE
    part ID ORDER COUNT       take ID COUNT             report
    refused                   place ID LONGITUDE LATITUDE    retry ID
    sent                      quit
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import kvstore
from device import Device
from kvstore import aio

#: A real program asks for it.
PASSWORD = "a password"


async def main(username: str, host: str, directory: str) -> None:
    """Open the device and run until the user has had enough."""
    async with aio.Client(
        app_key="kid_demo", app_secret="secret", host=host, data_directory=directory
    ) as client:
        await sign_in(client, username)
        device = Device(client)
        async with device.followed() as follows, asyncio.TaskGroup() as tasks:
            watchers = [tasks.create_task(each) for each in watching(device, follows)]
            await read_commands(device)
            for watcher in watchers:
                watcher.cancel()


async def sign_in(client: aio.Client, username: str) -> None:
    """Log in, or sign up the first time. A device that knows its user needs no network."""
    if client.active_user is not None:
        return
    try:
        await client.login(username, PASSWORD)
    except kvstore.UnauthorizedError:
        await client.signup(username, PASSWORD)


# What is shown while it happens


def watching(
    device: Device, follows: list[aio.States[kvstore.FollowStatus]]
) -> list[Coroutine[Any, Any, None]]:
    """Give everything that shows what happens by itself."""
    return [
        *(show_state(follow) for follow in follows),
        *(show_changes(store) for store in device.stores),
        show_refusals(device.client),
    ]


async def show_state(follow: aio.States[kvstore.FollowStatus]) -> None:
    """Show how a collection stands with the server."""
    shown = ""
    async for status in follow:
        if status.state != shown:
            shown = status.state
            say(f"{status.collection} is {shown}")


async def show_changes(store: aio.Store[Any]) -> None:
    """Show each change of the local data, whoever made it."""
    async with store.changes() as changes:
        async for change in changes:
            for placed in [*change.insertions, *change.modifications]:
                say(f"{placed.source}: {placed.entity}")


async def show_refusals(client: aio.Client) -> None:
    """Show each write that the server has refused.

    Conflicts are set aside too, until the store's rule has decided them.
    """
    async with client.sync_events() as events:
        async for event in events:
            is_conflict = isinstance(event.error, kvstore.ConflictError)
            if event.event == "quarantined" and not is_conflict:
                say(f"refused {event.id}: {event.error}")


def say(text: str) -> None:
    """Print a line at once, also into a pipe."""
    print(text, flush=True)


# What the user types


async def read_commands(device: Device) -> None:
    """Carry out one line after the other. An error ends a command, not the program."""
    commands = commands_of(device)
    while line := await asyncio.to_thread(sys.stdin.readline):
        try:
            name, *arguments = shlex.split(line)
            if name == "quit":
                return
            await commands.get(name, show_help)(*arguments)
        except (kvstore.KVError, TypeError, ValueError) as error:
            say(f"error: {error}")
        else:
            say(f"done: {line.strip()}")


async def show_help(*_: str) -> None:
    """Say which commands there are."""
    say(__doc__ or "")


def commands_of(device: Device) -> dict[str, Callable[..., Awaitable[None]]]:
    """Give what carries out each command; arguments are texts."""

    async def read(id: str, quantity: str, value: str, *place: str) -> None:
        await device.add_reading(id, quantity, float(value), [float(part) for part in place])

    async def judge(id: str, verdict: str, comment: str) -> None:
        await device.judge(id, "pass" if verdict == "pass" else "fail", comment)

    async def add_part(id: str, order: str, count: str) -> None:
        await device.add_part(id, order, int(count))

    async def take(id: str, count: str) -> None:
        await device.take(id, int(count))

    async def correct_place(id: str, *place: str) -> None:
        await device.correct_place(id, [float(part) for part in place])

    async def show_orders() -> None:
        for order in await device.open_orders():
            say(str(order))

    async def show_refused() -> None:
        for write in await device.refused():
            say(f"{write.operation} {write.id} is {write.state}: {write.last_error}")

    async def show_report() -> None:
        say((await device.report()).to_string(index=False))

    return {
        "order": device.add_order,
        "crew": device.share_with_crew,
        "show": device.share_for_reading,
        "status": device.set_status,
        "contact": device.set_contact,
        "orders": show_orders,
        "inspect": device.add_inspection,
        "judge": judge,
        "read": read,
        "part": add_part,
        "take": take,
        "report": show_report,
        "refused": show_refused,
        "place": correct_place,
        "retry": device.retry_order,
        "sent": device.all_sent,
    }


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
