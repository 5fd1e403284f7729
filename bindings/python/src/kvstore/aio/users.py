"""The other users of a backend, and groups of them, for asyncio."""

from __future__ import annotations

from .. import groups, users
from ._calls import GroupCalls, UserCalls


class Users(UserCalls):
    """The other users of a client's backend: see :class:`kvstore.Users`."""

    def __init__(self, blocking: users.Users) -> None:
        self.blocking = blocking


class Groups(GroupCalls):
    """The groups of users of a client's backend: see :class:`kvstore.Groups`."""

    def __init__(self, blocking: groups.Groups) -> None:
        self.blocking = blocking
