"""Options: keyword arguments here, a JSON object in C."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from typing import Any, Final, Literal, Required, TypedDict

from .errors import invalid
from .values import to_json_value

StoreType = Literal["sync", "auto", "cache", "network"]
ReadPolicy = Literal["forceLocal", "forceNetwork", "both", "networkOtherwiseLocal"]
WritePolicy = Literal["forceLocal", "silentLocalThenNetwork", "localThenNetwork", "forceNetwork"]

ConflictStrategy = Literal["clientWins", "serverWins", "merge", "optimistic", "handler"]


class ClientOptions(TypedDict, total=False):
    """What a client is opened with: a ``host`` and an ``app_secret``, or ``host=None``."""

    app_key: Required[str]
    app_secret: str
    #: The backend's address; None: local only. There is no default, so that nobody who forgets it
    #: sends credentials to a third party.
    host: str | None
    #: The name of a backend of the program's own, in place of a host: ``kvstore.register_backend``.
    backend: str
    instance_id: str
    #: Where the local data lives; default: "$XDG_DATA_HOME/kvstore" or "~/.local/share/kvstore".
    data_directory: str | os.PathLike[str]
    tag: str
    client_app_version: str
    custom_request_properties: Mapping[str, Any]
    #: Seconds for a whole call; default 60.
    timeout: float
    #: "pump": callbacks run in Client.dispatch() instead of a thread of the client.
    callbacks: Literal["thread", "pump"]
    #: "full": every acknowledged write survives a power cut; "normal": it survives a crash.
    durability: Literal["full", "normal"]
    ca_file: str | os.PathLike[str]
    proxy: str
    max_response_bytes: int
    #: Send queries made from formats as the original SDK does, also where that is broken.
    original_forms: bool
    connections: int
    api_version: int
    master_secret: str
    #: How often a request that failed is sent again where that is safe; default 3, 0: never.
    retries: int
    #: All users of the device have one set of local data; pending writes stay their user's.
    shared_device: bool
    #: Push what waits without being asked for: after a save, when the network is back, after a
    #: login.
    push_automatically: bool
    #: The authorization server; default: that of the hosted service, else the host.
    auth_host: str


class NetworkOptions(TypedDict, total=False):
    """What any call that goes to the backend may say for itself."""

    #: Seconds for the whole call.
    timeout: float
    #: How often a request that failed is sent again where that is safe; 0: never.
    retries: int
    client_app_version: str
    custom_request_properties: Mapping[str, Any]


class LogoutOptions(NetworkOptions, total=False):
    """What becomes of the local data when a session ends."""

    #: Entities and pending writes stay, for this user; default: as the client's ``shared_device``.
    keep_data: bool
    discard_pending: bool


class CallOptions(NetworkOptions, total=False):
    """What any call of a store may say for itself."""

    read_policy: ReadPolicy
    write_policy: WritePolicy
    #: Seconds; local reads ignore entities written longer ago.
    ttl: float
    #: Pull page by page: a backend answers 10,000 entities at the most, and silently.
    auto_pagination: bool
    max_size_per_result_set: int
    #: Pull, and find on the network, only what has changed since the last time.
    delta_set: bool
    #: Where the backend has no history: list what there is, and fetch what differs from here.
    delta_set_caching: bool
    #: What happens when an entity was changed here and on the backend; default "clientWins", or
    #: "handler" where one is set.
    conflicts: ConflictStrategy
    #: Push what was set aside as well.
    retry_quarantined: bool
    #: The names of the members that your entities have, with True or with such names: a save keeps
    #: the others of what is stored. Default: those of the model, else all.
    known_members: Mapping[str, Any]


class Condition(TypedDict, total=False):
    """What must be true of the stored entity for a write to happen; one of these.

    Otherwise :class:`kvstore.ConflictError` is raised, and nothing has changed.
    """

    #: There is no entity of this ``_id``: the write inserts, and never replaces.
    if_missing: bool
    #: It is of this local version: see :meth:`kvstore.Store.version`.
    if_version: int
    #: It is there and matches this filter.
    if_match: Mapping[str, Any]


class WriteOptions(Condition, CallOptions, total=False):
    """What a save or a removal by id may say for itself."""


class StoreOptions(CallOptions, total=False):
    """What a store is opened with; call options are the defaults of its calls."""

    tag: str
    #: What queries call the members of entities, such as ``{"title": "t"}``.
    key_map: Mapping[str, str]
    #: What every entity that the backend sends must be like: a filter.
    validation: Mapping[str, Any]


@functools.lru_cache(maxsize=256)
def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def encode_options(options: Mapping[str, object]) -> bytes | None:
    """Write options as the library reads them; None if there are none."""
    if not options:
        return None
    written = {_camel(name): value for name, value in options.items() if name not in _CONDITIONS}
    return to_json(written | _condition(options))


_CONDITIONS: Final = ("if_missing", "if_version", "if_match")


def _condition(options: Mapping[str, object]) -> dict[str, object]:
    """Give the condition as the library reads it; nothing if there is none."""
    given = [
        name
        for name in _CONDITIONS
        if (value := options.get(name)) is not None and value is not False
    ]
    if len(given) > 1:
        raise invalid(f"one condition at a time, not {' and '.join(given)}")
    if not given:
        return {}
    return {"if": None if given[0] == "if_missing" else options[given[0]]}


def to_json(value: object) -> bytes:
    """Write a value as JSON; what can not be written is an :class:`InvalidError` that names it."""
    try:
        return _text(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise invalid(f"not JSON: {_blame(value) or error}") from error


def _text(value: object) -> bytes:
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=to_json_value
    ).encode()


def _blame(value: object) -> str | None:
    """Say which member can not be written, and why."""
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
        for place, element in enumerate(value):
            if fault := _fault(element, f"{path}[{place}]"):
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
