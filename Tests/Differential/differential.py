"""Holds random filters, orders, pages and fields against random entities, and compares, entity by
entity and in order, what is found by

* the local store (SQL),
* kvstored, asked by a network store,
* a network store that has to decide everything itself, in memory,
* the same filter written as a predicate format and read again,
* the manual's rules in plain Python (reference.py),
* mongomock, wherever it follows the manual (second_opinion.py).

    Tests/Differential/differential.py [cases]        KV_TEST_SEED=… repeats a run

A disagreement is made as small as it goes and printed; put it into cases.jsonl, which is run first.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "bindings" / "python" / "src"), str(ROOT / "scripts")]

import kvstore  # noqa: E402
import mongomock  # noqa: E402
import reference  # noqa: E402
import second_opinion  # noqa: E402
from generate import Generator  # noqa: E402
from kvstored import Server  # noqa: E402

Entity = dict[str, Any]
#: Filters for each collection of entities, and entities in it.
FILTERS, ENTITIES = 100, 30

#: Select nothing and everything, which no backend can tell: they have to be computed.
NEVER: Entity = {"$predicate": "never != never"}
ALWAYS: Entity = {"$predicate": "always = always"}


def shown(entities: Iterable[Entity]) -> list[str]:
    """Print entities so that 1, 1.0 and true differ, without what the server adds."""
    return [
        json.dumps({k: v for k, v in one.items() if k not in ("_acl", "_kmd")}, ensure_ascii=False)
        for one in entities
    ]


class Case:
    """One question: entities, a filter, modifiers."""

    def __init__(self, entities: list[Entity], filter: Entity, modifiers: Entity) -> None:
        self.entities, self.filter, self.modifiers = entities, filter, modifiers

    @classmethod
    def parse(cls, line: str) -> Case:
        """Read a stored case."""
        told = json.loads(line)
        return cls(told["entities"], told["filter"], told["modifiers"])

    def __str__(self) -> str:
        told = {"filter": self.filter, "modifiers": self.modifiers, "entities": self.entities}
        return json.dumps(told, ensure_ascii=False)

    @property
    def center(self) -> Any:
        """Give the place that the entities are to be near to, if there is one."""
        tests = self.filter.get("p")
        return tests.get("$nearSphere") if isinstance(tests, dict) else None

    @property
    def undecided(self) -> Entity:
        """Give a filter for the same entities of which a backend can tell as little as possible."""
        return {"$and": [self.filter, ALWAYS]} if self.center else {"$or": [self.filter, NEVER]}

    def expected(self) -> list[Entity]:
        """Give what the manual's rules give."""
        found = [one for one in self.entities if reference.matches(self.filter, one)]
        if sort := self.modifiers.get("sort"):
            found = reference.arranged(found, sort)
        elif self.center:
            found = reference.nearest_first(found, "p", self.center)
        found = found[self.modifiers.get("skip", 0) :]
        found = found[: self.modifiers.get("limit", len(found))]
        if fields := self.modifiers.get("fields"):
            found = [reference.projected(one, fields) for one in found]
        return found

    def mocked(self) -> list[Entity]:
        """Give what mongomock finds, without order and page."""
        shelf = mongomock.MongoClient().db.shelf
        shelf.insert_many([dict(one) for one in self.entities])
        return list(shelf.find(self.filter))


class Stores:
    """The stores that are compared, with the same entities in them."""

    def __init__(self, local: kvstore.Client, online: kvstore.Client) -> None:
        self._local, self._online = local, online
        self._count = 0

    def disagreement(self, case: Case) -> str | None:
        """Say who gives another answer than the manual; None if nobody does."""
        self.load(case.entities)
        return self.ask(case)

    def load(self, entities: list[Entity]) -> None:
        """Fill a new collection everywhere."""
        self._count += 1
        name = f"c{self._count}"
        self.sql = self._local.collection(name)
        self.served = self._online.collection(name, "network")
        self.sql.save_many(entities)
        # One by one: many at once would arrive, and be stored, in any order.
        for entity in entities:
            self.served.save(entity)

    def ask(self, case: Case) -> str | None:
        """Compare the answers to one case about what is loaded."""
        expected = shown(case.expected())
        query = kvstore.Query(case.filter, **case.modifiers)
        text, arguments = query.to_format()
        again = kvstore.Query.from_format(text, *arguments, **case.modifiers)
        undecided = kvstore.Query(case.undecided, **case.modifiers)
        answers: dict[str, Iterable[Entity]] = {
            "the local store": self.sql.find(query),
            "kvstored": self.served.find(query),
            "memory": self.served.find(undecided),
            "the format": self.sql.find(again),
        }
        if second_opinion.is_sound(case.filter) and not case.modifiers:
            answers["mongomock"] = case.mocked()
        for who, answer in answers.items():
            if (found := shown(answer)) != expected:
                return f"{who} gives {found}, the manual {expected}"
        return None


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
    fewer = [
        Case(case.entities[:at] + case.entities[at + 1 :], case.filter, case.modifiers)
        for at in range(len(case.entities))
    ]
    simpler = [Case(case.entities, one, case.modifiers) for one in _parts(case.filter)]
    plainer = [
        Case(case.entities, case.filter, {k: v for k, v in case.modifiers.items() if k != name})
        for name in case.modifiers
    ]
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
        stores.load(entities)
        for _ in range(FILTERS):
            case = Case(entities, generator.filter(), generator.modifiers())
            if stores.ask(case) is None:
                continue
            failed += 1
            small = shrunk(case, stores)
            print(f"KV_TEST_SEED={seed}: {stores.disagreement(small)}\n    {small}")
            stores.load(entities)
            if failed >= 10:
                return failed
    return failed


def main(arguments: list[str]) -> int:
    """Give 0 if all agree."""
    count = int(arguments[0]) if arguments else 20_000
    seed = os.environ.get("KV_TEST_SEED") or str(random.randrange(10**9))
    print(f"KV_TEST_SEED={seed}", flush=True)
    secret = "app:secret"
    with (
        tempfile.TemporaryDirectory() as directory,
        Server(Path(directory) / "server", secret) as server,
        kvstore.Client(app_key="app", host=None, data_directory=f"{directory}/local") as local,
        kvstore.Client(
            app_key="app",
            app_secret="secret",
            host=server.host,
            data_directory=f"{directory}/online",
        ) as online,
    ):
        online.signup("differ", "a password")
        failed = run(Stores(local, online), count, seed)
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
