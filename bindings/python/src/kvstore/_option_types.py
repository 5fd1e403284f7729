"""Types of options, made by scripts/generate_abi.py from docs/options.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, Required, TypedDict

ReadPolicy = Literal["forceLocal", "forceNetwork", "both", "networkOtherwiseLocal"]
WritePolicy = Literal["forceLocal", "silentLocalThenNetwork", "localThenNetwork", "forceNetwork"]
ConflictStrategy = Literal["clientWins", "serverWins", "merge", "optimistic", "handler"]


class NetworkOptions(TypedDict, total=False):
    """Of a call that goes to the backend."""

    #: In seconds: for the whole call, a local search included; a cursor that was given may be read
    #: for longer; default: 60.
    timeout: float
    #: How often a request that failed is sent again where that is safe, within the call's time; 0:
    #: never; default: 3.
    retries: int
    #: `X-Kinvey-Client-App-Version`.
    client_app_version: str
    #: `X-Kinvey-Custom-Request-Properties`.
    custom_request_properties: Mapping[str, Any]


class CallOptions(NetworkOptions, total=False):
    """Of a call of a store."""

    #: Where a read gets its answer; default: by the store's type.
    read_policy: ReadPolicy
    #: Where a write goes; default: by the store's type.
    write_policy: WritePolicy
    #: In seconds: local reads ignore entities that were written locally longer ago.
    ttl: float
    #: A pull reads page by page, for collections beyond the backend's limit of one answer.
    auto_pagination: bool
    #: The size of these pages; default: 10,000.
    max_size_per_result_set: int
    #: Where the backend has no history, or `deltaSet` is off: what there is is listed with its
    #: times, and only what differs from here is fetched.
    delta_set_caching: bool
    #: The members that your entities have; default: all.
    known_members: Mapping[str, Any]
    #: What happens when an entity was changed here and on the backend: see sync.md; default:
    #: `"clientWins"`; `"handler"` if the store has one.
    conflicts: ConflictStrategy
    #: A push, or the push of a sync, sends what was set aside as well.
    retry_quarantined: bool
    #: A pull, and a find on the network, asks only for what has changed since it was asked last,
    #: where the backend can tell.
    delta_set: bool


class ClientOptions(CallOptions, total=False):
    """Of a client."""

    #: The application on the backend (`kid_…`).
    app_key: Required[str]
    #: Its secret; default: required unless `host` is null or `backend` is given.
    app_secret: str
    #: A backend that was registered by `kv_backend_register`.
    backend: str
    #: The backend, such as `"https://baas.kinvey.com"`; null: none, a local database; default:
    #: required, or `instanceId` or `backend`.
    host: str | None
    #: In place of `host`, of a dedicated instance: `https://<instanceId>-baas.kinvey.com`.
    instance_id: str
    #: Calls without a user act as the application's master; not for programs that you give away.
    master_secret: str
    #: `X-Kinvey-API-Version`; default: 5.
    api_version: int
    #: Where local data and the session are; made if missing, readable by its owner only; default:
    #: `"$XDG_DATA_HOME/kvstore"`, else `"~/.local/share/kvstore"`.
    data_directory: str | os.PathLike[str]
    #: Local data and sessions of different tags are apart; default: `"kinvey"`.
    tag: str
    #: `full`: what is acknowledged survives a loss of power; `normal`: it survives the end of the
    #: process, a loss of power may take the last writes; default: `"full"`.
    durability: Literal["full", "normal"]
    #: Callbacks come on a thread of the client's, or when the host calls `kv_client_dispatch`;
    #: default: `"thread"`.
    callbacks: Literal["thread", "pump"]
    #: All users of the device have one set of local data; pending writes stay their user's.
    shared_device: bool
    #: Whether follows may use live data before the application registers for it; default: true.
    live: bool
    #: What waits is pushed without being asked for: after a save, when the network is back, after a
    #: login, and otherwise after growing pauses; of several processes with the same data by one.
    push_automatically: bool
    #: The authorization server; default: `https://auth.kinvey.com`, of an instance
    #: `https://<instanceId>-auth.kinvey.com`, else the `host`.
    auth_host: str
    #: Connections to the backend at the same time; default: 6.
    connections: int
    #: Queries made from formats are sent as the original SDK sends them, also where that is broken:
    #: see queries.md.
    original_forms: bool
    #: A larger answer is `KV_TOO_LARGE`; of a paged pull each page is one; default: 104,857,600.
    max_response_bytes: int
    #: Larger groups of a `kv_store_group` that the backend makes are `KV_TOO_LARGE`: they are read
    #: as one document, which takes some twenty times its bytes; default: 16,777,216.
    max_group_bytes: int
    #: Certificates to trust, as PEM, in place of the system's; default: the system's:
    #: [transport.md](transport.md#where-the-authorities-are).
    ca_file: str | os.PathLike[str]
    #: Certificates to trust, as PEM, where the system has none.
    ca_fallback: str | os.PathLike[str]
    #: As libcurl understands it; default: the environment's.
    proxy: str


class StoreOptions(CallOptions, total=False):
    """Of a store."""

    #: Not for network stores; for the user of the client; default: the client's.
    tag: str
    #: What every entity that the backend sends must be like, in your names: a read that brings
    #: another ends with `KV_PROTOCOL` and the entity's `id`, and nothing of that batch is stored.
    validation: Mapping[str, Any]
    #: What your queries call the members of entities: `{"title":"t"}`. It is applied to filters,
    #: formats, orders, fields and groups, to names at the top of entities; entities themselves keep
    #: the backend's names.
    key_map: Mapping[str, str]


class LogoutOptions(NetworkOptions, total=False):
    """Of a logout."""

    #: Entities and pending writes stay, for this user; default: `sharedDevice`.
    keep_data: bool
    #: Wipes local data although it has unsent work; without it that is `KV_PENDING` and nothing
    #: changes.
    discard_pending: bool
