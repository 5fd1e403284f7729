"""The requests to a backend, and its answers."""

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
    """A version that is a text; the greater of two is the later one."""

    path: str | Sequence[str]


@dataclass(frozen=True, slots=True)
class Fetch:
    """A request for a page."""

    collection: str
    page_size: int
    #: The ``next`` of the page before; None asks for the first page.
    after: Any = None
    #: Records that do not match may be left out; a backend with ``queries`` must leave them out.
    filter: Mapping[str, Any] | None = None
    #: For backends with ``queries``.
    sort: Mapping[str, Any] | None = None
    skip: int = 0
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """Some records of a collection."""

    records: Iterable[Record]
    #: Any JSON value that asks for the next page. None if this is the last one.
    next: Any = None
    #: In the first page: the state of the collection before it was read, for ``changes``.
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Upsert:
    """A record that was created or changed."""

    record: Record


@dataclass(frozen=True, slots=True)
class Delete:
    """A record that was deleted."""

    id: Any
    #: The version of the deletion, if the backend has versions of deletions.
    version: Any = None


@dataclass(frozen=True, slots=True)
class ChangedPage:
    """The changes of a collection, in their order."""

    changes: Iterable[Upsert | Delete]
    #: The token for the next request.
    token: str
    #: Whether there are more changes after the token.
    more: bool = False


@dataclass(frozen=True, slots=True)
class LivePage:
    """The changes of some collections since the previous page."""

    #: Names of collections and their changes, in the order of the changes.
    changes: Iterable[tuple[str, Upsert | Delete]]
    #: The position to go on from; any JSON value but None.
    next: Any
    #: Whether some earlier changes are not among these.
    incomplete: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a batch."""

    operation: Literal["create", "update", "delete"]
    id: Any
    #: None for a deletion.
    record: Record | None
    #: The version that must be stored. None: no such record may be stored.
    condition: Any = Unconditional.ALWAYS

    def may_replace(self, version: Any) -> bool:
        """Return whether the write may replace this version; None stands for no such record.

        A record that is to be created must not exist, whatever the condition.
        """
        if self.operation == "create":
            return version is None
        return self.condition is Unconditional.ALWAYS or bool(self.condition == version)


@dataclass(frozen=True, slots=True)
class Stored:
    """The write was carried out; it has the record as it is now."""

    record: Record


@dataclass(frozen=True, slots=True)
class Deleted:
    """The record is gone."""

    existed: bool = True


@dataclass(frozen=True, slots=True)
class Conflicting:
    """The condition does not hold, or a record that was to be created exists already."""

    #: The stored record; None if there is none.
    record: Record | None


@dataclass(frozen=True, slots=True)
class Refused:
    """The write is refused for good."""

    message: str
    #: ``KV_INVALID``, ``KV_NOT_FOUND`` (12), ``KV_FORBIDDEN`` (16) or ``KV_TOO_LARGE`` (25).
    status: int = 11


@dataclass(frozen=True, slots=True)
class Later:
    """The write cannot be carried out now; the library sends it again later."""

    message: str
    #: The seconds after which to send it again.
    after: float | None = None


Result = Stored | Deleted | Conflicting | Refused | Later
