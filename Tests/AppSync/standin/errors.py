"""The service's errors, by their `errorType`."""

from __future__ import annotations

import uuid
from typing import Any


class SchemaError(Exception):
    """The schema cannot be served; the text says what is wrong and, where known, at which line."""


class AppSyncError(Exception):
    """An error that the caller gets in `errors`, with HTTP status 200."""

    def __init__(self, error_type: str, message: str, data: Any = None, info: Any = None) -> None:
        super().__init__(message)
        self.error_type = error_type
        self.message = message
        self.data = data
        self.info = info


class ConflictError(AppSyncError):
    """The stored version is another one and no handler resolved it; `data` is that record."""

    def __init__(self, record: dict[str, Any]) -> None:
        super().__init__("ConflictUnhandled", "Conflict resolver rejects mutation.", record)


def conditional_check_failed() -> AppSyncError:
    request = uuid.uuid4().hex.upper()
    details = f"(Service: DynamoDb, Status Code: 400, Request ID: {request})"
    kind = "ConditionalCheckFailedException"
    return AppSyncError(kind, f"The conditional request failed {details}")


def unauthorized(field: str, on_type: str) -> AppSyncError:
    return AppSyncError("Unauthorized", f"Not Authorized to access {field} on type {on_type}")


def bad_request(message: str) -> AppSyncError:
    return AppSyncError("BadRequest", message)
