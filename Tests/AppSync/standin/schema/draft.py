"""A model while its schema is read: relations of other models may still add members to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graphql import (
    FieldDefinitionNode,
    ListTypeNode,
    NamedTypeNode,
    NonNullTypeNode,
    ObjectTypeDefinitionNode,
    TypeNode,
    print_ast,
)

from ..errors import SchemaError
from .directives import use, uses
from .model import OPERATIONS, READS, Field, Index, Model, Names, Relation, Rule
from .naming import plural

PROVIDERS = {
    "owner": "userPools",
    "groups": "userPools",
    "private": "userPools",
    "public": "apiKey",
    "custom": "function",
}


@dataclass
class Draft:
    """What is known of a model; `nodes` are all fields as written, `fields` the stored ones."""

    name: str
    model: dict[str, Any]
    nodes: dict[str, FieldDefinitionNode] = field(default_factory=dict)
    fields: dict[str, Field] = field(default_factory=dict)
    key: tuple[str, ...] = ("id",)
    indexes: list[Index] = field(default_factory=list)
    relations: dict[str, Relation] = field(default_factory=dict)
    rules: tuple[Rule, ...] = ()

    @staticmethod
    def read(node: ObjectTypeDefinitionNode, models: set[str]) -> Draft:
        draft = Draft(node.name.value, use(node, "model") or {}, rules=read_rules(node))
        for each in node.fields or ():
            draft.nodes[each.name.value] = each
            if named(each.type) not in models:
                draft.fields[each.name.value] = stored_field(each)
        draft.read_keys(node)
        if draft.key == ("id",) and "id" not in draft.fields:
            draft.fields = {"id": Field("id", "ID!", "ID"), **draft.fields}
        for name in draft.key:
            if name not in draft.fields:
                raise SchemaError(f"{draft.name}: the key's field {name} does not exist")
        return draft

    def read_keys(self, node: ObjectTypeDefinitionNode) -> None:
        """Takes the keys of both generations."""
        for each in uses(node, "key"):
            if "name" in each:
                self.indexes.append(
                    Index(each["name"], tuple(each["fields"]), each.get("queryField"))
                )
            else:
                self.key = tuple(each["fields"])
        for name, definition in self.nodes.items():
            primary = use(definition, "primaryKey")
            if primary is not None:
                self.key = (name, *primary.get("sortKeyFields", ()))
            for each in uses(definition, "index"):
                fields = (name, *each.get("sortKeyFields", ()))
                title = each.get("name", f"by{name[:1].upper()}{name[1:]}")
                self.indexes.append(Index(title, fields, each.get("queryField")))

    def index(self, name: str) -> Index:
        for index in self.indexes:
            if index.name == name:
                return index
        raise SchemaError(f"{self.name} has no index {name}")

    def add_foreign_keys(self, names: tuple[str, ...], far: Draft, required: bool) -> None:
        """Adds the members that refer to a record of another model, where the schema has none."""
        for name, part in zip(names, far.key, strict=True):
            kind = far.fields[part].named
            self.fields.setdefault(name, Field(name, kind + "!" * required, kind))

    def finish(self) -> Model:
        """The model, with the members that the service adds."""
        times: dict[str, str | None] = {"createdAt": "createdAt", "updatedAt": "updatedAt"}
        times.update(self.model.get("timestamps") or {})
        for name in times.values():
            if name is not None:
                self.fields.setdefault(
                    name, Field(name, "AWSDateTime!", "AWSDateTime", read_only=True)
                )
        for rule in self.rules:
            if rule.allow == "owner":
                self.fields.setdefault(
                    rule.owner_field, Field(rule.owner_field, "String", "String")
                )
        return Model(
            self.name,
            self.key,
            self.fields,
            self.names(),
            self.relations,
            tuple(self.indexes),
            self.rules,
            times["createdAt"],
            times["updatedAt"],
        )

    def names(self) -> Names:
        many = plural(self.name)
        queries = names_of(self.model, "queries", {"get": f"get{self.name}", "list": f"list{many}"})
        writes = names_of(
            self.model, "mutations", {each: each + self.name for each in OPERATIONS[:3]}
        )
        events = names_of(
            self.model,
            "subscriptions",
            {f"on{each.capitalize()}": f"on{each.capitalize()}{self.name}" for each in writes},
        )
        if (self.model.get("subscriptions") or {}).get("level") == "off":
            events = {}
        return Names(
            queries.get("get"),
            queries.get("list"),
            f"sync{many}",
            writes.get("create"),
            writes.get("update"),
            writes.get("delete"),
            as_tuple(events.get("onCreate")),
            as_tuple(events.get("onUpdate")),
            as_tuple(events.get("onDelete")),
        )


def names_of(model: dict[str, Any], kind: str, usual: dict[str, str]) -> dict[str, Any]:
    """The names of a kind of operation: null switches the kind off, or one of it."""
    if kind not in model:
        return dict(usual)
    given = model[kind]
    return {} if given is None else {**usual, **given}


def as_tuple(names: str | list[str] | None) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def stored_field(node: FieldDefinitionNode) -> Field:
    kind, default = named(node.type), use(node, "default") or {}
    value = default_value(node.name.value, kind, default.get("value"))
    return Field(node.name.value, print_ast(node.type), kind, value, read_rules(node))


def default_value(field: str, kind: str, text: str | None) -> Any:
    """The value of `@default`, which the schema writes as a text whatever the type."""
    if text is None:
        return None
    try:
        if kind in {"Int", "AWSTimestamp"}:
            return int(text)
        if kind == "Float":
            return float(text)
        return {"true": True, "false": False}[text] if kind == "Boolean" else text
    except (ValueError, KeyError) as error:
        raise SchemaError(f"{field}: {text!r} is no {kind}") from error


def read_rules(node: ObjectTypeDefinitionNode | FieldDefinitionNode) -> tuple[Rule, ...]:
    auth = use(node, "auth") or {"rules": []}
    given = auth["rules"]
    return tuple(read_rule(each) for each in (given if isinstance(given, list) else [given]))


def read_rule(given: dict[str, Any]) -> Rule:
    operations = frozenset(given.get("operations") or OPERATIONS)
    if "read" in operations:
        operations = (operations - {"read"}) | READS
    return Rule(
        given["allow"],
        given.get("provider") or PROVIDERS[given["allow"]],
        given.get("ownerField") or "owner",
        given.get("identityClaim") or "username",
        given.get("groupClaim") or "cognito:groups",
        given.get("groupsField") or (None if given.get("groups") else "groups"),
        frozenset(given.get("groups") or ()),
        operations,
    )


def named(node: TypeNode) -> str:
    """The name inside of a list or non-null type."""
    while isinstance(node, ListTypeNode | NonNullTypeNode):
        node = node.type
    if not isinstance(node, NamedTypeNode):
        raise SchemaError(f"not a type: {print_ast(node)}")
    return node.name.value


def is_list(node: TypeNode) -> bool:
    return isinstance(node.type if isinstance(node, NonNullTypeNode) else node, ListTypeNode)
