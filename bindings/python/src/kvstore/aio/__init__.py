"""The same API for asyncio: calls are awaited, and cancelling a task cancels the operation.

>>> import asyncio
>>> from kvstore import aio
>>> async def main() -> None:
...     async with aio.Client(app_key="kid_demo", host=None, data_directory=directory) as client:
...         notes = client.collection("notes")
...         await notes.save({"text": "milk"})
...         async for note in notes.find({"text": "milk"}):
...             print(note["text"])
>>> asyncio.run(main())
milk

The loop never waits for the network, the disk or a lock, and nothing is polled: the library wakes
the loop when an operation is over. Several loops, and other threads, may use one client. The errors
are those of the blocking calls.
"""

from .client import Client
from .context import Context
from .cursor import Cursor
from .events import Events, LiveStream, States
from .fetched import Results
from .pending import PendingQueue
from .store import Store
from .users import Groups, Users
from .userstream import UserStream

__all__ = [
    "Client",
    "Context",
    "Cursor",
    "Events",
    "Groups",
    "LiveStream",
    "PendingQueue",
    "Results",
    "States",
    "Store",
    "UserStream",
    "Users",
]
