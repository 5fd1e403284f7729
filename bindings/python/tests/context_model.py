"""A model of contexts and of the data that they share, which tells what each step comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Members = dict[str, Any]
#: What a deciding function returns: see :data:`kvstore.ConflictDecision`.
Decision = str | Members


@dataclass(eq=False)
class State:
    """An object between two changes: what it has, and the version that the library gave it."""

    members: Members
    version: int | None = None


def members_of(state: State | None) -> Members | None:
    """Return what an object has; None: there is no such object."""
    return None if state is None else state.members


def merged(read: Members, mine: Members, theirs: Members, *, mine_wins: bool) -> Members:
    """Merge two changes of one state, member by member."""
    result: Members = {}
    for name in {**mine, **theirs}:
        before, here, there = read.get(name), mine.get(name), theirs.get(name)
        value = there if here == before else here if there == before or mine_wins else there
        if value is not None:
            result[name] = value
    return result


def is_computed(read: Members | None, mine: Members | None) -> bool:
    """Say whether a change may be an increment, which two contexts may both have made."""
    return (
        read is not None
        and mine is not None
        and any(isinstance(value, int) and value != read.get(name) for name, value in mine.items())
    )


def decided(
    policy: str, read: Members | None, mine: Members | None, theirs: Members | None
) -> tuple[str, Members | None] | None:
    """Return ``("use", …)`` or ``("write", …)``; None: it is a conflict."""
    if mine == theirs and not is_computed(read, mine):
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
    """What is stored on the device and on the backend, whoever writes it."""

    def __init__(self) -> None:
        self.objects: dict[str, State] = {}
        #: The ids of the changes that wait for a push.
        self.pending: set[str] = set()
        self.backend: dict[str, Members] = {}

    def write(self, id: str, members: Members | None) -> State | None:
        """Save or delete an object on the device."""
        if members is None and id not in self.objects:
            return None
        self.pending.add(id)
        return self._put(id, members)

    def push(self) -> None:
        """Send what waits: this device's side wins."""
        for id in self.pending:
            now = self.objects.get(id)
            if now is None:
                self.backend.pop(id, None)
            else:
                self.backend[id] = now.members
        self.pending.clear()

    def pull(self) -> None:
        """Make the device's data the backend's. Nothing waits."""
        for id in {*self.objects, *self.backend}:
            self._arrive(id)

    def arrive_live(self, id: str) -> None:
        """Take over what another device has made of an object, unless a change of it waits."""
        if id not in self.pending:
            self._arrive(id)

    def note(self, versions: Mapping[str, int], *, same: bool) -> None:
        """Learn the versions of all objects. `same`: what was not written has its former one."""
        assert versions.keys() == self.objects.keys()
        for id, version in versions.items():
            state = self.objects[id]
            if state.version is None:
                state.version = version
            elif state.version != version:
                assert not same, id
                self.objects[id] = State(state.members, version)

    def _arrive(self, id: str) -> None:
        if self.backend.get(id) != members_of(self.objects.get(id)):
            self._put(id, self.backend.get(id))

    def _put(self, id: str, members: Members | None) -> State | None:
        if members is None:
            self.objects.pop(id, None)
            return None
        self.objects[id] = State(dict(members))
        return self.objects[id]


@dataclass
class Working:
    """What one context knows."""

    policy: str
    stored: Stored
    seen: dict[str, State | None] = field(default_factory=dict)
    #: The state that a change starts from, and what the object becomes.
    changes: dict[str, tuple[State | None, Members | None]] = field(default_factory=dict)

    def read(self, id: str) -> Members | None:
        """Return the object as the context shows it."""
        if id in self.changes:
            return self.changes[id][1]
        if id not in self.seen:
            state = self.stored.objects.get(id)
            if state is None:
                return None
            self.seen[id] = state
        return members_of(self.seen[id])

    def put(self, id: str, members: Members | None) -> None:
        """Change, delete or insert an object."""
        self.read(id)
        base = self.changes[id][0] if id in self.changes else self.seen.get(id)
        if members == members_of(base):
            self.changes.pop(id, None)
        else:
            self.changes[id] = (base, members)

    def refresh(self) -> None:
        """Forget everything, changes included."""
        self.seen.clear()
        self.changes.clear()

    def conflicts(self) -> list[str]:
        """Return the ids of the objects that the next save is in conflict of."""
        return [id for id in self.changes if self._outcome(id) is None]

    def resolve(self, id: str, decision: Decision) -> None:
        """Decide a conflict of the last save."""
        mine, now = self.changes.pop(id)[1], self.stored.objects.get(id)
        wanted = mine if decision == "object" else decision
        if decision == "stored" or wanted == members_of(now):
            self.seen[id] = now
        else:
            assert not isinstance(wanted, str)
            self.changes[id] = (now, wanted)

    def save(self) -> None:
        """Save, without conflicts."""
        outcomes = {id: self._outcome(id) for id in self.changes}
        for id, outcome in outcomes.items():
            assert outcome is not None
            what, members = outcome
            now = self.stored.objects.get(id)
            self.seen[id] = now if what == "use" else self.stored.write(id, members)
        self.changes.clear()

    def _outcome(self, id: str) -> tuple[str, Members | None] | None:
        base, mine = self.changes[id]
        now = self.stored.objects.get(id)
        if now is base:
            return ("write", mine)
        return decided(self.policy, members_of(base), mine, members_of(now))
