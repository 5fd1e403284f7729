"""Verifies AWS Signature Version 4."""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone

from ..clock import Clock

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "appsync"
#: How far, in seconds, the time of a signature may be from the machine's.
TOLERANCE = 300
AUTHORIZATION = re.compile(
    rf"{ALGORITHM} Credential=(?P<key>[^/,\s]+)/(?P<scope>[^,\s]+),\s*"
    r"SignedHeaders=(?P<headers>[^,\s]+),\s*Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Credentials:
    """What a caller signs by."""

    secret: str
    session_token: str | None = None


@dataclass(frozen=True)
class Signed:
    """What a signature covers of a request. The headers' names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes
    method: str = "POST"
    query: str = ""

    def canonical(self, names: Iterable[str]) -> str:
        """The canonical request of the named headers."""
        lines = [f"{name}:{' '.join(self.headers.get(name, '').split())}" for name in names]
        digest = hashlib.sha256(self.body).hexdigest()
        parts = [self.method, self.path, self.query, *lines, "", ";".join(names), digest]
        return "\n".join(parts)


class SignatureError(Exception):
    """The request is not signed, not now, or not by known credentials."""


def verify(signed: Signed, known: Mapping[str, Credentials], region: str | None) -> str:
    """The access key that the request was signed with; a region of None is any."""
    match = AUTHORIZATION.fullmatch(signed.headers.get("authorization", ""))
    if match is None:
        raise SignatureError("Authorization header requires a credential, headers and a signature.")
    credentials = known.get(match["key"])
    if credentials is None:
        raise SignatureError("The security token included in the request is invalid.")
    check_time(signed.headers.get("x-amz-date", ""))
    scope = match["scope"].split("/")
    if not scope_fits(scope, signed.headers["x-amz-date"], region):
        raise SignatureError("Credential should be scoped to a valid region and service.")
    if credentials.session_token != signed.headers.get("x-amz-security-token"):
        raise SignatureError("The security token included in the request is invalid.")
    names = match["headers"].split(";")
    if "host" not in names:
        raise SignatureError("The signature must cover the host.")
    wanted = signature(signed, names, scope, credentials.secret)
    if not hmac.compare_digest(wanted, match["signature"]):
        raise SignatureError("The request signature we calculated does not match the signature.")
    return match["key"]


def signature(signed: Signed, names: list[str], scope: list[str], secret: str) -> str:
    digest = hashlib.sha256(signed.canonical(names).encode()).hexdigest()
    text = "\n".join([ALGORITHM, signed.headers["x-amz-date"], "/".join(scope), digest])
    key = f"AWS4{secret}".encode()
    for part in (*scope, text):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key.hex()


def check_time(text: str) -> None:
    """The machine's time counts, not the clock that tests set: clients sign by it."""
    try:
        time = datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc)
    except ValueError as error:
        raise SignatureError("The date of the signature is missing.") from error
    if abs(time.timestamp() - Clock.machine() / 1000) > TOLERANCE:
        raise SignatureError("Signature expired.")


def scope_fits(scope: list[str], time: str, region: str | None) -> bool:
    """Whether a scope is day, region, service and the word that ends it."""
    if len(scope) != 4 or scope[0] != time[:8]:
        return False
    return scope[2:] == [SERVICE, "aws4_request"] and region in (None, scope[1])
