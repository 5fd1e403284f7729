"""Updates random entities by random updates, and compares what comes of them:

* in the local store,
* in kvstored, through a network store,
* by MongoDB's manual in plain Python (updating.py),
* in mongomock, wherever it follows the manual; how often that is, is printed.

    Tests/Differential/updates.py [cases]        KV_TEST_SEED=… repeats a run
"""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

from harness import Entity, main, shown  # isort: skip: makes the packages below be found

import kvstore
import mongomock
import reference
import second_opinion
import updating
from generate import Generator

#: Updates for each set of entities, and entities in it.
UPDATES, ENTITIES = 50, 20


AMOUNTS = [0, 1, -1, 2, 3, 0.5, -1.5, 2**62, -(2**63), 1e308]


class UpdateGenerator(Generator):
    """Random updates: all operators, paths that fit and paths that do not."""

    PATHS = (
        *("a", "b", "n", "n.x", "n.y", "n.new.deep", "l", "l.0", "l.1", "l.5", "o", "o.0.x"),
        *("o.0.y", "o.1", "m", "m.0.1", "k", "s", "new", "new.a", "z.1"),
    )

    def update(self) -> Entity:
        """Give an update with one to three operators."""
        update: Entity = {}
        for _ in range(self.random.randrange(1, 4)):
            name = self.random.choice(list(updating.OPERATORS))
            update.setdefault(name, {})[self.random.choice(self.PATHS)] = self._operand(name)
        return update

    def _operand(self, name: str) -> Any:
        pick = self.random
        element = {pick.choice("xy"): pick.choice([self.scalar(), self._comparison()])}
        operands: dict[str, list[Any]] = {
            "$inc": AMOUNTS,
            "$mul": AMOUNTS,
            "$unset": [""],
            "$pop": [1, -1],
            "$rename": ["a", "renamed", "n.renamed", "renamed.x", "l.0", "s"],
            "$pull": [self.value(1), self._comparison(), element, {"$in": [1, "a"]}],
            "$addToSet": [self.value(1), {"$each": self._values()}],
            "$push": [self.value(1), self._push()],
        }
        return pick.choice(operands.get(name, [self.value(2)]))

    def _values(self) -> list[Any]:
        return [self.value(1) for _ in range(self.random.randrange(4))]

    def _push(self) -> Entity:
        pick = self.random
        push: Entity = {"$each": self._values()}
        if pick.random() < 0.5:
            push["$position"] = pick.randrange(-4, 5)
        if pick.random() < 0.5:
            push["$slice"] = pick.randrange(-4, 5)
        if pick.random() < 0.5:
            push["$sort"] = pick.choice([1, -1, {"x": 1}, {"x": -1, "y": 1}])
        return push


class Case:
    """One entity and one update."""

    def __init__(self, entity: Entity, update: Entity) -> None:
        self.entity, self.update = entity, update

    def __str__(self) -> str:
        return f"{self.update} of {self.entity}"

    def expected(self) -> Entity | None:
        """Give the entity by the manual; None if the update is refused."""
        try:
            return updating.updated(self.update, self.entity)
        except updating.RefusedError:
            return None

    def mocked(self) -> Entity | None:
        """Give mongomock's entity; None where it does not follow the manual.

        It knows no indexes of arrays, no $mul and no deep $rename, compares only numbers with
        numbers and texts with texts, adds what an $each has twice, takes true for 1 where it looks
        for elements, and looks into arrays inside the array when it pulls by a condition.
        """
        paths = [path for each in self.update.values() for path in each]
        compared = [*self.update.get("$min", {}).items(), *self.update.get("$max", {}).items()]
        if (
            any(part.isdigit() for path in paths for part in path.split("."))
            or not {"$mul", "$rename"}.isdisjoint(self.update)
            or any("$each" in str(operand) for operand in self.update.get("$addToSet", {}).values())
            or any(isinstance(operand, dict) for operand in self.update.get("$pull", {}).values())
            or any(
                second_opinion.has(operand, second_opinion.is_like_bool)
                for name in ("$addToSet", "$pull")
                for operand in self.update.get(name, {}).values()
            )
            or not all(_compares(updating.value_at(self.entity, path), to) for path, to in compared)
            or any("$sort" in str(operand) for operand in self.update.get("$push", {}).values())
        ):
            return None
        shelf = mongomock.MongoClient().db.shelf
        shelf.insert_one(dict(self.entity))
        try:
            shelf.update_one({"_id": self.entity["_id"]}, self.update)
        except (
            Exception
        ):  # What it refuses, such as a $pop of what is not there, the manual may allow.
            return None
        found: Entity = shelf.find_one({"_id": self.entity["_id"]})
        return found


def _compares(stored: Any, operand: Any) -> bool:
    """Tell whether mongomock can say which value is smaller."""
    if stored is reference.MISSING:
        return True
    return reference.rank(stored) == reference.rank(operand) and reference.rank(stored) in (1, 2)


def answer(store: kvstore.Store, case: Case) -> Entity | None:
    """Give what a store makes of a case; None if it refuses the update."""
    store.save(case.entity)
    try:
        store.update({"_id": case.entity["_id"]}, case.update)
    except kvstore.InvalidError:
        return None
    return store.find_by_id(case.entity["_id"])


def disagreement(case: Case, stores: dict[str, kvstore.Store], counts: Counter[str]) -> str | None:
    """Say who gives another answer than the manual; None if nobody does."""
    expected = case.expected()
    counts["refused"] += expected is None
    for who, store in stores.items():
        if _shown(found := answer(store, case)) != _shown(expected):
            return f"{who} gives {found}, the manual {expected}"
    if expected is not None and (mocked := case.mocked()) is not None:
        counts["asked of mongomock"] += 1
        if _shown(_by_name(mocked)) != _shown(_by_name(expected)):
            return f"mongomock gives {mocked}, the manual {expected}"
    return None


def _shown(entity: Entity | None) -> list[str]:
    return shown([] if entity is None else [entity])


def _by_name(value: Any) -> Any:
    """Order members by their names: mongomock does not make new ones in the manual's order."""
    if isinstance(value, dict):
        return {name: _by_name(value[name]) for name in sorted(value)}
    return [_by_name(one) for one in value] if isinstance(value, list) else value


def run(local: kvstore.Client, online: kvstore.Client, count: int, seed: str) -> int:
    """Run random cases; give how many disagree. One in ten goes to the server as well."""
    stores = {
        "the local store": local.collection("updates"),
        "kvstored": online.collection("updates", "network"),
    }
    failed, counts = 0, Counter[str]()
    for group in range(-(-count // UPDATES)):
        generator = UpdateGenerator(f"{seed}-{group}")
        entities = generator.entities(ENTITIES)
        for number in range(UPDATES):
            case = Case(generator.random.choice(entities), generator.update())
            asked = stores if number % 10 == 0 else {"the local store": stores["the local store"]}
            if said := disagreement(case, asked, counts):
                failed += 1
                print(f"KV_TEST_SEED={seed}: {said}\n    {case}")
                if failed >= 10:
                    return failed
    print(f"of {count}: {dict(counts)}")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], 10_000, run))
