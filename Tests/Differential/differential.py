"""Asks random filters, orders, pages, fields, groups and distinct values of random entities, and
compares, one by one and in order, what is answered by

* the local store (SQL), without an index and with some,
* kvstored, asked by a network store,
* a network store that has to decide everything itself, in memory,
* the same filter written as a predicate format and read again,
* the manual's rules in plain Python (reference.py),
* mongomock, about what is selected, before order and page, and about groups, wherever it follows
  the manual (second_opinion.py). It does so for one random filter in six, so every third case gets
  such a filter. How many cases it had an opinion about is printed; too few are a failure.

    Tests/Differential/differential.py [cases]        KV_TEST_SEED=… repeats a run

A disagreement is made as small as it goes and printed; put it into cases.jsonl, which is run first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from harness import Entity, main, shown  # isort: skip: makes the packages below be found

import kvstore
import mongomock
import reference
import second_opinion
from generate import Generator
from summaries import Summary

HERE = Path(__file__).resolve().parent
#: Filters for each collection of entities, and entities in it.
FILTERS, ENTITIES = 100, 30
#: The least part of many cases that mongomock has to have an opinion about.
OPINIONS = 0.3

#: Select nothing and everything, which no backend can tell: they have to be computed.
NEVER: Entity = {"$predicate": "never != never"}
ALWAYS: Entity = {"$predicate": "always = always"}


class Case:
    """One question: entities, a filter, and modifiers or a summary."""

    def __init__(
        self,
        entities: list[Entity],
        filter: Entity,
        modifiers: Entity,
        summary: Summary | None = None,
    ) -> None:
        self.entities, self.filter, self.modifiers = entities, filter, modifiers
        self.summary = summary

    @classmethod
    def parse(cls, line: str) -> Case:
        """Read a stored case."""
        case = json.loads(line)
        summary = Summary(case["summary"]) if "summary" in case else None
        return cls(case["entities"], case["filter"], case["modifiers"], summary)

    def __str__(self) -> str:
        case = {"filter": self.filter, "modifiers": self.modifiers, "entities": self.entities}
        if self.summary:
            case["summary"] = self.summary.spec
        return json.dumps(case, ensure_ascii=False)

    @property
    def center(self) -> Any:
        """Give the place that the entities are to be near to, if there is one."""
        tests = self.filter.get("p")
        return tests.get("$nearSphere") if isinstance(tests, dict) else None

    @property
    def undecided(self) -> Entity:
        """Give a filter for the same entities of which a backend can tell as little as possible."""
        return {"$and": [self.filter, ALWAYS]} if self.center else {"$or": [self.filter, NEVER]}

    def selected(self) -> list[Entity]:
        """Return what the filter selects by the manual's rules, in the order of storage."""
        return [one for one in self.entities if reference.matches(self.filter, one)]

    def expected(self) -> list[Entity]:
        """Give what the manual's rules give."""
        found = self.selected()
        if sort := self.modifiers.get("sort"):
            found = reference.arranged(found, sort)
        elif self.center:
            found = reference.nearest_first(found, "p", self.center)
        found = found[self.modifiers.get("skip", 0) :]
        found = found[: self.modifiers.get("limit", len(found))]
        if fields := self.modifiers.get("fields"):
            found = [reference.projected(one, fields) for one in found]
        return found

    def mocked(self) -> list[Any] | None:
        """Return what mongomock selects, or how it sums that up, where it follows the manual."""
        if not second_opinion.is_sound(self.filter):
            return None
        shelf = mongomock.MongoClient().db.shelf
        shelf.insert_many([dict(one) for one in self.entities])
        return (
            self.summary.mocked(shelf, self.filter)
            if self.summary
            else list(shelf.find(self.filter))
        )


class Stores:
    """The stores that are compared, with the same entities in them."""

    def __init__(self, local: kvstore.Client, online: kvstore.Client) -> None:
        self._local, self._online = local, online
        self._count = 0
        self.indexes: list[Entity] = []
        #: How many cases were asked about, and how many of them mongomock had an opinion about.
        self.asked, self.opinions = 0, 0

    def disagreement(self, case: Case) -> str | None:
        """Say who gives another answer than the manual; None if nobody does."""
        self.load(case.entities)
        return self.ask(case)

    def load(self, entities: list[Entity], indexes: list[Entity] | None = None) -> None:
        """Fill a new collection everywhere; the indexes are those of before if none are given."""
        self.indexes = self.indexes if indexes is None else indexes
        self._count += 1
        name = f"c{self._count}"
        self.sql = self._local.collection(name)
        self.served = self._online.collection(name, "network")
        self.indexed = self._local.collection(f"i{self._count}")
        self.sql.save_many(entities)
        # Half of the entries are made with the index, half by saving.
        half = len(entities) // 2
        self.indexed.save_many(entities[:half])
        for keys in self.indexes:
            self.indexed.create_index(keys)
        self.indexed.save_many(entities[half:])
        # One by one: many at once would arrive, and be stored, in any order.
        for entity in entities:
            self.served.save(entity)

    def ask(self, case: Case) -> str | None:
        """Compare the answers to one case about what is loaded."""
        expected = case.expected()
        query = kvstore.Query(case.filter, **case.modifiers)
        text, arguments = query.to_format()
        again = kvstore.Query.from_format(text, *arguments, **case.modifiers)
        undecided = kvstore.Query(case.undecided, **case.modifiers)
        asked = {
            "the local store": (self.sql, query),
            f"the local store with {self.indexes}": (self.indexed, query),
            "kvstored": (self.served, query),
            "memory": (self.served, undecided),
            "the format": (self.sql, again),
        }
        answers: dict[str, list[Any]]
        if summary := case.summary:
            expected = summary.expected(expected)
            answers = {who: summary.asked(*whom) for who, whom in asked.items()}
        else:
            answers = {who: list(store.find(one)) for who, (store, one) in asked.items()}
        for who, found in answers.items():
            if not agree(summary, found, expected):
                return f"{who} gives {found}, the manual {expected}"
        return self.second_opinion(case)

    def second_opinion(self, case: Case) -> str | None:
        """Say what mongomock selects instead; None if it agrees, or cannot be asked."""
        self.asked += 1
        found = case.mocked()
        if found is None:
            return None
        self.opinions += 1
        selected: list[Any] = case.selected()
        if case.summary:
            selected = case.summary.expected(selected)
        if agree(case.summary, found, selected):
            return None
        return f"mongomock selects {found}, the manual {selected}"


def agree(summary: Summary | None, found: list[Any], expected: list[Any]) -> bool:
    """Tell whether two answers are the same."""
    return summary.agree(found, expected) if summary else shown(found) == shown(expected)


def filter_for(number: int, generator: Generator) -> Entity:
    """Return a random filter; every third time one that mongomock follows the manual for."""
    filter = generator.filter()
    for _ in range(20 if number % 3 == 0 else 0):
        if second_opinion.is_sound(filter):
            break
        filter = generator.filter()
    return filter


def shrunk(case: Case, stores: Stores) -> Case:
    """Leave out entities and parts of the filter as long as the answers differ."""
    smaller = True
    while smaller:
        smaller = False
        for other in _smaller(case):
            try:
                differs = stores.disagreement(other) is not None
            except kvstore.KVError:
                continue
            if differs:
                case, smaller = other, True
                break
    return case


def _smaller(case: Case) -> list[Case]:
    entities, filter, modifiers, summary = case.entities, case.filter, case.modifiers, case.summary
    fewer = [
        Case(entities[:at] + entities[at + 1 :], filter, modifiers, summary)
        for at in range(len(entities))
    ]
    simpler = [Case(entities, one, modifiers, summary) for one in _parts(filter)]
    plainer = [
        Case(entities, filter, {k: v for k, v in modifiers.items() if k != name}, summary)
        for name in modifiers
    ]
    plainer += [Case(entities, filter, {}, one) for one in (summary.simpler() if summary else [])]
    return simpler + plainer + fewer


def _parts(filter: Entity) -> list[Entity]:
    parts = [{k: v for k, v in filter.items() if k != name} for name in filter if len(filter) > 1]
    for name, operand in filter.items():
        if name in ("$and", "$or", "$nor"):
            parts += operand
            for at in range(len(operand)):
                if rest := operand[:at] + operand[at + 1 :]:
                    parts.append(filter | {name: rest})
    return parts


def run(stores: Stores, count: int, seed: str) -> int:
    """Run stored cases, then random ones; give how many disagree."""
    failed = 0
    for line in (HERE / "cases.jsonl").read_text().splitlines():
        if said := stores.disagreement(Case.parse(line)):
            print(f"stored case: {said}\n    {line}")
            failed += 1
    for group in range(-(-count // FILTERS)):
        generator = Generator(f"{seed}-{group}")
        entities = generator.entities(ENTITIES)
        stores.load(entities, generator.indexes())
        for number in range(FILTERS):
            filter = filter_for(number, generator)
            case = (
                Case(entities, filter, {}, Summary(generator.summary()))
                if generator.random.random() < 0.25
                else Case(entities, filter, generator.modifiers())
            )
            if stores.ask(case) is None:
                continue
            failed += 1
            small = shrunk(case, stores)
            print(f"KV_TEST_SEED={seed}: {stores.disagreement(small)}\n    {small}")
            stores.load(entities)
            if failed >= 10:
                return failed
    print(f"mongomock had an opinion about {stores.opinions} of {stores.asked} cases")
    if stores.asked >= 1000 and stores.opinions < OPINIONS * stores.asked:
        print(f"that is less than {OPINIONS:.0%}")
        failed += 1
    return failed


if __name__ == "__main__":
    sys.exit(
        main(
            sys.argv[1:],
            20_000,
            lambda local, online, count, seed: run(Stores(local, online), count, seed),
        )
    )
