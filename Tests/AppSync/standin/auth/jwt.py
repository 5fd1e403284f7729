"""Reads the tokens of Cognito and of OpenID Connect."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from typing import Any


class TokenError(Exception):
    """The text is no token, or its signature is wrong."""


def looks_like_token(text: str) -> bool:
    return text.count(".") == 2


def claims_of(token: str, secret: str | None) -> dict[str, Any]:
    """The claims of a token, which must be signed by the secret (HS256) where there is one."""
    head, payload, signature = token.split(".")
    if secret is not None:
        wanted = hmac.new(secret.encode(), f"{head}.{payload}".encode(), hashlib.sha256).digest()
        algorithm = decode(head).get("alg")
        if algorithm != "HS256" or not hmac.compare_digest(wanted, unpadded(signature)):
            raise TokenError("Unable to verify the token's signature.")
    return decode(payload)


def decode(part: str) -> dict[str, Any]:
    try:
        decoded = json.loads(unpadded(part))
    except ValueError as error:
        raise TokenError("Unable to parse JWT token.") from error
    if not isinstance(decoded, dict):
        raise TokenError("Unable to parse JWT token.")
    return decoded


def unpadded(part: str) -> bytes:
    """What a text in base64url, without its padding, stands for."""
    try:
        return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except (binascii.Error, ValueError) as error:
        raise TokenError("Unable to parse JWT token.") from error


def make(claims: dict[str, Any], secret: str | None = None) -> str:
    """A token with claims, signed by HS256 or, without a secret, not at all."""
    head = encode(json.dumps({"alg": "HS256" if secret else "none", "typ": "JWT"}).encode())
    text = f"{head}.{encode(json.dumps(claims).encode())}"
    if secret is None:
        return text + "."
    return f"{text}.{encode(hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest())}"


def encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
