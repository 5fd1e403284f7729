"""Page tokens: opaque to clients, each good for the run, filter and table it was made in."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import Any

from ..errors import bad_request


@dataclass(frozen=True)
class Run:
    """A query over several pages. `position` is where the next page begins."""

    source: str
    started_at: int
    position: Any = None


def fingerprint(*parts: Any) -> str:
    """A short text for what a token must be used with again."""
    text = json.dumps(parts, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def print_token(run: Run, mark: str) -> str:
    """The token of a run's next page. No two are the same, also after a page without items."""
    parts = [mark, run.source, run.started_at, run.position, secrets.token_hex(4)]
    return base64.b64encode(json.dumps(parts).encode()).decode()


def read_token(token: str, mark: str) -> Run:
    """The run that a token goes on with; BadRequest if it is not one of this query."""
    try:
        there, source, started_at, position, _ = json.loads(base64.b64decode(token, validate=True))
    except (binascii.Error, ValueError, TypeError):
        there, source, started_at, position = "", "", 0, None
    if there != mark:
        raise bad_request("Invalid pagination token given.")
    return Run(source, started_at, position)
