"""Finds the caller of a request by its headers, in any of the service's modes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..clock import Clock
from .identity import Identity, Mode
from .jwt import TokenError, claims_of, looks_like_token
from .sigv4 import ALGORITHM, Credentials, SignatureError, Signed, verify

DEFAULT_KEY = "da2-standin"


class AuthenticationError(Exception):
    """HTTP 401, `UnauthorizedException`."""


@dataclass
class Settings:
    """Who is let in."""

    #: Each with the time, in milliseconds, at which it ends.
    api_keys: dict[str, int | None] = field(default_factory=lambda: {DEFAULT_KEY: None})
    #: With it, tokens must be signed.
    jwt_secret: str | None = None
    #: The issuers whose tokens are of OpenID Connect; all others are of the user pool.
    oidc_issuers: set[str] = field(default_factory=set)
    #: What the authorizing Lambda function says of each token that it lets in.
    lambda_tokens: dict[str, dict[str, Any]] = field(default_factory=dict)
    credentials: dict[str, Credentials] = field(default_factory=dict)
    #: The region that signatures must be scoped to; None is any.
    region: str | None = None
    modes: set[Mode] = field(default_factory=lambda: set(Mode))


def authenticate(settings: Settings, clock: Clock, signed: Signed) -> Identity:
    """The caller; AuthenticationError if there is none, or the credentials have run out."""
    identity = identify(settings, signed)
    if identity.mode not in settings.modes:
        raise AuthenticationError("You are not authorized to make this call.")
    if identity.is_expired(clock.now()):
        raise AuthenticationError("Token has expired.")
    return identity


def identify(settings: Settings, signed: Signed) -> Identity:
    authorization = signed.headers.get("authorization")
    if authorization is None:
        key = signed.headers.get("x-api-key")
        if key is None or key not in settings.api_keys:
            raise AuthenticationError("You are not authorized to make this call.")
        return Identity(Mode.API_KEY, expires_at=settings.api_keys[key])
    if authorization.startswith(ALGORITHM):
        try:
            key = verify(signed, settings.credentials, settings.region)
        except SignatureError as error:
            raise AuthenticationError(str(error)) from error
        return Identity(Mode.IAM, {"accessKey": key})
    if authorization in settings.lambda_tokens:
        return Identity(Mode.LAMBDA, settings.lambda_tokens[authorization])
    if looks_like_token(authorization):
        return by_token(settings, authorization)
    raise AuthenticationError("Valid authorization header not provided.")


def by_token(settings: Settings, token: str) -> Identity:
    try:
        claims = claims_of(token, settings.jwt_secret)
    except TokenError as error:
        raise AuthenticationError(str(error)) from error
    mode = Mode.OIDC if claims.get("iss") in settings.oidc_issuers else Mode.USER_POOLS
    end = claims.get("exp")
    expires_at = int(end * 1000) if isinstance(end, int | float) else None
    return Identity(mode, claims, expires_at)


def lower(headers: Mapping[str, Any]) -> dict[str, str]:
    """Headers by their names in lower case."""
    return {str(name).lower(): str(value) for name, value in headers.items()}
