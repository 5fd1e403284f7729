"""The models of a GraphQL schema, for programs that write code from it."""

from __future__ import annotations

import json
from typing import Any

from . import _native
from ._options import to_text

_describe = _native.function("kv_schema_describe")


def describe_schema(text: str) -> dict[str, Any]:
    """Return the enumerations, embedded types and models of a GraphQL schema.

    They are read as the client's option ``schema`` is; the documentation of models has their
    members. Raise ``InvalidError``, with line and column, for a mistake in the schema.

    >>> import kvstore
    >>> kvstore.describe_schema("type Post @model { title: String! }")["models"][0]["key"]
    ['id']
    """
    described: dict[str, Any] = json.loads(
        _native.call_for_text(_describe, to_text(text, "schema"))
    )
    return described
