"""The class that a backend of a program's own inherits from."""

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
    """What clients synchronise with.

    The methods run on threads of the library, ``requests_at_once`` of them at the same time; each
    may take as long as it likes. One may also give a :class:`concurrent.futures.Future` of what it
    would give, or be an ``async def`` if the backend is registered with a loop: those are cancelled
    when nobody waits for them any more. A method that does the work itself can look at
    :func:`is_cancelled`.

    What a method raises is how the request fails. ``ConnectionError`` and ``TimeoutError`` are "no
    answer", ``PermissionError`` is "forbidden", a :class:`kvstore.KVError` is itself. Everything
    else is taken for a defect of the backend: ``sys.unraisablehook`` gets it, and the client is
    told ``KV_SERVER``. No write is lost by any of them.
    """

    #: The member that records are known by, a text unless it is an :class:`Integer`; several of
    #: them if only together they tell one record from another.
    id: str | Integer | Sequence[str | Integer] = "_id"
    #: The member, or its path, that is another one after each change of a record: a text of which
    #: nothing is known, an :class:`Integer` that grows, or an :class:`Ordered` text. None: there is
    #: none, and what others have changed in the meantime is overwritten.
    version: str | Sequence[str] | Integer | Ordered | None = None
    #: Members that are the backend's, and no content.
    backend_members: Sequence[str] = ()
    #: The member that says who may do what, and the one in it that names who made the record.
    permissions: str | None = None
    creator: str | None = None
    #: Whether ``fetch`` evaluates filter, order, skip and limit; else the library does.
    queries: bool = False
    #: Whether ``write`` keeps conditions; else the library looks first.
    conditions: bool = True
    page_size: int = 1000
    ids_per_request: int = 100
    writes_per_request: int = 100
    requests_at_once: int = 4
    max_answer_bytes: int = 100 << 20

    @abstractmethod
    def fetch(self, request: Fetch) -> Any:
        """Give a :class:`Page` of a collection."""

    @abstractmethod
    def fetch_ids(self, collection: str, ids: Sequence[Any]) -> Any:
        """Give the records of these ids that there are, in any order."""

    def changes(self, collection: str, since: str) -> Any:
        """Give a :class:`ChangedPage`, or None if the token is too old or of other data.

        Without this method everything is read each time.
        """
        raise NotImplementedError

    def live(self, collections: Sequence[str], after: Any) -> Any:
        """Wait until something happens to a collection; give a :class:`LivePage`.

        `after` is what the last one gave as ``next``; None asks for the present place, at once and
        without changes. After some minutes without a change give an empty page. Without this method
        live data is unsupported.
        """
        raise NotImplementedError

    @abstractmethod
    def write(self, collection: str, writes: Sequence[Write]) -> Any:
        """Carry out writes; give a :class:`Result` for each, in their order."""
