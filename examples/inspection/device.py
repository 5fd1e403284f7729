"""The device of one technician: its collections, and all that a technician does with them.

Everything here reads and writes local data, and works without the network. `follow` keeps the
local data and the server's in step. What needs the server says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import kvstore
from kvstore import aio
from records import Access, Inspection, Part, Reading, Verdict, WorkOrder

if TYPE_CHECKING:
    import pandas as pd


def decide(conflict: kvstore.Conflict[Inspection]) -> kvstore.Decision | Inspection:
    """Decide between two opinions on one asset: the worse verdict and all comments count.

    The library cannot know that "fail" is worse than "pass". It calls this on one of its threads.
    """
    local, remote = conflict.local, conflict.remote
    if local is None or remote is None:
        return kvstore.Decision.LEAVE  # one side has deleted it: a person decides
    new = [comment for comment in local.comments if comment not in remote.comments]
    verdict: Verdict = "fail" if "fail" in (local.verdict, remote.verdict) else local.verdict
    return replace(remote, verdict=verdict, comments=[*remote.comments, *new])


class Device:
    """The collections of the program, each with the rule that decides its conflicts."""

    def __init__(self, client: aio.Client) -> None:
        self.client = client
        # Two people edit different members of an order: both edits count.
        self.orders = client.collection("workOrders", model=WorkOrder, conflicts="merge")
        self.inspections = client.collection("inspections", model=Inspection)
        self.inspections.set_conflict_handler(decide)
        self.readings = client.collection("readings", model=Reading)
        self.parts = client.collection("parts", model=Part)

    @property
    def stores(self) -> list[aio.Store[Any]]:
        """Give all collections. What others refer to comes first."""
        return [self.orders, self.inspections, self.readings, self.parts]

    @asynccontextmanager
    async def followed(self) -> AsyncIterator[list[aio.States[kvstore.FollowStatus]]]:
        """Keep all collections in step with the server; yield what tells how that goes."""
        async with AsyncExitStack() as stack:
            yield [await stack.enter_async_context(store.follow()) for store in self.stores]

    # Work orders, and who may see them

    async def add_order(self, id: str, title: str) -> None:
        """Save a work order that nobody else sees."""
        await self.orders.save(WorkOrder(id, title, access={"gr": False}))

    async def share_with_crew(self, id: str, username: str) -> None:
        """Let a colleague do the work too. This asks the server, for the user and the group."""
        colleague = await self.find_user(username)
        # We are in the group as well: what the colleague saves for the crew is for us, too.
        crew = await self.client.groups.create(f"crew of {id}", [self.user, colleague])
        await self.orders.share(id, writer_groups=[crew.id])

    async def share_for_reading(self, id: str, username: str) -> None:
        """Let a colleague see a work order. This asks the server, for the user."""
        await self.orders.share(id, readers=[await self.find_user(username)])

    async def set_status(self, id: str, status: str) -> None:
        """Change one member of an order."""
        await self.orders.save(replace(await self.orders.find_by_id(id), status=status))

    async def set_contact(self, id: str, contact: str) -> None:
        """Change another one."""
        await self.orders.save(replace(await self.orders.find_by_id(id), contact=contact))

    async def open_orders(self) -> list[WorkOrder]:
        """Find what is to be done."""
        query = kvstore.Query({"status": {"$ne": "done"}}, sort={"_id": 1})
        return [order async for order in self.orders.find(query)]

    # The work

    async def add_inspection(self, id: str, order: str, asset: str) -> None:
        """Save an inspection for those who may see the work order."""
        access = await self.access_of(order)
        await self.inspections.save(Inspection(id, order, asset, access=access))

    async def judge(self, id: str, verdict: Verdict, comment: str) -> None:
        """Say what one thinks of the asset."""
        seen = await self.inspections.find_by_id(id)
        comments = [*seen.comments, comment]
        await self.inspections.save(replace(seen, verdict=verdict, comments=comments))

    async def add_reading(
        self, inspection: str, quantity: str, value: float, place: list[float]
    ) -> Reading:
        """Save a reading; its id is chosen here and stays."""
        access = (await self.inspections.find_by_id(inspection)).access
        at = datetime.now(UTC)
        return await self.readings.save(
            Reading(inspection, quantity, value, at, place, access=for_new(access))
        )

    async def add_part(self, id: str, order: str, count: int) -> None:
        """Save how many spare parts are on site."""
        await self.parts.save(Part(id, order, count, access=await self.access_of(order)))

    async def take(self, part: str, count: int) -> None:
        """Take parts. Operators are carried out on what the server has: nothing is overwritten."""
        note = f"{count} by {self.username}"
        await self.parts.update({"_id": part}, {"$inc": {"left": -count}, "$push": {"taken": note}})

    # What the server has refused

    async def refused(self) -> list[kvstore.PendingWrite]:
        """List the writes that wait for a decision."""
        return [
            write
            for store in self.stores
            async for write in store.pending
            if write.state != "waiting"
        ]

    async def correct_place(self, id: str, place: list[float]) -> None:
        """Replace what a refused write would send; then it is sent by itself."""
        write = await self.readings.pending.get(id)
        if write.entity is not None:
            await self.readings.pending.edit(id, replace(write.entity, place=place))

    async def retry_order(self, id: str) -> None:
        """Send a refused write of an order again, unchanged. This waits for the server."""
        await self.orders.pending.retry(id)

    async def all_sent(self) -> None:
        """Return when no write waits any more. What is refused waits for a person instead."""
        async with self.client.statuses() as statuses:
            async for status in statuses:
                if status.waiting == 0:
                    return

    # The report

    async def report(self) -> pd.DataFrame:
        """Sum up the readings of each inspection.

        The DataFrame is made on another thread, so that the loop goes on meanwhile.
        """
        wanted = kvstore.Query(fields=["inspection", "quantity", "value"])
        frame = await asyncio.to_thread(self.readings.blocking.to_pandas, wanted)
        groups = frame.groupby(["inspection", "quantity"])["value"]
        return groups.agg(["count", "min", "max"]).reset_index()

    # Users and access lists

    @property
    def user(self) -> str:
        """The id of the user, which access lists name."""
        return str((self.client.active_user or {})["_id"])

    @property
    def username(self) -> str:
        """The name of the user."""
        return str((self.client.active_user or {})["username"])

    async def find_user(self, username: str) -> str:
        """Ask the server for a user's id."""
        [user] = await self.client.users.lookup(username=username)
        return str(user["_id"])

    async def access_of(self, order: str) -> Access:
        """Give the access list for what belongs to a work order."""
        return for_new((await self.orders.find_by_id(order)).access)


def for_new(access: Access | None) -> Access:
    """Give an access list for a new entity: the server fills in who has created it."""
    return {key: value for key, value in (access or {}).items() if key != "creator"}
