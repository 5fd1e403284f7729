"""Faults on demand."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, fields
from typing import Any

#: Where a fault strikes, and what it may do there.
ACTIONS = {
    "http": {
        "status",
        "error",
        "errorAfter",
        "partial",
        "dropBefore",
        "dropAfter",
        "emptyPage",
        "corrupt",
        "reverse",
    },
    "connect": {"refuse", "dropBefore"},
    "start": {"refuse", "ignore", "close"},
    "event": {"lose", "duplicate", "reorder", "close"},
}


@dataclass
class Fault:
    """What happens instead of the usual answer, to the next `times` requests that fit."""

    #: `http`, `connect`, `start` or `event`.
    at: str
    #: One of ACTIONS; None only delays.
    action: str | None = None
    #: A field at the root: an operation's name, a subscription's. `*` is any.
    on: str = "*"
    times: int = 1
    #: How many requests that fit pass before it strikes.
    skip: int = 0
    status: int = 500
    retry_after: int | None = None
    #: The errors of `status`, `error`, `partial` and `refuse`.
    errors: list[dict[str, Any]] = field(default_factory=list)
    #: The members that `corrupt` sets in the item at `index`.
    members: dict[str, Any] = field(default_factory=dict)
    index: int = 0
    #: Seconds to wait, or the name of a gate to wait at until a test opens it.
    delay: float = 0
    gate: str | None = None

    @staticmethod
    def read(given: dict[str, Any]) -> Fault:
        """Throws ValueError for a fault that there is not."""
        known = {each.name for each in fields(Fault)}
        names = {
            name: "".join("_" + c.lower() if c.isupper() else c for c in name) for name in given
        }
        unknown = set(names.values()) - known
        if unknown:
            raise ValueError(f"a fault has no {', '.join(sorted(unknown))}")
        fault = Fault(**{names[name]: value for name, value in given.items()})
        if fault.at not in ACTIONS:
            raise ValueError(f"no fault strikes at {fault.at!r}")
        if fault.action is not None and fault.action not in ACTIONS[fault.at]:
            raise ValueError(f"at {fault.at!r} there is no {fault.action!r}")
        return fault

    @property
    def waits(self) -> bool:
        return self.gate is not None or self.delay > 0

    def error_list(self, usual: str) -> list[dict[str, Any]]:
        return self.errors or [{"errorType": usual, "message": "A fault on demand."}]


class Faults:
    """The faults that wait for their requests, and the gates that requests wait at."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []
        self._gates: dict[str, asyncio.Event] = {}

    def add(self, fault: Fault) -> None:
        self._faults.append(fault)

    def clear(self) -> None:
        """Forgets all faults and opens all gates."""
        self._faults.clear()
        for gate in self._gates.values():
            gate.set()
        self._gates.clear()

    def open(self, gate: str) -> None:
        """Lets through who waits at a gate, or will."""
        self._gate(gate).set()

    def take(self, at: str, names: tuple[str, ...] = ()) -> Fault | None:
        """The first fault that fits, used up by one."""
        for fault in self._faults:
            if fault.at != at or fault.on not in ("*", *names):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times <= 0:
                self._faults.remove(fault)
            return fault
        return None

    async def wait(self, fault: Fault | None) -> None:
        """The delay of a fault."""
        if fault is not None and fault.gate is not None:
            await self._gate(fault.gate).wait()
        if fault is not None and fault.delay > 0:
            await asyncio.sleep(fault.delay)

    def _gate(self, name: str) -> asyncio.Event:
        return self._gates.setdefault(name, asyncio.Event())


def spoil(response: dict[str, Any], fault: Fault) -> dict[str, Any]:
    """An answer as a fault changes it."""
    data = response.get("data") or {}
    if fault.action == "partial":
        return {**response, "errors": [*response.get("errors", ()), *fault.error_list("Internal")]}
    for page in (value for value in data.values() if isinstance(value, dict) and "items" in value):
        items = page["items"]
        if fault.action == "reverse":
            items.reverse()
        elif fault.action == "corrupt" and fault.index < len(items):
            items[fault.index] = {**items[fault.index], **fault.members}
    return response
