"""The scalars of the service, each with the check of its text."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Callable
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from graphql import GraphQLError, GraphQLScalarType, GraphQLSchema

OFFSET = r"(?:Z|[+-]\d{2}(?::?\d{2}(?::?\d{2})?)?)"
TIME = r"(?P<hour>\d{2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d{1,9})?)?"
DATE = re.compile(rf"(?P<date>\d{{4}}-\d{{2}}-\d{{2}}){OFFSET}?", re.ASCII)
TIME_OF_DAY = re.compile(rf"{TIME}{OFFSET}?", re.ASCII)
DATE_TIME = re.compile(rf"(?P<date>\d{{4}}-\d{{2}}-\d{{2}})T{TIME}{OFFSET}", re.ASCII)
EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)+")
PHONE = re.compile(r"\+?[0-9][0-9 ()./-]{3,20}", re.ASCII)


def is_day(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def is_moment(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a text fits and the numbers in it are those of a day and a time."""
    match = pattern.fullmatch(text)
    if match is None:
        return False
    parts = match.groupdict()
    if parts.get("date") and not is_day(parts["date"]):
        return False
    limits = {"hour": 23, "minute": 59, "second": 59}
    return all(int(parts.get(name) or 0) <= limit for name, limit in limits.items())


def is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return bool(parts.scheme and (parts.netloc or parts.path)) and not re.search(r"\s", text)


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_interface(text)
    except ValueError:
        return False
    return True


TEXTS: dict[str, Callable[[str], bool]] = {
    "AWSDate": lambda text: is_moment(DATE, text),
    "AWSTime": lambda text: is_moment(TIME_OF_DAY, text),
    "AWSDateTime": lambda text: is_moment(DATE_TIME, text),
    "AWSEmail": lambda text: EMAIL.fullmatch(text) is not None,
    "AWSJSON": is_json,
    "AWSURL": is_url,
    "AWSPhone": lambda text: PHONE.fullmatch(text) is not None,
    "AWSIPAddress": is_address,
}


def install(schema: GraphQLSchema) -> None:
    """Gives the scalars of a schema their checks, for what comes in; what is stored is answered."""
    for name, check in TEXTS.items():
        scalar = schema.type_map.get(name)
        if isinstance(scalar, GraphQLScalarType):
            set_parser(scalar, text_parser(name, check))
    timestamp = schema.type_map.get("AWSTimestamp")
    if isinstance(timestamp, GraphQLScalarType):
        set_parser(timestamp, parse_timestamp)


def set_parser(scalar: GraphQLScalarType, parser: Callable[[Any], Any]) -> None:
    scalar.coerce_input_value = parser


def text_parser(name: str, check: Callable[[str], bool]) -> Callable[[Any], str]:
    def parse(value: Any) -> str:
        if not isinstance(value, str) or not check(value):
            raise GraphQLError(f"{value!r} is not a valid {name}.")
        return value

    return parse


def parse_timestamp(value: Any) -> int:
    if type(value) is int and abs(value) < 1 << 63:
        return value
    raise GraphQLError(f"{value!r} is not a valid AWSTimestamp.")
