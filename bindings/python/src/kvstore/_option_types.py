"""Types of options, made by scripts/generate_abi.py from docs/options.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal, Required, TypedDict

ReadPolicy = Literal["forceLocal", "forceNetwork", "both", "networkOtherwiseLocal"]
WritePolicy = Literal["forceLocal", "silentLocalThenNetwork", "localThenNetwork", "forceNetwork"]
ConflictStrategy = Literal[
    "clientWins", "serverWins", "merge", "automerge", "optimistic", "handler"
]


class NetworkOptions(TypedDict, total=False):
    """Of a call that goes to the backend."""

    #: In seconds: how long a call may go on without progress, in a local search as well: each
    #: request that succeeds, and each 16 KiB that are sent or received, let the time begin anew; a
    #: cursor may be read for longer; default: 60.
    timeout: float
    #: How often a failed request is sent again, where that is safe and within the timeout; 0:
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
    #: In seconds: local reads ignore entities that were stored longer ago than this, and so do
    #: updates and removals by a query; what a pull finds unchanged on the backend counts as stored
    #: by it.
    ttl: float
    #: A pull reads page by page, for collections beyond the backend's limit of one answer.
    auto_pagination: bool
    #: The size of these pages; default: 10,000.
    max_size_per_result_set: int
    #: For backends without a history: a pull lists ids and versions, and fetches only entities that
    #: differ from the local ones.
    delta_set_caching: bool
    #: The members that your entities have; default: all.
    known_members: Mapping[str, Any]
    #: What happens when an entity was changed here and on the backend: see sync.md; default:
    #: `"clientWins"`, with AppSync `"automerge"`; `"handler"` if the store has one.
    conflicts: ConflictStrategy
    #: How `merge` and `automerge` treat lists that both sides have changed, by their members: see
    #: conflicts.md.
    merge_rules: Mapping[str, Literal["union", "append"]]
    #: A local change that `serverWins` or `automerge` would discard, as a whole or in part, stays
    #: as an open conflict instead: see conflicts.md.
    keep_discarded: bool
    #: A push, or the push of a sync, sends quarantined writes as well.
    retry_quarantined: bool
    #: A pull, and a find on the network, fetches only the changes since the same query was last
    #: read, if the backend supports that; default: false, with AppSync true.
    delta_set: bool


class ClientOptions(CallOptions, total=False):
    """Of a client."""

    #: The application on the backend (`kid_…`).
    app_key: Required[str]
    #: Its secret; default: required unless `host` is null or `backend` is given.
    app_secret: str
    #: A backend that was registered by `kv_backend_register`.
    backend: str
    #: Where the data is, by name, so that the code stays the same: `"local"` (the local database
    #: without a backend), a store that was registered by `kv_store_type_register`, of whose data
    #: there is no local copy, or a backend, as the option `backend`.
    store: str
    #: What only the store understands, such as the path of its file; for the option `store` only;
    #: default: `{}`.
    store_options: Mapping[str, Any]
    #: The backend, such as `"https://baas.kinvey.com"`; null: none, a local database; default:
    #: required, or `instanceId`, `backend`, `store` or `schema`.
    host: str | None
    #: A GraphQL schema whose models are the collections.
    schema: str
    #: `"migrate"`, `{"migrate":{…},"handler":name}` or `"resync"`: what happens to local data of
    #: another schema that does not fit as it is: records change by rules and by a handler that was
    #: registered by `kv_migration_register`, or are read again.
    on_schema_change: Mapping[str, Any] | str
    #: The address of the API, such as `"https://….appsync-api.eu-west-1.amazonaws.com/graphql"`;
    #: for the backend `"appsync"` only; default: required for `"appsync"`.
    endpoint: str
    #: What an `amplifyconfiguration.json` holds, of which the only GraphQL API gives `endpoint` and
    #: an API key; for the backend `"appsync"` only.
    configuration: Mapping[str, Any]
    #: What requests are allowed by: `{"apiKey":"da2-…"}`, `{"token":"…"}` with that of a Cognito
    #: user pool, an OpenID provider or a Lambda authorizer (or `"userPools"`, `"oidc"`,
    #: `"function"`; null: the token provider gives it), or
    #: `{"iam":{"accessKeyId":"…","secretAccessKey":"…","sessionToken":"…","region":"eu-west-1"}}`,
    #: by which requests are signed; for the backend `"appsync"` only; default: required for
    #: `"appsync"`.
    auth: Mapping[str, Any]
    #: If `auth` has several members: the one for models without `@auth`; default: the first of
    #: `auth`.
    default_auth: Literal["apiKey", "iam", "userPools", "oidc", "function", "token"]
    #: The address of the API's WebSocket, beginning with `https://` or `http://`; for the backend
    #: `"appsync"` only; default: follows from `endpoint`.
    realtime_endpoint: str
    #: Where the request for the WebSocket has what it is allowed by, if a proxy demands another
    #: place; for the backend `"appsync"` only; default: `"subprotocol"`.
    realtime_upgrade: Literal["subprotocol", "headers", "query"]
    #: How many records a page of the backend `"appsync"` is asked for; default: 100.
    page_size: int
    #: In seconds: how old a read may be for the backend `"appsync"` to be asked for what has
    #: changed since; after an older one everything is read; default: 86,400.
    sync_interval: float
    #: How stores of the type `"synced"` are kept in step with the backend; default: `{}`.
    sync: Mapping[str, Any]
    #: A dedicated instance, in place of `host`: `https://<instanceId>-baas.kinvey.com`.
    instance_id: str
    #: Calls without a user act as the application's master; not for programs that you give away.
    master_secret: str
    #: `X-Kinvey-API-Version`; default: 5.
    api_version: int
    #: What users see of this device among their sessions on `kvstored`, besides the system and the
    #: machine.
    device_name: str
    #: Where local data and the session are; made if missing, readable by its owner only; default:
    #: `"$XDG_DATA_HOME/kvstore"`, else `"~/.local/share/kvstore"`.
    data_directory: str | os.PathLike[str]
    #: What the local data is encrypted with: 32 bytes as Base64, `{"passphrase":…}`, or
    #: `{"provider":name}` of a function that was set by `kv_client_set_key_provider`.
    encryption_key: bytes | str | Mapping[str, str]
    #: Opens local data on a network file system, which is `KV_UNSUPPORTED` otherwise: for data that
    #: one machine alone uses (limits.md).
    allow_network_file_system: bool
    #: Local data and sessions of different tags are separate; default: `"kinvey"`.
    tag: str
    #: `full`: acknowledged writes survive a loss of power; `normal`: they survive the end of the
    #: process, but a loss of power may take the last ones; default: `"full"`.
    durability: Literal["full", "normal"]
    #: Whether local data gets indexes where queries look at all entities again and again; default:
    #: true.
    auto_index: bool
    #: Callbacks come on a thread of the client's, or when the host calls `kv_client_dispatch`;
    #: default: `"thread"`.
    callbacks: Literal["thread", "pump"]
    #: All users of the device have one set of local data; pending writes stay their user's.
    shared_device: bool
    #: Whether follows may use live data before the application registers for it; default: true.
    live: bool
    #: What happens to data that the backend has confirmed and has no more, because an older copy of
    #: its data was put back: it stays here, quarantined; it is sent again on the condition that the
    #: backend still has what it went back to; or what the backend has replaces it; default:
    #: `"keep"`.
    on_backend_reset: Literal["keep", "resend", "accept"]
    #: Pending writes are pushed by themselves: after a save, when the network is back, after a
    #: login, and otherwise after growing pauses; of several processes with the same data, one
    #: pushes.
    push_automatically: bool
    #: The authorization server; default: `https://auth.kinvey.com`, of an instance
    #: `https://<instanceId>-auth.kinvey.com`, else the `host`.
    auth_host: str
    #: Connections to the backend at the same time; default: 6.
    connections: int
    #: Queries made from formats are sent as the original SDK sends them, including its defects: see
    #: queries.md.
    original_forms: bool
    #: A larger answer gives `KV_TOO_LARGE`; in a paged pull each page is an answer; default:
    #: 104,857,600.
    max_response_bytes: int
    #: A larger answer to a `kv_store_group` of the backend gives `KV_TOO_LARGE`: it is read as one
    #: document, which takes some twenty times its bytes in memory; default: 16,777,216.
    max_group_bytes: int
    #: Certificates to trust, as PEM, instead of the system's; default: the system's:
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
    #: A filter that every entity of the backend must match, with the names of `keyMap`. If one does
    #: not, the read ends with `KV_PROTOCOL` and the entity's `id`, and nothing of that batch is
    #: stored.
    validation: Mapping[str, Any]
    #: The names that your queries use for members of entities: `{"title":"t"}`. It applies to
    #: filters, formats, orders, fields and groups, and to top-level members; entities themselves
    #: keep the backend's names.
    key_map: Mapping[str, str]


class LoginOptions(NetworkOptions, total=False):
    """Of a login."""

    #: The local data and the pending writes of another user, whose account is gone, become this
    #: user's; without it the data is deleted, and pending writes give `KV_PENDING`.
    adopt: bool


class LogoutOptions(NetworkOptions, total=False):
    """Of a logout."""

    #: Entities and pending writes stay, for this user; default: `sharedDevice`.
    keep_data: bool
    #: Deletes local data even if it has unsent work; without it that gives `KV_PENDING` and nothing
    #: changes.
    discard_pending: bool
