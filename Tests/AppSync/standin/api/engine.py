"""Parses, validates and executes documents, and words their errors as the service does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    ExecutionResult,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OperationType,
    execute,
    get_operation_ast,
    parse,
    validate,
)

from ..auth.identity import Identity
from ..data.record import MANAGED
from ..errors import AppSyncError
from .context import Context, Event

#: How graphql-core says that an input has a member too many, in a variable and in a literal.
UNKNOWN_FIELD = re.compile(r"(?:unknown field|Field) ['\"](?P<name>\w+)['\"]")


@dataclass(frozen=True)
class Request:
    """A document with its variables."""

    query: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    operation_name: str | None = None

    @staticmethod
    def read(body: Any) -> Request | None:
        """None for a body that is no GraphQL request."""
        if not isinstance(body, dict) or not isinstance(body.get("query"), str):
            return None
        variables, name = body.get("variables"), body.get("operationName")
        if not isinstance(variables, dict | None) or not isinstance(name, str | None):
            return None
        return Request(body["query"], variables or {}, name)


@dataclass(frozen=True)
class Prepared:
    """A document that fits the schema."""

    request: Request
    document: DocumentNode
    kind: OperationType
    #: The fields at the root, by their names.
    fields: tuple[str, ...]


class RefusedError(Exception):
    """The document does not fit; `errors` as the caller gets them."""

    def __init__(self, errors: list[GraphQLError]) -> None:
        super().__init__(errors[0].message)
        self.errors = [print_error(error) for error in errors]


class Engine:
    """Executes operations; `publish` gets the events of each that wrote."""

    def __init__(self, schema: GraphQLSchema, publish: Callable[[Event], None]) -> None:
        self.schema = schema
        self._publish = publish

    def prepare(self, request: Request) -> Prepared:
        """Throws RefusedError for a document that does not parse or does not fit the schema."""
        try:
            document = parse(request.query)
        except GraphQLError as error:
            raise RefusedError([error]) from error
        errors = validate(self.schema, document)
        operation = get_operation_ast(document, request.operation_name)
        if errors or operation is None:
            raise RefusedError(errors or [GraphQLError("There is no operation to execute.")])
        return Prepared(request, document, operation.operation, root_fields(operation))

    def run(
        self, prepared: Prepared, identity: Identity, *, empty_pages: bool = False
    ) -> dict[str, Any]:
        """Executes a query or mutation, publishes what it wrote, and gives the response."""
        context = Context(identity, empty_pages)
        response = print_result(self.execute(prepared, context))
        for event in context.events:
            self._publish(event)
        return response

    def execute(self, prepared: Prepared, context: Context, root: Any = None) -> ExecutionResult:
        request = prepared.request
        result = execute(
            self.schema,
            prepared.document,
            root_value=root,
            context_value=context,
            variable_values=dict(request.variables),
            operation_name=request.operation_name,
        )
        if not isinstance(result, ExecutionResult):
            raise TypeError("a resolver is asynchronous")
        return result


def root_fields(operation: OperationDefinitionNode) -> tuple[str, ...]:
    nodes = operation.selection_set.selections
    return tuple(node.name.value for node in nodes if isinstance(node, FieldNode))


def print_result(result: ExecutionResult) -> dict[str, Any]:
    response: dict[str, Any] = {"data": result.data}
    if result.errors:
        response["errors"] = [print_error(error) for error in result.errors]
    return response


def print_error(error: GraphQLError) -> dict[str, Any]:
    """An error in the service's shape; one without a path says that the document does not fit."""
    printed: dict[str, Any] = {
        "path": error.path,
        "locations": [
            {"line": each.line, "column": each.column, "sourceName": None}
            for each in error.locations or ()
        ],
        "message": error.message,
    }
    original = error.original_error
    if isinstance(original, AppSyncError):
        printed["errorType"] = original.error_type
        printed["errorInfo"] = original.info
        printed["data"] = original.data
    elif error.path is None:
        unknown = UNKNOWN_FIELD.search(error.message)
        managed = unknown is not None and unknown["name"] in MANAGED
        printed["errorType"] = "BadRequest" if managed else "ValidationError"
    return printed
