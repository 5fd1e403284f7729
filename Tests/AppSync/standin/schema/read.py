"""Reads an SDL into models."""

from __future__ import annotations

from dataclasses import dataclass

from graphql import (
    DefinitionNode,
    DocumentNode,
    GraphQLError,
    InputObjectTypeDefinitionNode,
    ObjectTypeDefinitionNode,
    concat_ast,
    parse,
)
from graphql.validation.validate import validate_sdl

from ..errors import SchemaError
from .directives import PRELUDE, use
from .draft import Draft
from .model import Model
from .relations import expand_many_to_many, read_relations


@dataclass(frozen=True)
class Source:
    """What an SDL says: its models, and the definitions that are served as they stand."""

    models: dict[str, Model]
    others: tuple[DefinitionNode, ...]


def read(sdl: str) -> Source:
    """Throws SchemaError for a text that is no SDL, or that says what cannot be served."""
    try:
        document = parse(sdl)
    except GraphQLError as error:
        raise SchemaError(str(error)) from error
    if errors := validate_sdl(concat_ast([parse(PRELUDE), document])):
        raise SchemaError("\n\n".join(map(str, errors)))
    return Source(read_models(document), tuple(other_definitions(document)))


def read_models(document: DocumentNode) -> dict[str, Model]:
    nodes = {each.name.value: each for each in model_nodes(document)}
    drafts = {name: Draft.read(node, set(nodes)) for name, node in nodes.items()}
    expand_many_to_many(drafts)
    read_relations(drafts)
    return {name: draft.finish() for name, draft in drafts.items()}


def model_nodes(document: DocumentNode) -> list[ObjectTypeDefinitionNode]:
    return [
        each
        for each in document.definitions
        if isinstance(each, ObjectTypeDefinitionNode) and use(each, "model") is not None
    ]


def other_definitions(document: DocumentNode) -> list[DefinitionNode]:
    """Everything but models, and but the input that only configures Amplify's tools."""
    models = model_nodes(document)
    for each in document.definitions:
        name = getattr(getattr(each, "name", None), "value", "")
        if name in {"Query", "Mutation", "Subscription"}:
            raise SchemaError(f"type {name}: operations of one's own are not served")
    return [
        each
        for each in document.definitions
        if each not in models
        and not (isinstance(each, InputObjectTypeDefinitionNode) and each.name.value == "AMPLIFY")
    ]
