"""What the rules of `@auth` permit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..schema.model import Model, Rule
from .identity import Identity

Row = Mapping[str, Any]


def permits(rules: Iterable[Rule], identity: Identity, operation: str, row: Row) -> bool:
    """Whether one of the rules lets the caller do an operation to a record; no rules permit all."""
    rules = tuple(rules)
    return not rules or any(rule_permits(rule, identity, operation, row) for rule in rules)


def may_permit(rules: Iterable[Rule], identity: Identity, operation: str) -> bool:
    """Whether there can be a record to which the caller may do the operation."""
    rules = tuple(rules)
    return not rules or any(may(rule, identity, operation) for rule in rules)


def rule_permits(rule: Rule, identity: Identity, operation: str, row: Row) -> bool:
    if not may(rule, identity, operation):
        return False
    if rule.allow == "owner":
        return identity.claim(rule.identity_claim) in values(row.get(rule.owner_field))
    if rule.allow == "groups" and not rule.groups:
        mine = identity.groups(rule.group_claim)
        return bool(mine & values(row.get(rule.groups_field or "groups")))
    return True


def may(rule: Rule, identity: Identity, operation: str) -> bool:
    """Whether a rule, for some record at least, concerns the operation and the caller."""
    provider = "iam" if rule.provider == "identityPool" else rule.provider
    if operation not in rule.operations or identity.mode.value != provider:
        return False
    if rule.allow == "groups" and rule.groups:
        return bool(identity.groups(rule.group_claim) & rule.groups)
    if rule.allow == "owner":
        return identity.claim(rule.identity_claim) is not None
    return True


def default_owners(model: Model, identity: Identity) -> dict[str, Any]:
    """The owner fields that a create fills in where the caller left them out."""
    owners: dict[str, Any] = {}
    for rule in model.rules:
        if rule.allow == "owner" and may(rule, identity, "create"):
            owner = identity.claim(rule.identity_claim)
            listed = model.fields[rule.owner_field].is_list
            owners.setdefault(rule.owner_field, [owner] if listed else owner)
    return owners


def values(value: Any) -> frozenset[str]:
    """The names in a field that holds one or several."""
    if value is None:
        return frozenset()
    return frozenset(value) if isinstance(value, list) else frozenset((value,))
