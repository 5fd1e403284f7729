"""What the program stores: one dataclass for each collection.

Small entities keep conflicts small: a reading is an entity of its own and never changes, so two
technicians who write readings of one inspection at the same time are in no conflict.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

#: The access list of an entity: who may read and write it.
Access = dict[str, Any]
Verdict = Literal["none", "pass", "fail"]


@dataclass
class WorkOrder:
    """What is to be done. Technicians edit its members."""

    id: str
    title: str
    status: str = "open"
    contact: str = ""
    # None is left out by a save, so the access list that is stored stays.
    access: Access | None = field(default=None, metadata={"alias": "_acl"})

    def __str__(self) -> str:
        return f"order {self.id}: {self.title}, status={self.status}, contact={self.contact}"


@dataclass
class Inspection:
    """What a technician thinks of one asset."""

    id: str
    order: str
    asset: str
    verdict: Verdict = "none"
    comments: list[str] = field(default_factory=list)
    access: Access | None = field(default=None, metadata={"alias": "_acl"})

    def __str__(self) -> str:
        comments = "; ".join(sorted(self.comments))
        return f"inspection {self.id}: {self.asset}, verdict={self.verdict}, comments={comments}"


@dataclass
class Reading:
    """What an instrument showed, when, and where: longitude and latitude."""

    inspection: str
    quantity: str
    value: float
    at: datetime
    place: list[float] = field(metadata={"alias": "_geoloc"})
    id: str | None = None
    access: Access | None = field(default=None, metadata={"alias": "_acl"})

    def __str__(self) -> str:
        return f"reading {self.id}: {self.quantity}={self.value:g} of {self.inspection}"


@dataclass
class Part:
    """A spare part on site. Only operators change it, so that what is taken adds up."""

    id: str
    order: str
    left: int
    taken: list[str] = field(default_factory=list)
    access: Access | None = field(default=None, metadata={"alias": "_acl"})

    def __str__(self) -> str:
        return f"part {self.id}: {self.left} left, taken {len(self.taken)} times"
