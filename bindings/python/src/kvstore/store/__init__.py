"""Stores: one collection, seen through one of four types."""

from __future__ import annotations

from ..results import E
from .fetching import Fetching
from .following import Following
from .grouping import Grouping
from .indexing import Indexing
from .sharing import Sharing
from .syncing import Syncing
from .tabular import Tabular
from .writing import Writing


class Store(
    Syncing[E],
    Fetching[E],
    Grouping[E],
    Writing[E],
    Sharing[E],
    Following[E],
    Indexing[E],
    Tabular[E],
):
    """A collection; open it with :meth:`kvstore.Client.collection`. Any thread may use it.

    Entities are dictionaries with an ``_id``, or objects of the model that the store was opened
    with: ``Store[Note]`` returns and accepts ``Note``. A query may be given as a filter, such as
    ``{"population": {"$gte": 50_000}}``; None matches all entities. Every call takes the options of
    :class:`kvstore.CallOptions` as keywords. The ``_async`` forms return at once.
    """
