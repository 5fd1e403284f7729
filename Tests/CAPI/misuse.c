/* Every function with every kind of handle that it must refuse. */
#include "check.h"
#include "fixture.h"

#include <time.h>

typedef enum { CLIENT, STORE, QUERY, CURSOR, REQUEST, TRANSACTION, KINDS } kind;

static int freed;
static void count_free(void *context) {
  CHECK(context == &freed);
  freed++;
}
static void never(void *context, const kv_answer *answer) {
  (void)context;
  (void)answer;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
}
static void no_event(void *context, const kv_event *event) {
  (void)context;
  (void)event;
}
static void no_log(void *context, int32_t level, const char *text) {
  (void)context;
  (void)level;
  (void)text;
}

/* Filled with what nobody may leave there. */
static char *json;
static size_t length;
static int64_t count;
static int32_t flag;
static kv_request *request;
static kv_cursor *cursor;
static kv_subscription *subscription;
static kv_transaction *transaction;
static kv_store *store;
static kv_query *made;
static int fd;

#define ASYNC never, &freed, count_free, &request, e
#define TEXT_OUT &json, &length, e
#define UPDATE "{\"$set\":{\"a\":1}}", KV_NUL_TERMINATED
#define GROUPING "{\"keys\":[\"a\"]}", KV_NUL_TERMINATED

static int32_t reduce(void *context, size_t group, const char *entity, size_t size) {
  (void)context, (void)group, (void)entity, (void)size;
  return 0;
}

static kv_status in_transaction(void *context, kv_transaction *handle) {
  (void)handle, (void)context;
  return KV_OK;
}

static kv_store *good_store;
static kv_transaction *good_transaction;

/* call_kv_x(handle, error): the function with that handle and otherwise good arguments. */
#define DEFINE(function, ...) \
  static kv_status call_##function(void *h, kv_error **e) { return function(__VA_ARGS__); }

DEFINE(kv_client_event_fd, h, &fd, e)
DEFINE(kv_client_dispatch, h, 0, NULL, e)
DEFINE(kv_client_set_log, h, 4, no_log, &freed, count_free, e)
DEFINE(kv_ping, h, NULL, TEXT_OUT)
DEFINE(kv_ping_async, h, NULL, ASYNC)
DEFINE(kv_user_signup, h, "{}", 2, NULL, TEXT_OUT)
DEFINE(kv_user_signup_async, h, "{}", 2, NULL, ASYNC)
DEFINE(kv_user_login, h, "{\"username\":\"a\",\"password\":\"b\"}", KV_NUL_TERMINATED, NULL, TEXT_OUT)
DEFINE(kv_user_login_async, h, "{\"username\":\"a\",\"password\":\"b\"}", KV_NUL_TERMINATED, NULL, ASYNC)
DEFINE(kv_user_logout, h, NULL, e)
DEFINE(kv_user_logout_async, h, NULL, ASYNC)
DEFINE(kv_user_active, h, TEXT_OUT)
DEFINE(kv_user_me, h, NULL, TEXT_OUT)
DEFINE(kv_user_me_async, h, NULL, ASYNC)
DEFINE(kv_user_update, h, "{}", 2, NULL, TEXT_OUT)
DEFINE(kv_user_update_async, h, "{}", 2, NULL, ASYNC)
DEFINE(kv_user_delete, h, NULL, e)
DEFINE(kv_user_delete_async, h, NULL, ASYNC)
DEFINE(kv_client_observe_sync, h, no_event, &freed, count_free, &subscription, e)
DEFINE(kv_user_login_page, h, "app://done", NULL, TEXT_OUT)
DEFINE(kv_user_login_with_code, h, "code", "app://done", NULL, TEXT_OUT)
DEFINE(kv_user_login_with_code_async, h, "code", "app://done", NULL, ASYNC)
DEFINE(kv_user_exists, h, "name", NULL, &flag, e)
DEFINE(kv_user_exists_async, h, "name", NULL, ASYNC)
DEFINE(kv_store_open, h, "things", "sync", NULL, &store, e)
DEFINE(kv_store_find, h, NULL, NULL, &cursor, e)
DEFINE(kv_store_find_async, h, NULL, NULL, ASYNC)
DEFINE(kv_store_find_by_id, h, "a", NULL, TEXT_OUT)
DEFINE(kv_store_find_by_id_async, h, "a", NULL, ASYNC)
DEFINE(kv_store_save, h, "{}", 2, NULL, TEXT_OUT)
DEFINE(kv_store_save_async, h, "{}", 2, NULL, ASYNC)
DEFINE(kv_store_save_many, h, "[{}]", 4, NULL, TEXT_OUT)
DEFINE(kv_store_save_many_async, h, "[{}]", 4, NULL, ASYNC)
DEFINE(kv_store_remove_by_id, h, "a", NULL, &count, e)
DEFINE(kv_store_remove_by_id_async, h, "a", NULL, ASYNC)
DEFINE(kv_store_remove, h, NULL, NULL, &count, e)
DEFINE(kv_store_remove_async, h, NULL, NULL, ASYNC)
DEFINE(kv_store_update, h, NULL, UPDATE, NULL, TEXT_OUT)
DEFINE(kv_store_update_async, h, NULL, UPDATE, NULL, ASYNC)
DEFINE(kv_store_version, h, "a", &count, e)
DEFINE(kv_store_count, h, NULL, NULL, &count, e)
DEFINE(kv_store_count_async, h, NULL, NULL, ASYNC)
DEFINE(kv_store_group, h, GROUPING, NULL, NULL, TEXT_OUT)
DEFINE(kv_store_group_async, h, GROUPING, NULL, NULL, ASYNC)
DEFINE(kv_store_reduce, h, NULL, 0, NULL, NULL, reduce, NULL, TEXT_OUT)
DEFINE(kv_store_distinct, h, "a", NULL, NULL, TEXT_OUT)
DEFINE(kv_store_distinct_async, h, "a", NULL, NULL, ASYNC)
DEFINE(kv_store_pull, h, NULL, NULL, TEXT_OUT)
DEFINE(kv_store_pull_async, h, NULL, NULL, ASYNC)
DEFINE(kv_store_push, h, NULL, TEXT_OUT)
DEFINE(kv_store_push_async, h, NULL, ASYNC)
DEFINE(kv_store_sync, h, NULL, NULL, TEXT_OUT)
DEFINE(kv_store_sync_async, h, NULL, NULL, ASYNC)
DEFINE(kv_store_create_index, h, "{\"keys\":{\"a\":1}}", KV_NUL_TERMINATED, e)
DEFINE(kv_store_drop_index, h, "none", e)
DEFINE(kv_store_indexes, h, TEXT_OUT)
DEFINE(kv_store_explain, h, NULL, TEXT_OUT)
DEFINE(kv_store_observe, h, NULL, no_event, &freed, count_free, &subscription, e)
DEFINE(kv_store_observe_by_id, h, "id", no_event, &freed, count_free, &subscription, e)
DEFINE(kv_store_set_conflict_handler, h, NULL, NULL, NULL, e)
DEFINE(kv_live_register, h, NULL, e)
DEFINE(kv_live_register_async, h, NULL, ASYNC)
DEFINE(kv_live_unregister, h, NULL, e)
DEFINE(kv_live_unregister_async, h, NULL, ASYNC)
DEFINE(kv_store_subscribe, h, NULL, NULL, no_event, NULL, NULL, &freed, count_free, &subscription, e)
DEFINE(kv_stream_acl, h, "chat", NULL, NULL, TEXT_OUT)
DEFINE(kv_stream_acl_async, h, "chat", NULL, NULL, ASYNC)
DEFINE(kv_stream_set_acl, h, "chat", NULL, "{}", 2, NULL, e)
DEFINE(kv_stream_set_acl_async, h, "chat", NULL, "{}", 2, NULL, ASYNC)
DEFINE(kv_stream_owners, h, "chat", NULL, TEXT_OUT)
DEFINE(kv_stream_owners_async, h, "chat", NULL, ASYNC)
DEFINE(kv_stream_send, h, "chat", NULL, "1", 1, NULL, e)
DEFINE(kv_stream_send_async, h, "chat", NULL, "1", 1, NULL, ASYNC)
DEFINE(kv_stream_subscribe, h, "chat", NULL, NULL, no_event, NULL, NULL, &freed, count_free,
       &subscription, e)
DEFINE(kv_store_sync_count, h, &count, e)
DEFINE(kv_store_pending, h, NULL, 0, TEXT_OUT)
DEFINE(kv_store_pending_get, h, "a", TEXT_OUT)
DEFINE(kv_store_pending_retry, h, "a", NULL, e)
DEFINE(kv_store_pending_retry_async, h, "a", NULL, ASYNC)
DEFINE(kv_store_pending_edit, h, "a", "{}", 2, e)
DEFINE(kv_store_pending_drop, h, "a", e)
DEFINE(kv_store_pending_revert, h, "a", e)
DEFINE(kv_store_purge, h, NULL, &count, e)
DEFINE(kv_store_clear, h, NULL, &count, e)
DEFINE(kv_query_json, h, TEXT_OUT)
DEFINE(kv_query_format, h, TEXT_OUT)
DEFINE(kv_cursor_next, h, (const char **)&json, &length, e)
DEFINE(kv_cursor_next_page, h, 0, (const char **)&json, &length, NULL, e)
DEFINE(kv_client_transaction, h, NULL, in_transaction, NULL, e)
DEFINE(kv_transaction_begin, h, NULL, &transaction, e)
DEFINE(kv_transaction_find_by_id, h, good_store, "a", TEXT_OUT)
DEFINE(kv_transaction_find, h, good_store, NULL, &cursor, e)
DEFINE(kv_transaction_count, h, good_store, NULL, &count, e)
DEFINE(kv_transaction_save, h, good_store, "{}", 2, TEXT_OUT)
DEFINE(kv_transaction_save_if, h, good_store, "{}", 2, NULL, TEXT_OUT)
DEFINE(kv_transaction_remove_by_id, h, good_store, "a", &count, e)
DEFINE(kv_transaction_remove_by_id_if, h, good_store, "a", NULL, &count, e)
DEFINE(kv_transaction_remove, h, good_store, NULL, &count, e)
DEFINE(kv_transaction_update, h, good_store, NULL, UPDATE, TEXT_OUT)
DEFINE(kv_transaction_commit, h, e)
DEFINE(kv_request_wait, h, 0, TEXT_OUT)
DEFINE(kv_request_cursor, h, &cursor, e)

/* With a good store, and that handle as the query. */
#define DEFINE_QUERY(function, ...) \
  static kv_status query_##function(void *h, kv_error **e) { return function(__VA_ARGS__); }
DEFINE_QUERY(kv_store_find, good_store, h, NULL, &cursor, e)
DEFINE_QUERY(kv_store_find_async, good_store, h, NULL, ASYNC)
DEFINE_QUERY(kv_store_remove, good_store, h, NULL, &count, e)
DEFINE_QUERY(kv_store_remove_async, good_store, h, NULL, ASYNC)
DEFINE_QUERY(kv_store_update, good_store, h, UPDATE, NULL, TEXT_OUT)
DEFINE_QUERY(kv_store_update_async, good_store, h, UPDATE, NULL, ASYNC)
DEFINE_QUERY(kv_transaction_find, good_transaction, good_store, h, &cursor, e)
DEFINE_QUERY(kv_transaction_count, good_transaction, good_store, h, &count, e)
DEFINE_QUERY(kv_transaction_remove, good_transaction, good_store, h, &count, e)
DEFINE_QUERY(kv_transaction_update, good_transaction, good_store, h, UPDATE, TEXT_OUT)
DEFINE_QUERY(kv_store_count, good_store, h, NULL, &count, e)
DEFINE_QUERY(kv_store_count_async, good_store, h, NULL, ASYNC)
DEFINE_QUERY(kv_store_group, good_store, GROUPING, h, NULL, TEXT_OUT)
DEFINE_QUERY(kv_store_group_async, good_store, GROUPING, h, NULL, ASYNC)
DEFINE_QUERY(kv_store_reduce, good_store, NULL, 0, h, NULL, reduce, NULL, TEXT_OUT)
DEFINE_QUERY(kv_store_distinct, good_store, "a", h, NULL, TEXT_OUT)
DEFINE_QUERY(kv_store_distinct_async, good_store, "a", h, NULL, ASYNC)
DEFINE_QUERY(kv_query_combine, "not", &(kv_query *){h}, 1, NULL, 0, &made, e)
DEFINE_QUERY(kv_store_pull, good_store, h, NULL, TEXT_OUT)
DEFINE_QUERY(kv_store_pull_async, good_store, h, NULL, ASYNC)
DEFINE_QUERY(kv_store_sync, good_store, h, NULL, TEXT_OUT)
DEFINE_QUERY(kv_store_sync_async, good_store, h, NULL, ASYNC)
DEFINE_QUERY(kv_store_purge, good_store, h, &count, e)
DEFINE_QUERY(kv_store_clear, good_store, h, &count, e)

/* Those without an error parameter; NULL means another thing for the closing ones. */
#define DEFINE_PLAIN(function, ...)                             \
  static kv_status call_##function(void *h, kv_error **e) {     \
    (void)e;                                                    \
    return function(__VA_ARGS__);                               \
  }
DEFINE_PLAIN(kv_client_close, h)
DEFINE_PLAIN(kv_store_close, h)
DEFINE_PLAIN(kv_request_cancel, h)
DEFINE_PLAIN(kv_request_progress, h, &(kv_progress){.size = sizeof(kv_progress)})

static const struct {
  const char *name;
  kind wants;
  kv_status (*call)(void *handle, kv_error **error);
  int has_error;  /* gives an error object */
  int takes_null; /* NULL is no misuse */
  int has_context;
} functions[] = {
    {"kv_client_event_fd", CLIENT, call_kv_client_event_fd, 1, 0, 0},
    {"kv_client_dispatch", CLIENT, call_kv_client_dispatch, 1, 0, 0},
    {"kv_client_observe_sync", CLIENT, call_kv_client_observe_sync, 1, 0, 1},
    {"kv_user_login_page", CLIENT, call_kv_user_login_page, 1, 0, 0},
    {"kv_user_login_with_code", CLIENT, call_kv_user_login_with_code, 1, 0, 0},
    {"kv_user_login_with_code_async", CLIENT, call_kv_user_login_with_code_async, 1, 0, 1},
    {"kv_client_set_log", CLIENT, call_kv_client_set_log, 1, 0, 1},
    {"kv_ping", CLIENT, call_kv_ping, 1, 0, 0},
    {"kv_ping_async", CLIENT, call_kv_ping_async, 1, 0, 1},
    {"kv_user_signup", CLIENT, call_kv_user_signup, 1, 0, 0},
    {"kv_user_signup_async", CLIENT, call_kv_user_signup_async, 1, 0, 1},
    {"kv_user_login", CLIENT, call_kv_user_login, 1, 0, 0},
    {"kv_user_login_async", CLIENT, call_kv_user_login_async, 1, 0, 1},
    {"kv_user_logout", CLIENT, call_kv_user_logout, 1, 0, 0},
    {"kv_user_logout_async", CLIENT, call_kv_user_logout_async, 1, 0, 1},
    {"kv_user_active", CLIENT, call_kv_user_active, 1, 0, 0},
    {"kv_user_me", CLIENT, call_kv_user_me, 1, 0, 0},
    {"kv_user_me_async", CLIENT, call_kv_user_me_async, 1, 0, 1},
    {"kv_user_update", CLIENT, call_kv_user_update, 1, 0, 0},
    {"kv_user_update_async", CLIENT, call_kv_user_update_async, 1, 0, 1},
    {"kv_user_delete", CLIENT, call_kv_user_delete, 1, 0, 0},
    {"kv_user_delete_async", CLIENT, call_kv_user_delete_async, 1, 0, 1},
    {"kv_user_exists", CLIENT, call_kv_user_exists, 1, 0, 0},
    {"kv_user_exists_async", CLIENT, call_kv_user_exists_async, 1, 0, 1},
    {"kv_store_open", CLIENT, call_kv_store_open, 1, 0, 0},
    {"kv_store_find", STORE, call_kv_store_find, 1, 0, 0},
    {"kv_store_find_async", STORE, call_kv_store_find_async, 1, 0, 1},
    {"kv_store_find_by_id", STORE, call_kv_store_find_by_id, 1, 0, 0},
    {"kv_store_find_by_id_async", STORE, call_kv_store_find_by_id_async, 1, 0, 1},
    {"kv_store_save", STORE, call_kv_store_save, 1, 0, 0},
    {"kv_store_save_async", STORE, call_kv_store_save_async, 1, 0, 1},
    {"kv_store_save_many", STORE, call_kv_store_save_many, 1, 0, 0},
    {"kv_store_save_many_async", STORE, call_kv_store_save_many_async, 1, 0, 1},
    {"kv_store_remove_by_id", STORE, call_kv_store_remove_by_id, 1, 0, 0},
    {"kv_store_remove_by_id_async", STORE, call_kv_store_remove_by_id_async, 1, 0, 1},
    {"kv_store_remove", STORE, call_kv_store_remove, 1, 0, 0},
    {"kv_store_remove_async", STORE, call_kv_store_remove_async, 1, 0, 1},
    {"kv_store_update", STORE, call_kv_store_update, 1, 0, 0},
    {"kv_store_update_async", STORE, call_kv_store_update_async, 1, 0, 1},
    {"kv_store_version", STORE, call_kv_store_version, 1, 0, 0},
    {"kv_client_transaction", CLIENT, call_kv_client_transaction, 1, 0, 0},
    {"kv_transaction_begin", CLIENT, call_kv_transaction_begin, 1, 0, 0},
    {"kv_transaction_find_by_id", TRANSACTION, call_kv_transaction_find_by_id, 1, 0, 0},
    {"kv_transaction_find", TRANSACTION, call_kv_transaction_find, 1, 0, 0},
    {"kv_transaction_count", TRANSACTION, call_kv_transaction_count, 1, 0, 0},
    {"kv_transaction_save", TRANSACTION, call_kv_transaction_save, 1, 0, 0},
    {"kv_transaction_save_if", TRANSACTION, call_kv_transaction_save_if, 1, 0, 0},
    {"kv_transaction_remove_by_id", TRANSACTION, call_kv_transaction_remove_by_id, 1, 0, 0},
    {"kv_transaction_remove_by_id_if", TRANSACTION, call_kv_transaction_remove_by_id_if, 1, 0, 0},
    {"kv_transaction_remove", TRANSACTION, call_kv_transaction_remove, 1, 0, 0},
    {"kv_transaction_update", TRANSACTION, call_kv_transaction_update, 1, 0, 0},
    {"kv_transaction_commit", TRANSACTION, call_kv_transaction_commit, 1, 0, 0},
    {"kv_store_update (as query)", QUERY, query_kv_store_update, 1, 1, 0},
    {"kv_store_update_async (as query)", QUERY, query_kv_store_update_async, 1, 1, 1},
    {"kv_transaction_find (as query)", QUERY, query_kv_transaction_find, 1, 1, 0},
    {"kv_transaction_count (as query)", QUERY, query_kv_transaction_count, 1, 1, 0},
    {"kv_transaction_remove (as query)", QUERY, query_kv_transaction_remove, 1, 1, 0},
    {"kv_transaction_update (as query)", QUERY, query_kv_transaction_update, 1, 1, 0},
    {"kv_store_count", STORE, call_kv_store_count, 1, 0, 0},
    {"kv_store_count_async", STORE, call_kv_store_count_async, 1, 0, 1},
    {"kv_store_group", STORE, call_kv_store_group, 1, 0, 0},
    {"kv_store_group_async", STORE, call_kv_store_group_async, 1, 0, 1},
    {"kv_store_reduce", STORE, call_kv_store_reduce, 1, 0, 0},
    {"kv_store_distinct", STORE, call_kv_store_distinct, 1, 0, 0},
    {"kv_store_distinct_async", STORE, call_kv_store_distinct_async, 1, 0, 1},
    {"kv_store_pull", STORE, call_kv_store_pull, 1, 0, 0},
    {"kv_store_pull_async", STORE, call_kv_store_pull_async, 1, 0, 1},
    {"kv_store_push", STORE, call_kv_store_push, 1, 0, 0},
    {"kv_store_push_async", STORE, call_kv_store_push_async, 1, 0, 1},
    {"kv_store_sync", STORE, call_kv_store_sync, 1, 0, 0},
    {"kv_store_sync_async", STORE, call_kv_store_sync_async, 1, 0, 1},
    {"kv_store_create_index", STORE, call_kv_store_create_index, 1, 0, 0},
    {"kv_store_drop_index", STORE, call_kv_store_drop_index, 1, 0, 0},
    {"kv_store_indexes", STORE, call_kv_store_indexes, 1, 0, 0},
    {"kv_store_explain", STORE, call_kv_store_explain, 1, 0, 0},
    {"kv_store_observe", STORE, call_kv_store_observe, 1, 0, 1},
    {"kv_store_observe_by_id", STORE, call_kv_store_observe_by_id, 1, 0, 1},
    {"kv_store_set_conflict_handler", STORE, call_kv_store_set_conflict_handler, 1, 0, 0},
    {"kv_live_register", CLIENT, call_kv_live_register, 1, 0, 0},
    {"kv_live_register_async", CLIENT, call_kv_live_register_async, 1, 0, 1},
    {"kv_live_unregister", CLIENT, call_kv_live_unregister, 1, 0, 0},
    {"kv_live_unregister_async", CLIENT, call_kv_live_unregister_async, 1, 0, 1},
    {"kv_store_subscribe", STORE, call_kv_store_subscribe, 1, 0, 1},
    {"kv_stream_acl", CLIENT, call_kv_stream_acl, 1, 0, 0},
    {"kv_stream_acl_async", CLIENT, call_kv_stream_acl_async, 1, 0, 1},
    {"kv_stream_set_acl", CLIENT, call_kv_stream_set_acl, 1, 0, 0},
    {"kv_stream_set_acl_async", CLIENT, call_kv_stream_set_acl_async, 1, 0, 1},
    {"kv_stream_owners", CLIENT, call_kv_stream_owners, 1, 0, 0},
    {"kv_stream_owners_async", CLIENT, call_kv_stream_owners_async, 1, 0, 1},
    {"kv_stream_send", CLIENT, call_kv_stream_send, 1, 0, 0},
    {"kv_stream_send_async", CLIENT, call_kv_stream_send_async, 1, 0, 1},
    {"kv_stream_subscribe", CLIENT, call_kv_stream_subscribe, 1, 0, 1},
    {"kv_store_sync_count", STORE, call_kv_store_sync_count, 1, 0, 0},
    {"kv_store_pending", STORE, call_kv_store_pending, 1, 0, 0},
    {"kv_store_pending_get", STORE, call_kv_store_pending_get, 1, 0, 0},
    {"kv_store_pending_retry", STORE, call_kv_store_pending_retry, 1, 0, 0},
    {"kv_store_pending_retry_async", STORE, call_kv_store_pending_retry_async, 1, 0, 1},
    {"kv_store_pending_edit", STORE, call_kv_store_pending_edit, 1, 0, 0},
    {"kv_store_pending_drop", STORE, call_kv_store_pending_drop, 1, 0, 0},
    {"kv_store_pending_revert", STORE, call_kv_store_pending_revert, 1, 0, 0},
    {"kv_store_purge", STORE, call_kv_store_purge, 1, 0, 0},
    {"kv_store_clear", STORE, call_kv_store_clear, 1, 0, 0},
    {"kv_query_json", QUERY, call_kv_query_json, 1, 0, 0},
    {"kv_query_format", QUERY, call_kv_query_format, 1, 0, 0},
    {"kv_cursor_next", CURSOR, call_kv_cursor_next, 1, 0, 0},
    {"kv_cursor_next_page", CURSOR, call_kv_cursor_next_page, 1, 0, 0},
    {"kv_request_wait", REQUEST, call_kv_request_wait, 1, 0, 0},
    {"kv_request_cursor", REQUEST, call_kv_request_cursor, 1, 0, 0},
    {"kv_store_find (as query)", QUERY, query_kv_store_find, 1, 1, 0},
    {"kv_store_find_async (as query)", QUERY, query_kv_store_find_async, 1, 1, 1},
    {"kv_store_remove (as query)", QUERY, query_kv_store_remove, 1, 1, 0},
    {"kv_store_remove_async (as query)", QUERY, query_kv_store_remove_async, 1, 1, 1},
    {"kv_store_count (as query)", QUERY, query_kv_store_count, 1, 1, 0},
    {"kv_store_count_async (as query)", QUERY, query_kv_store_count_async, 1, 1, 1},
    {"kv_store_group (as query)", QUERY, query_kv_store_group, 1, 1, 0},
    {"kv_store_group_async (as query)", QUERY, query_kv_store_group_async, 1, 1, 1},
    {"kv_store_reduce (as query)", QUERY, query_kv_store_reduce, 1, 1, 0},
    {"kv_store_distinct (as query)", QUERY, query_kv_store_distinct, 1, 1, 0},
    {"kv_store_distinct_async (as query)", QUERY, query_kv_store_distinct_async, 1, 1, 1},
    {"kv_query_combine (as query)", QUERY, query_kv_query_combine, 1, 1, 0},
    {"kv_store_pull (as query)", QUERY, query_kv_store_pull, 1, 1, 0},
    {"kv_store_pull_async (as query)", QUERY, query_kv_store_pull_async, 1, 1, 1},
    {"kv_store_sync (as query)", QUERY, query_kv_store_sync, 1, 1, 0},
    {"kv_store_sync_async (as query)", QUERY, query_kv_store_sync_async, 1, 1, 1},
    {"kv_store_purge (as query)", QUERY, query_kv_store_purge, 1, 1, 0},
    {"kv_store_clear (as query)", QUERY, query_kv_store_clear, 1, 1, 0},
    {"kv_client_close", CLIENT, call_kv_client_close, 0, 1, 0},
    {"kv_store_close", STORE, call_kv_store_close, 0, 1, 0},
    {"kv_request_cancel", REQUEST, call_kv_request_cancel, 0, 0, 0},
    {"kv_request_progress", REQUEST, call_kv_request_progress, 0, 0, 0},
};
#define FUNCTIONS (sizeof functions / sizeof *functions)

/* Functions that only give something back: nothing may happen, or the number of nothing. */
static void harmless(void *handle) {
  NUMBER(KV_MISUSE, kv_error_status(handle));
  TEXT("", kv_error_message(handle));
  TEXT("{}", kv_error_json(handle));
  kv_error_free(handle);
  kv_query_free(handle);
  kv_cursor_close(handle);
  kv_request_free(handle);
  kv_transaction_close(handle);
  NUMBER(handle ? KV_MISUSE : KV_OK, kv_subscription_close(handle));
  NUMBER(1, kv_request_is_done(handle));
}

/* One function with one handle. */
static void refuses(size_t index, void *handle) {
  kv_error *error = (kv_error *)(intptr_t)0x5A5A;
  json = (char *)(intptr_t)0x5A5A;
  length = 77;
  request = (kv_request *)(intptr_t)0x5A5A;
  freed = 0;
  kv_status status = functions[index].call(handle, &error);
  if (status != KV_MISUSE || freed != functions[index].has_context) {
    char text[200];
    snprintf(text, sizeof text, "%s(%p) gave %s and freed the context %d times",
             functions[index].name, handle, kv_status_name(status), freed);
    check_report(__LINE__, __FILE__, text);
  }
  CHECK(json == NULL || json == (char *)(intptr_t)0x5A5A);
  CHECK(request == NULL || request == (kv_request *)(intptr_t)0x5A5A);
  if (!functions[index].has_error) return;
  NUMBER(KV_MISUSE, kv_error_status(error));
  CHECK(strlen(kv_error_message(error)) > 5);
  kv_error_free(error);
}

static void foreign_handles(void) {
  int on_stack = 42;
  void *on_heap = malloc(64);
  void *foreign[] = {(void *)1,
                     (void *)3,
                     (void *)8,
                     (void *)(intptr_t)-1,
                     (void *)(intptr_t)-2,
                     &on_stack,
                     (char *)&on_stack + 1,
                     on_heap,
                     (char *)on_heap + 1,
                     (void *)(uintptr_t)0x5DEECE66D5DEECE6,
                     (void *)(uintptr_t)0x9E3779B97F4A7C15,
                     (void *)(intptr_t)&refuses,
                     (void *)"text"};
  for (size_t f = 0; f < FUNCTIONS; f++) {
    if (!functions[f].takes_null) refuses(f, NULL);
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) refuses(f, foreign[i]);
  }
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) harmless(foreign[i]);
  NUMBER(42, on_stack);
  free(on_heap);
}

/* One open handle of each kind. */
static kv_client *client;
static void *handles[KINDS];

static void open_all(void) {
  kv_query *query = NULL;
  client = local_client(NULL, "");
  good_store = opened_store(client, "things", "sync");
  saved(good_store, "{\"_id\":\"a\"}");
  OK(kv_query_create(NULL, 0, NULL, 0, &query, &error));
  OK(kv_store_find(good_store, NULL, NULL, &cursor, &error));
  OK(kv_store_count_async(good_store, NULL, NULL, NULL, NULL, NULL, &request, &error));
  OK(kv_transaction_begin(client, NULL, &good_transaction, &error));
  handles[TRANSACTION] = good_transaction;
  handles[CLIENT] = client;
  handles[STORE] = good_store;
  handles[QUERY] = query;
  handles[CURSOR] = cursor;
  handles[REQUEST] = request;
}

static void random_handles(void) {
  uint64_t seed = (uint64_t)time(NULL);
  const char *given = getenv("KV_SEED");
  if (given != NULL) seed = strtoull(given, NULL, 0);
  open_all();
  for (int i = 0; i < 20000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t noise = seed >> 7;
    /* Half of them: a good handle with one bit wrong. */
    uint64_t bits = (i & 1) ? noise : (uint64_t)(uintptr_t)handles[i / 2 % KINDS] ^ 1ull << noise % 64;
    refuses((size_t)(noise >> 8) % FUNCTIONS, (void *)(uintptr_t)bits);
  }
  if (check_failures_of_test) printf("    KV_SEED=%" PRIu64 "\n", seed);
  kv_query_free(handles[QUERY]);
  OK(kv_client_close(client));
}

static void wrong_kinds(void) {
  kv_error *misuse = NULL;
  open_all();
  NUMBER(KV_MISUSE, kv_query_json(NULL, &json, NULL, &misuse));
  for (size_t f = 0; f < FUNCTIONS; f++) {
    for (int k = 0; k < KINDS; k++)
      if (k != (int)functions[f].wants) refuses(f, handles[k]);
    refuses(f, misuse);
  }
  kv_error_free(misuse);
  harmless(client);
  harmless(good_store);
  NUMBER(1, counted(good_store));
  kv_query_free(handles[QUERY]);
  OK(kv_client_close(client));
}

static void closed_handles(void) {
  open_all();
  kv_query_free(handles[QUERY]);
  kv_cursor_close(handles[CURSOR]);
  kv_request_free(handles[REQUEST]);
  kv_transaction_close(handles[TRANSACTION]);
  for (size_t f = 0; f < FUNCTIONS; f++)
    if (functions[f].wants >= QUERY) refuses(f, handles[functions[f].wants]);
  OK(kv_store_close(good_store));
  for (size_t f = 0; f < FUNCTIONS; f++)
    if (functions[f].wants == STORE) refuses(f, good_store);
  OK(kv_client_close(client));
  for (size_t f = 0; f < FUNCTIONS; f++) refuses(f, handles[functions[f].wants]);
  for (int k = 0; k < KINDS; k++) harmless(handles[k]);
}

static void children_of_a_closed_client(void) {
  open_all();
  OK(kv_client_close(client));
  NUMBER(0, kv_live_objects("store"));
  NUMBER(0, kv_live_objects("cursor"));
  NUMBER(0, kv_live_objects("request"));
  NUMBER(0, kv_live_objects("transaction"));
  for (size_t f = 0; f < FUNCTIONS; f++)
    if (functions[f].wants != QUERY) refuses(f, handles[functions[f].wants]);
  kv_query_free(handles[QUERY]);
}

/* Where a result has to go somewhere, NULL is a misuse; where it need not, it is not. */
static void missing_outputs(void) {
  char *text = NULL;
  kv_progress small = {.size = 8};
  open_all();
  FAILS(KV_MISUSE, "client_out", kv_client_open("{}", 2, NULL, &error));
  FAILS(KV_MISUSE, "store_out", kv_store_open(client, "c", "sync", NULL, NULL, &error));
  FAILS(KV_MISUSE, "query_out", kv_query_create(NULL, 0, NULL, 0, NULL, &error));
  FAILS(KV_MISUSE, "fd_out", kv_client_event_fd(client, NULL, &error));
  FAILS(KV_MISUSE, "cursor_out", kv_store_find(good_store, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "cursor_out", kv_request_cursor(request, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_store_find_by_id(good_store, "a", NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_cursor_next(cursor, NULL, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_cursor_next_page(cursor, 1, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_query_json(handles[QUERY], NULL, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_query_format(handles[QUERY], NULL, NULL, &error));
  FAILS(KV_MISUSE, "query_out",
        kv_query_from_format("a == 1", NULL, 0, NULL, 0, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_store_pending(good_store, NULL, 0, NULL, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_store_pending_get(good_store, "a", NULL, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_user_active(client, NULL, NULL, &error));
  FAILS(KV_MISUSE, "json_out", kv_ping(client, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "count_out", kv_store_count(good_store, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "count_out", kv_store_sync_count(good_store, NULL, &error));
  FAILS(KV_MISUSE, "transaction_out", kv_transaction_begin(client, NULL, NULL, &error));
  FAILS(KV_MISUSE, "count_out", kv_store_version(good_store, "a", NULL, &error));
  FAILS(KV_MISUSE, "json_out",
        kv_transaction_find_by_id(good_transaction, good_store, "a", NULL, NULL, &error));
  FAILS(KV_MISUSE, "cursor_out",
        kv_transaction_find(good_transaction, good_store, NULL, NULL, &error));
  FAILS(KV_MISUSE, "count_out",
        kv_transaction_count(good_transaction, good_store, NULL, NULL, &error));
  FAILS(KV_MISUSE, "exists_out", kv_user_exists(client, "n", NULL, NULL, &error));
  NUMBER(KV_MISUSE, kv_request_progress(request, NULL));
  NUMBER(KV_MISUSE, kv_request_progress(request, &small));

  OK(kv_store_find_by_id(good_store, "a", NULL, &text, NULL, &error));
  kv_free(text);
  OK(kv_store_save(good_store, "{}", 2, NULL, NULL, NULL, &error));
  OK(kv_store_save_many(good_store, "[{}]", 4, NULL, NULL, NULL, &error));
  OK(kv_store_remove_by_id(good_store, "a", NULL, NULL, &error));
  OK(kv_store_remove(good_store, NULL, NULL, NULL, &error));
  OK(kv_store_purge(good_store, NULL, NULL, &error));
  OK(kv_store_clear(good_store, NULL, NULL, &error));
  OK(kv_request_wait(request, -1, NULL, NULL, &error));
  kv_query_free(handles[QUERY]);
  OK(kv_client_close(client));
}

static void missing_inputs(void) {
  open_all();
  FAILS(KV_MISUSE, "options_json", kv_client_open(NULL, 0, &client, &error));
  client = handles[CLIENT];
  FAILS(KV_MISUSE, "collection", kv_store_open(client, NULL, "sync", NULL, &store, &error));
  FAILS(KV_MISUSE, "type", kv_store_open(client, "c", NULL, NULL, &store, &error));
  FAILS(KV_MISUSE, "id", kv_store_find_by_id(good_store, NULL, NULL, &json, NULL, &error));
  FAILS(KV_MISUSE, "id", kv_store_remove_by_id(good_store, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "entity_json", kv_store_save(good_store, NULL, 0, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "entities_json", kv_store_save_many(good_store, NULL, 0, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "update_json",
        kv_store_update(good_store, NULL, NULL, 0, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "id", kv_store_version(good_store, NULL, &count, &error));
  FAILS(KV_MISUSE, "body", kv_client_transaction(client, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "entity_json",
        kv_transaction_save(good_transaction, good_store, NULL, 0, NULL, NULL, &error));
  FAILS(KV_MISUSE, "id",
        kv_transaction_remove_by_id(good_transaction, good_store, NULL, NULL, &error));
  FAILS(KV_MISUSE, "", kv_transaction_count(good_transaction, NULL, NULL, &count, &error));
  FAILS(KV_MISUSE, "id", kv_store_pending_get(good_store, NULL, &json, NULL, &error));
  FAILS(KV_MISUSE, "id", kv_store_pending_drop(good_store, NULL, &error));
  FAILS(KV_MISUSE, "id", kv_store_pending_revert(good_store, NULL, &error));
  FAILS(KV_MISUSE, "id", kv_store_pending_edit(good_store, NULL, "{}", 2, &error));
  FAILS(KV_MISUSE, "entity_json", kv_store_pending_edit(good_store, "a", NULL, 0, &error));
  FAILS(KV_MISUSE, "id", kv_store_pending_retry(good_store, NULL, NULL, &error));
  FAILS(KV_MISUSE, "credentials_json", kv_user_login(client, NULL, 0, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "user_json", kv_user_update(client, NULL, 0, NULL, NULL, NULL, &error));
  FAILS(KV_MISUSE, "username", kv_user_exists(client, NULL, NULL, &flag, &error));
  kv_query_free(handles[QUERY]);
  OK(kv_client_close(client));
}

int main(void) {
  RUN("NULL and pointers that are no handles are refused by every function", foreign_handles);
  RUN("a handle of another kind is refused by every function", wrong_kinds);
  RUN("a closed handle is refused by every function", closed_handles);
  RUN("closing a client closes its stores, cursors and requests", children_of_a_closed_client);
  RUN("random bits and handles with one bit wrong are refused", random_handles);
  RUN("a result that must go somewhere needs a place, another needs none", missing_outputs);
  RUN("a text that must be there is missed by name", missing_inputs);
  return finish();
}
