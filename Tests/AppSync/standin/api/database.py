"""All tables, with the settings that a test may change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..auth.identity import Identity
from ..clock import Clock
from ..data.conflicts import Function, Strategy, reject
from ..data.journal import Journal
from ..data.record import Record, key_of
from ..data.table import Lifetimes, Table
from ..schema.model import Model


class Database:
    """The tables of the models, their conflict handlers, and the file that keeps them, if any."""

    def __init__(self, models: dict[str, Model], clock: Clock, journal: Path | None = None) -> None:
        self.models = models
        self.clock = clock
        self.lifetimes = Lifetimes()
        self.strategies: dict[str, Strategy] = {}
        self.function: Function = reject
        self.tables: dict[str, Table] = {}
        self._journal = Journal(journal) if journal else None
        self._make_tables()
        if self._journal:
            for model, key, row in self._journal.read():
                if model in self.tables:
                    self.tables[model].restore(key, row)
            self._journal.open()

    def table(self, model: Model) -> Table:
        return self.tables[model.name]

    def strategy(self, model: Model) -> Strategy:
        return self.strategies.get(model.name, Strategy.AUTOMERGE)

    def find(self, model: Model, record: dict[str, Any]) -> Record | None:
        """The row, or tombstone, with the key that is in a record."""
        key = key_of(record, model.key)
        return None if key is None else self.table(model).get(key)

    def reset(self) -> None:
        """Forgets all records and the settings of conflicts; lifetimes and the clock stay."""
        self._make_tables()
        self.strategies.clear()
        self.function = reject
        if self._journal:
            self._journal.clear()

    def close(self) -> None:
        if self._journal:
            self._journal.close()

    def question(
        self, identity: Identity, model: Model, field: str, stored: Record, given: Record
    ) -> dict[str, Any]:
        """What a custom conflict handler is asked."""
        return {
            "newItem": {**stored, **given},
            "existingItem": stored,
            "arguments": {"input": given},
            "resolver": {
                "tableName": model.name,
                "awsRegion": "local",
                "parentType": "Mutation",
                "field": field,
            },
            "identity": identity.describe(),
        }

    def _make_tables(self) -> None:
        for name in self.models:
            self.tables[name] = Table(self.clock, self.lifetimes, self._writer(name))

    def _writer(self, model: str) -> Any:
        def write(key: str, row: Record) -> None:
            if self._journal:
                self._journal.append(model, key, row)

        return write
