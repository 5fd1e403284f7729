"""Several writers of the same records, at random: contexts, processes, live data and pulls.

A model predicts what each step comes to. `KVSTORE_CONTEXT_WORLDS` says how many worlds there are
for each policy, `KVSTORE_CONTEXT_STEPS` how many steps a world has, `KVSTORE_CONTEXT_SEED` repeats
one.
"""

from __future__ import annotations

import os
import random
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast, get_args

import pytest
from conftest import open_client
from context_hand import Decisions, Far, Near, plain
from context_model import Members, Stored, Working, members_of, merged
from kvstored import Server

import kvstore
from kvstore.context import MergePolicy

STEPS = int(os.environ.get("KVSTORE_CONTEXT_STEPS", "150"))
WORLDS = int(os.environ.get("KVSTORE_CONTEXT_WORLDS", "1"))
#: How conflicts end. With "handler" a function decides what no policy does.
POLICIES = [*get_args(MergePolicy), "handler"]
IDS = [f"n{number}" for number in range(6)]


class World:
    """A device with two contexts here and one in another process, and another device."""

    def __init__(
        self, server: Server, directory: Path, unique: str, how: str, chance: random.Random
    ) -> None:
        self.chance = chance
        self.is_live = chance.random() < 0.5
        self.decides = how == "handler"
        policy = cast(MergePolicy, "error" if self.decides else how)
        self.stored = Stored()
        self._ends = ExitStack()
        open = self._ends.enter_context
        device = open(open_client(server.host, directory / "device"))
        device.signup(unique, "a password")
        other = open(open_client(server.host, directory / "other"))
        other.login(unique, "a password")
        self.notes = open(device.collection(unique))
        self.elsewhere = open(other.collection(unique, "network"))
        self._probe = open(device.context())
        near = [Near(device, unique, policy) for _ in range(2)]
        for hand in near:
            self._ends.callback(hand.close)
        far = cast(Near, open(Far(server.host, directory / "device", unique, policy)))
        self.hands: list[tuple[Near, Working]] = [
            (hand, Working(policy, self.stored)) for hand in (*near, far)
        ]
        self._arrived = threading.Condition()
        #: The last mark that the other device has made, and that has arrived.
        self._marks = 0
        self._seen = 0
        if self.is_live:
            self._listen(device)

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.close()

    def _listen(self, device: kvstore.Client) -> None:
        ready = threading.Event()

        def arrived(event: kvstore.LiveEvent) -> None:
            if event.id == "mark" and event.entity is not None:
                with self._arrived:
                    self._seen = event.entity["n"]
                    self._arrived.notify_all()

        device.register_live()
        subscription = self.notes.subscribe(
            arrived, on_ready=lambda _: ready.set(), live_to_local=True
        )
        self._ends.callback(subscription.close)
        assert ready.wait(60)

    def arrive(self) -> None:
        """Wait until the device has been told everything that the other one has done."""
        self._marks += 1
        self.elsewhere.save({"_id": "mark", "n": self._marks})
        with self._arrived:
            assert self._arrived.wait_for(lambda: self._seen == self._marks, 60)

    # Steps

    def step(self) -> None:
        """Let somebody do something."""
        hand, working = self.chance.choice(self.hands)
        id = self.chance.choice(IDS)
        what = self.chance.choices(
            [
                *(self._change, self._delete, self._insert, self._save, self._refresh),
                *(self._write, self._remove, self._write_elsewhere, self._remove_elsewhere),
                *(self._push, self._pull),
            ],
            [30, 8, 12, 20, 6, 8, 4, 10, 3, 5, 4],
        )[0]
        print(what.__name__[1:], self.hands.index((hand, working)), id, end=" ")
        what(hand, working, id)
        print(self.stored.objects.get(id), working.changes.get(id))
        self.check(id, same=not self.is_live and what not in (self._push, self._pull))

    def members(self) -> Members:
        """Give a member a value."""
        return {self.chance.choice("ab"): self.chance.randrange(3)}

    def _change(self, hand: Near, working: Working, id: str) -> None:
        now, members = working.read(id), self.members()
        assert hand.update(id, members) == ("NotFoundError" if now is None else "ok")
        if now is not None:
            working.put(id, {**now, **members})

    def _delete(self, hand: Near, working: Working, id: str) -> None:
        now = working.read(id)
        assert hand.delete(id) == ("NotFoundError" if now is None else "ok")
        if now is not None:
            working.put(id, None)

    def _insert(self, hand: Near, working: Working, id: str) -> None:
        now, members = working.read(id), {"_id": id, **self.members()}
        assert hand.values(id) == now
        assert hand.insert(members) == ("ok" if now is None else "ConflictError")
        if now is None:
            working.put(id, members)

    def _refresh(self, hand: Near, working: Working, id: str) -> None:
        assert hand.refresh() == "ok"
        working.refresh()

    def _save(self, hand: Near, working: Working, id: str) -> None:
        expected = working.conflicts()
        decisions = self.decisions(working, expected) if self.decides else None
        outcome, reports = hand.save(decisions)
        for id, *report in reports:
            assert id in expected, (id, report)
            assert report == self.report(working, id)
        reported = [report[0] for report in reports]
        if decisions is None:
            assert sorted(reported) == sorted(expected)
        for id in reported:
            if decisions and id in decisions:
                working.resolve(id, decisions[id])
        if working.conflicts():
            assert outcome == "ConflictError"
        else:
            assert outcome == "ok"
            working.save()

    def report(self, working: Working, id: str) -> list[Any]:
        """Predict the report of a conflict."""
        read, mine = working.changes[id]
        now = self.stored.objects.get(id)
        versions = [state and state.version for state in (read, now)]
        return [*versions, members_of(read), mine, members_of(now)]

    def decisions(self, working: Working, ids: list[str]) -> Decisions:
        """Choose how conflicts end; some do not."""
        decisions: Decisions = {}
        for id in ids:
            read, mine = working.changes[id]
            now = self.stored.objects.get(id)
            both = merged(
                members_of(read) or {}, mine or {}, members_of(now) or {}, mine_wins=False
            )
            chosen = self.chance.choice(["stored", "object", {**both, "_id": id, "c": 9}, None])
            if chosen is not None:
                decisions[id] = cast(Any, chosen)
        return decisions

    def _write(self, hand: Near, working: Working, id: str) -> None:
        members = {"_id": id, **self.members(), "c": self.chance.randrange(2)}
        assert hand.store_save(members) == "ok"
        self.stored.write(id, members)

    def _remove(self, hand: Near, working: Working, id: str) -> None:
        hand.store_remove(id)
        self.stored.write(id, None)

    def _write_elsewhere(self, hand: Near, working: Working, id: str) -> None:
        members = {"_id": id, **self.members(), "c": self.chance.randrange(2, 4)}
        self.elsewhere.save(members)
        self.stored.backend[id] = members
        self._tell(id)

    def _remove_elsewhere(self, hand: Near, working: Working, id: str) -> None:
        if self.stored.backend.pop(id, None) is not None:
            self.elsewhere.remove_by_id(id)
            self._tell(id)

    def _tell(self, id: str) -> None:
        if self.is_live:
            self.arrive()
            self.stored.arrive_live(id)

    def _push(self, hand: Near, working: Working, id: str) -> None:
        assert hand.push() == "ok"
        self.stored.push()

    def _pull(self, hand: Near, working: Working, id: str) -> None:
        assert hand.pull() == ("PendingError" if self.stored.pending else "ok")
        if not self.stored.pending:
            self.stored.pull()

    # Checks

    def check(self, id: str, *, same: bool) -> None:
        """Compare what is stored, and what each context shows of an object."""
        self._probe.refresh()
        shown: dict[str, Members | None] = {}
        versions: dict[str, int] = {}
        with self._probe.fetch(self.notes.name) as found:
            for one in found:
                if one.id != "mark":
                    shown[one.id] = plain(one.values())
                    versions[one.id] = cast(int, one.version)
        assert shown == {id: state.members for id, state in self.stored.objects.items()}
        self.stored.note(versions, same=same)
        for hand, working in self.hands:
            assert hand.values(id) == working.read(id), id

    def end(self) -> None:
        """Send and fetch everything: the device and the backend have the same."""
        hand, working = self.hands[0]
        self._push(hand, working, IDS[0])
        self._pull(hand, working, IDS[0])
        self.check(IDS[0], same=False)
        there = {one["_id"]: plain(one) for one in self.elsewhere.find() if one["_id"] != "mark"}
        assert there == self.stored.backend


@pytest.mark.parametrize("how", POLICIES)
def test_every_outcome_is_predicted(server: Server, tmp_path: Path, unique: str, how: str) -> None:
    for number in range(WORLDS):
        seed = int(os.environ.get("KVSTORE_CONTEXT_SEED", random.randrange(1 << 32)))
        print(f"KVSTORE_CONTEXT_SEED={seed}")
        chance = random.Random(seed)
        with World(server, tmp_path / str(number), f"{unique}-{number}", how, chance) as world:
            for _ in range(STEPS):
                world.step()
            world.end()
