"""The status of a client, of its collections and of its follows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from ._json import from_json
from .errors import KVError, error_from_json
from .results import Progress

FollowState = Literal["starting", "current", "behind", "offline", "closed"]


@dataclass(frozen=True, slots=True)
class FollowStatus:
    """The status of a follow."""

    collection: str
    filter: Mapping[str, Any]
    #: "starting": nothing was read yet. "current": the local data is what the backend has.
    #: "behind": changes are being read, or the error says why they cannot be. "offline": the
    #: backend does not answer.
    state: FollowState
    #: Whether changes arrive as live data; otherwise they are polled for.
    live: bool
    #: When the query was last read from the backend.
    last_synced: datetime | None
    error: KVError | None


@dataclass(frozen=True, slots=True)
class CollectionStatus:
    """The status of a collection."""

    collection: str
    tag: str
    #: The number of writes that the backend has not confirmed: those that wait and those that are
    #: quarantined.
    pending: int
    #: The number of writes that the next push sends.
    waiting: int
    quarantined: int
    #: When the collection was last read from the backend.
    last_synced: datetime | None


@dataclass(frozen=True, slots=True)
class Activity:
    """A running push, pull or sync."""

    operation: str
    collection: str
    #: Whether the library started it by itself.
    automatic: bool
    progress: Progress


@dataclass(frozen=True, slots=True)
class ClientStatus:
    """The status of a client, and what it is doing."""

    #: Whether the backend answers. None if no request was sent yet.
    online: bool | None
    signed_in: bool
    #: The numbers of all collections: see :class:`CollectionStatus`.
    pending: int
    waiting: int
    quarantined: int
    collections: list[CollectionStatus]
    #: What is running; empty if nothing is.
    activity: list[Activity]
    follows: list[FollowStatus]


def follow_reader(
    receive: Callable[[FollowStatus], object] | None,
) -> Callable[[bytes | KVError], None]:
    """Return a function that passes the status of a follow on to `receive`, if there is one."""

    def handle_event(event: bytes | KVError) -> None:
        if receive is not None and isinstance(event, bytes):
            receive(_follow(from_json(event)))

    return handle_event


def decode_status(text: bytes) -> ClientStatus:
    """Read a status as the library writes it."""
    members = from_json(text)
    return ClientStatus(
        online=members["online"],
        signed_in=members["signedIn"],
        pending=members["pending"],
        waiting=members["waiting"],
        quarantined=members["quarantined"],
        collections=[_collection(one) for one in members["collections"]],
        activity=[_activity(one) for one in members["activity"]],
        follows=[_follow(one) for one in members["follows"]],
    )


def _follow(members: Mapping[str, Any]) -> FollowStatus:
    error = members.get("error")
    return FollowStatus(
        collection=members["collection"],
        filter=members["filter"],
        state=members["state"],
        live=members["live"],
        last_synced=_moment(members),
        error=None if error is None else error_from_json(error),
    )


def _collection(members: Mapping[str, Any]) -> CollectionStatus:
    return CollectionStatus(
        collection=members["collection"],
        tag=members["tag"],
        pending=members["pending"],
        waiting=members["waiting"],
        quarantined=members["quarantined"],
        last_synced=_moment(members),
    )


def _activity(members: Mapping[str, Any]) -> Activity:
    progress = Progress(
        entities_done=members["entitiesDone"],
        entities_total=members["entitiesTotal"],
        bytes_done=members["bytesDone"],
        bytes_total=members["bytesTotal"],
    )
    return Activity(members["operation"], members["collection"], members["automatic"], progress)


def _moment(members: Mapping[str, Any]) -> datetime | None:
    text = members.get("lastSynced")
    return None if text is None else datetime.fromisoformat(text)
