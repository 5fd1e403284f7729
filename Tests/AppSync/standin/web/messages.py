"""The messages of the real-time protocol that need more than their type."""

from __future__ import annotations

import json
from typing import Any

from ..api.engine import Request
from ..auth.authenticate import lower
from ..auth.sigv4 import Signed

Message = dict[str, Any]


def read_start(payload: Any) -> tuple[Request, Signed]:
    """The operation of a `start`, and what its authorization signs: the text of the operation.

    Throws ValueError, TypeError, KeyError or AttributeError for a payload of another form.
    """
    data = payload["data"]
    request = Request.read(json.loads(data))
    if request is None:
        raise ValueError("no operation")
    headers = lower(payload["extensions"]["authorization"])
    return request, Signed("/graphql", headers, data.encode())


def error(identifier: Any, kind: str, message: str, code: int | None = None) -> Message:
    """An error with one cause; without an id it concerns the socket."""
    detail: Message = {"errorType": kind, "message": message}
    if code is not None:
        detail["errorCode"] = code
    return errors(identifier, [detail])


def errors(identifier: Any, details: list[dict[str, Any]]) -> Message:
    printed: Message = {"type": "error", "payload": {"errors": details}}
    return printed if identifier is None else {**printed, "id": identifier}
