"""Prints the API of the models as an SDL."""

from __future__ import annotations

from collections.abc import Iterable

from graphql import (
    EnumTypeDefinitionNode,
    ObjectTypeDefinitionNode,
    print_ast,
)

from .directives import PRELUDE
from .draft import named
from .model import Field, Model
from .operators import operator_kind, operators
from .read import Source

SYNC_FIELDS = "_version: Int! _deleted: Boolean _lastChangedAt: AWSTimestamp!"
PAGE = "limit: Int, nextToken: String"


class Generator:
    """Prints what a schema's models make."""

    def __init__(self, source: Source) -> None:
        self.models = source.models
        self.others = source.others
        self.enums = [
            each.name.value for each in source.others if isinstance(each, EnumTypeDefinitionNode)
        ]
        self.embedded = {
            each.name.value: each
            for each in source.others
            if isinstance(each, ObjectTypeDefinitionNode)
        }

    def sdl(self) -> str:
        parts = [PRELUDE, operators(), *(print_ast(each) for each in self.others)]
        parts += [self.embedded_input(each) for each in self.embedded.values()]
        for enum in self.enums:
            comparisons = f"eq: {enum} ne: {enum}"
            parts += [
                f"input {prefix}{enum}Input {{ {comparisons} }}"
                for prefix in ("Model", "ModelSubscription")
            ]
        for model in self.models.values():
            parts += [self.type(model), *self.inputs(model), *self.filters(model)]
        return "\n".join([*parts, *self.roots()])

    def embedded_input(self, node: ObjectTypeDefinitionNode) -> str:
        fields = [
            f"{each.name.value}: {self.input_type(print_ast(each.type), named(each.type))}"
            for each in node.fields or ()
        ]
        return block(f"input {node.name.value}Input", fields)

    def input_type(self, printed: str, name: str) -> str:
        """A type where it comes in: embedded types have an input of their own."""
        return printed.replace(name, name + "Input") if name in self.embedded else printed

    def type(self, model: Model) -> str:
        fields = [f"{each.name}: {each.type}" for each in model.fields.values()]
        for relation in model.relations.values():
            if relation.many:
                arguments = f"filter: Model{relation.target}FilterInput, "
                arguments += f"sortDirection: ModelSortDirection, {PAGE}"
                fields.append(f"{relation.name}({arguments}): Model{relation.target}Connection")
            else:
                fields.append(f"{relation.name}: {relation.target}" + "!" * relation.required)
        page = f"items: [{model.name}]! nextToken: String startedAt: AWSTimestamp"
        return block(f"type {model.name}", [*fields, SYNC_FIELDS]) + block(
            f"type Model{model.name}Connection", [page]
        )

    def inputs(self, model: Model) -> list[str]:
        create, update = ["_version: Int"], ["_version: Int"]
        for field in (each for each in model.fields.values() if not each.read_only):
            kind = self.input_type(field.type, field.named)
            nullable = kind.removesuffix("!")
            create.append(f"{field.name}: {nullable if given_by_service(model, field) else kind}")
            in_key = field.name in model.key
            update.append(f"{field.name}: {nullable + '!' if in_key else nullable}")
        delete = [f"{name}: {model.fields[name].nullable_type}!" for name in model.key]
        return [
            block(f"input Create{model.name}Input", create),
            block(f"input Update{model.name}Input", update),
            block(f"input Delete{model.name}Input", ["_version: Int", *delete]),
        ]

    def filters(self, model: Model) -> list[str]:
        fields = [each for each in model.fields.values() if each.named not in self.embedded]
        plain = [f"{each.name}: Model{self.operators(each)}Input" for each in fields]
        events = [f"{each.name}: ModelSubscription{self.operators(each)}Input" for each in fields]
        others = [
            text for field, text in zip(fields, plain, strict=True) if field.name not in model.key
        ]
        deleted = "_deleted: ModelBooleanInput"
        filter_name = f"Model{model.name}FilterInput"
        condition = f"Model{model.name}ConditionInput"
        event_filter = f"ModelSubscription{model.name}FilterInput"
        return [
            block(f"input {filter_name}", [*plain, deleted, groups(filter_name)]),
            block(f"input {condition}", [*others, deleted, groups(condition)]),
            block(
                f"input {event_filter}",
                [
                    *events,
                    f"and: [{event_filter}] or: [{event_filter}]",
                    "_deleted: ModelSubscriptionBooleanInput",
                ],
            ),
        ]

    def operators(self, field: Field) -> str:
        return field.named if field.named in self.enums else operator_kind(field.named)

    def roots(self) -> Iterable[str]:
        queries, mutations, subscriptions = [], [], []
        for model in self.models.values():
            queries += self.queries(model)
            names = model.names
            for kind, name in (
                ("Create", names.create),
                ("Update", names.update),
                ("Delete", names.delete),
            ):
                if name:
                    arguments = f"input: {kind}{model.name}Input!, "
                    arguments += f"condition: Model{model.name}ConditionInput"
                    mutations.append(f"{name}({arguments}): {model.name}")
            owners = "".join(f", {each}: String" for each in model.owner_fields())
            arguments = f"filter: ModelSubscription{model.name}FilterInput{owners}"
            for name in (*names.on_create, *names.on_update, *names.on_delete):
                subscriptions.append(f"{name}({arguments}): {model.name}")
        yield block("type Query", queries)
        if mutations:
            yield block("type Mutation", mutations)
        if subscriptions:
            yield block("type Subscription", subscriptions)

    def queries(self, model: Model) -> list[str]:
        connection, names = f"Model{model.name}Connection", model.names
        filtered = f"filter: Model{model.name}FilterInput, {PAGE}"
        keys = ", ".join(f"{each}: {model.fields[each].nullable_type}!" for each in model.key)
        queries = [f"{names.sync}({filtered}, lastSync: AWSTimestamp): {connection}"]
        if names.get:
            queries.append(f"{names.get}({keys}): {model.name}")
        if names.list:
            queries.append(f"{names.list}({filtered}): {connection}")
        for index in model.indexes:
            if index.query_field:
                first, *rest = (model.fields[each] for each in index.fields)
                arguments = f"{first.name}: {first.nullable_type}!, "
                if len(rest) == 1:
                    kind = operator_kind(rest[0].named)
                    arguments += f"{rest[0].name}: Model{kind}KeyConditionInput, "
                arguments += f"sortDirection: ModelSortDirection, {filtered}"
                queries.append(f"{index.query_field}({arguments}): {connection}")
        return queries


def given_by_service(model: Model, field: Field) -> bool:
    """Whether a create may leave the field out though the model requires it."""
    times = (model.created_at, model.updated_at)
    return (
        (field.name == "id" and model.key == ("id",))
        or field.name in times
        or (field.default is not None)
    )


def groups(name: str) -> str:
    return f"and: [{name}] or: [{name}] not: {name}"


def block(head: str, lines: Iterable[str]) -> str:
    return head + " {\n  " + "\n  ".join(lines) + "\n}\n"
