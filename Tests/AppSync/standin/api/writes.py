"""Create, update and delete: version check, condition, write, in this order."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from ..auth.identity import Identity
from ..auth.rules import default_owners, may_permit, permits
from ..clock import iso
from ..data.conflicts import RemovalError, Strategy, ask, automerge
from ..data.predicate import matches
from ..data.record import Record, key_of
from ..errors import ConflictError, conditional_check_failed, unauthorized
from ..schema.model import Model
from .database import Database


class Writer:
    """Carries out one write for one caller."""

    def __init__(
        self, database: Database, identity: Identity, model: Model, field: str, operation: str
    ) -> None:
        self.database = database
        self.identity = identity
        self.model = model
        self.table = database.table(model)
        self.field = field
        self.refusal = unauthorized(field, "Mutation")
        self.operation = operation

    def run(self, given: Record, condition: Mapping[str, Any] | None) -> Record:
        """The row that is stored afterwards: for a delete the tombstone."""
        self.check_fields(given)
        if self.operation == "create":
            return self.create(given, condition)
        stored = self.database.find(self.model, given)
        if stored is None:
            self.check(may_permit(self.model.rules, self.identity, self.operation))
            raise conditional_check_failed()
        self.check(permits(self.model.rules, self.identity, self.operation, stored))
        record, deletes = self.resolve(stored, given)
        if not matches(condition, stored):
            raise conditional_check_failed()
        key = str(key_of(stored, self.model.key))
        if deletes:
            return self.table.write_tombstone(key, record)
        return self.table.write(key, record)

    def create(self, given: Record, condition: Mapping[str, Any] | None) -> Record:
        record = self.defaults() | default_owners(self.model, self.identity) | given
        record.pop("_version", None)
        self.check(permits(self.model.rules, self.identity, "create", record))
        key = key_of(record, self.model.key)
        if key is None or self.table.get(key) is not None or not matches(condition, {}):
            raise conditional_check_failed()
        return self.table.write(key, record)

    def defaults(self) -> Record:
        """What the service fills in at a create."""
        record: Record = {
            field.name: field.default
            for field in self.model.fields.values()
            if field.default is not None
        }
        for name in (self.model.created_at, self.model.updated_at):
            if name is not None:
                record[name] = iso(self.database.clock.now())
        if self.model.key == ("id",):
            record["id"] = str(uuid.uuid4())
        return record

    def resolve(self, stored: Record, given: Record) -> tuple[Record, bool]:
        """The next version, and whether it is a tombstone; ConflictError if there is none."""
        changes = {name: value for name, value in given.items() if name != "_version"}
        deletes = self.operation == "delete"
        if given.get("_version", 0) == stored["_version"]:
            return self.stamped(stored | ({} if deletes else changes)), deletes
        strategy = self.database.strategy(self.model)
        if strategy is Strategy.LAMBDA:
            return self.ask(stored, given)
        if strategy is Strategy.AUTOMERGE and not deletes and not stored.get("_deleted"):
            return self.stamped(automerge(stored, changes)), False
        raise ConflictError(stored)

    def ask(self, stored: Record, given: Record) -> tuple[Record, bool]:
        database = self.database
        question = database.question(self.identity, self.model, self.field, stored, given)
        try:
            record = ask(database.function, question, self.model.key, self.operation)
            return self.stamped(record), False
        except RemovalError:
            return self.stamped(stored), True

    def stamped(self, record: Record) -> Record:
        """A record with the time of this write."""
        name = self.model.updated_at
        return record if name is None else record | {name: iso(self.database.clock.now())}

    def check_fields(self, given: Record) -> None:
        """Refuses members that a rule of their own keeps from the caller."""
        for name in given:
            field = self.model.fields.get(name)
            if field and not permits(field.rules, self.identity, self.operation, given):
                raise self.refusal

    def check(self, permitted: bool) -> None:
        if not permitted:
            raise self.refusal
