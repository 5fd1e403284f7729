"""The caller of an operation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Mode(Enum):
    """How a caller authenticates; the values are the providers of `@auth`."""

    API_KEY = "apiKey"
    IAM = "iam"
    OIDC = "oidc"
    USER_POOLS = "userPools"
    LAMBDA = "function"


@dataclass(frozen=True)
class Identity:
    """A caller; `expires_at` in milliseconds is when the credentials end."""

    mode: Mode
    claims: Mapping[str, Any] = field(default_factory=dict)
    expires_at: int | None = None

    def claim(self, name: str) -> str | None:
        """A claim's text; `username` is what either kind of Cognito token has it as, then `sub`."""
        if "::" in name:
            parts = [self.claim(part) for part in name.split("::")]
            return None if None in parts else "::".join(part for part in parts if part)
        names = (name, "cognito:username", "sub") if name == "username" else (name,)
        return next((str(self.claims[each]) for each in names if self.claims.get(each)), None)

    def groups(self, claim: str) -> frozenset[str]:
        found = self.claims.get(claim) or ()
        return frozenset([found] if isinstance(found, str) else found)

    def is_expired(self, now: int) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def describe(self) -> dict[str, Any]:
        """For the log, and for conflict handlers."""
        return {"mode": self.mode.value, "claims": dict(self.claims)}
