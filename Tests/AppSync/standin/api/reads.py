"""Get, list, sync and queries by an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..auth.rules import may_permit, permits
from ..data.pages import Run, fingerprint, print_token, read_token
from ..data.predicate import compare_all, matches
from ..data.record import Record
from ..errors import AppSyncError, bad_request
from ..schema.model import Index, Model
from .context import Context
from .database import Database

Arguments = Mapping[str, Any]
#: Rows, each with the position after it.
Rows = Iterable[tuple[Any, Record]]


class Reader:
    """Answers one query for one caller."""

    def __init__(
        self, database: Database, context: Context, model: Model, refusal: AppSyncError
    ) -> None:
        self.database = database
        self.identity = context.identity
        self.empty_pages = context.empty_pages
        self.model = model
        self.table = database.table(model)
        self.refusal = refusal

    def get(self, key: Record) -> Record | None:
        self.check("get")
        record = self.database.find(self.model, key)
        if record is not None and not permits(self.model.rules, self.identity, "get", record):
            raise self.refusal
        return record

    def list(self, arguments: Arguments) -> Record:
        self.check("list")
        return self.page("list", arguments, lambda run: self.scan(run, arguments.get("filter")))

    def sync(self, arguments: Arguments) -> Record:
        """The base table, or the changes since `lastSync` where the delta table has them all."""
        self.check("sync")
        since = arguments.get("lastSync")
        oldest = self.database.clock.now() - self.database.lifetimes.deltas
        source = "base" if since is None or since < oldest else "delta"

        def rows(run: Run) -> Rows:
            if run.source == "base":
                return self.scan(run, arguments.get("filter"))
            changes = self.table.changes(since or 0, run.position or 0)
            return ((change.sequence, change.record) for change in changes)

        return self.page("sync", arguments, rows, source)

    def by_index(self, index: Index, arguments: Arguments) -> Record:
        """The records with the value of an index's first field, ordered by the others."""
        self.check("list")
        first, *others = index.fields
        keys = {first: arguments[first]}
        comparisons = {name: arguments.get(name) or {} for name in others}
        return self.by_fields(keys, arguments, index.fields, comparisons)

    def by_fields(
        self,
        keys: Arguments,
        arguments: Arguments,
        order: tuple[str, ...] = (),
        comparisons: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> Record:
        """The records whose members have certain values, such as a has-many's foreign keys."""
        compared = (comparisons or {}).items()

        def rows(run: Run) -> Rows:
            found = [
                record
                for _, record in self.table.scan()
                if all(record.get(name) == value for name, value in keys.items())
                and all(compare_all(record.get(name), each) for name, each in compared)
            ]
            found.sort(
                key=lambda record: [sort_key(record.get(name)) for name in order],
                reverse=arguments.get("sortDirection") == "DESC",
            )
            start = run.position or 0
            return ((start + i + 1, record) for i, record in enumerate(found[start:]))

        return self.page("index", {**arguments, "keys": dict(keys)}, rows)

    def scan(self, run: Run, filter: Arguments | None) -> Rows:
        """The table in its order, or only what the filter's comparison with an index key leaves."""
        chosen = self.index_keys(filter)
        after = None if run.position is None else (run.position[0], run.position[1])
        for position, record in self.table.scan(after):
            if all(record.get(name) == value for name, value in chosen.items()):
                yield position, record

    def index_keys(self, filter: Arguments | None) -> Record:
        """What an `and` of the filter says of the first field of a key: it saves the examining."""
        firsts = {self.model.key[0], *(index.fields[0] for index in self.model.indexes)}
        for part in (filter or {}).get("and") or ():
            for name, operators in part.items():
                if name in firsts and operators and list(operators) == ["eq"]:
                    return {name: operators["eq"]}
        return {}

    def page(
        self,
        operation: str,
        arguments: Arguments,
        rows: Callable[[Run], Rows],
        source: str = "list",
    ) -> Record:
        """Examines at most `limit` rows; those that pass the filter and the rules are the page."""
        limit = arguments.get("limit")
        limit = 100 if limit is None else limit
        if limit < 1:
            raise bad_request("limit must be positive.")
        filter = arguments.get("filter")
        others = {name: arguments.get(name) for name in ("lastSync", "keys", "sortDirection")}
        mark = fingerprint(self.model.name, operation, filter, others)
        token = arguments.get("nextToken")
        run = read_token(token, mark) if token else Run(source, self.database.clock.now())
        if self.empty_pages:
            return {"items": [], "nextToken": print_token(run, mark), "startedAt": run.started_at}
        items: list[Record] = []
        examined, position, more = 0, None, False
        for row, record in rows(run):
            if examined == limit:
                more = True
                break
            examined, position = examined + 1, row
            if matches(filter, record) and self.may_read(operation, record):
                items.append(record)
        following = Run(run.source, run.started_at, position)
        return {
            "items": items,
            "nextToken": print_token(following, mark) if more else None,
            "startedAt": run.started_at,
        }

    def may_read(self, operation: str, record: Record) -> bool:
        operation = "list" if operation == "index" else operation
        return permits(self.model.rules, self.identity, operation, record)

    def check(self, operation: str) -> None:
        if not may_permit(self.model.rules, self.identity, operation):
            raise self.refusal


def sort_key(value: Any) -> tuple[int, Any]:
    """Orders values of one kind; what is missing comes first."""
    if value is None:
        return (0, 0)
    return (2, value) if isinstance(value, str) else (1, value)
