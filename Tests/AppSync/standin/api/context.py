"""What the resolvers of one operation share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphql import GraphQLResolveInfo

from ..auth.identity import Identity

#: What graphql-core tells a resolver.
Info = GraphQLResolveInfo[Any]


class Published(dict[str, Any]):
    """What a mutation selected of a record, as subscribers get it: nothing is looked up for it."""


@dataclass(frozen=True)
class Event:
    """A write that succeeded: the subscriptions to it, and what they may see."""

    fields: tuple[str, ...]
    payload: Published


@dataclass
class Context:
    """One operation: its caller, and what it publishes once it is executed."""

    identity: Identity
    #: A fault: pages come without items, and with the token of the page itself.
    empty_pages: bool = False
    events: list[Event] = field(default_factory=list)


def context_of(info: Info) -> Context:
    context: Context = info.context
    return context
