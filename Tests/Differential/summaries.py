"""Questions about all that a filter selects: groups, and the different values of a member."""

from __future__ import annotations

from typing import Any

import kvstore
import reference
import second_opinion

Entity = dict[str, Any]


class Summary:
    """Either `{"distinct": path}`, or `{"keys": […], "aggregates": {…}}`."""

    def __init__(self, spec: Entity) -> None:
        self.spec = spec

    def expected(self, entities: list[Entity]) -> list[Any]:
        """Give what the manual's rules give of the entities that match."""
        if path := self.spec.get("distinct"):
            return reference.distinct(entities, path)
        return reference.grouped(entities, self.spec["keys"], self.spec["aggregates"])

    def asked(self, store: kvstore.Store, query: kvstore.Query) -> list[Any]:
        """Give what a store answers."""
        if path := self.spec.get("distinct"):
            return store.distinct(path, query)
        return store.group(self.spec["keys"], self.spec["aggregates"], query)

    def mocked(self, shelf: Any, filter: Entity) -> list[Any] | None:
        """Give what mongomock answers; None where it groups by other rules than ours.

        That is where keys may be missing, where there is none (of nothing it makes a group all the
        same), where values are none that it computes with, and where it adds, because it rounds
        with each addition.
        """
        if path := self.spec.get("distinct"):
            return sorted(shelf.distinct(path, filter)) if path in second_opinion.SIMPLE else None
        keys, aggregates = self.spec["keys"], self.spec["aggregates"]
        paths = [next(iter(one.values())) for one in aggregates.values() if one != "count"]
        if (
            not keys
            or not {*keys, *paths} <= second_opinion.SIMPLE.keys()
            or any(second_opinion.SIMPLE[path] is not int for path in paths)
            or any(
                one != "count" and not one.keys() <= {"min", "max"} for one in aggregates.values()
            )
        ):
            return None
        group: Entity = {"_id": {key: f"${key}" for key in keys}}
        for name, wanted in aggregates.items():
            [(operator, path)] = [("sum", 1)] if wanted == "count" else wanted.items()
            group[name] = {f"${operator}": path if path == 1 else f"${path}"}
        rows = [
            {**(row.pop("_id") or {}), **row}
            for row in shelf.aggregate([{"$match": filter}, {"$group": group}])
        ]
        return sorted(rows, key=lambda row: [row[key] for key in keys])

    @staticmethod
    def agree(found: Any, expected: Any) -> bool:
        """Tell whether two answers are the same, to the last bit of a sum."""
        if isinstance(expected, list):
            return len(found) == len(expected) and all(map(Summary.agree, found, expected))
        if isinstance(expected, dict):
            return list(found) == list(expected) and all(
                Summary.agree(found[name], expected[name]) for name in expected
            )
        if reference.rank(found) != reference.rank(expected):
            return False
        return bool(found == expected)

    def simpler(self) -> list[Summary]:
        """Give the same with one key or aggregate less."""
        if "distinct" in self.spec:
            return []
        keys, aggregates = self.spec["keys"], self.spec["aggregates"]
        fewer = [
            {"keys": keys[:at] + keys[at + 1 :], "aggregates": aggregates}
            for at in range(len(keys))
        ]
        fewer += [
            {"keys": keys, "aggregates": {k: v for k, v in aggregates.items() if k != name}}
            for name in aggregates
        ]
        return [Summary(one) for one in fewer if one["keys"] or one["aggregates"]]
