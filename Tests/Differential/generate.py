"""Random entities and filters: all operators, nesting, arrays of objects, nulls, missing members,
mixed types, Unicode, dates."""

from __future__ import annotations

import random
from typing import Any

TEXTS = ["", "a", "A", "ab", "é", "e\u0301", "Zürich", "😀", "\ufffd", "1", "a\nb", "x.y*z"]
DATES = ["2024-03-12T21:00:00.000Z", "2024-03-12T21:00:00.001Z", "1999-12-31T23:59:59.999Z"]
NUMBERS = [0, 1, 2, 3, 7, -1, -5, 1.5, 2.0, 1e10, 2**53 + 1, -0.5, 0.1, -0.3, 1e-9]
#: What adds up to more than any double, or to nothing, or to more than 64 bits hold.
LARGE = [1e308, -1e308, 1.7976931348623157e308, 5e-324, 2**63 - 1, -(2**63), 1e16]
PATHS = [
    *("a", "b", "c", "d", "n", "n.x", "n.y", "n.z.w", "l", "l.0", "l.1", "o", "o.x", "o.y"),
    *("o.0.x", "o.1", "o.x.0", "m", "m.0", "m.0.1", "missing", "missing.x"),
]
#: What indexes are made of.
INDEXED = ["a", "b", "c", "d", "s", "k", "n", "n.x", "n.z.w", "l", "l.0", "o.x", "o.y", "m", "_id"]
#: Whole degrees, which no border is, and no place by two names, as the poles and 180 degrees have:
#: no answer depends on the last bit of a sine.
LONGITUDES = [-179, -122, -71, -1, 0, 3, 13, 100, 170, 179, 180, 181]
LATITUDES = [-89, -33, -1, 0, 2, 42, 52, 60, 89, 91]
PATTERNS = ["a", "^a", "b$", "^.$", "[A-Z]", "ü", r"\d", "a|é", "^$", r"x\.y", "(a)b", "a.b"]
TYPES = ["number", "string", "object", "array", "bool", "null", "int", "long", "double", 2, 16]


class Generator:
    """Everything from one seed."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)

    def entities(self, count: int) -> list[dict[str, Any]]:
        """Give entities with ids in an order that is not theirs in storage."""
        ids = [f"k{number:03}" for number in range(count)]
        self.random.shuffle(ids)
        return [{"_id": name, **self._members()} for name in ids]

    def _members(self) -> dict[str, Any]:
        pick = self.random
        members: dict[str, Any] = {"s": pick.choice(TEXTS), "k": pick.choice(NUMBERS)}
        for name in "abc":
            if pick.random() < 0.85:
                members[name] = self.value(1)
        if pick.random() < 0.7:
            members["d"] = pick.choice(DATES)
        if pick.random() < 0.8:
            members["n"] = self._object(2)
        if pick.random() < 0.8:
            members["l"] = [self.scalar() for _ in range(pick.randrange(4))]
        if pick.random() < 0.8:
            members["o"] = [self._object(1) for _ in range(pick.randrange(4))]
        if pick.random() < 0.5:
            members["m"] = [self.value(1) for _ in range(pick.randrange(3))]
        if pick.random() < 0.8:
            members["p"] = self._where()
        return members

    def _where(self) -> Any:
        """Give a place, several, or what is none."""
        pick = self.random
        if pick.random() < 0.1:
            return self.value(1)
        point = [pick.choice(LONGITUDES), pick.choice(LATITUDES)]
        if pick.random() < 0.2:
            return {"type": "Point", "coordinates": point}
        return [point, [pick.choice(LONGITUDES), 1]] if pick.random() < 0.1 else point

    def _object(self, depth: int) -> dict[str, Any]:
        names = [name for name in "xyz" if self.random.random() < 0.7]
        return {name: self.value(depth - 1) for name in names}

    def scalar(self) -> Any:
        """Give a value without parts."""
        pick = self.random
        kinds: list[list[Any]] = [
            NUMBERS,
            NUMBERS,
            LARGE,
            TEXTS,
            TEXTS,
            [True, False],
            [None],
            DATES,
        ]
        return pick.choice(pick.choice(kinds))

    def value(self, depth: int) -> Any:
        """Give any value."""
        chance = self.random.random()
        if depth > 0 and chance < 0.1:
            return self._object(depth)
        if depth > 0 and chance < 0.25:
            return [self.value(depth - 1) for _ in range(self.random.randrange(3))]
        return self.scalar()

    def filter(self, depth: int = 2) -> dict[str, Any]:
        """Give a filter."""
        pick = self.random
        chance = pick.random()
        if depth == 2 and chance > 0.97:
            return self.filter(0) | {"p": self._nearness()}
        if depth > 0 and chance < 0.3:
            name = pick.choice(["$and", "$or", "$nor"])
            return {name: [self.filter(depth - 1) for _ in range(pick.randrange(1, 4))]}
        if depth > 0 and chance < 0.4:
            return self.filter(depth - 1) | self.filter(0)
        if chance > 0.95:
            region = {"$geoWithin": self._region()}
            return {"p": {"$not": region} if pick.random() < 0.3 else region}
        path = pick.choice(PATHS)
        return {path: self.value(1) if pick.random() < 0.25 else self.tests(path, depth)}

    def _between(self) -> list[float]:
        """Give a place that is nobody's, and from which no two are equally far."""
        pick = self.random
        return [pick.randrange(-179, 179) + 0.3127, pick.randrange(-89, 89) + 0.4391]

    def _nearness(self) -> dict[str, Any]:
        miles = self.random.choice([{}, {"$maxDistance": self.random.randrange(100, 9000) + 0.123}])
        return {"$nearSphere": self._between(), **miles}

    def _region(self) -> dict[str, Any]:
        pick = self.random
        kind = pick.choice(["$centerSphere", "$center", "$box", "$polygon"])
        if kind == "$centerSphere":
            return {kind: [self._between(), pick.random() * 3]}
        if kind == "$center":
            return {kind: [self._between(), pick.random() * 100]}
        if kind == "$box":
            (west, one), (east, other) = self._between(), self._between()
            return {kind: [[west, min(one, other)], [east, max(one, other)]]}
        west = pick.randrange(-179, 0)
        corners = [[west + 0.3, -20.7], [west + pick.randrange(1, 179), -8.1], [west + 7.2, 63.4]]
        return {kind: pick.sample(corners, 3)}

    def tests(self, path: str, depth: int) -> dict[str, Any]:
        """Give operators for what is at a path."""
        pick = self.random
        chance = pick.random()
        if chance < 0.12:
            return {"$not": self._test(path, depth)}
        if chance < 0.25:
            return self._comparison() | self._comparison()
        return self._test(path, depth)

    def _comparison(self) -> dict[str, Any]:
        return {self.random.choice(["$gt", "$gte", "$lt", "$lte"]): self.scalar()}

    def _test(self, path: str, depth: int) -> dict[str, Any]:
        pick = self.random
        values = [self.value(1) for _ in range(pick.randrange(4))]
        choices: list[dict[str, Any]] = [
            {"$eq": self.value(1)},
            {"$ne": self.value(1)},
            self._comparison(),
            self._comparison(),
            {"$in": values},
            {"$nin": values},
            {"$exists": pick.random() < 0.5},
            {"$all": [self.scalar() for _ in range(pick.randrange(3))]},
            {"$size": pick.randrange(4)},
            {"$mod": [pick.choice([2, 3, -2]), pick.choice([0, 1, -1])]},
            {"$type": pick.choice(TYPES)},
            self._pattern(),
        ]
        if path in ("l", "o", "m", "a"):
            inner = self.filter(0) if path == "o" else self._comparison()
            choices += [{"$elemMatch": self._element(path, depth, inner)}] * 2
        return pick.choice(choices)

    def _element(self, path: str, depth: int, inner: dict[str, Any]) -> dict[str, Any]:
        if path != "o":
            return inner
        return {self.random.choice("xy"): self.random.choice([self.scalar(), self._comparison()])}

    def _pattern(self) -> dict[str, Any]:
        pattern = {"$regex": self.random.choice(PATTERNS)}
        options = self.random.choice(["", "", "i", "s", "im"])
        return pattern | ({"$options": options} if options else {})

    def summary(self) -> dict[str, Any]:
        """Give a question about all entities that match."""
        pick = self.random
        if pick.random() < 0.4:
            return {"distinct": pick.choice([*PATHS, *"sskd"])}
        simple = pick.random() < 0.5
        keys = ["s", "k"] if simple else ["s", "k", *"abd", "n.x", "n", "l", "o.x"]
        paths = ["k"] if simple else ["k", *"abl", "n.x", "n.z.w"]
        aggregates = {
            f"x{number}": pick.choice(
                ["count", *({name: pick.choice(paths)} for name in ("sum", "avg", "min", "max"))]
            )
            for number in range(pick.randrange(1, 4))
        }
        return {"keys": pick.sample(keys, pick.randrange(3)), "aggregates": aggregates}

    def indexes(self) -> list[dict[str, Any]]:
        """Give keys for some indexes."""
        pick = self.random
        locations: list[dict[str, Any]] = [{"p": "2dsphere"}] if pick.random() < 0.5 else []
        return locations + [
            {path: pick.choice([1, -1]) for path in pick.sample(INDEXED, pick.randrange(1, 4))}
            for _ in range(4)
        ]

    def modifiers(self) -> dict[str, Any]:
        """Give an order, a page and fields, or none of them."""
        pick = self.random
        chosen: dict[str, Any] = {}
        if pick.random() < 0.5:
            names = pick.sample(
                ["a", "b", "d", "n.x", "l", "l.1", "m.0", "o.x", "o.1.x", "_id"],
                pick.randrange(1, 3),
            )
            chosen["sort"] = {name: pick.choice([1, -1]) for name in names}
        if pick.random() < 0.3:
            chosen["skip"] = pick.randrange(5)
        if pick.random() < 0.3:
            chosen["limit"] = pick.randrange(1, 10)
        if pick.random() < 0.2:
            names = ["a", "n.x", "n.z.w", "l", "o", "o.x", "m", "m.0", "missing.x"]
            chosen["fields"] = pick.sample(names, pick.randrange(1, 4))
        return chosen
