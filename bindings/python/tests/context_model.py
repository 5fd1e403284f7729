"""A model of contexts that tells what each step of a test comes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

Members = dict[str, Any]
#: A version and what the object has; None: there is no such object.
State = tuple[int, Members] | None


def merged(read: Members, mine: Members, theirs: Members, *, mine_wins: bool) -> Members:
    """Merge two changes of one state, member by member."""
    result: Members = {}
    for name in {**mine, **theirs}:
        before, here, there = read.get(name), mine.get(name), theirs.get(name)
        value = there if here == before else here if there == before or mine_wins else there
        if value is not None:
            result[name] = value
    return result


def decided(
    policy: str, read: Members | None, mine: Members | None, theirs: Members | None
) -> tuple[str, Members | None] | None:
    """Return ``("use", …)`` or ``("write", …)``; None: it is a conflict."""
    if mine == theirs:
        return ("use", theirs)
    if read is not None and theirs == read:
        return ("write", mine)
    if policy == "error":
        return None
    if policy == "rollback":
        return ("use", theirs)
    if policy == "overwrite":
        return ("write", mine)
    wins = policy == "objectTrumps"
    if mine is None or theirs is None:
        return ("write", mine) if wins else ("use", theirs)
    both = merged(read or {}, mine, theirs, mine_wins=wins)
    return ("use", theirs) if both == theirs else ("write", both)


class Stored:
    """What is stored, whoever writes it."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[int, Members]] = {}
        self._versions = count(1)

    def write(self, id: str, members: Members | None) -> State:
        """Save or delete an object."""
        if members is None:
            self.objects.pop(id, None)
            return None
        self.objects[id] = (next(self._versions), dict(members))
        return self.objects[id]


@dataclass
class Working:
    """What one context knows."""

    policy: str
    stored: Stored
    seen: dict[str, State] = field(default_factory=dict)
    #: The state that a change starts from, and what the object becomes.
    changes: dict[str, tuple[State, Members | None]] = field(default_factory=dict)

    def read(self, id: str) -> Members | None:
        """Return the object as the context shows it."""
        if id in self.changes:
            return self.changes[id][1]
        if id not in self.seen:
            state = self.stored.objects.get(id)
            if state is None:
                return None
            self.seen[id] = state
        state = self.seen[id]
        return state and state[1]

    def put(self, id: str, members: Members | None) -> None:
        """Change, delete or insert an object."""
        self.read(id)
        base = self.changes[id][0] if id in self.changes else self.seen.get(id)
        if members == (base and base[1]):
            self.changes.pop(id, None)
        else:
            self.changes[id] = (base, members)

    def refresh(self) -> None:
        """Forget everything, changes included."""
        self.seen.clear()
        self.changes.clear()

    def save(self) -> bool:
        """Save; False: there is a conflict, and nothing happens."""
        outcomes: dict[str, tuple[str, Members | None]] = {}
        for id, (base, mine) in self.changes.items():
            now = self.stored.objects.get(id)
            if (now and now[0]) == (base and base[0]):
                outcomes[id] = ("write", mine)
                continue
            outcome = decided(self.policy, base and base[1], mine, now and now[1])
            if outcome is None:
                return False
            outcomes[id] = outcome
        for id, (what, members) in outcomes.items():
            now = self.stored.objects.get(id)
            self.seen[id] = now if what == "use" else self.stored.write(id, members)
        self.changes.clear()
        return True
