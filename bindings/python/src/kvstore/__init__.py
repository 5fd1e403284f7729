"""An offline-first data store that synchronises.

>>> import kvstore
>>> with kvstore.Client(app_key="kid_demo", host=None, data_directory=directory) as client:
...     notes = client.collection("notes")
...     saved = notes.save({"text": "milk"})
...     notes[saved["_id"]]["text"]
'milk'
"""

from ._native import has_feature, live_objects, version
from ._option_types import (
    CallOptions,
    ClientOptions,
    LogoutOptions,
    NetworkOptions,
    ReadPolicy,
    StoreOptions,
    WritePolicy,
)
from ._options import Condition, FollowOptions, ShareOptions, StoreType
from .backend import Backend, CustomStore, register_backend, register_store
from .changes import Changes, ChangesStream, Deletion, Move, Placed
from .client import Client, LogLevel
from .conflict import Conflict, ConflictHandler, Decision
from .context import Context, MergeConflict, MergePolicy, Object, ObjectGoneError, SaveResult
from .cursor import Cursor
from .encryption import EncryptReport, Key, KeyProvider, encrypt, set_key_provider
from .errors import (
    BusyError,
    CancelledError,
    CertificateError,
    ConflictError,
    CorruptError,
    ForbiddenError,
    FullError,
    InternalError,
    InvalidError,
    KVError,
    MisuseError,
    NetworkError,
    NotFoundError,
    NoUserError,
    PendingError,
    ProtocolError,
    ServerError,
    StorageError,
    TimeoutError,
    TooLargeError,
    UnauthorizedError,
    UnsupportedError,
    WrongKeyError,
)
from .fetched import ListChanges, ListMove, RecordState, Results
from .fields import F, Field
from .grouping import Aggregate
from .groups import Groups, UserGroup
from .live import LiveEvent, LiveHandler, LiveStream
from .migration import MigratingRecord, MigrationHandler
from .model import Model
from .pending import PendingQueue
from .query import (
    DISTANCE,
    TEXT_SCORE,
    Collation,
    Computed,
    Query,
    QueryLike,
    Sort,
    snippet,
    text_search,
)
from .request import Request
from .results import (
    Answer,
    BackupReport,
    Entity,
    EntityLike,
    Explanation,
    Index,
    PendingDetail,
    PendingWrite,
    Progress,
    PullResult,
    PushResult,
    SaveManyResult,
    SyncEvent,
    SyncResult,
    TokenRequest,
    UpdateResult,
)
from .salvage import decrypt_file, salvage
from .schema import describe_schema
from .status import Activity, ClientStatus, CollectionStatus, FollowStatus
from .store import Store
from .stream import Stream
from .subscription import Subscription
from .transaction import Transaction
from .users import Users
from .userstream import UserStream
from .values import register_type, to_json_value

__version__ = "0.2.0"

__all__ = [
    "DISTANCE",
    "TEXT_SCORE",
    "Activity",
    "Aggregate",
    "Answer",
    "Backend",
    "BackupReport",
    "BusyError",
    "CallOptions",
    "CancelledError",
    "CertificateError",
    "Changes",
    "ChangesStream",
    "Client",
    "ClientOptions",
    "ClientStatus",
    "Collation",
    "CollectionStatus",
    "Computed",
    "Condition",
    "Conflict",
    "ConflictError",
    "ConflictHandler",
    "Context",
    "CorruptError",
    "Cursor",
    "CustomStore",
    "Decision",
    "Deletion",
    "EncryptReport",
    "Entity",
    "EntityLike",
    "Explanation",
    "F",
    "Field",
    "FollowOptions",
    "FollowStatus",
    "ForbiddenError",
    "FullError",
    "Groups",
    "Index",
    "InternalError",
    "InvalidError",
    "KVError",
    "Key",
    "KeyProvider",
    "ListChanges",
    "ListMove",
    "LiveEvent",
    "LiveHandler",
    "LiveStream",
    "LogLevel",
    "LogoutOptions",
    "MergeConflict",
    "MergePolicy",
    "MigratingRecord",
    "MigrationHandler",
    "MisuseError",
    "Model",
    "Move",
    "NetworkError",
    "NetworkOptions",
    "NoUserError",
    "NotFoundError",
    "Object",
    "ObjectGoneError",
    "PendingDetail",
    "PendingError",
    "PendingQueue",
    "PendingWrite",
    "Placed",
    "Progress",
    "ProtocolError",
    "PullResult",
    "PushResult",
    "Query",
    "QueryLike",
    "ReadPolicy",
    "RecordState",
    "Request",
    "Results",
    "SaveManyResult",
    "SaveResult",
    "ServerError",
    "ShareOptions",
    "Sort",
    "StorageError",
    "Store",
    "StoreOptions",
    "StoreType",
    "Stream",
    "Subscription",
    "SyncEvent",
    "SyncResult",
    "TimeoutError",
    "TokenRequest",
    "TooLargeError",
    "Transaction",
    "UnauthorizedError",
    "UnsupportedError",
    "UpdateResult",
    "UserGroup",
    "UserStream",
    "Users",
    "WritePolicy",
    "WrongKeyError",
    "decrypt_file",
    "describe_schema",
    "encrypt",
    "has_feature",
    "live_objects",
    "register_backend",
    "register_store",
    "register_type",
    "salvage",
    "set_key_provider",
    "snippet",
    "text_search",
    "to_json_value",
    "version",
]
