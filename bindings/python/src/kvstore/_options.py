"""Options: keyword arguments here, a JSON object in C."""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict

from ._option_types import CallOptions
from .errors import invalid
from .values import to_json_value

if TYPE_CHECKING:
    from .query import Query

StoreType = Literal["sync", "synced", "auto", "cache", "network"]


class Condition(TypedDict, total=False):
    """The condition of a write: one of these must hold for the stored entity.

    Otherwise :class:`kvstore.ConflictError` is raised, and nothing changes.
    """

    #: There is no entity with this ``_id``: the write inserts, and never replaces.
    if_missing: bool
    #: The entity has this local version: see :meth:`kvstore.Store.version`.
    if_version: int
    #: The entity exists and matches this filter, or this query, of which only the filter counts.
    if_match: Mapping[str, Any] | Query


class FollowOptions(CallOptions, total=False):
    """The options of a follow."""

    #: Seconds between two reads where there is no live data; default: 60.
    interval: float
    #: Whether live data is used, if the backend has it; default: True.
    live: bool


class WriteOptions(Condition, CallOptions, total=False):
    """The options of a save or of a removal by id."""


class ShareOptions(CallOptions, total=False):
    """The rights that a call of ``share`` or ``unshare`` is about."""

    #: Ids of users who may read the entity; those who may write it need not be named.
    readers: Iterable[str]
    #: Ids of users who may read and write it.
    writers: Iterable[str]
    #: Ids of groups of users whose members may read it.
    reader_groups: Iterable[str]
    #: Ids of groups of users whose members may read and write it.
    writer_groups: Iterable[str]
    #: All users may read it.
    everybody_reads: bool
    #: All users may read and write it.
    everybody_writes: bool


@functools.lru_cache(maxsize=256)
def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def encode_options(options: Mapping[str, object]) -> bytes | None:
    """Write options as the library reads them; None if there are none."""
    if not options:
        return None
    written = {
        _camel(name): _base64(value) if isinstance(value, bytes) else value
        for name, value in options.items()
        if name not in _CONDITIONS
    }
    return to_json(written | _condition(options))


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode()


_CONDITIONS: Final = ("if_missing", "if_version", "if_match")


def _condition(options: Mapping[str, object]) -> dict[str, object]:
    """Return the condition as the library reads it; an empty dictionary if there is none."""
    given = [
        name
        for name in _CONDITIONS
        if (value := options.get(name)) is not None and value is not False
    ]
    if len(given) > 1:
        raise invalid(f"only one condition is possible, not {' and '.join(given)}")
    if not given:
        return {}
    if given[0] == "if_missing":
        return {"if": None}
    value = options[given[0]]
    # A query is imported where it is needed: its module needs this one.
    from .query import Query

    return {"if": value.to_dict()["filter"] if isinstance(value, Query) else value}


def to_ids(ids: Iterable[str], what: str) -> list[str]:
    """Return a list of ids; a single text is refused."""
    several = [] if isinstance(ids, str) else list(ids)
    if isinstance(ids, str) or not all(isinstance(one, str) for one in several):
        raise invalid(f"{what} must be a list of ids (str)")
    return several


def to_json(value: object) -> bytes:
    """Write a value as JSON; an :class:`InvalidError` names the member that cannot be written."""
    try:
        return _text(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid(f"not JSON: {_blame(value) or error}") from error


def _text(value: object) -> bytes:
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=to_json_value
    ).encode()


def _blame(value: object) -> str | None:
    """Return which member cannot be written, and why."""
    try:
        return _fault(value, "")
    except RecursionError:
        return None


def _fault(value: object, path: str) -> str | None:
    if isinstance(value, dict):
        for name, member in value.items():
            if fault := _fault(member, f"{path}.{name}" if path else str(name)):
                return fault
    elif isinstance(value, (list, tuple)):
        for index, element in enumerate(value):
            if fault := _fault(element, f"{path}[{index}]"):
                return fault
    try:
        written = to_json_value(value)
        if written is not value:
            return _fault(written, path)
        _text(value)
    except (TypeError, ValueError) as error:
        return f"{path}: {error}" if path else str(error)
    return None


def to_text(text: str, what: str) -> bytes:
    """Write a name or an id; C would take a NUL inside it for its end."""
    if not isinstance(text, str):
        raise invalid(f"{what} must be a str, not {type(text).__name__}")
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise invalid(f"{what} is not Unicode text: {error.reason}") from error
    if b"\0" in encoded:
        raise invalid(f"{what} contains a NUL character")
    return encoded


def entity_json(entity: Mapping[str, Any] | bytes | str) -> bytes:
    """Write an entity as JSON; text is taken for JSON already."""
    if isinstance(entity, bytes):
        return entity
    if isinstance(entity, str):
        return entity.encode(errors="surrogatepass")
    return to_json(entity)
