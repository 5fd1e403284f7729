"""What the server knows of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

OPERATIONS = ("create", "update", "delete", "get", "list", "sync", "listen", "search")
READS = frozenset(("get", "list", "sync", "listen", "search"))


@dataclass(frozen=True)
class Rule:
    """A rule of `@auth`."""

    allow: str
    provider: str
    owner_field: str = "owner"
    identity_claim: str = "username"
    group_claim: str = "cognito:groups"
    groups_field: str | None = None
    groups: frozenset[str] = frozenset()
    operations: frozenset[str] = frozenset(OPERATIONS)


@dataclass(frozen=True)
class Field:
    """A member that is stored."""

    name: str
    #: The type as GraphQL prints it, `[String!]!`, and the name in it.
    type: str
    named: str
    #: What `@default` fills in.
    default: Any = None
    rules: tuple[Rule, ...] = ()
    #: Whether the service writes it, so that no input has it.
    read_only: bool = False

    @property
    def is_list(self) -> bool:
        return self.type.startswith("[")

    @property
    def required(self) -> bool:
        return self.type.endswith("!")

    @property
    def nullable_type(self) -> str:
        return self.type.removesuffix("!")


@dataclass(frozen=True)
class Relation:
    """A field that resolves to the records of a model whose `target_fields` equal `fields` here."""

    name: str
    target: str
    many: bool
    fields: tuple[str, ...]
    target_fields: tuple[str, ...]
    required: bool = False
    limit: int = 100
    #: The far fields by which the records of a has-many are ordered.
    order: tuple[str, ...] = ()


@dataclass(frozen=True)
class Index:
    """A secondary key: its first field is compared by equality, the others order."""

    name: str
    fields: tuple[str, ...]
    query_field: str | None = None


@dataclass(frozen=True)
class Names:
    """What the operations of a model are called; None is switched off."""

    get: str | None
    list: str | None
    sync: str | None
    create: str | None
    update: str | None
    delete: str | None
    on_create: tuple[str, ...]
    on_update: tuple[str, ...]
    on_delete: tuple[str, ...]

    def subscriptions(self, operation: str) -> tuple[str, ...]:
        """The subscriptions to `create`, `update` or `delete`."""
        return {
            "create": self.on_create,
            "update": self.on_update,
            "delete": self.on_delete,
        }[operation]


@dataclass(frozen=True)
class Model:
    """A type with `@model`."""

    name: str
    key: tuple[str, ...]
    fields: Mapping[str, Field]
    names: Names
    relations: Mapping[str, Relation] = field(default_factory=dict)
    indexes: tuple[Index, ...] = ()
    rules: tuple[Rule, ...] = ()
    #: The fields that keep the times of the first and the last write.
    created_at: str | None = "createdAt"
    updated_at: str | None = "updatedAt"

    def owner_fields(self) -> list[str]:
        """The fields that owner rules compare, each once."""
        return list(dict.fromkeys(rule.owner_field for rule in self.rules if rule.allow == "owner"))
