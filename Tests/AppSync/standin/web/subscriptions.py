"""The subscriptions of all sockets, and what each gets of an event."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from graphql import (
    GraphQLError,
    GraphQLObjectType,
    OperationDefinitionNode,
    OperationType,
    get_operation_ast,
)
from graphql.execution.values import get_argument_values, get_variable_values
from graphql.language import FieldNode

from ..api.context import Context, Event, Published
from ..api.engine import Engine, Prepared, RefusedError, Request, print_result
from ..auth.identity import Identity
from ..auth.rules import may_permit, permits, values
from ..data.predicate import matches
from ..errors import AppSyncError, bad_request, unauthorized
from ..schema.model import Model

#: The greatest event that is delivered; greater ones are dropped without notice.
MAX_EVENT_BYTES = 240 * 1024
MAX_ATTRIBUTES = 5
MAX_COMBINATIONS = 10

Payload = dict[str, Any]


@dataclass(eq=False)
class Subscription:
    """One `start` that was acknowledged. `deliver` hands a payload to its socket."""

    prepared: Prepared
    identity: Identity
    model: Model
    arguments: dict[str, Any]
    deliver: Callable[[Payload], None]
    #: Ends it with an error: its credentials have run out.
    expire: Callable[[], None]

    @property
    def field(self) -> str:
        return self.prepared.fields[0]

    def concerns(self, event: Event) -> bool:
        """Whether the event's arguments match; a member that was not selected matches nothing."""
        if self.field not in event.fields:
            return False
        shown = event.payload
        if not matches(self.arguments.get("filter"), shown, event=True):
            return False
        owners = (name for name in self.arguments if name != "filter")
        if not all(self.arguments[name] in values(shown.get(name)) for name in owners):
            return False
        return permits(self.model.rules, self.identity, "listen", shown)


class Hub:
    """Knows all subscriptions."""

    def __init__(self, models: dict[str, Model]) -> None:
        self._models = {
            name: model
            for model in models.values()
            for operation in ("create", "update", "delete")
            for name in model.names.subscriptions(operation)
        }
        self._subscriptions: list[Subscription] = []
        #: Whether callers who see their own records only must name themselves, as in older APIs.
        self.requires_owner = False

    def subscribe(
        self,
        engine: Engine,
        request: Request,
        identity: Identity,
        deliver: Callable[[Payload], None],
        expire: Callable[[], None],
    ) -> Subscription:
        """RefusedError for a document that does not fit, AppSyncError for one not permitted."""
        prepared = engine.prepare(request)
        if prepared.kind is not OperationType.SUBSCRIPTION:
            raise bad_request("Only subscriptions are executed here.")
        model = self._models[prepared.fields[0]]
        arguments = read_arguments(engine, prepared)
        check_filter(arguments.get("filter"))
        check_owners(model, prepared.fields[0], arguments, identity)
        if self.requires_owner:
            require_owner(model, prepared.fields[0], arguments, identity)
        subscription = Subscription(prepared, identity, model, arguments, deliver, expire)
        self._subscriptions.append(subscription)
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        if subscription in self._subscriptions:
            self._subscriptions.remove(subscription)

    def publish(self, engine: Engine, event: Event) -> None:
        for subscription in list(self._subscriptions):
            if subscription.concerns(event):
                root = {subscription.field: event.payload}
                context = Context(subscription.identity)
                result = engine.execute(subscription.prepared, context, root)
                payload = print_result(result)
                if len(json.dumps(payload).encode()) <= MAX_EVENT_BYTES:
                    subscription.deliver(payload)

    def expire(self, now: int) -> None:
        """Ends the subscriptions whose credentials have run out."""
        for subscription in list(self._subscriptions):
            if subscription.identity.is_expired(now):
                self.unsubscribe(subscription)
                subscription.expire()


def read_arguments(engine: Engine, prepared: Prepared) -> dict[str, Any]:
    """The arguments of the field at the root, given by literals or variables."""
    request, schema = prepared.request, engine.schema
    operation = get_operation_ast(prepared.document, request.operation_name)
    root = schema.subscription_type
    if not isinstance(operation, OperationDefinitionNode) or not isinstance(
        root, GraphQLObjectType
    ):
        raise bad_request("There is no subscription to start.")
    variables = get_variable_values(
        schema, operation.variable_definitions or (), dict(request.variables)
    )
    if isinstance(variables, list):
        raise RefusedError(variables)
    node = next(each for each in operation.selection_set.selections if isinstance(each, FieldNode))
    try:
        return get_argument_values(root.fields[node.name.value], node, variables)
    except GraphQLError as error:
        raise RefusedError([error]) from error


def check_owners(model: Model, field: str, arguments: dict[str, Any], identity: Identity) -> None:
    """Refuses a caller to whom no event could be shown, and one who asks for another's."""
    if not may_permit(model.rules, identity, "listen"):
        raise unauthorized(field, "Subscription")
    for name in (each for each in arguments if each != "filter"):
        row = Published({name: arguments[name]})
        if arguments[name] is not None and not permits(model.rules, identity, "listen", row):
            raise unauthorized(field, "Subscription")


def require_owner(model: Model, field: str, arguments: dict[str, Any], identity: Identity) -> None:
    """Refuses a caller who may see some records only and does not say which."""
    named = any(arguments[name] is not None for name in arguments if name != "filter")
    if not named and not permits(model.rules, identity, "listen", Published({})):
        raise unauthorized(field, "Subscription")


def check_filter(filter: dict[str, Any] | None) -> None:
    """Refuses what the service's filtering of events cannot do."""
    if filter is None:
        return
    names = list(attributes(filter))
    if len(set(names)) > MAX_ATTRIBUTES:
        raise filter_error("Filters exceed maximum attributes limit 5.")
    if len(filter.get("or") or ()) > MAX_COMBINATIONS:
        raise filter_error("Filters combination exceed maximum limit 10.")
    for group in filter.get("and") or (), [filter]:
        together = [name for part in group for name in part if name not in {"and", "or"}]
        if len(together) != len(set(together)):
            raise filter_error("filter uses same fieldName multiple time.")


def attributes(filter: dict[str, Any]) -> list[str]:
    """The members that a filter compares, each as often as it does."""
    found = []
    for name, value in filter.items():
        if name in {"and", "or"}:
            found += [each for part in value or () for each in attributes(part)]
        else:
            found.append(name)
    return found


def filter_error(message: str) -> AppSyncError:
    return AppSyncError("ValidationError", message)
