"""include/kvstore.h for ctypes, made by scripts/generate_abi.py: do not edit."""

from __future__ import annotations

import ctypes
from typing import Any, Final

KV_OK: Final = 0
KV_PARTIAL: Final = 1
KV_DONE: Final = 2
KV_MISUSE: Final = 10
KV_INVALID: Final = 11
KV_NOT_FOUND: Final = 12
KV_CONFLICT: Final = 13
KV_NO_USER: Final = 14
KV_UNAUTHORIZED: Final = 15
KV_FORBIDDEN: Final = 16
KV_PENDING: Final = 17
KV_UNSUPPORTED: Final = 18
KV_NETWORK: Final = 20
KV_TIMEOUT: Final = 21
KV_CANCELLED: Final = 22
KV_SERVER: Final = 23
KV_PROTOCOL: Final = 24
KV_TOO_LARGE: Final = 25
KV_STORAGE: Final = 30
KV_CORRUPT: Final = 31
KV_FULL: Final = 32
KV_BUSY: Final = 33
KV_KEY: Final = 34
KV_INTERNAL: Final = 90
KV_CERTIFICATE: Final = 26
KV_KEY_NONE: Final = 0
KV_KEY_BYTES: Final = 1
KV_KEY_PASSPHRASE: Final = 2
KV_CONFLICT_LEAVE: Final = 0
KV_CONFLICT_KEEP: Final = 1
KV_CONFLICT_TAKE: Final = 2
KV_CONFLICT_MERGED: Final = 3
KV_CONFLICT_DELETE: Final = 4
KV_RECORD_UNCHANGED: Final = 0
KV_RECORD_CHANGED: Final = 1
KV_RECORD_DELETED: Final = 2


class AnswerStruct(ctypes.Structure):
    """The C struct ``kv_answer``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("status", ctypes.c_int32),
        ("is_final", ctypes.c_int32),
        ("is_local", ctypes.c_int32),
        ("json", ctypes.c_char_p),
        ("length", ctypes.c_size_t),
        ("cursor", ctypes.c_void_p),
        ("error", ctypes.c_void_p),
    )


class ProgressStruct(ctypes.Structure):
    """The C struct ``kv_progress``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("entities_done", ctypes.c_uint64),
        ("entities_total", ctypes.c_uint64),
        ("bytes_done", ctypes.c_uint64),
        ("bytes_total", ctypes.c_uint64),
    )


class EventStruct(ctypes.Structure):
    """The C struct ``kv_event``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("status", ctypes.c_int32),
        ("json", ctypes.c_char_p),
        ("length", ctypes.c_size_t),
        ("error", ctypes.c_void_p),
    )


class ConflictStruct(ctypes.Structure):
    """The C struct ``kv_conflict``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("id", ctypes.c_char_p),
        ("base", ctypes.c_char_p),
        ("base_length", ctypes.c_size_t),
        ("local", ctypes.c_char_p),
        ("local_length", ctypes.c_size_t),
        ("remote", ctypes.c_char_p),
        ("remote_length", ctypes.c_size_t),
    )


BACKEND_FN: Final = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_uint64,
    ctypes.POINTER(ctypes.c_char),
    ctypes.c_size_t,
)

BACKEND_CANCEL_FN: Final = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_uint64,
)


class BackendStruct(ctypes.Structure):
    """The C struct ``kv_backend``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("fetch", BACKEND_FN),
        ("fetch_ids", BACKEND_FN),
        ("changes", BACKEND_FN),
        ("write", BACKEND_FN),
        ("live", BACKEND_FN),
        ("cancel", BACKEND_CANCEL_FN),
    )


class StoreTypeStruct(ctypes.Structure):
    """The C struct ``kv_store_type``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("load", BACKEND_FN),
        ("fetch", BACKEND_FN),
        ("values", BACKEND_FN),
        ("save", BACKEND_FN),
        ("relationship", BACKEND_FN),
        ("obtain_ids", BACKEND_FN),
        ("cancel", BACKEND_CANCEL_FN),
    )


class MigrationStruct(ctypes.Structure):
    """The C struct ``kv_migration``."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
        ("former_model", ctypes.c_char_p),
        ("model", ctypes.c_char_p),
        ("id", ctypes.c_char_p),
        ("former", ctypes.c_char_p),
        ("former_length", ctypes.c_size_t),
        ("record", ctypes.c_char_p),
        ("record_length", ctypes.c_size_t),
    )


FREE_FN: Final = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
)

KEY_FN: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
)

TOKEN_FN: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_char_p,
    ctypes.c_char_p,
    ctypes.c_int32,
    ctypes.POINTER(ctypes.c_void_p),
)

LOG_FN: Final = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_int32,
    ctypes.c_char_p,
)

ANSWER_FN: Final = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.POINTER(AnswerStruct),
)

EVENT_FN: Final = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.POINTER(EventStruct),
)

REDUCE_FN: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_char),
    ctypes.c_size_t,
)

CONFLICT_FN: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.POINTER(ConflictStruct),
    ctypes.POINTER(ctypes.c_void_p),
)

TRANSACTION_FN: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.c_void_p,
)

MERGE_FN: Final = ctypes.CFUNCTYPE(
    None,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_char_p,
)

MIGRATION_FN: Final = ctypes.CFUNCTYPE(
    ctypes.c_int32,
    ctypes.c_void_p,
    ctypes.POINTER(MigrationStruct),
    ctypes.POINTER(ctypes.c_void_p),
)

#: The types that the letters of the table below stand for.
KINDS: Final[dict[str, Any]] = {
    "d": ctypes.c_double,
    "i": ctypes.c_int32,
    "l": ctypes.c_int64,
    "n": ctypes.c_size_t,
    "p": ctypes.c_void_p,
    "q": ctypes.c_uint64,
    "s": ctypes.c_char_p,
    "u": ctypes.c_uint32,
    "v": None,
}

#: The result and the parameters of each function.
FUNCTIONS: Final[dict[str, tuple[str, str]]] = {
    "kv_version": ("s", ""),
    "kv_version_number": ("i", ""),
    "kv_status_name": ("s", "i"),
    "kv_has_feature": ("i", "s"),
    "kv_live_objects": ("l", "s"),
    "kv_free": ("v", "p"),
    "kv_error_status": ("i", "p"),
    "kv_error_message": ("s", "p"),
    "kv_error_json": ("s", "p"),
    "kv_error_free": ("v", "p"),
    "kv_client_open": ("i", "snpp"),
    "kv_client_set_key_provider": ("i", "spppp"),
    "kv_client_change_key": ("i", "pssnppp"),
    "kv_encrypt": ("i", "snsnppp"),
    "kv_salvage": ("i", "snsppp"),
    "kv_decrypt_file": ("i", "snsip"),
    "kv_client_repair": ("i", "pppp"),
    "kv_client_close": ("i", "p"),
    "kv_client_event_fd": ("i", "ppp"),
    "kv_client_dispatch": ("i", "pupp"),
    "kv_client_set_token_provider": ("i", "ppppp"),
    "kv_client_set_log": ("i", "pipppp"),
    "kv_request_wait": ("i", "pdppp"),
    "kv_request_is_done": ("i", "p"),
    "kv_request_cursor": ("i", "ppp"),
    "kv_request_results": ("i", "ppp"),
    "kv_request_cancel": ("i", "p"),
    "kv_request_progress": ("i", "pp"),
    "kv_request_free": ("v", "p"),
    "kv_subscription_close": ("i", "p"),
    "kv_subscription_end": ("i", "psp"),
    "kv_subscription_end_async": ("i", "psppppp"),
    "kv_client_observe_sync": ("i", "pppppp"),
    "kv_client_start_sync": ("i", "pp"),
    "kv_client_stop_sync": ("i", "pp"),
    "kv_client_clear": ("i", "pip"),
    "kv_client_set_sync_expression": ("i", "pssp"),
    "kv_client_status": ("i", "pppp"),
    "kv_client_compact": ("i", "psppp"),
    "kv_client_compact_async": ("i", "psppppp"),
    "kv_client_backup": ("i", "pssppp"),
    "kv_client_backup_async": ("i", "pssppppp"),
    "kv_client_observe_status": ("i", "pppppp"),
    "kv_ping": ("i", "psppp"),
    "kv_ping_async": ("i", "psppppp"),
    "kv_user_signup": ("i", "psnsppp"),
    "kv_user_signup_async": ("i", "psnsppppp"),
    "kv_user_login": ("i", "psnsppp"),
    "kv_user_login_async": ("i", "psnsppppp"),
    "kv_user_login_page": ("i", "pssppp"),
    "kv_user_login_with_code": ("i", "psssppp"),
    "kv_user_login_with_code_async": ("i", "psssppppp"),
    "kv_user_logout": ("i", "psp"),
    "kv_user_logout_async": ("i", "psppppp"),
    "kv_user_active": ("i", "pppp"),
    "kv_user_me": ("i", "psppp"),
    "kv_user_me_async": ("i", "psppppp"),
    "kv_user_update": ("i", "psnsppp"),
    "kv_user_update_async": ("i", "psnsppppp"),
    "kv_user_delete": ("i", "psp"),
    "kv_user_delete_async": ("i", "psppppp"),
    "kv_user_exists": ("i", "psspp"),
    "kv_user_exists_async": ("i", "pssppppp"),
    "kv_user_lookup": ("i", "psnsppp"),
    "kv_user_lookup_async": ("i", "psnsppppp"),
    "kv_group_create": ("i", "psnsppp"),
    "kv_group_create_async": ("i", "psnsppppp"),
    "kv_group_read": ("i", "pssppp"),
    "kv_group_read_async": ("i", "pssppppp"),
    "kv_group_list": ("i", "psppp"),
    "kv_group_list_async": ("i", "psppppp"),
    "kv_group_update": ("i", "pssnsppp"),
    "kv_group_update_async": ("i", "pssnsppppp"),
    "kv_group_delete": ("i", "pssp"),
    "kv_group_delete_async": ("i", "pssppppp"),
    "kv_query_create": ("i", "snsnpp"),
    "kv_query_from_format": ("i", "ssnsnpp"),
    "kv_query_combine": ("i", "spnsnpp"),
    "kv_query_format": ("i", "pppp"),
    "kv_query_json": ("i", "pppp"),
    "kv_query_free": ("v", "p"),
    "kv_store_open": ("i", "pssspp"),
    "kv_store_reads_locally": ("i", "p"),
    "kv_store_writes_locally": ("i", "p"),
    "kv_store_close": ("i", "p"),
    "kv_store_find": ("i", "ppspp"),
    "kv_store_find_async": ("i", "ppsppppp"),
    "kv_schema_describe": ("i", "sppp"),
    "kv_store_related": ("i", "pssppp"),
    "kv_store_find_by_id": ("i", "pssppp"),
    "kv_store_find_by_id_async": ("i", "pssppppp"),
    "kv_store_find_by_ids": ("i", "psnsppp"),
    "kv_store_find_by_ids_async": ("i", "psnsppppp"),
    "kv_store_save": ("i", "psnsppp"),
    "kv_store_save_async": ("i", "psnsppppp"),
    "kv_store_save_many": ("i", "psnsppp"),
    "kv_store_save_many_async": ("i", "psnsppppp"),
    "kv_store_remove_by_id": ("i", "psspp"),
    "kv_store_remove_by_id_async": ("i", "pssppppp"),
    "kv_store_remove": ("i", "ppspp"),
    "kv_store_remove_async": ("i", "ppsppppp"),
    "kv_store_update": ("i", "ppsnsppp"),
    "kv_store_update_async": ("i", "ppsnsppppp"),
    "kv_store_share": ("i", "pssnsp"),
    "kv_store_share_async": ("i", "pssnsppppp"),
    "kv_store_unshare": ("i", "pssnsp"),
    "kv_store_unshare_async": ("i", "pssnsppppp"),
    "kv_store_version": ("i", "pspp"),
    "kv_store_count": ("i", "ppspp"),
    "kv_store_count_async": ("i", "ppsppppp"),
    "kv_store_group": ("i", "psnpsppp"),
    "kv_store_group_async": ("i", "psnpsppppp"),
    "kv_store_reduce": ("i", "psnpsppppp"),
    "kv_store_distinct": ("i", "pspsppp"),
    "kv_store_distinct_async": ("i", "pspsppppp"),
    "kv_store_pull": ("i", "ppsppp"),
    "kv_store_pull_async": ("i", "ppsppppp"),
    "kv_store_push": ("i", "psppp"),
    "kv_store_push_async": ("i", "psppppp"),
    "kv_store_sync": ("i", "ppsppp"),
    "kv_store_sync_async": ("i", "ppsppppp"),
    "kv_store_create_index": ("i", "psnp"),
    "kv_store_drop_index": ("i", "psp"),
    "kv_store_indexes": ("i", "pppp"),
    "kv_store_explain": ("i", "ppppp"),
    "kv_store_follow": ("i", "ppsppppp"),
    "kv_store_observe": ("i", "ppppppp"),
    "kv_store_observe_by_id": ("i", "psppppp"),
    "kv_store_sync_count": ("i", "ppp"),
    "kv_store_pending": ("i", "psuppp"),
    "kv_store_pending_get": ("i", "psppp"),
    "kv_store_pending_retry": ("i", "pssp"),
    "kv_store_pending_retry_async": ("i", "pssppppp"),
    "kv_store_pending_edit": ("i", "pssnp"),
    "kv_store_pending_revert": ("i", "psp"),
    "kv_store_pending_drop": ("i", "psp"),
    "kv_store_purge": ("i", "pppp"),
    "kv_store_clear": ("i", "pppp"),
    "kv_store_set_conflict_handler": ("i", "ppppp"),
    "kv_live_register": ("i", "psp"),
    "kv_live_register_async": ("i", "psppppp"),
    "kv_live_unregister": ("i", "psp"),
    "kv_live_unregister_async": ("i", "psppppp"),
    "kv_store_subscribe": ("i", "pspppppppp"),
    "kv_stream_acl": ("i", "psssppp"),
    "kv_stream_acl_async": ("i", "psssppppp"),
    "kv_stream_set_acl": ("i", "psssnsp"),
    "kv_stream_set_acl_async": ("i", "psssnsppppp"),
    "kv_stream_owners": ("i", "pssppp"),
    "kv_stream_owners_async": ("i", "pssppppp"),
    "kv_stream_send": ("i", "psssnsp"),
    "kv_stream_send_async": ("i", "psssnsppppp"),
    "kv_stream_subscribe": ("i", "psspppppppp"),
    "kv_client_transaction": ("i", "psppp"),
    "kv_transaction_begin": ("i", "pspp"),
    "kv_transaction_find_by_id": ("i", "ppsppp"),
    "kv_transaction_find": ("i", "ppppp"),
    "kv_transaction_count": ("i", "ppppp"),
    "kv_transaction_save": ("i", "ppsnppp"),
    "kv_transaction_save_if": ("i", "ppsnsppp"),
    "kv_transaction_remove_by_id": ("i", "ppspp"),
    "kv_transaction_remove_by_id_if": ("i", "ppsspp"),
    "kv_transaction_remove": ("i", "ppppp"),
    "kv_transaction_update": ("i", "pppsnppp"),
    "kv_transaction_commit": ("i", "pp"),
    "kv_transaction_close": ("v", "p"),
    "kv_cursor_next": ("i", "pppp"),
    "kv_cursor_next_page": ("i", "pupppp"),
    "kv_cursor_close": ("v", "p"),
    "kv_store_results": ("i", "psnpspp"),
    "kv_store_results_async": ("i", "psnpsppppp"),
    "kv_results_count": ("i", "ppp"),
    "kv_results_get": ("i", "pqpppp"),
    "kv_results_page": ("i", "pqupppp"),
    "kv_results_refresh": ("i", "pp"),
    "kv_results_observe": ("i", "pppppp"),
    "kv_results_statistics": ("i", "pppp"),
    "kv_results_close": ("v", "p"),
    "kv_context_open": ("i", "pspp"),
    "kv_context_close": ("v", "p"),
    "kv_context_insert": ("i", "pssnppp"),
    "kv_context_get": ("i", "pssppp"),
    "kv_context_update": ("i", "psssnp"),
    "kv_context_set": ("i", "psssnp"),
    "kv_context_delete": ("i", "pssp"),
    "kv_context_status": ("i", "pssppp"),
    "kv_context_changes": ("i", "pppp"),
    "kv_context_fetch": ("i", "pssnppp"),
    "kv_context_related": ("i", "pssssnpp"),
    "kv_context_relationships": ("i", "psppp"),
    "kv_context_hold": ("i", "psnp"),
    "kv_context_release": ("i", "psnp"),
    "kv_context_refresh": ("i", "psnip"),
    "kv_context_undo_begin": ("i", "pp"),
    "kv_context_undo_end": ("i", "pp"),
    "kv_context_undo": ("i", "pp"),
    "kv_context_redo": ("i", "pp"),
    "kv_context_rollback": ("i", "pp"),
    "kv_context_save": ("i", "pppp"),
    "kv_context_conflicts": ("i", "pppp"),
    "kv_context_resolve": ("i", "psssnp"),
    "kv_context_save_deciding": ("i", "pppppp"),
    "kv_context_obtain_ids": ("i", "pppp"),
    "kv_context_describe": ("i", "pssppp"),
    "kv_context_locate": ("i", "psppp"),
    "kv_context_statistics": ("i", "pppp"),
    "kv_backend_register": ("i", "ssnpppp"),
    "kv_backend_unregister": ("i", "sp"),
    "kv_backend_complete": ("i", "qisnp"),
    "kv_backend_is_waiting": ("i", "q"),
    "kv_store_type_register": ("i", "ssnpppp"),
    "kv_store_type_unregister": ("i", "sp"),
    "kv_store_type_announce": ("i", "ssnp"),
    "kv_migration_register": ("i", "spppp"),
    "kv_migration_unregister": ("i", "sp"),
}
