"""The results of calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from ._json import from_json
from .errors import KVError, error_from_json

T = TypeVar("T")

Entity = dict[str, Any]
#: The argument for an entity: an object, or its JSON, which is then sent as it is.
EntityLike = Mapping[str, Any] | bytes | str
if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    #: The type of a store's entities: a dictionary, unless the store was opened with a model.
    E = TypeVarWithDefault("E", default=Entity)
else:
    E = TypeVar("E")

Operation = Literal["create", "update", "delete"]
PendingState = Literal["waiting", "refused", "conflict", "backendWentBack"]


@dataclass(frozen=True, slots=True)
class UpdateResult:
    """The result of an update."""

    #: How many entities matched.
    matched: int
    #: How many of them the update has changed.
    modified: int


@dataclass(frozen=True, slots=True)
class PullResult:
    """The result of a pull: how many local entities were written and removed."""

    pulled: int
    removed: int


@dataclass(frozen=True, slots=True)
class PushResult:
    """The result of a push. Refused writes stay pending, with their error."""

    pushed: int
    errors: list[KVError] = field(default_factory=list)
    #: How many writes are quarantined now, including those of earlier pushes. ``store.pending``
    #: lists them, and ``push(retry_quarantined=True)`` sends them once more.
    quarantined: int = 0
    #: How many accepted writes have overwritten a version that this device had not seen, as far as
    #: the backend reports it.
    overwritten: int = 0
    #: How many writes were given up for what the backend has, as a whole or in part. The event
    #: "discarded" has both versions.
    discarded: int = 0


@dataclass(frozen=True, slots=True)
class SyncResult:
    """The result of a sync. Nothing is pulled while there are writes that were not sent."""

    pushed: int
    errors: list[KVError]
    pulled: int
    removed: int
    #: How many writes are quarantined now.
    quarantined: int = 0
    #: How many accepted writes have overwritten a version that this device had not seen.
    overwritten: int = 0
    #: How many writes were given up for what the backend has, as a whole or in part.
    discarded: int = 0


@dataclass(frozen=True, slots=True)
class SaveManyResult(Generic[E]):
    """The entities as saved, in the order of the input, with None for those that failed."""

    entities: list[E | None]
    errors: list[KVError]


@dataclass(frozen=True, slots=True)
class PendingWrite:
    """A pending write: one that the backend has not confirmed yet."""

    id: str
    operation: Operation
    created_at: datetime
    changed_at: datetime
    attempts: int
    last_error: KVError | None
    #: A write is "waiting" until a push has sent it. A write that is "refused", in "conflict" or
    #: "backendWentBack" (what the backend had confirmed before it went back to an older copy of its
    #: data) is quarantined: it is not sent again until it is retried, edited, reverted, dropped or
    #: changed.
    state: PendingState
    #: The filter that the backend's entity has to match when the write is sent, if there is one.
    condition: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class PendingDetail(PendingWrite, Generic[E]):
    """A pending write with the entity that it would send, and the version that it changes."""

    entity: E | None
    base: E | None
    #: The backend's version, for a quarantined write. None if it is unknown or, in a conflict, if
    #: the entity was deleted there.
    remote: E | None


@dataclass(frozen=True, slots=True)
class BackupReport:
    """The result of a backup."""

    #: The tags whose data was copied.
    tags: list[str]
    #: The size of their files.
    bytes: int


@dataclass(frozen=True, slots=True)
class Index:
    """An index of a collection."""

    name: str
    #: The members and their kinds, such as ``{"country": 1, "population": -1}``.
    keys: dict[str, int | str]
    #: Queries use an index only when it is "ready".
    state: Literal["ready", "building", "unusable"]
    #: Whether some entities have an array in one of the keys.
    arrays: bool
    #: Whether count and sum of the last key are kept for each group of the others.
    totals: bool = False
    #: The language whose stems are indexed beside the words.
    language: str | None = None
    #: The order of texts, such as ``{"locale": "de"}``; None if they are in that of code points.
    collation: dict[str, Any] | None = None
    #: Why it was made without being asked for: ``scans``, and what these ``examined`` and
    #: ``returned``; how many ``bytes`` the index took. None if the application created it.
    automatic: dict[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a query was carried out, and how much it has read."""

    access: Literal["index", "ids", "scan"]
    indexes: list[str]
    #: Whether the index alone decides which entities match.
    exact: bool
    #: Whether a count reads nothing but the index.
    covering: bool
    sql: str
    steps: list[str]
    examined: int
    returned: int


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a request. Totals are 0 while they are unknown."""

    entities_done: int
    entities_total: int
    bytes_done: int
    bytes_total: int


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """The question to a token provider: see :meth:`kvstore.Client.set_token_provider`."""

    #: The maker of the token, as in ``auth``: "userPools", "oidc", "function" or "token".
    provider: str
    #: The token that was in use. None if there was none.
    former: str | None
    #: Whether the backend has refused that token. Otherwise it is about to expire.
    refused: bool


@dataclass(frozen=True, slots=True)
class SyncEvent:
    """An event of a client's synchronisation. Members that do not apply are None."""

    #: "started", "progress", "finished", "offline", "online", "loggedOut", "quarantined",
    #: "overwritten", "discarded", "conditionFailed", "backendWentBack"; others may follow.
    event: str
    #: The number of the push, pull or sync that the event belongs to.
    task: int | None = None
    #: "push", "pull" or "sync".
    operation: str | None = None
    collection: str | None = None
    #: Whether the option ``push_automatically`` started it.
    automatic: bool = False
    progress: Progress | None = None
    #: The result of a finished call, as the library writes it.
    result: Mapping[str, Any] | None = None
    error: KVError | None = None
    #: The id of the entity concerned.
    id: str | None = None
    #: The version that was overwritten, or that replaced a local change. It is None, too, if that
    #: was a deletion.
    remote: Mapping[str, Any] | None = None
    #: What a write that was discarded, or whose condition failed, was to save. It is None, too, if
    #: it was a deletion.
    local: Mapping[str, Any] | None = None
    #: All members of the event, as the library writes them: see ``kv_client_start_sync`` for those
    #: of the synchronisation in the background.
    members: Mapping[str, Any] = field(default_factory=dict)


def decode_sync_event(text: bytes) -> SyncEvent:
    """Read an event as the library writes it."""
    members = from_json(text)
    progress = None
    if members["event"] == "progress":
        progress = Progress(
            entities_done=members["entitiesDone"],
            entities_total=members["entitiesTotal"],
            bytes_done=members["bytesDone"],
            bytes_total=members["bytesTotal"],
        )
    error = members.get("error")
    return SyncEvent(
        event=members["event"],
        task=members.get("task"),
        operation=members.get("operation"),
        collection=members.get("collection"),
        automatic=members.get("automatic", False),
        progress=progress,
        result=members.get("result"),
        error=None if error is None else error_from_json(error),
        id=members.get("id"),
        remote=members.get("remote"),
        local=members.get("local"),
        members=members,
    )


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """One answer of an asynchronous call. A cache store answers twice, others once."""

    #: The result, or None if there is an error.
    value: T | None
    #: The error of a call that failed.
    error: KVError | None
    #: Whether this is the last answer.
    is_final: bool
    #: Whether the answer comes from local data.
    is_local: bool


def decode_entities(text: bytes) -> list[Entity]:
    """Read an array of objects."""
    entities: list[Entity] = from_json(text)
    return entities


def decode_values(text: bytes) -> list[Any]:
    """Read an array of anything."""
    values: list[Any] = from_json(text)
    return values


def decode_entity(text: bytes) -> Entity:
    """Read one entity, or any other JSON object."""
    entity: Entity = from_json(text)
    return entity


def decode_count(text: bytes) -> int:
    """Read an integer."""
    return int(text)


def decode_bool(text: bytes) -> bool:
    """Read 1 or 0, or true or false."""
    return bool(from_json(text))


def decode_nothing(text: bytes) -> None:
    """Read no result."""


def decode_indexes(text: bytes) -> list[Index]:
    """Read a list of indexes."""
    return [Index(**_known(Index, members)) for members in from_json(text)]


def decode_explanation(text: bytes) -> Explanation:
    """Read how a query is carried out."""
    return Explanation(**_known(Explanation, from_json(text)))


def _known(result: type, members: Mapping[str, Any]) -> dict[str, Any]:
    """Drop members that a newer library has added."""
    names = {field.name for field in fields(result)}
    return {name: value for name, value in members.items() if name in names}


def decode_update(text: bytes) -> UpdateResult:
    """Read the result of an update."""
    members = from_json(text)
    return UpdateResult(members["matched"], members["modified"])


def decode_pull(text: bytes) -> PullResult:
    """Read the result of a pull."""
    members = from_json(text)
    return PullResult(members["pulled"], members["removed"])


def decode_push(text: bytes) -> PushResult:
    """Read the result of a push."""
    members = from_json(text)
    return PushResult(
        members["pushed"],
        errors_of(members),
        members.get("quarantined", 0),
        members.get("overwritten", 0),
        members.get("discarded", 0),
    )


def decode_sync(text: bytes) -> SyncResult:
    """Read the result of a sync."""
    members = from_json(text)
    return SyncResult(
        members["pushed"],
        errors_of(members),
        members.get("pulled", 0),
        members.get("removed", 0),
        members.get("quarantined", 0),
        members.get("overwritten", 0),
        members.get("discarded", 0),
    )


def decode_backup(text: bytes) -> BackupReport:
    """Read what a backup has."""
    members = from_json(text)
    return BackupReport(members["tags"], members["bytes"])


def decode_pending(members: Mapping[str, Any]) -> PendingWrite:
    """Read one row of the queue."""
    return PendingWrite(*pending_members(members))


def pending_members(
    members: Mapping[str, Any],
) -> tuple[
    str, Operation, datetime, datetime, int, KVError | None, PendingState, Mapping[str, Any] | None
]:
    """Read what every row of the queue has."""
    last_error = members.get("lastError")
    return (
        members["id"],
        members["operation"],
        datetime.fromisoformat(members["createdAt"]),
        datetime.fromisoformat(members["changedAt"]),
        members["attempts"],
        error_from_json(last_error) if last_error else None,
        members["state"],
        members.get("if"),
    )


def errors_of(members: Mapping[str, Any]) -> list[KVError]:
    """Read the errors of a result."""
    return [error_from_json(error) for error in members["errors"]]
