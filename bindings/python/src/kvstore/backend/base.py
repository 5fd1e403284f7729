"""The base class of the backends that a program registers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from .requests import (
    Fetch,
    Integer,
    Ordered,
    Write,
)


class Backend(ABC):
    """A backend that clients synchronise with.

    The methods run on threads of the library, up to ``requests_at_once`` at the same time. Each may
    take as long as it likes. A method may also return a :class:`concurrent.futures.Future` of its
    result, or be an ``async def`` if the backend is registered with a loop. Futures and coroutines
    are cancelled when they have no waiter any more. A method that does the work itself can check
    :func:`is_cancelled`.

    An exception of a method makes the request fail. ``ConnectionError`` and ``TimeoutError`` mean
    "no answer", ``PermissionError`` means "forbidden", and a :class:`kvstore.KVError` is passed on.
    Every other exception counts as a defect of the backend: ``sys.unraisablehook`` gets it, and the
    request fails with ``KV_SERVER``. So does a result of a wrong type, with ``KV_PROTOCOL``. No
    write is lost by any of them.
    """

    #: The member that identifies records: a text, unless it is an :class:`Integer`. Several members
    #: if only all of them together identify a record.
    id: str | Integer | Sequence[str | Integer] = "_id"
    #: The member, or its path, that changes with each change of a record: an opaque text, an
    #: :class:`Integer` that grows, or an :class:`Ordered` text. None if there is none: changes that
    #: others have made meanwhile are then overwritten.
    version: str | Sequence[str] | Integer | Ordered | None = None
    #: Members that the backend keeps for itself; they are not content.
    backend_members: Sequence[str] = ()
    #: The member with the permissions, and the member in it that names the record's creator.
    permissions: str | None = None
    creator: str | None = None
    #: Whether ``fetch`` evaluates filter, order, skip and limit; otherwise the library does.
    queries: bool = False
    #: Whether ``write`` checks conditions; otherwise the library reads the record first.
    conditions: bool = True
    page_size: int = 1000
    ids_per_request: int = 100
    writes_per_request: int = 100
    requests_at_once: int = 4
    max_answer_bytes: int = 100 << 20

    @abstractmethod
    def fetch(self, request: Fetch) -> Any:
        """Return a :class:`Page` of a collection."""

    @abstractmethod
    def fetch_ids(self, collection: str, ids: Sequence[Any]) -> Any:
        """Return the records that exist of these ids, in any order."""

    def changes(self, collection: str, since: str) -> Any:
        """Return a :class:`ChangedPage`, or None if the token is too old or of other data.

        Without this method, everything is read each time.
        """
        raise NotImplementedError

    def live(self, collections: Sequence[str], after: Any) -> Any:
        """Wait until a collection changes; return a :class:`LivePage`.

        `after` is the ``next`` of the previous page. None asks for the present position, at once
        and without changes. After some minutes without a change, return an empty page. Without this
        method, live data is unsupported.
        """
        raise NotImplementedError

    @abstractmethod
    def write(self, collection: str, writes: Sequence[Write]) -> Any:
        """Carry out writes; return a :class:`Result` for each, in their order."""
