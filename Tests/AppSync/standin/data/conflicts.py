"""What becomes of a write whose version is not the stored one."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any

from ..errors import AppSyncError, ConflictError
from .record import Record


class Strategy(Enum):
    """A model's conflict handler."""

    AUTOMERGE = "AUTOMERGE"
    OPTIMISTIC_CONCURRENCY = "OPTIMISTIC_CONCURRENCY"
    LAMBDA = "LAMBDA"


#: The custom handler: gets `newItem`, `existingItem`, `arguments`, `resolver` and `identity`,
#: answers with an `action` and, to resolve, an `item`.
Function = Callable[[dict[str, Any]], Any]


def reject(_: dict[str, Any]) -> Any:
    """The custom handler until another one is set."""
    return {"action": "REJECT"}


class RemovalError(Exception):
    """The custom handler's answer to a delete: carry it out."""


def automerge(stored: Record, changes: Record) -> Record:
    """The stored record with what it lacks of the changes; lists grow, maps are merged."""
    merged = dict(stored)
    for name, incoming in changes.items():
        merged[name] = merge_value(stored.get(name), incoming)
    return merged


def merge_value(stored: Any, incoming: Any) -> Any:
    if stored is None:
        return incoming
    if isinstance(stored, list) and isinstance(incoming, list):
        return stored + incoming
    if isinstance(stored, dict) and isinstance(incoming, dict):
        return automerge(stored, incoming)
    return stored


def ask(
    function: Function, question: dict[str, Any], key: tuple[str, ...], operation: str
) -> Record:
    """The record that the custom handler answers, with the stored key; a write sets the rest.

    Throws ConflictError where it rejects, RemovalError where it deletes.
    """
    stored = question["existingItem"]
    try:
        answer = function(question)
        action = answer["action"]
        item = dict(answer["item"]) if action == "RESOLVE" else {}
    except AppSyncError:
        raise
    except Exception as error:
        raise AppSyncError("ConflictError", f"The conflict handler failed: {error!r}") from error
    if action == "REJECT":
        raise ConflictError(stored)
    if action == "REMOVE" and operation == "delete":
        raise RemovalError
    if action != "RESOLVE":
        raise AppSyncError("ConflictError", f"The conflict handler answered {action!r}.")
    return item | {name: stored[name] for name in key}
