"""Records and their keys."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

Record = dict[str, Any]

#: The members that the service alone writes.
MANAGED = frozenset(("_version", "_deleted", "_lastChangedAt", "_ttl"))


def key_of(record: Mapping[str, Any], fields: Iterable[str]) -> str | None:
    """The values of a key as one text, or None where one of them is missing."""
    values = [record.get(field) for field in fields]
    return None if any(value is None for value in values) else json.dumps(values)
