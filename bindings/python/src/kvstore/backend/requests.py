"""What a backend is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

Record = dict[str, Any]


class Unconditional(Enum):
    """The condition of a write that has none."""

    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Integer:
    """A member, or the path of one inside objects, that holds integers."""

    path: str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Ordered:
    """A version that is a text, and of which the greater is the later one."""

    path: str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Fetch:
    """A page that is asked for."""

    collection: str
    page_size: int
    #: What the page before gave as ``next``; None: the first page.
    after: Any = None
    #: What does not match may be left out; a backend with ``queries`` must leave it out.
    filter: Mapping[str, Any] | None = None
    #: For backends with ``queries``.
    sort: Mapping[str, Any] | None = None
    skip: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some records of a collection."""

    records: Iterable[Record]
    #: Asks for the page behind this one; any JSON value. None: this is the last one.
    next: Any = None
    #: Of a first page: the state of the collection before it was read, for ``changes``.
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Upsert:
    """A record that was made or changed."""

    record: Record


@dataclass(frozen=True, slots=True)
class Delete:
    """A record that has gone."""

    id: Any
    #: What a record is that has gone, where the backend has versions of these.
    version: Any = None


@dataclass(frozen=True, slots=True)
class ChangedPage:
    """What has happened to a collection, in its order."""

    changes: Iterable[Upsert | Delete]
    #: What to ask from the next time.
    token: str
    #: There is more behind the token.
    more: bool = False


@dataclass(frozen=True, slots=True)
class LivePage:
    """What has happened to some collections since they were asked for last."""

    #: Names of collections, and what happened in them, in its order.
    changes: Iterable[tuple[str, Upsert | Delete]]
    #: Where to go on from; any JSON value but None.
    next: Any
    #: Something that happened before is not among the changes.
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a batch."""

    operation: Literal["create", "update", "delete"]
    id: Any
    #: None for a deletion.
    record: Record | None
    #: The version that must be there; None: no such record may be there.
    condition: Any = Unconditional.ALWAYS

    def may_replace(self, version: Any) -> bool:
        """Tell whether the write may be carried out where this version is; None: no such record.

        A record that is to be created must not be there, whatever the condition.
        """
        if self.operation == "create":
            return version is None
        return self.condition is Unconditional.ALWAYS or bool(self.condition == version)


@dataclass(frozen=True, slots=True)
class Stored:
    """The write was carried out; the record as it is now."""

    record: Record


@dataclass(frozen=True, slots=True)
class Deleted:
    """The record is gone."""

    existed: bool = True


@dataclass(frozen=True, slots=True)
class Conflicting:
    """What is there does not meet the condition, or is there although it was to be created."""

    #: None: nothing is there.
    record: Record | None


@dataclass(frozen=True, slots=True)
class Refused:
    """The write is refused for good."""

    message: str
    #: ``KV_INVALID``, ``KV_NOT_FOUND`` (12), ``KV_FORBIDDEN`` (16) or ``KV_TOO_LARGE`` (25).
    status: int = 11


@dataclass(frozen=True, slots=True)
class Later:
    """Not now."""

    message: str
    #: Seconds.
    after: float | None = None


Result = Stored | Deleted | Conflicting | Refused | Later
