"""Models of pydantic, which need not be installed."""

from __future__ import annotations

import sys
from datetime import datetime
from decimal import Decimal
from typing import Any


def is_model(value: object) -> bool:
    """Tell whether a value is a model of pydantic's; without it there is none."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(value, pydantic.BaseModel)


def members(model: Any) -> dict[str, Any]:
    """Give the members of a model by their aliases, as pydantic writes them.

    But moments and decimals are left as they are: they are written as in queries, so that queries
    find them.
    """
    written = model.model_dump(mode="json", by_alias=True)
    merged: dict[str, Any] = _merged(model.model_dump(by_alias=True), written)
    return merged


def _merged(value: Any, written: Any) -> Any:
    if isinstance(value, (datetime, Decimal)) and isinstance(written, str):
        return value
    match value, written:
        case dict(), dict() if len(value) == len(written):
            pairs = zip(value.values(), written.items(), strict=True)
            return {name: _merged(inner, text) for inner, (name, text) in pairs}
        case ((list() | tuple()), list()) if len(value) == len(written):
            return [_merged(*pair) for pair in zip(value, written, strict=True)]
    return written
