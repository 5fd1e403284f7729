/* Calls with one argument that is to be refused, and otherwise good ones. Made by
 * scripts/generate_abi.py from kvstore.h: do not edit. */
static int32_t no_kv_key_fn(void *context, const char *directory, unsigned char *key_out, size_t capacity, size_t *length_out) {
  (void)context, (void)directory, (void)key_out, (void)capacity, (void)length_out;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
  return 0;
}
static kv_status no_kv_token_fn(void *context, const char *provider, const char *former, int32_t is_refused, char **token_out) {
  (void)context, (void)provider, (void)former, (void)is_refused, (void)token_out;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
  return 0;
}
static void no_kv_log_fn(void *context, int32_t level, const char *text) {
  (void)context, (void)level, (void)text;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
}
static void no_kv_answer_fn(void *context, const kv_answer *answer) {
  (void)context, (void)answer;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
}
static void no_kv_event_fn(void *context, const kv_event *event) {
  (void)context, (void)event;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
}
static int32_t no_kv_reduce_fn(void *context, size_t group, const char *entity_json, size_t length) {
  (void)context, (void)group, (void)entity_json, (void)length;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
  return 0;
}
static int32_t no_kv_conflict_fn(void *context, const kv_conflict *conflict, char **merged_out) {
  (void)context, (void)conflict, (void)merged_out;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
  return 0;
}
static kv_status no_kv_transaction_fn(void *context, kv_transaction *transaction) {
  (void)context, (void)transaction;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
  return 0;
}
static void no_kv_merge_fn(void *context, kv_context *objects, const char *conflict_json) {
  (void)context, (void)objects, (void)conflict_json;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
}
static kv_status no_kv_migration_fn(void *context, const kv_migration *migration, char **text_out) {
  (void)context, (void)migration, (void)text_out;
  check_report(__LINE__, __FILE__, "a callback came for a call that failed");
  return 0;
}

static kv_status handle_kv_client_change_key_client(void *a, kv_error **e) { return kv_client_change_key(a, "a", "{}", KV_NUL_TERMINATED, &json, &length, e); }
static kv_status handle_kv_client_repair_client(void *a, kv_error **e) { return kv_client_repair(a, &json, &length, e); }
static kv_status handle_kv_client_close_client(void *a, kv_error **e) { (void)e; return kv_client_close(a); }
static kv_status handle_kv_client_event_fd_client(void *a, kv_error **e) { return kv_client_event_fd(a, &fd, e); }
static kv_status handle_kv_client_dispatch_client(void *a, kv_error **e) { return kv_client_dispatch(a, 0, &number, e); }
static kv_status handle_kv_client_set_token_provider_client(void *a, kv_error **e) { return kv_client_set_token_provider(a, no_kv_token_fn, &freed, count_free, e); }
static kv_status handle_kv_client_set_log_client(void *a, kv_error **e) { return kv_client_set_log(a, 4, no_kv_log_fn, &freed, count_free, e); }
static kv_status handle_kv_request_wait_request(void *a, kv_error **e) { return kv_request_wait(a, 0, &json, &length, e); }
static kv_status handle_kv_request_cursor_request(void *a, kv_error **e) { return kv_request_cursor(a, &made_cursor, e); }
static kv_status handle_kv_request_results_request(void *a, kv_error **e) { return kv_request_results(a, &made_results, e); }
static kv_status handle_kv_request_cancel_request(void *a, kv_error **e) { (void)e; return kv_request_cancel(a); }
static kv_status handle_kv_request_progress_request(void *a, kv_error **e) { (void)e; return kv_request_progress(a, &(kv_progress){.size = sizeof(kv_progress)}); }
static kv_status handle_kv_subscription_close_subscription(void *a, kv_error **e) { (void)e; return kv_subscription_close(a); }
static kv_status handle_kv_subscription_end_subscription(void *a, kv_error **e) { return kv_subscription_end(a, NULL, e); }
static kv_status handle_kv_subscription_end_async_subscription(void *a, kv_error **e) { return kv_subscription_end_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_client_observe_sync_client(void *a, kv_error **e) { return kv_client_observe_sync(a, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_client_start_sync_client(void *a, kv_error **e) { return kv_client_start_sync(a, e); }
static kv_status handle_kv_client_stop_sync_client(void *a, kv_error **e) { return kv_client_stop_sync(a, e); }
static kv_status handle_kv_client_clear_client(void *a, kv_error **e) { return kv_client_clear(a, 0, e); }
static kv_status handle_kv_client_set_sync_expression_client(void *a, kv_error **e) { return kv_client_set_sync_expression(a, "a", "a", e); }
static kv_status handle_kv_client_status_client(void *a, kv_error **e) { return kv_client_status(a, &json, &length, e); }
static kv_status handle_kv_client_compact_client(void *a, kv_error **e) { return kv_client_compact(a, NULL, &json, &length, e); }
static kv_status handle_kv_client_compact_async_client(void *a, kv_error **e) { return kv_client_compact_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_client_backup_client(void *a, kv_error **e) { return kv_client_backup(a, "a", NULL, &json, &length, e); }
static kv_status handle_kv_client_backup_async_client(void *a, kv_error **e) { return kv_client_backup_async(a, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_client_observe_status_client(void *a, kv_error **e) { return kv_client_observe_status(a, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_ping_client(void *a, kv_error **e) { return kv_ping(a, NULL, &json, &length, e); }
static kv_status handle_kv_ping_async_client(void *a, kv_error **e) { return kv_ping_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_user_signup_client(void *a, kv_error **e) { return kv_user_signup(a, "{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_user_signup_async_client(void *a, kv_error **e) { return kv_user_signup_async(a, "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_user_login_client(void *a, kv_error **e) { return kv_user_login(a, "{\"username\":\"a\",\"password\":\"b\"}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_user_login_async_client(void *a, kv_error **e) { return kv_user_login_async(a, "{\"username\":\"a\",\"password\":\"b\"}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_user_login_page_client(void *a, kv_error **e) { return kv_user_login_page(a, "a", NULL, &json, &length, e); }
static kv_status handle_kv_user_login_with_code_client(void *a, kv_error **e) { return kv_user_login_with_code(a, "a", "a", NULL, &json, &length, e); }
static kv_status handle_kv_user_login_with_code_async_client(void *a, kv_error **e) { return kv_user_login_with_code_async(a, "a", "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_user_logout_client(void *a, kv_error **e) { return kv_user_logout(a, NULL, e); }
static kv_status handle_kv_user_logout_async_client(void *a, kv_error **e) { return kv_user_logout_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_user_active_client(void *a, kv_error **e) { return kv_user_active(a, &json, &length, e); }
static kv_status handle_kv_user_me_client(void *a, kv_error **e) { return kv_user_me(a, NULL, &json, &length, e); }
static kv_status handle_kv_user_me_async_client(void *a, kv_error **e) { return kv_user_me_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_user_update_client(void *a, kv_error **e) { return kv_user_update(a, "{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_user_update_async_client(void *a, kv_error **e) { return kv_user_update_async(a, "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_user_delete_client(void *a, kv_error **e) { return kv_user_delete(a, NULL, e); }
static kv_status handle_kv_user_delete_async_client(void *a, kv_error **e) { return kv_user_delete_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_user_exists_client(void *a, kv_error **e) { return kv_user_exists(a, "a", NULL, &flag, e); }
static kv_status handle_kv_user_exists_async_client(void *a, kv_error **e) { return kv_user_exists_async(a, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_user_lookup_client(void *a, kv_error **e) { return kv_user_lookup(a, "{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_user_lookup_async_client(void *a, kv_error **e) { return kv_user_lookup_async(a, "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_group_create_client(void *a, kv_error **e) { return kv_group_create(a, "{\"keys\":[\"a\"]}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_group_create_async_client(void *a, kv_error **e) { return kv_group_create_async(a, "{\"keys\":[\"a\"]}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_group_read_client(void *a, kv_error **e) { return kv_group_read(a, "a", NULL, &json, &length, e); }
static kv_status handle_kv_group_read_async_client(void *a, kv_error **e) { return kv_group_read_async(a, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_group_list_client(void *a, kv_error **e) { return kv_group_list(a, NULL, &json, &length, e); }
static kv_status handle_kv_group_list_async_client(void *a, kv_error **e) { return kv_group_list_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_group_update_client(void *a, kv_error **e) { return kv_group_update(a, "a", "{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_group_update_async_client(void *a, kv_error **e) { return kv_group_update_async(a, "a", "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_group_delete_client(void *a, kv_error **e) { return kv_group_delete(a, "a", NULL, e); }
static kv_status handle_kv_group_delete_async_client(void *a, kv_error **e) { return kv_group_delete_async(a, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_query_combine_queries(void *a, kv_error **e) { return kv_query_combine("not", (kv_query *[]){a}, 1, "{}", KV_NUL_TERMINATED, &made_query, e); }
static kv_status handle_kv_query_format_query(void *a, kv_error **e) { return kv_query_format(a, &json, &length, e); }
static kv_status handle_kv_query_json_query(void *a, kv_error **e) { return kv_query_json(a, &json, &length, e); }
static kv_status handle_kv_store_open_client(void *a, kv_error **e) { return kv_store_open(a, "a", "sync", NULL, &made_store, e); }
static kv_status handle_kv_store_close_store(void *a, kv_error **e) { (void)e; return kv_store_close(a); }
static kv_status handle_kv_store_find_store(void *a, kv_error **e) { return kv_store_find(a, good_query, NULL, &made_cursor, e); }
static kv_status handle_kv_store_find_query(void *a, kv_error **e) { return kv_store_find(good_store, a, NULL, &made_cursor, e); }
static kv_status handle_kv_store_find_async_store(void *a, kv_error **e) { return kv_store_find_async(a, good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_find_async_query(void *a, kv_error **e) { return kv_store_find_async(good_store, a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_related_store(void *a, kv_error **e) { return kv_store_related(a, "a", "a", &json, &length, e); }
static kv_status handle_kv_store_find_by_id_store(void *a, kv_error **e) { return kv_store_find_by_id(a, "a", NULL, &json, &length, e); }
static kv_status handle_kv_store_find_by_id_async_store(void *a, kv_error **e) { return kv_store_find_by_id_async(a, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_find_by_ids_store(void *a, kv_error **e) { return kv_store_find_by_ids(a, "{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_store_find_by_ids_async_store(void *a, kv_error **e) { return kv_store_find_by_ids_async(a, "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_save_store(void *a, kv_error **e) { return kv_store_save(a, "{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_store_save_async_store(void *a, kv_error **e) { return kv_store_save_async(a, "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_save_many_store(void *a, kv_error **e) { return kv_store_save_many(a, "[{}]", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_store_save_many_async_store(void *a, kv_error **e) { return kv_store_save_many_async(a, "[{}]", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_remove_by_id_store(void *a, kv_error **e) { return kv_store_remove_by_id(a, "a", NULL, &count, e); }
static kv_status handle_kv_store_remove_by_id_async_store(void *a, kv_error **e) { return kv_store_remove_by_id_async(a, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_remove_store(void *a, kv_error **e) { return kv_store_remove(a, good_query, NULL, &count, e); }
static kv_status handle_kv_store_remove_query(void *a, kv_error **e) { return kv_store_remove(good_store, a, NULL, &count, e); }
static kv_status handle_kv_store_remove_async_store(void *a, kv_error **e) { return kv_store_remove_async(a, good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_remove_async_query(void *a, kv_error **e) { return kv_store_remove_async(good_store, a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_update_store(void *a, kv_error **e) { return kv_store_update(a, good_query, "{\"$set\":{\"a\":1}}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_store_update_query(void *a, kv_error **e) { return kv_store_update(good_store, a, "{\"$set\":{\"a\":1}}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_store_update_async_store(void *a, kv_error **e) { return kv_store_update_async(a, good_query, "{\"$set\":{\"a\":1}}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_update_async_query(void *a, kv_error **e) { return kv_store_update_async(good_store, a, "{\"$set\":{\"a\":1}}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_share_store(void *a, kv_error **e) { return kv_store_share(a, "a", "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status handle_kv_store_share_async_store(void *a, kv_error **e) { return kv_store_share_async(a, "a", "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_unshare_store(void *a, kv_error **e) { return kv_store_unshare(a, "a", "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status handle_kv_store_unshare_async_store(void *a, kv_error **e) { return kv_store_unshare_async(a, "a", "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_version_store(void *a, kv_error **e) { return kv_store_version(a, "a", &count, e); }
static kv_status handle_kv_store_count_store(void *a, kv_error **e) { return kv_store_count(a, good_query, NULL, &count, e); }
static kv_status handle_kv_store_count_query(void *a, kv_error **e) { return kv_store_count(good_store, a, NULL, &count, e); }
static kv_status handle_kv_store_count_async_store(void *a, kv_error **e) { return kv_store_count_async(a, good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_count_async_query(void *a, kv_error **e) { return kv_store_count_async(good_store, a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_group_store(void *a, kv_error **e) { return kv_store_group(a, "{\"keys\":[\"a\"]}", KV_NUL_TERMINATED, good_query, NULL, &json, &length, e); }
static kv_status handle_kv_store_group_query(void *a, kv_error **e) { return kv_store_group(good_store, "{\"keys\":[\"a\"]}", KV_NUL_TERMINATED, a, NULL, &json, &length, e); }
static kv_status handle_kv_store_group_async_store(void *a, kv_error **e) { return kv_store_group_async(a, "{\"keys\":[\"a\"]}", KV_NUL_TERMINATED, good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_group_async_query(void *a, kv_error **e) { return kv_store_group_async(good_store, "{\"keys\":[\"a\"]}", KV_NUL_TERMINATED, a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_reduce_store(void *a, kv_error **e) { return kv_store_reduce(a, "[\"a\"]", KV_NUL_TERMINATED, good_query, NULL, no_kv_reduce_fn, &freed, &json, &length, e); }
static kv_status handle_kv_store_reduce_query(void *a, kv_error **e) { return kv_store_reduce(good_store, "[\"a\"]", KV_NUL_TERMINATED, a, NULL, no_kv_reduce_fn, &freed, &json, &length, e); }
static kv_status handle_kv_store_distinct_store(void *a, kv_error **e) { return kv_store_distinct(a, "a", good_query, NULL, &json, &length, e); }
static kv_status handle_kv_store_distinct_query(void *a, kv_error **e) { return kv_store_distinct(good_store, "a", a, NULL, &json, &length, e); }
static kv_status handle_kv_store_distinct_async_store(void *a, kv_error **e) { return kv_store_distinct_async(a, "a", good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_distinct_async_query(void *a, kv_error **e) { return kv_store_distinct_async(good_store, "a", a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_pull_store(void *a, kv_error **e) { return kv_store_pull(a, good_query, NULL, &json, &length, e); }
static kv_status handle_kv_store_pull_query(void *a, kv_error **e) { return kv_store_pull(good_store, a, NULL, &json, &length, e); }
static kv_status handle_kv_store_pull_async_store(void *a, kv_error **e) { return kv_store_pull_async(a, good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_pull_async_query(void *a, kv_error **e) { return kv_store_pull_async(good_store, a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_push_store(void *a, kv_error **e) { return kv_store_push(a, NULL, &json, &length, e); }
static kv_status handle_kv_store_push_async_store(void *a, kv_error **e) { return kv_store_push_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_sync_store(void *a, kv_error **e) { return kv_store_sync(a, good_query, NULL, &json, &length, e); }
static kv_status handle_kv_store_sync_query(void *a, kv_error **e) { return kv_store_sync(good_store, a, NULL, &json, &length, e); }
static kv_status handle_kv_store_sync_async_store(void *a, kv_error **e) { return kv_store_sync_async(a, good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_sync_async_query(void *a, kv_error **e) { return kv_store_sync_async(good_store, a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_create_index_store(void *a, kv_error **e) { return kv_store_create_index(a, "{\"keys\":{\"a\":1}}", KV_NUL_TERMINATED, e); }
static kv_status handle_kv_store_drop_index_store(void *a, kv_error **e) { return kv_store_drop_index(a, "a", e); }
static kv_status handle_kv_store_indexes_store(void *a, kv_error **e) { return kv_store_indexes(a, &json, &length, e); }
static kv_status handle_kv_store_explain_store(void *a, kv_error **e) { return kv_store_explain(a, good_query, &json, &length, e); }
static kv_status handle_kv_store_explain_query(void *a, kv_error **e) { return kv_store_explain(good_store, a, &json, &length, e); }
static kv_status handle_kv_store_follow_store(void *a, kv_error **e) { return kv_store_follow(a, good_query, NULL, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_store_follow_query(void *a, kv_error **e) { return kv_store_follow(good_store, a, NULL, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_store_observe_store(void *a, kv_error **e) { return kv_store_observe(a, good_query, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_store_observe_query(void *a, kv_error **e) { return kv_store_observe(good_store, a, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_store_observe_by_id_store(void *a, kv_error **e) { return kv_store_observe_by_id(a, "a", no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_store_sync_count_store(void *a, kv_error **e) { return kv_store_sync_count(a, &count, e); }
static kv_status handle_kv_store_pending_store(void *a, kv_error **e) { return kv_store_pending(a, "a", 0, &json, &length, e); }
static kv_status handle_kv_store_pending_get_store(void *a, kv_error **e) { return kv_store_pending_get(a, "a", &json, &length, e); }
static kv_status handle_kv_store_pending_retry_store(void *a, kv_error **e) { return kv_store_pending_retry(a, "a", NULL, e); }
static kv_status handle_kv_store_pending_retry_async_store(void *a, kv_error **e) { return kv_store_pending_retry_async(a, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_pending_edit_store(void *a, kv_error **e) { return kv_store_pending_edit(a, "a", "{}", KV_NUL_TERMINATED, e); }
static kv_status handle_kv_store_pending_revert_store(void *a, kv_error **e) { return kv_store_pending_revert(a, "a", e); }
static kv_status handle_kv_store_pending_drop_store(void *a, kv_error **e) { return kv_store_pending_drop(a, "a", e); }
static kv_status handle_kv_store_purge_store(void *a, kv_error **e) { return kv_store_purge(a, good_query, &count, e); }
static kv_status handle_kv_store_purge_query(void *a, kv_error **e) { return kv_store_purge(good_store, a, &count, e); }
static kv_status handle_kv_store_clear_store(void *a, kv_error **e) { return kv_store_clear(a, good_query, &count, e); }
static kv_status handle_kv_store_clear_query(void *a, kv_error **e) { return kv_store_clear(good_store, a, &count, e); }
static kv_status handle_kv_store_set_conflict_handler_store(void *a, kv_error **e) { return kv_store_set_conflict_handler(a, no_kv_conflict_fn, &freed, count_free, e); }
static kv_status handle_kv_live_register_client(void *a, kv_error **e) { return kv_live_register(a, NULL, e); }
static kv_status handle_kv_live_register_async_client(void *a, kv_error **e) { return kv_live_register_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_live_unregister_client(void *a, kv_error **e) { return kv_live_unregister(a, NULL, e); }
static kv_status handle_kv_live_unregister_async_client(void *a, kv_error **e) { return kv_live_unregister_async(a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_subscribe_store(void *a, kv_error **e) { return kv_store_subscribe(a, NULL, no_kv_event_fn, no_kv_event_fn, no_kv_event_fn, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_stream_acl_client(void *a, kv_error **e) { return kv_stream_acl(a, "a", "a", NULL, &json, &length, e); }
static kv_status handle_kv_stream_acl_async_client(void *a, kv_error **e) { return kv_stream_acl_async(a, "a", "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_stream_set_acl_client(void *a, kv_error **e) { return kv_stream_set_acl(a, "a", "a", "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status handle_kv_stream_set_acl_async_client(void *a, kv_error **e) { return kv_stream_set_acl_async(a, "a", "a", "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_stream_owners_client(void *a, kv_error **e) { return kv_stream_owners(a, "a", NULL, &json, &length, e); }
static kv_status handle_kv_stream_owners_async_client(void *a, kv_error **e) { return kv_stream_owners_async(a, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_stream_send_client(void *a, kv_error **e) { return kv_stream_send(a, "a", "a", "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status handle_kv_stream_send_async_client(void *a, kv_error **e) { return kv_stream_send_async(a, "a", "a", "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_stream_subscribe_client(void *a, kv_error **e) { return kv_stream_subscribe(a, "a", "a", no_kv_event_fn, no_kv_event_fn, no_kv_event_fn, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_client_transaction_client(void *a, kv_error **e) { return kv_client_transaction(a, NULL, no_kv_transaction_fn, &freed, e); }
static kv_status handle_kv_transaction_begin_client(void *a, kv_error **e) { return kv_transaction_begin(a, NULL, &made_transaction, e); }
static kv_status handle_kv_transaction_find_by_id_transaction(void *a, kv_error **e) { return kv_transaction_find_by_id(a, good_store, "a", &json, &length, e); }
static kv_status handle_kv_transaction_find_by_id_store(void *a, kv_error **e) { return kv_transaction_find_by_id(good_transaction, a, "a", &json, &length, e); }
static kv_status handle_kv_transaction_find_transaction(void *a, kv_error **e) { return kv_transaction_find(a, good_store, good_query, &made_cursor, e); }
static kv_status handle_kv_transaction_find_store(void *a, kv_error **e) { return kv_transaction_find(good_transaction, a, good_query, &made_cursor, e); }
static kv_status handle_kv_transaction_find_query(void *a, kv_error **e) { return kv_transaction_find(good_transaction, good_store, a, &made_cursor, e); }
static kv_status handle_kv_transaction_count_transaction(void *a, kv_error **e) { return kv_transaction_count(a, good_store, good_query, &count, e); }
static kv_status handle_kv_transaction_count_store(void *a, kv_error **e) { return kv_transaction_count(good_transaction, a, good_query, &count, e); }
static kv_status handle_kv_transaction_count_query(void *a, kv_error **e) { return kv_transaction_count(good_transaction, good_store, a, &count, e); }
static kv_status handle_kv_transaction_save_transaction(void *a, kv_error **e) { return kv_transaction_save(a, good_store, "{}", KV_NUL_TERMINATED, &json, &length, e); }
static kv_status handle_kv_transaction_save_store(void *a, kv_error **e) { return kv_transaction_save(good_transaction, a, "{}", KV_NUL_TERMINATED, &json, &length, e); }
static kv_status handle_kv_transaction_save_if_transaction(void *a, kv_error **e) { return kv_transaction_save_if(a, good_store, "{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_transaction_save_if_store(void *a, kv_error **e) { return kv_transaction_save_if(good_transaction, a, "{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status handle_kv_transaction_remove_by_id_transaction(void *a, kv_error **e) { return kv_transaction_remove_by_id(a, good_store, "a", &count, e); }
static kv_status handle_kv_transaction_remove_by_id_store(void *a, kv_error **e) { return kv_transaction_remove_by_id(good_transaction, a, "a", &count, e); }
static kv_status handle_kv_transaction_remove_by_id_if_transaction(void *a, kv_error **e) { return kv_transaction_remove_by_id_if(a, good_store, "a", NULL, &count, e); }
static kv_status handle_kv_transaction_remove_by_id_if_store(void *a, kv_error **e) { return kv_transaction_remove_by_id_if(good_transaction, a, "a", NULL, &count, e); }
static kv_status handle_kv_transaction_remove_transaction(void *a, kv_error **e) { return kv_transaction_remove(a, good_store, good_query, &count, e); }
static kv_status handle_kv_transaction_remove_store(void *a, kv_error **e) { return kv_transaction_remove(good_transaction, a, good_query, &count, e); }
static kv_status handle_kv_transaction_remove_query(void *a, kv_error **e) { return kv_transaction_remove(good_transaction, good_store, a, &count, e); }
static kv_status handle_kv_transaction_update_transaction(void *a, kv_error **e) { return kv_transaction_update(a, good_store, good_query, "{\"$set\":{\"a\":1}}", KV_NUL_TERMINATED, &json, &length, e); }
static kv_status handle_kv_transaction_update_store(void *a, kv_error **e) { return kv_transaction_update(good_transaction, a, good_query, "{\"$set\":{\"a\":1}}", KV_NUL_TERMINATED, &json, &length, e); }
static kv_status handle_kv_transaction_update_query(void *a, kv_error **e) { return kv_transaction_update(good_transaction, good_store, a, "{\"$set\":{\"a\":1}}", KV_NUL_TERMINATED, &json, &length, e); }
static kv_status handle_kv_transaction_commit_transaction(void *a, kv_error **e) { return kv_transaction_commit(a, e); }
static kv_status handle_kv_cursor_next_cursor(void *a, kv_error **e) { return kv_cursor_next(a, (const char **)&json, &length, e); }
static kv_status handle_kv_cursor_next_page_cursor(void *a, kv_error **e) { return kv_cursor_next_page(a, 0, (const char **)&json, &length, &number, e); }
static kv_status handle_kv_store_results_store(void *a, kv_error **e) { return kv_store_results(a, "{}", KV_NUL_TERMINATED, good_query, NULL, &made_results, e); }
static kv_status handle_kv_store_results_query(void *a, kv_error **e) { return kv_store_results(good_store, "{}", KV_NUL_TERMINATED, a, NULL, &made_results, e); }
static kv_status handle_kv_store_results_async_store(void *a, kv_error **e) { return kv_store_results_async(a, "{}", KV_NUL_TERMINATED, good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_store_results_async_query(void *a, kv_error **e) { return kv_store_results_async(good_store, "{}", KV_NUL_TERMINATED, a, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status handle_kv_results_count_results(void *a, kv_error **e) { return kv_results_count(a, &count, e); }
static kv_status handle_kv_results_get_results(void *a, kv_error **e) { return kv_results_get(a, 0, (const char **)&json, &length, &flag, e); }
static kv_status handle_kv_results_page_results(void *a, kv_error **e) { return kv_results_page(a, 0, 0, (const char **)&json, &length, &flag, e); }
static kv_status handle_kv_results_refresh_results(void *a, kv_error **e) { return kv_results_refresh(a, e); }
static kv_status handle_kv_results_observe_results(void *a, kv_error **e) { return kv_results_observe(a, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status handle_kv_results_statistics_results(void *a, kv_error **e) { return kv_results_statistics(a, &json, &length, e); }
static kv_status handle_kv_context_open_client(void *a, kv_error **e) { return kv_context_open(a, NULL, &made_context, e); }
static kv_status handle_kv_context_insert_objects(void *a, kv_error **e) { return kv_context_insert(a, "a", "{}", KV_NUL_TERMINATED, &json, &length, e); }
static kv_status handle_kv_context_get_objects(void *a, kv_error **e) { return kv_context_get(a, "a", "a", &json, &length, e); }
static kv_status handle_kv_context_update_objects(void *a, kv_error **e) { return kv_context_update(a, "a", "a", "{}", KV_NUL_TERMINATED, e); }
static kv_status handle_kv_context_set_objects(void *a, kv_error **e) { return kv_context_set(a, "a", "a", "{}", KV_NUL_TERMINATED, e); }
static kv_status handle_kv_context_delete_objects(void *a, kv_error **e) { return kv_context_delete(a, "a", "a", e); }
static kv_status handle_kv_context_status_objects(void *a, kv_error **e) { return kv_context_status(a, "a", "a", &json, &length, e); }
static kv_status handle_kv_context_changes_objects(void *a, kv_error **e) { return kv_context_changes(a, &json, &length, e); }
static kv_status handle_kv_context_fetch_objects(void *a, kv_error **e) { return kv_context_fetch(a, "a", "{}", KV_NUL_TERMINATED, good_query, &made_results, e); }
static kv_status handle_kv_context_fetch_query(void *a, kv_error **e) { return kv_context_fetch(good_context, "a", "{}", KV_NUL_TERMINATED, a, &made_results, e); }
static kv_status handle_kv_context_related_objects(void *a, kv_error **e) { return kv_context_related(a, "a", "a", "a", "{}", KV_NUL_TERMINATED, &made_results, e); }
static kv_status handle_kv_context_relationships_objects(void *a, kv_error **e) { return kv_context_relationships(a, "a", &json, &length, e); }
static kv_status handle_kv_context_hold_objects(void *a, kv_error **e) { return kv_context_hold(a, "{}", KV_NUL_TERMINATED, e); }
static kv_status handle_kv_context_release_objects(void *a, kv_error **e) { return kv_context_release(a, "{}", KV_NUL_TERMINATED, e); }
static kv_status handle_kv_context_refresh_objects(void *a, kv_error **e) { return kv_context_refresh(a, "{}", KV_NUL_TERMINATED, 0, e); }
static kv_status handle_kv_context_undo_begin_objects(void *a, kv_error **e) { return kv_context_undo_begin(a, e); }
static kv_status handle_kv_context_undo_end_objects(void *a, kv_error **e) { return kv_context_undo_end(a, e); }
static kv_status handle_kv_context_undo_objects(void *a, kv_error **e) { return kv_context_undo(a, e); }
static kv_status handle_kv_context_redo_objects(void *a, kv_error **e) { return kv_context_redo(a, e); }
static kv_status handle_kv_context_rollback_objects(void *a, kv_error **e) { return kv_context_rollback(a, e); }
static kv_status handle_kv_context_save_objects(void *a, kv_error **e) { return kv_context_save(a, &json, &length, e); }
static kv_status handle_kv_context_conflicts_objects(void *a, kv_error **e) { return kv_context_conflicts(a, &json, &length, e); }
static kv_status handle_kv_context_resolve_objects(void *a, kv_error **e) { return kv_context_resolve(a, "a", "a", "{}", KV_NUL_TERMINATED, e); }
static kv_status handle_kv_context_save_deciding_objects(void *a, kv_error **e) { return kv_context_save_deciding(a, no_kv_merge_fn, &freed, &json, &length, e); }
static kv_status handle_kv_context_obtain_ids_objects(void *a, kv_error **e) { return kv_context_obtain_ids(a, &json, &length, e); }
static kv_status handle_kv_context_describe_objects(void *a, kv_error **e) { return kv_context_describe(a, "a", "a", &json, &length, e); }
static kv_status handle_kv_context_locate_objects(void *a, kv_error **e) { return kv_context_locate(a, "a", &json, &length, e); }
static kv_status handle_kv_context_statistics_objects(void *a, kv_error **e) { return kv_context_statistics(a, &json, &length, e); }
static kv_status pointer_kv_client_open_options_json(void *a, kv_error **e) { (void)a; return kv_client_open(NULL, KV_NUL_TERMINATED, &made_client, e); }
static kv_status pointer_kv_client_open_client_out(void *a, kv_error **e) { (void)a; return kv_client_open("{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_client_set_key_provider_name(void *a, kv_error **e) { (void)a; return kv_client_set_key_provider(NULL, no_kv_key_fn, &freed, count_free, e); }
static kv_status pointer_kv_encrypt_options_json(void *a, kv_error **e) { (void)a; return kv_encrypt(NULL, KV_NUL_TERMINATED, "{}", KV_NUL_TERMINATED, &json, &length, e); }
static kv_status pointer_kv_salvage_options_json(void *a, kv_error **e) { (void)a; return kv_salvage(NULL, KV_NUL_TERMINATED, "a", &json, &length, e); }
static kv_status pointer_kv_salvage_directory(void *a, kv_error **e) { (void)a; return kv_salvage("{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_decrypt_file_options_json(void *a, kv_error **e) { (void)a; return kv_decrypt_file(NULL, KV_NUL_TERMINATED, "a", 0, e); }
static kv_status pointer_kv_decrypt_file_path(void *a, kv_error **e) { (void)a; return kv_decrypt_file("{}", KV_NUL_TERMINATED, NULL, 0, e); }
static kv_status pointer_kv_client_event_fd_fd_out(void *a, kv_error **e) { (void)a; return kv_client_event_fd(good_client, NULL, e); }
static kv_status pointer_kv_request_cursor_cursor_out(void *a, kv_error **e) { (void)a; return kv_request_cursor(good_request, NULL, e); }
static kv_status pointer_kv_request_results_results_out(void *a, kv_error **e) { (void)a; return kv_request_results(good_request, NULL, e); }
static kv_status pointer_kv_request_progress_progress(void *a, kv_error **e) { (void)a; (void)e; return kv_request_progress(good_request, NULL); }
static kv_status pointer_kv_client_observe_sync_receive(void *a, kv_error **e) { (void)a; return kv_client_observe_sync(good_client, NULL, &freed, count_free, &made_subscription, e); }
static kv_status pointer_kv_client_set_sync_expression_collection(void *a, kv_error **e) { (void)a; return kv_client_set_sync_expression(good_client, NULL, "a", e); }
static kv_status pointer_kv_client_status_json_out(void *a, kv_error **e) { (void)a; return kv_client_status(good_client, NULL, &length, e); }
static kv_status pointer_kv_client_backup_directory(void *a, kv_error **e) { (void)a; return kv_client_backup(good_client, NULL, NULL, &json, &length, e); }
static kv_status pointer_kv_client_backup_async_directory(void *a, kv_error **e) { (void)a; return kv_client_backup_async(good_client, NULL, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_client_observe_status_receive(void *a, kv_error **e) { (void)a; return kv_client_observe_status(good_client, NULL, &freed, count_free, &made_subscription, e); }
static kv_status pointer_kv_ping_json_out(void *a, kv_error **e) { (void)a; return kv_ping(good_client, NULL, NULL, &length, e); }
static kv_status pointer_kv_user_login_credentials_json(void *a, kv_error **e) { (void)a; return kv_user_login(good_client, NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_user_login_async_credentials_json(void *a, kv_error **e) { (void)a; return kv_user_login_async(good_client, NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_user_login_page_redirect_uri(void *a, kv_error **e) { (void)a; return kv_user_login_page(good_client, NULL, NULL, &json, &length, e); }
static kv_status pointer_kv_user_login_page_url_out(void *a, kv_error **e) { (void)a; return kv_user_login_page(good_client, "a", NULL, NULL, &length, e); }
static kv_status pointer_kv_user_login_with_code_code(void *a, kv_error **e) { (void)a; return kv_user_login_with_code(good_client, NULL, "a", NULL, &json, &length, e); }
static kv_status pointer_kv_user_login_with_code_redirect_uri(void *a, kv_error **e) { (void)a; return kv_user_login_with_code(good_client, "a", NULL, NULL, &json, &length, e); }
static kv_status pointer_kv_user_login_with_code_async_code(void *a, kv_error **e) { (void)a; return kv_user_login_with_code_async(good_client, NULL, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_user_login_with_code_async_redirect_uri(void *a, kv_error **e) { (void)a; return kv_user_login_with_code_async(good_client, "a", NULL, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_user_active_json_out(void *a, kv_error **e) { (void)a; return kv_user_active(good_client, NULL, &length, e); }
static kv_status pointer_kv_user_me_json_out(void *a, kv_error **e) { (void)a; return kv_user_me(good_client, NULL, NULL, &length, e); }
static kv_status pointer_kv_user_update_user_json(void *a, kv_error **e) { (void)a; return kv_user_update(good_client, NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_user_update_async_user_json(void *a, kv_error **e) { (void)a; return kv_user_update_async(good_client, NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_user_exists_username(void *a, kv_error **e) { (void)a; return kv_user_exists(good_client, NULL, NULL, &flag, e); }
static kv_status pointer_kv_user_exists_exists_out(void *a, kv_error **e) { (void)a; return kv_user_exists(good_client, "a", NULL, NULL, e); }
static kv_status pointer_kv_user_exists_async_username(void *a, kv_error **e) { (void)a; return kv_user_exists_async(good_client, NULL, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_user_lookup_members_json(void *a, kv_error **e) { (void)a; return kv_user_lookup(good_client, NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_user_lookup_json_out(void *a, kv_error **e) { (void)a; return kv_user_lookup(good_client, "{}", KV_NUL_TERMINATED, NULL, NULL, &length, e); }
static kv_status pointer_kv_user_lookup_async_members_json(void *a, kv_error **e) { (void)a; return kv_user_lookup_async(good_client, NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_group_create_group_json(void *a, kv_error **e) { (void)a; return kv_group_create(good_client, NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_group_create_async_group_json(void *a, kv_error **e) { (void)a; return kv_group_create_async(good_client, NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_group_read_id(void *a, kv_error **e) { (void)a; return kv_group_read(good_client, NULL, NULL, &json, &length, e); }
static kv_status pointer_kv_group_read_json_out(void *a, kv_error **e) { (void)a; return kv_group_read(good_client, "a", NULL, NULL, &length, e); }
static kv_status pointer_kv_group_read_async_id(void *a, kv_error **e) { (void)a; return kv_group_read_async(good_client, NULL, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_group_list_json_out(void *a, kv_error **e) { (void)a; return kv_group_list(good_client, NULL, NULL, &length, e); }
static kv_status pointer_kv_group_update_id(void *a, kv_error **e) { (void)a; return kv_group_update(good_client, NULL, "{}", KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_group_update_change_json(void *a, kv_error **e) { (void)a; return kv_group_update(good_client, "a", NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_group_update_async_id(void *a, kv_error **e) { (void)a; return kv_group_update_async(good_client, NULL, "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_group_update_async_change_json(void *a, kv_error **e) { (void)a; return kv_group_update_async(good_client, "a", NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_group_delete_id(void *a, kv_error **e) { (void)a; return kv_group_delete(good_client, NULL, NULL, e); }
static kv_status pointer_kv_group_delete_async_id(void *a, kv_error **e) { (void)a; return kv_group_delete_async(good_client, NULL, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_query_create_query_out(void *a, kv_error **e) { (void)a; return kv_query_create("{}", KV_NUL_TERMINATED, "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_query_from_format_format(void *a, kv_error **e) { (void)a; return kv_query_from_format(NULL, "[]", KV_NUL_TERMINATED, "{}", KV_NUL_TERMINATED, &made_query, e); }
static kv_status pointer_kv_query_from_format_query_out(void *a, kv_error **e) { (void)a; return kv_query_from_format("a == 1", "[]", KV_NUL_TERMINATED, "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_query_combine_combination(void *a, kv_error **e) { (void)a; return kv_query_combine(NULL, (kv_query *[]){good_query}, 1, "{}", KV_NUL_TERMINATED, &made_query, e); }
static kv_status pointer_kv_query_combine_queries(void *a, kv_error **e) { (void)a; return kv_query_combine("not", NULL, 1, "{}", KV_NUL_TERMINATED, &made_query, e); }
static kv_status pointer_kv_query_combine_query_out(void *a, kv_error **e) { (void)a; return kv_query_combine("not", (kv_query *[]){good_query}, 1, "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_query_format_json_out(void *a, kv_error **e) { (void)a; return kv_query_format(good_query, NULL, &length, e); }
static kv_status pointer_kv_query_json_json_out(void *a, kv_error **e) { (void)a; return kv_query_json(good_query, NULL, &length, e); }
static kv_status pointer_kv_store_open_collection(void *a, kv_error **e) { (void)a; return kv_store_open(good_client, NULL, "sync", NULL, &made_store, e); }
static kv_status pointer_kv_store_open_type(void *a, kv_error **e) { (void)a; return kv_store_open(good_client, "a", NULL, NULL, &made_store, e); }
static kv_status pointer_kv_store_open_store_out(void *a, kv_error **e) { (void)a; return kv_store_open(good_client, "a", "sync", NULL, NULL, e); }
static kv_status pointer_kv_store_find_cursor_out(void *a, kv_error **e) { (void)a; return kv_store_find(good_store, good_query, NULL, NULL, e); }
static kv_status pointer_kv_schema_describe_schema(void *a, kv_error **e) { (void)a; return kv_schema_describe(NULL, &json, &length, e); }
static kv_status pointer_kv_schema_describe_json_out(void *a, kv_error **e) { (void)a; return kv_schema_describe("a", NULL, &length, e); }
static kv_status pointer_kv_store_related_id(void *a, kv_error **e) { (void)a; return kv_store_related(good_store, NULL, "a", &json, &length, e); }
static kv_status pointer_kv_store_related_relation(void *a, kv_error **e) { (void)a; return kv_store_related(good_store, "a", NULL, &json, &length, e); }
static kv_status pointer_kv_store_related_filter_out(void *a, kv_error **e) { (void)a; return kv_store_related(good_store, "a", "a", NULL, &length, e); }
static kv_status pointer_kv_store_find_by_id_id(void *a, kv_error **e) { (void)a; return kv_store_find_by_id(good_store, NULL, NULL, &json, &length, e); }
static kv_status pointer_kv_store_find_by_id_json_out(void *a, kv_error **e) { (void)a; return kv_store_find_by_id(good_store, "a", NULL, NULL, &length, e); }
static kv_status pointer_kv_store_find_by_id_async_id(void *a, kv_error **e) { (void)a; return kv_store_find_by_id_async(good_store, NULL, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_find_by_ids_ids_json(void *a, kv_error **e) { (void)a; return kv_store_find_by_ids(good_store, NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_store_find_by_ids_json_out(void *a, kv_error **e) { (void)a; return kv_store_find_by_ids(good_store, "{}", KV_NUL_TERMINATED, NULL, NULL, &length, e); }
static kv_status pointer_kv_store_find_by_ids_async_ids_json(void *a, kv_error **e) { (void)a; return kv_store_find_by_ids_async(good_store, NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_save_entity_json(void *a, kv_error **e) { (void)a; return kv_store_save(good_store, NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_store_save_async_entity_json(void *a, kv_error **e) { (void)a; return kv_store_save_async(good_store, NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_save_many_entities_json(void *a, kv_error **e) { (void)a; return kv_store_save_many(good_store, NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_store_save_many_async_entities_json(void *a, kv_error **e) { (void)a; return kv_store_save_many_async(good_store, NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_remove_by_id_id(void *a, kv_error **e) { (void)a; return kv_store_remove_by_id(good_store, NULL, NULL, &count, e); }
static kv_status pointer_kv_store_remove_by_id_async_id(void *a, kv_error **e) { (void)a; return kv_store_remove_by_id_async(good_store, NULL, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_update_update_json(void *a, kv_error **e) { (void)a; return kv_store_update(good_store, good_query, NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_store_update_async_update_json(void *a, kv_error **e) { (void)a; return kv_store_update_async(good_store, good_query, NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_share_id(void *a, kv_error **e) { (void)a; return kv_store_share(good_store, NULL, "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_store_share_acl_json(void *a, kv_error **e) { (void)a; return kv_store_share(good_store, "a", NULL, KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_store_share_async_id(void *a, kv_error **e) { (void)a; return kv_store_share_async(good_store, NULL, "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_share_async_acl_json(void *a, kv_error **e) { (void)a; return kv_store_share_async(good_store, "a", NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_unshare_id(void *a, kv_error **e) { (void)a; return kv_store_unshare(good_store, NULL, "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_store_unshare_acl_json(void *a, kv_error **e) { (void)a; return kv_store_unshare(good_store, "a", NULL, KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_store_unshare_async_id(void *a, kv_error **e) { (void)a; return kv_store_unshare_async(good_store, NULL, "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_unshare_async_acl_json(void *a, kv_error **e) { (void)a; return kv_store_unshare_async(good_store, "a", NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_version_id(void *a, kv_error **e) { (void)a; return kv_store_version(good_store, NULL, &count, e); }
static kv_status pointer_kv_store_version_version_out(void *a, kv_error **e) { (void)a; return kv_store_version(good_store, "a", NULL, e); }
static kv_status pointer_kv_store_count_count_out(void *a, kv_error **e) { (void)a; return kv_store_count(good_store, good_query, NULL, NULL, e); }
static kv_status pointer_kv_store_group_group_json(void *a, kv_error **e) { (void)a; return kv_store_group(good_store, NULL, KV_NUL_TERMINATED, good_query, NULL, &json, &length, e); }
static kv_status pointer_kv_store_group_json_out(void *a, kv_error **e) { (void)a; return kv_store_group(good_store, "{\"keys\":[\"a\"]}", KV_NUL_TERMINATED, good_query, NULL, NULL, &length, e); }
static kv_status pointer_kv_store_group_async_group_json(void *a, kv_error **e) { (void)a; return kv_store_group_async(good_store, NULL, KV_NUL_TERMINATED, good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_reduce_reduce(void *a, kv_error **e) { (void)a; return kv_store_reduce(good_store, "[\"a\"]", KV_NUL_TERMINATED, good_query, NULL, NULL, &freed, &json, &length, e); }
static kv_status pointer_kv_store_reduce_json_out(void *a, kv_error **e) { (void)a; return kv_store_reduce(good_store, "[\"a\"]", KV_NUL_TERMINATED, good_query, NULL, no_kv_reduce_fn, &freed, NULL, &length, e); }
static kv_status pointer_kv_store_distinct_path(void *a, kv_error **e) { (void)a; return kv_store_distinct(good_store, NULL, good_query, NULL, &json, &length, e); }
static kv_status pointer_kv_store_distinct_json_out(void *a, kv_error **e) { (void)a; return kv_store_distinct(good_store, "a", good_query, NULL, NULL, &length, e); }
static kv_status pointer_kv_store_distinct_async_path(void *a, kv_error **e) { (void)a; return kv_store_distinct_async(good_store, NULL, good_query, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_create_index_index_json(void *a, kv_error **e) { (void)a; return kv_store_create_index(good_store, NULL, KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_store_drop_index_name(void *a, kv_error **e) { (void)a; return kv_store_drop_index(good_store, NULL, e); }
static kv_status pointer_kv_store_indexes_json_out(void *a, kv_error **e) { (void)a; return kv_store_indexes(good_store, NULL, &length, e); }
static kv_status pointer_kv_store_explain_json_out(void *a, kv_error **e) { (void)a; return kv_store_explain(good_store, good_query, NULL, &length, e); }
static kv_status pointer_kv_store_observe_receive(void *a, kv_error **e) { (void)a; return kv_store_observe(good_store, good_query, NULL, &freed, count_free, &made_subscription, e); }
static kv_status pointer_kv_store_observe_by_id_id(void *a, kv_error **e) { (void)a; return kv_store_observe_by_id(good_store, NULL, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status pointer_kv_store_observe_by_id_receive(void *a, kv_error **e) { (void)a; return kv_store_observe_by_id(good_store, "a", NULL, &freed, count_free, &made_subscription, e); }
static kv_status pointer_kv_store_sync_count_count_out(void *a, kv_error **e) { (void)a; return kv_store_sync_count(good_store, NULL, e); }
static kv_status pointer_kv_store_pending_json_out(void *a, kv_error **e) { (void)a; return kv_store_pending(good_store, "a", 0, NULL, &length, e); }
static kv_status pointer_kv_store_pending_get_id(void *a, kv_error **e) { (void)a; return kv_store_pending_get(good_store, NULL, &json, &length, e); }
static kv_status pointer_kv_store_pending_get_json_out(void *a, kv_error **e) { (void)a; return kv_store_pending_get(good_store, "a", NULL, &length, e); }
static kv_status pointer_kv_store_pending_retry_id(void *a, kv_error **e) { (void)a; return kv_store_pending_retry(good_store, NULL, NULL, e); }
static kv_status pointer_kv_store_pending_retry_async_id(void *a, kv_error **e) { (void)a; return kv_store_pending_retry_async(good_store, NULL, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_store_pending_edit_id(void *a, kv_error **e) { (void)a; return kv_store_pending_edit(good_store, NULL, "{}", KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_store_pending_edit_entity_json(void *a, kv_error **e) { (void)a; return kv_store_pending_edit(good_store, "a", NULL, KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_store_pending_revert_id(void *a, kv_error **e) { (void)a; return kv_store_pending_revert(good_store, NULL, e); }
static kv_status pointer_kv_store_pending_drop_id(void *a, kv_error **e) { (void)a; return kv_store_pending_drop(good_store, NULL, e); }
static kv_status pointer_kv_stream_acl_stream(void *a, kv_error **e) { (void)a; return kv_stream_acl(good_client, NULL, "a", NULL, &json, &length, e); }
static kv_status pointer_kv_stream_acl_json_out(void *a, kv_error **e) { (void)a; return kv_stream_acl(good_client, "a", "a", NULL, NULL, &length, e); }
static kv_status pointer_kv_stream_acl_async_stream(void *a, kv_error **e) { (void)a; return kv_stream_acl_async(good_client, NULL, "a", NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_stream_set_acl_stream(void *a, kv_error **e) { (void)a; return kv_stream_set_acl(good_client, NULL, "a", "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_stream_set_acl_acl_json(void *a, kv_error **e) { (void)a; return kv_stream_set_acl(good_client, "a", "a", NULL, KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_stream_set_acl_async_stream(void *a, kv_error **e) { (void)a; return kv_stream_set_acl_async(good_client, NULL, "a", "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_stream_set_acl_async_acl_json(void *a, kv_error **e) { (void)a; return kv_stream_set_acl_async(good_client, "a", "a", NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_stream_owners_stream(void *a, kv_error **e) { (void)a; return kv_stream_owners(good_client, NULL, NULL, &json, &length, e); }
static kv_status pointer_kv_stream_owners_json_out(void *a, kv_error **e) { (void)a; return kv_stream_owners(good_client, "a", NULL, NULL, &length, e); }
static kv_status pointer_kv_stream_owners_async_stream(void *a, kv_error **e) { (void)a; return kv_stream_owners_async(good_client, NULL, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_stream_send_stream(void *a, kv_error **e) { (void)a; return kv_stream_send(good_client, NULL, "a", "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_stream_send_message_json(void *a, kv_error **e) { (void)a; return kv_stream_send(good_client, "a", "a", NULL, KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_stream_send_async_stream(void *a, kv_error **e) { (void)a; return kv_stream_send_async(good_client, NULL, "a", "{}", KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_stream_send_async_message_json(void *a, kv_error **e) { (void)a; return kv_stream_send_async(good_client, "a", "a", NULL, KV_NUL_TERMINATED, NULL, no_kv_answer_fn, &freed, count_free, &made_request, e); }
static kv_status pointer_kv_stream_subscribe_stream(void *a, kv_error **e) { (void)a; return kv_stream_subscribe(good_client, NULL, "a", no_kv_event_fn, no_kv_event_fn, no_kv_event_fn, no_kv_event_fn, &freed, count_free, &made_subscription, e); }
static kv_status pointer_kv_client_transaction_body(void *a, kv_error **e) { (void)a; return kv_client_transaction(good_client, NULL, NULL, &freed, e); }
static kv_status pointer_kv_transaction_begin_transaction_out(void *a, kv_error **e) { (void)a; return kv_transaction_begin(good_client, NULL, NULL, e); }
static kv_status pointer_kv_transaction_find_by_id_id(void *a, kv_error **e) { (void)a; return kv_transaction_find_by_id(good_transaction, good_store, NULL, &json, &length, e); }
static kv_status pointer_kv_transaction_find_by_id_json_out(void *a, kv_error **e) { (void)a; return kv_transaction_find_by_id(good_transaction, good_store, "a", NULL, &length, e); }
static kv_status pointer_kv_transaction_find_cursor_out(void *a, kv_error **e) { (void)a; return kv_transaction_find(good_transaction, good_store, good_query, NULL, e); }
static kv_status pointer_kv_transaction_count_count_out(void *a, kv_error **e) { (void)a; return kv_transaction_count(good_transaction, good_store, good_query, NULL, e); }
static kv_status pointer_kv_transaction_save_entity_json(void *a, kv_error **e) { (void)a; return kv_transaction_save(good_transaction, good_store, NULL, KV_NUL_TERMINATED, &json, &length, e); }
static kv_status pointer_kv_transaction_save_if_entity_json(void *a, kv_error **e) { (void)a; return kv_transaction_save_if(good_transaction, good_store, NULL, KV_NUL_TERMINATED, NULL, &json, &length, e); }
static kv_status pointer_kv_transaction_remove_by_id_id(void *a, kv_error **e) { (void)a; return kv_transaction_remove_by_id(good_transaction, good_store, NULL, &count, e); }
static kv_status pointer_kv_transaction_remove_by_id_if_id(void *a, kv_error **e) { (void)a; return kv_transaction_remove_by_id_if(good_transaction, good_store, NULL, NULL, &count, e); }
static kv_status pointer_kv_transaction_update_update_json(void *a, kv_error **e) { (void)a; return kv_transaction_update(good_transaction, good_store, good_query, NULL, KV_NUL_TERMINATED, &json, &length, e); }
static kv_status pointer_kv_cursor_next_json_out(void *a, kv_error **e) { (void)a; return kv_cursor_next(good_cursor, NULL, &length, e); }
static kv_status pointer_kv_cursor_next_page_json_out(void *a, kv_error **e) { (void)a; return kv_cursor_next_page(good_cursor, 0, NULL, &length, &number, e); }
static kv_status pointer_kv_store_results_results_out(void *a, kv_error **e) { (void)a; return kv_store_results(good_store, "{}", KV_NUL_TERMINATED, good_query, NULL, NULL, e); }
static kv_status pointer_kv_results_count_count_out(void *a, kv_error **e) { (void)a; return kv_results_count(good_results, NULL, e); }
static kv_status pointer_kv_results_get_json_out(void *a, kv_error **e) { (void)a; return kv_results_get(good_results, 0, NULL, &length, &flag, e); }
static kv_status pointer_kv_results_page_json_out(void *a, kv_error **e) { (void)a; return kv_results_page(good_results, 0, 0, NULL, &length, &flag, e); }
static kv_status pointer_kv_results_observe_receive(void *a, kv_error **e) { (void)a; return kv_results_observe(good_results, NULL, &freed, count_free, &made_subscription, e); }
static kv_status pointer_kv_results_statistics_json_out(void *a, kv_error **e) { (void)a; return kv_results_statistics(good_results, NULL, &length, e); }
static kv_status pointer_kv_context_open_context_out(void *a, kv_error **e) { (void)a; return kv_context_open(good_client, NULL, NULL, e); }
static kv_status pointer_kv_context_insert_collection(void *a, kv_error **e) { (void)a; return kv_context_insert(good_context, NULL, "{}", KV_NUL_TERMINATED, &json, &length, e); }
static kv_status pointer_kv_context_insert_object_json(void *a, kv_error **e) { (void)a; return kv_context_insert(good_context, "a", NULL, KV_NUL_TERMINATED, &json, &length, e); }
static kv_status pointer_kv_context_get_collection(void *a, kv_error **e) { (void)a; return kv_context_get(good_context, NULL, "a", &json, &length, e); }
static kv_status pointer_kv_context_get_id(void *a, kv_error **e) { (void)a; return kv_context_get(good_context, "a", NULL, &json, &length, e); }
static kv_status pointer_kv_context_get_json_out(void *a, kv_error **e) { (void)a; return kv_context_get(good_context, "a", "a", NULL, &length, e); }
static kv_status pointer_kv_context_update_collection(void *a, kv_error **e) { (void)a; return kv_context_update(good_context, NULL, "a", "{}", KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_update_id(void *a, kv_error **e) { (void)a; return kv_context_update(good_context, "a", NULL, "{}", KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_update_members_json(void *a, kv_error **e) { (void)a; return kv_context_update(good_context, "a", "a", NULL, KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_set_collection(void *a, kv_error **e) { (void)a; return kv_context_set(good_context, NULL, "a", "{}", KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_set_id(void *a, kv_error **e) { (void)a; return kv_context_set(good_context, "a", NULL, "{}", KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_set_object_json(void *a, kv_error **e) { (void)a; return kv_context_set(good_context, "a", "a", NULL, KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_delete_collection(void *a, kv_error **e) { (void)a; return kv_context_delete(good_context, NULL, "a", e); }
static kv_status pointer_kv_context_delete_id(void *a, kv_error **e) { (void)a; return kv_context_delete(good_context, "a", NULL, e); }
static kv_status pointer_kv_context_status_collection(void *a, kv_error **e) { (void)a; return kv_context_status(good_context, NULL, "a", &json, &length, e); }
static kv_status pointer_kv_context_status_id(void *a, kv_error **e) { (void)a; return kv_context_status(good_context, "a", NULL, &json, &length, e); }
static kv_status pointer_kv_context_status_json_out(void *a, kv_error **e) { (void)a; return kv_context_status(good_context, "a", "a", NULL, &length, e); }
static kv_status pointer_kv_context_changes_json_out(void *a, kv_error **e) { (void)a; return kv_context_changes(good_context, NULL, &length, e); }
static kv_status pointer_kv_context_fetch_collection(void *a, kv_error **e) { (void)a; return kv_context_fetch(good_context, NULL, "{}", KV_NUL_TERMINATED, good_query, &made_results, e); }
static kv_status pointer_kv_context_fetch_results_out(void *a, kv_error **e) { (void)a; return kv_context_fetch(good_context, "a", "{}", KV_NUL_TERMINATED, good_query, NULL, e); }
static kv_status pointer_kv_context_related_collection(void *a, kv_error **e) { (void)a; return kv_context_related(good_context, NULL, "a", "a", "{}", KV_NUL_TERMINATED, &made_results, e); }
static kv_status pointer_kv_context_related_id(void *a, kv_error **e) { (void)a; return kv_context_related(good_context, "a", NULL, "a", "{}", KV_NUL_TERMINATED, &made_results, e); }
static kv_status pointer_kv_context_related_relationship(void *a, kv_error **e) { (void)a; return kv_context_related(good_context, "a", "a", NULL, "{}", KV_NUL_TERMINATED, &made_results, e); }
static kv_status pointer_kv_context_related_results_out(void *a, kv_error **e) { (void)a; return kv_context_related(good_context, "a", "a", "a", "{}", KV_NUL_TERMINATED, NULL, e); }
static kv_status pointer_kv_context_relationships_collection(void *a, kv_error **e) { (void)a; return kv_context_relationships(good_context, NULL, &json, &length, e); }
static kv_status pointer_kv_context_relationships_json_out(void *a, kv_error **e) { (void)a; return kv_context_relationships(good_context, "a", NULL, &length, e); }
static kv_status pointer_kv_context_hold_ids_json(void *a, kv_error **e) { (void)a; return kv_context_hold(good_context, NULL, KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_release_ids_json(void *a, kv_error **e) { (void)a; return kv_context_release(good_context, NULL, KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_conflicts_json_out(void *a, kv_error **e) { (void)a; return kv_context_conflicts(good_context, NULL, &length, e); }
static kv_status pointer_kv_context_resolve_collection(void *a, kv_error **e) { (void)a; return kv_context_resolve(good_context, NULL, "a", "{}", KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_resolve_id(void *a, kv_error **e) { (void)a; return kv_context_resolve(good_context, "a", NULL, "{}", KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_resolve_resolution_json(void *a, kv_error **e) { (void)a; return kv_context_resolve(good_context, "a", "a", NULL, KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_context_save_deciding_decide(void *a, kv_error **e) { (void)a; return kv_context_save_deciding(good_context, NULL, &freed, &json, &length, e); }
static kv_status pointer_kv_context_describe_collection(void *a, kv_error **e) { (void)a; return kv_context_describe(good_context, NULL, "a", &json, &length, e); }
static kv_status pointer_kv_context_describe_id(void *a, kv_error **e) { (void)a; return kv_context_describe(good_context, "a", NULL, &json, &length, e); }
static kv_status pointer_kv_context_describe_json_out(void *a, kv_error **e) { (void)a; return kv_context_describe(good_context, "a", "a", NULL, &length, e); }
static kv_status pointer_kv_context_locate_uri(void *a, kv_error **e) { (void)a; return kv_context_locate(good_context, NULL, &json, &length, e); }
static kv_status pointer_kv_context_locate_json_out(void *a, kv_error **e) { (void)a; return kv_context_locate(good_context, "a", NULL, &length, e); }
static kv_status pointer_kv_context_statistics_json_out(void *a, kv_error **e) { (void)a; return kv_context_statistics(good_context, NULL, &length, e); }
static kv_status pointer_kv_backend_register_name(void *a, kv_error **e) { (void)a; return kv_backend_register(NULL, "{}", KV_NUL_TERMINATED, &good_kv_backend, &freed, count_free, e); }
static kv_status pointer_kv_backend_register_functions(void *a, kv_error **e) { (void)a; return kv_backend_register("a", "{}", KV_NUL_TERMINATED, NULL, &freed, count_free, e); }
static kv_status pointer_kv_backend_unregister_name(void *a, kv_error **e) { (void)a; return kv_backend_unregister(NULL, e); }
static kv_status pointer_kv_store_type_register_name(void *a, kv_error **e) { (void)a; return kv_store_type_register(NULL, "{}", KV_NUL_TERMINATED, &good_kv_store_type, &freed, count_free, e); }
static kv_status pointer_kv_store_type_register_functions(void *a, kv_error **e) { (void)a; return kv_store_type_register("a", "{}", KV_NUL_TERMINATED, NULL, &freed, count_free, e); }
static kv_status pointer_kv_store_type_unregister_name(void *a, kv_error **e) { (void)a; return kv_store_type_unregister(NULL, e); }
static kv_status pointer_kv_store_type_announce_name(void *a, kv_error **e) { (void)a; return kv_store_type_announce(NULL, "{}", KV_NUL_TERMINATED, e); }
static kv_status pointer_kv_migration_register_name(void *a, kv_error **e) { (void)a; return kv_migration_register(NULL, no_kv_migration_fn, &freed, count_free, e); }
static kv_status pointer_kv_migration_register_migrate(void *a, kv_error **e) { (void)a; return kv_migration_register("a", NULL, &freed, count_free, e); }
static kv_status pointer_kv_migration_unregister_name(void *a, kv_error **e) { (void)a; return kv_migration_unregister(NULL, e); }

typedef struct {
  const char *function, *argument;
  kind wants; /* of a handle; KINDS for another pointer */
  kv_status (*call)(void *argument, kv_error **error);
  int takes_null;  /* NULL is no misuse */
  int has_error;   /* gives an error object */
  int has_context; /* frees the context when it fails */
} misused_call;

static const misused_call handle_calls[] = {
    {"kv_client_change_key", "client", CLIENT, handle_kv_client_change_key_client, 0, 1, 0},
    {"kv_client_repair", "client", CLIENT, handle_kv_client_repair_client, 0, 1, 0},
    {"kv_client_close", "client", CLIENT, handle_kv_client_close_client, 1, 0, 0},
    {"kv_client_event_fd", "client", CLIENT, handle_kv_client_event_fd_client, 0, 1, 0},
    {"kv_client_dispatch", "client", CLIENT, handle_kv_client_dispatch_client, 0, 1, 0},
    {"kv_client_set_token_provider", "client", CLIENT, handle_kv_client_set_token_provider_client, 0, 1, 1},
    {"kv_client_set_log", "client", CLIENT, handle_kv_client_set_log_client, 0, 1, 1},
    {"kv_request_wait", "request", REQUEST, handle_kv_request_wait_request, 0, 1, 0},
    {"kv_request_cursor", "request", REQUEST, handle_kv_request_cursor_request, 0, 1, 0},
    {"kv_request_results", "request", REQUEST, handle_kv_request_results_request, 0, 1, 0},
    {"kv_request_cancel", "request", REQUEST, handle_kv_request_cancel_request, 0, 0, 0},
    {"kv_request_progress", "request", REQUEST, handle_kv_request_progress_request, 0, 0, 0},
    {"kv_subscription_close", "subscription", SUBSCRIPTION, handle_kv_subscription_close_subscription, 1, 0, 0},
    {"kv_subscription_end", "subscription", SUBSCRIPTION, handle_kv_subscription_end_subscription, 0, 1, 0},
    {"kv_subscription_end_async", "subscription", SUBSCRIPTION, handle_kv_subscription_end_async_subscription, 0, 1, 1},
    {"kv_client_observe_sync", "client", CLIENT, handle_kv_client_observe_sync_client, 0, 1, 1},
    {"kv_client_start_sync", "client", CLIENT, handle_kv_client_start_sync_client, 0, 1, 0},
    {"kv_client_stop_sync", "client", CLIENT, handle_kv_client_stop_sync_client, 0, 1, 0},
    {"kv_client_clear", "client", CLIENT, handle_kv_client_clear_client, 0, 1, 0},
    {"kv_client_set_sync_expression", "client", CLIENT, handle_kv_client_set_sync_expression_client, 0, 1, 0},
    {"kv_client_status", "client", CLIENT, handle_kv_client_status_client, 0, 1, 0},
    {"kv_client_compact", "client", CLIENT, handle_kv_client_compact_client, 0, 1, 0},
    {"kv_client_compact_async", "client", CLIENT, handle_kv_client_compact_async_client, 0, 1, 1},
    {"kv_client_backup", "client", CLIENT, handle_kv_client_backup_client, 0, 1, 0},
    {"kv_client_backup_async", "client", CLIENT, handle_kv_client_backup_async_client, 0, 1, 1},
    {"kv_client_observe_status", "client", CLIENT, handle_kv_client_observe_status_client, 0, 1, 1},
    {"kv_ping", "client", CLIENT, handle_kv_ping_client, 0, 1, 0},
    {"kv_ping_async", "client", CLIENT, handle_kv_ping_async_client, 0, 1, 1},
    {"kv_user_signup", "client", CLIENT, handle_kv_user_signup_client, 0, 1, 0},
    {"kv_user_signup_async", "client", CLIENT, handle_kv_user_signup_async_client, 0, 1, 1},
    {"kv_user_login", "client", CLIENT, handle_kv_user_login_client, 0, 1, 0},
    {"kv_user_login_async", "client", CLIENT, handle_kv_user_login_async_client, 0, 1, 1},
    {"kv_user_login_page", "client", CLIENT, handle_kv_user_login_page_client, 0, 1, 0},
    {"kv_user_login_with_code", "client", CLIENT, handle_kv_user_login_with_code_client, 0, 1, 0},
    {"kv_user_login_with_code_async", "client", CLIENT, handle_kv_user_login_with_code_async_client, 0, 1, 1},
    {"kv_user_logout", "client", CLIENT, handle_kv_user_logout_client, 0, 1, 0},
    {"kv_user_logout_async", "client", CLIENT, handle_kv_user_logout_async_client, 0, 1, 1},
    {"kv_user_active", "client", CLIENT, handle_kv_user_active_client, 0, 1, 0},
    {"kv_user_me", "client", CLIENT, handle_kv_user_me_client, 0, 1, 0},
    {"kv_user_me_async", "client", CLIENT, handle_kv_user_me_async_client, 0, 1, 1},
    {"kv_user_update", "client", CLIENT, handle_kv_user_update_client, 0, 1, 0},
    {"kv_user_update_async", "client", CLIENT, handle_kv_user_update_async_client, 0, 1, 1},
    {"kv_user_delete", "client", CLIENT, handle_kv_user_delete_client, 0, 1, 0},
    {"kv_user_delete_async", "client", CLIENT, handle_kv_user_delete_async_client, 0, 1, 1},
    {"kv_user_exists", "client", CLIENT, handle_kv_user_exists_client, 0, 1, 0},
    {"kv_user_exists_async", "client", CLIENT, handle_kv_user_exists_async_client, 0, 1, 1},
    {"kv_user_lookup", "client", CLIENT, handle_kv_user_lookup_client, 0, 1, 0},
    {"kv_user_lookup_async", "client", CLIENT, handle_kv_user_lookup_async_client, 0, 1, 1},
    {"kv_group_create", "client", CLIENT, handle_kv_group_create_client, 0, 1, 0},
    {"kv_group_create_async", "client", CLIENT, handle_kv_group_create_async_client, 0, 1, 1},
    {"kv_group_read", "client", CLIENT, handle_kv_group_read_client, 0, 1, 0},
    {"kv_group_read_async", "client", CLIENT, handle_kv_group_read_async_client, 0, 1, 1},
    {"kv_group_list", "client", CLIENT, handle_kv_group_list_client, 0, 1, 0},
    {"kv_group_list_async", "client", CLIENT, handle_kv_group_list_async_client, 0, 1, 1},
    {"kv_group_update", "client", CLIENT, handle_kv_group_update_client, 0, 1, 0},
    {"kv_group_update_async", "client", CLIENT, handle_kv_group_update_async_client, 0, 1, 1},
    {"kv_group_delete", "client", CLIENT, handle_kv_group_delete_client, 0, 1, 0},
    {"kv_group_delete_async", "client", CLIENT, handle_kv_group_delete_async_client, 0, 1, 1},
    {"kv_query_combine", "queries", QUERY, handle_kv_query_combine_queries, 1, 1, 0},
    {"kv_query_format", "query", QUERY, handle_kv_query_format_query, 0, 1, 0},
    {"kv_query_json", "query", QUERY, handle_kv_query_json_query, 0, 1, 0},
    {"kv_store_open", "client", CLIENT, handle_kv_store_open_client, 0, 1, 0},
    {"kv_store_close", "store", STORE, handle_kv_store_close_store, 1, 0, 0},
    {"kv_store_find", "store", STORE, handle_kv_store_find_store, 0, 1, 0},
    {"kv_store_find", "query", QUERY, handle_kv_store_find_query, 1, 1, 0},
    {"kv_store_find_async", "store", STORE, handle_kv_store_find_async_store, 0, 1, 1},
    {"kv_store_find_async", "query", QUERY, handle_kv_store_find_async_query, 1, 1, 1},
    {"kv_store_related", "store", STORE, handle_kv_store_related_store, 0, 1, 0},
    {"kv_store_find_by_id", "store", STORE, handle_kv_store_find_by_id_store, 0, 1, 0},
    {"kv_store_find_by_id_async", "store", STORE, handle_kv_store_find_by_id_async_store, 0, 1, 1},
    {"kv_store_find_by_ids", "store", STORE, handle_kv_store_find_by_ids_store, 0, 1, 0},
    {"kv_store_find_by_ids_async", "store", STORE, handle_kv_store_find_by_ids_async_store, 0, 1, 1},
    {"kv_store_save", "store", STORE, handle_kv_store_save_store, 0, 1, 0},
    {"kv_store_save_async", "store", STORE, handle_kv_store_save_async_store, 0, 1, 1},
    {"kv_store_save_many", "store", STORE, handle_kv_store_save_many_store, 0, 1, 0},
    {"kv_store_save_many_async", "store", STORE, handle_kv_store_save_many_async_store, 0, 1, 1},
    {"kv_store_remove_by_id", "store", STORE, handle_kv_store_remove_by_id_store, 0, 1, 0},
    {"kv_store_remove_by_id_async", "store", STORE, handle_kv_store_remove_by_id_async_store, 0, 1, 1},
    {"kv_store_remove", "store", STORE, handle_kv_store_remove_store, 0, 1, 0},
    {"kv_store_remove", "query", QUERY, handle_kv_store_remove_query, 1, 1, 0},
    {"kv_store_remove_async", "store", STORE, handle_kv_store_remove_async_store, 0, 1, 1},
    {"kv_store_remove_async", "query", QUERY, handle_kv_store_remove_async_query, 1, 1, 1},
    {"kv_store_update", "store", STORE, handle_kv_store_update_store, 0, 1, 0},
    {"kv_store_update", "query", QUERY, handle_kv_store_update_query, 1, 1, 0},
    {"kv_store_update_async", "store", STORE, handle_kv_store_update_async_store, 0, 1, 1},
    {"kv_store_update_async", "query", QUERY, handle_kv_store_update_async_query, 1, 1, 1},
    {"kv_store_share", "store", STORE, handle_kv_store_share_store, 0, 1, 0},
    {"kv_store_share_async", "store", STORE, handle_kv_store_share_async_store, 0, 1, 1},
    {"kv_store_unshare", "store", STORE, handle_kv_store_unshare_store, 0, 1, 0},
    {"kv_store_unshare_async", "store", STORE, handle_kv_store_unshare_async_store, 0, 1, 1},
    {"kv_store_version", "store", STORE, handle_kv_store_version_store, 0, 1, 0},
    {"kv_store_count", "store", STORE, handle_kv_store_count_store, 0, 1, 0},
    {"kv_store_count", "query", QUERY, handle_kv_store_count_query, 1, 1, 0},
    {"kv_store_count_async", "store", STORE, handle_kv_store_count_async_store, 0, 1, 1},
    {"kv_store_count_async", "query", QUERY, handle_kv_store_count_async_query, 1, 1, 1},
    {"kv_store_group", "store", STORE, handle_kv_store_group_store, 0, 1, 0},
    {"kv_store_group", "query", QUERY, handle_kv_store_group_query, 1, 1, 0},
    {"kv_store_group_async", "store", STORE, handle_kv_store_group_async_store, 0, 1, 1},
    {"kv_store_group_async", "query", QUERY, handle_kv_store_group_async_query, 1, 1, 1},
    {"kv_store_reduce", "store", STORE, handle_kv_store_reduce_store, 0, 1, 0},
    {"kv_store_reduce", "query", QUERY, handle_kv_store_reduce_query, 1, 1, 0},
    {"kv_store_distinct", "store", STORE, handle_kv_store_distinct_store, 0, 1, 0},
    {"kv_store_distinct", "query", QUERY, handle_kv_store_distinct_query, 1, 1, 0},
    {"kv_store_distinct_async", "store", STORE, handle_kv_store_distinct_async_store, 0, 1, 1},
    {"kv_store_distinct_async", "query", QUERY, handle_kv_store_distinct_async_query, 1, 1, 1},
    {"kv_store_pull", "store", STORE, handle_kv_store_pull_store, 0, 1, 0},
    {"kv_store_pull", "query", QUERY, handle_kv_store_pull_query, 1, 1, 0},
    {"kv_store_pull_async", "store", STORE, handle_kv_store_pull_async_store, 0, 1, 1},
    {"kv_store_pull_async", "query", QUERY, handle_kv_store_pull_async_query, 1, 1, 1},
    {"kv_store_push", "store", STORE, handle_kv_store_push_store, 0, 1, 0},
    {"kv_store_push_async", "store", STORE, handle_kv_store_push_async_store, 0, 1, 1},
    {"kv_store_sync", "store", STORE, handle_kv_store_sync_store, 0, 1, 0},
    {"kv_store_sync", "query", QUERY, handle_kv_store_sync_query, 1, 1, 0},
    {"kv_store_sync_async", "store", STORE, handle_kv_store_sync_async_store, 0, 1, 1},
    {"kv_store_sync_async", "query", QUERY, handle_kv_store_sync_async_query, 1, 1, 1},
    {"kv_store_create_index", "store", STORE, handle_kv_store_create_index_store, 0, 1, 0},
    {"kv_store_drop_index", "store", STORE, handle_kv_store_drop_index_store, 0, 1, 0},
    {"kv_store_indexes", "store", STORE, handle_kv_store_indexes_store, 0, 1, 0},
    {"kv_store_explain", "store", STORE, handle_kv_store_explain_store, 0, 1, 0},
    {"kv_store_explain", "query", QUERY, handle_kv_store_explain_query, 1, 1, 0},
    {"kv_store_follow", "store", STORE, handle_kv_store_follow_store, 0, 1, 1},
    {"kv_store_follow", "query", QUERY, handle_kv_store_follow_query, 1, 1, 1},
    {"kv_store_observe", "store", STORE, handle_kv_store_observe_store, 0, 1, 1},
    {"kv_store_observe", "query", QUERY, handle_kv_store_observe_query, 1, 1, 1},
    {"kv_store_observe_by_id", "store", STORE, handle_kv_store_observe_by_id_store, 0, 1, 1},
    {"kv_store_sync_count", "store", STORE, handle_kv_store_sync_count_store, 0, 1, 0},
    {"kv_store_pending", "store", STORE, handle_kv_store_pending_store, 0, 1, 0},
    {"kv_store_pending_get", "store", STORE, handle_kv_store_pending_get_store, 0, 1, 0},
    {"kv_store_pending_retry", "store", STORE, handle_kv_store_pending_retry_store, 0, 1, 0},
    {"kv_store_pending_retry_async", "store", STORE, handle_kv_store_pending_retry_async_store, 0, 1, 1},
    {"kv_store_pending_edit", "store", STORE, handle_kv_store_pending_edit_store, 0, 1, 0},
    {"kv_store_pending_revert", "store", STORE, handle_kv_store_pending_revert_store, 0, 1, 0},
    {"kv_store_pending_drop", "store", STORE, handle_kv_store_pending_drop_store, 0, 1, 0},
    {"kv_store_purge", "store", STORE, handle_kv_store_purge_store, 0, 1, 0},
    {"kv_store_purge", "query", QUERY, handle_kv_store_purge_query, 1, 1, 0},
    {"kv_store_clear", "store", STORE, handle_kv_store_clear_store, 0, 1, 0},
    {"kv_store_clear", "query", QUERY, handle_kv_store_clear_query, 1, 1, 0},
    {"kv_store_set_conflict_handler", "store", STORE, handle_kv_store_set_conflict_handler_store, 0, 1, 1},
    {"kv_live_register", "client", CLIENT, handle_kv_live_register_client, 0, 1, 0},
    {"kv_live_register_async", "client", CLIENT, handle_kv_live_register_async_client, 0, 1, 1},
    {"kv_live_unregister", "client", CLIENT, handle_kv_live_unregister_client, 0, 1, 0},
    {"kv_live_unregister_async", "client", CLIENT, handle_kv_live_unregister_async_client, 0, 1, 1},
    {"kv_store_subscribe", "store", STORE, handle_kv_store_subscribe_store, 0, 1, 1},
    {"kv_stream_acl", "client", CLIENT, handle_kv_stream_acl_client, 0, 1, 0},
    {"kv_stream_acl_async", "client", CLIENT, handle_kv_stream_acl_async_client, 0, 1, 1},
    {"kv_stream_set_acl", "client", CLIENT, handle_kv_stream_set_acl_client, 0, 1, 0},
    {"kv_stream_set_acl_async", "client", CLIENT, handle_kv_stream_set_acl_async_client, 0, 1, 1},
    {"kv_stream_owners", "client", CLIENT, handle_kv_stream_owners_client, 0, 1, 0},
    {"kv_stream_owners_async", "client", CLIENT, handle_kv_stream_owners_async_client, 0, 1, 1},
    {"kv_stream_send", "client", CLIENT, handle_kv_stream_send_client, 0, 1, 0},
    {"kv_stream_send_async", "client", CLIENT, handle_kv_stream_send_async_client, 0, 1, 1},
    {"kv_stream_subscribe", "client", CLIENT, handle_kv_stream_subscribe_client, 0, 1, 1},
    {"kv_client_transaction", "client", CLIENT, handle_kv_client_transaction_client, 0, 1, 0},
    {"kv_transaction_begin", "client", CLIENT, handle_kv_transaction_begin_client, 0, 1, 0},
    {"kv_transaction_find_by_id", "transaction", TRANSACTION, handle_kv_transaction_find_by_id_transaction, 0, 1, 0},
    {"kv_transaction_find_by_id", "store", STORE, handle_kv_transaction_find_by_id_store, 0, 1, 0},
    {"kv_transaction_find", "transaction", TRANSACTION, handle_kv_transaction_find_transaction, 0, 1, 0},
    {"kv_transaction_find", "store", STORE, handle_kv_transaction_find_store, 0, 1, 0},
    {"kv_transaction_find", "query", QUERY, handle_kv_transaction_find_query, 1, 1, 0},
    {"kv_transaction_count", "transaction", TRANSACTION, handle_kv_transaction_count_transaction, 0, 1, 0},
    {"kv_transaction_count", "store", STORE, handle_kv_transaction_count_store, 0, 1, 0},
    {"kv_transaction_count", "query", QUERY, handle_kv_transaction_count_query, 1, 1, 0},
    {"kv_transaction_save", "transaction", TRANSACTION, handle_kv_transaction_save_transaction, 0, 1, 0},
    {"kv_transaction_save", "store", STORE, handle_kv_transaction_save_store, 0, 1, 0},
    {"kv_transaction_save_if", "transaction", TRANSACTION, handle_kv_transaction_save_if_transaction, 0, 1, 0},
    {"kv_transaction_save_if", "store", STORE, handle_kv_transaction_save_if_store, 0, 1, 0},
    {"kv_transaction_remove_by_id", "transaction", TRANSACTION, handle_kv_transaction_remove_by_id_transaction, 0, 1, 0},
    {"kv_transaction_remove_by_id", "store", STORE, handle_kv_transaction_remove_by_id_store, 0, 1, 0},
    {"kv_transaction_remove_by_id_if", "transaction", TRANSACTION, handle_kv_transaction_remove_by_id_if_transaction, 0, 1, 0},
    {"kv_transaction_remove_by_id_if", "store", STORE, handle_kv_transaction_remove_by_id_if_store, 0, 1, 0},
    {"kv_transaction_remove", "transaction", TRANSACTION, handle_kv_transaction_remove_transaction, 0, 1, 0},
    {"kv_transaction_remove", "store", STORE, handle_kv_transaction_remove_store, 0, 1, 0},
    {"kv_transaction_remove", "query", QUERY, handle_kv_transaction_remove_query, 1, 1, 0},
    {"kv_transaction_update", "transaction", TRANSACTION, handle_kv_transaction_update_transaction, 0, 1, 0},
    {"kv_transaction_update", "store", STORE, handle_kv_transaction_update_store, 0, 1, 0},
    {"kv_transaction_update", "query", QUERY, handle_kv_transaction_update_query, 1, 1, 0},
    {"kv_transaction_commit", "transaction", TRANSACTION, handle_kv_transaction_commit_transaction, 0, 1, 0},
    {"kv_cursor_next", "cursor", CURSOR, handle_kv_cursor_next_cursor, 0, 1, 0},
    {"kv_cursor_next_page", "cursor", CURSOR, handle_kv_cursor_next_page_cursor, 0, 1, 0},
    {"kv_store_results", "store", STORE, handle_kv_store_results_store, 0, 1, 0},
    {"kv_store_results", "query", QUERY, handle_kv_store_results_query, 1, 1, 0},
    {"kv_store_results_async", "store", STORE, handle_kv_store_results_async_store, 0, 1, 1},
    {"kv_store_results_async", "query", QUERY, handle_kv_store_results_async_query, 1, 1, 1},
    {"kv_results_count", "results", RESULTS, handle_kv_results_count_results, 0, 1, 0},
    {"kv_results_get", "results", RESULTS, handle_kv_results_get_results, 0, 1, 0},
    {"kv_results_page", "results", RESULTS, handle_kv_results_page_results, 0, 1, 0},
    {"kv_results_refresh", "results", RESULTS, handle_kv_results_refresh_results, 0, 1, 0},
    {"kv_results_observe", "results", RESULTS, handle_kv_results_observe_results, 0, 1, 1},
    {"kv_results_statistics", "results", RESULTS, handle_kv_results_statistics_results, 0, 1, 0},
    {"kv_context_open", "client", CLIENT, handle_kv_context_open_client, 0, 1, 0},
    {"kv_context_insert", "objects", CONTEXT, handle_kv_context_insert_objects, 0, 1, 0},
    {"kv_context_get", "objects", CONTEXT, handle_kv_context_get_objects, 0, 1, 0},
    {"kv_context_update", "objects", CONTEXT, handle_kv_context_update_objects, 0, 1, 0},
    {"kv_context_set", "objects", CONTEXT, handle_kv_context_set_objects, 0, 1, 0},
    {"kv_context_delete", "objects", CONTEXT, handle_kv_context_delete_objects, 0, 1, 0},
    {"kv_context_status", "objects", CONTEXT, handle_kv_context_status_objects, 0, 1, 0},
    {"kv_context_changes", "objects", CONTEXT, handle_kv_context_changes_objects, 0, 1, 0},
    {"kv_context_fetch", "objects", CONTEXT, handle_kv_context_fetch_objects, 0, 1, 0},
    {"kv_context_fetch", "query", QUERY, handle_kv_context_fetch_query, 1, 1, 0},
    {"kv_context_related", "objects", CONTEXT, handle_kv_context_related_objects, 0, 1, 0},
    {"kv_context_relationships", "objects", CONTEXT, handle_kv_context_relationships_objects, 0, 1, 0},
    {"kv_context_hold", "objects", CONTEXT, handle_kv_context_hold_objects, 0, 1, 0},
    {"kv_context_release", "objects", CONTEXT, handle_kv_context_release_objects, 0, 1, 0},
    {"kv_context_refresh", "objects", CONTEXT, handle_kv_context_refresh_objects, 0, 1, 0},
    {"kv_context_undo_begin", "objects", CONTEXT, handle_kv_context_undo_begin_objects, 0, 1, 0},
    {"kv_context_undo_end", "objects", CONTEXT, handle_kv_context_undo_end_objects, 0, 1, 0},
    {"kv_context_undo", "objects", CONTEXT, handle_kv_context_undo_objects, 0, 1, 0},
    {"kv_context_redo", "objects", CONTEXT, handle_kv_context_redo_objects, 0, 1, 0},
    {"kv_context_rollback", "objects", CONTEXT, handle_kv_context_rollback_objects, 0, 1, 0},
    {"kv_context_save", "objects", CONTEXT, handle_kv_context_save_objects, 0, 1, 0},
    {"kv_context_conflicts", "objects", CONTEXT, handle_kv_context_conflicts_objects, 0, 1, 0},
    {"kv_context_resolve", "objects", CONTEXT, handle_kv_context_resolve_objects, 0, 1, 0},
    {"kv_context_save_deciding", "objects", CONTEXT, handle_kv_context_save_deciding_objects, 0, 1, 0},
    {"kv_context_obtain_ids", "objects", CONTEXT, handle_kv_context_obtain_ids_objects, 0, 1, 0},
    {"kv_context_describe", "objects", CONTEXT, handle_kv_context_describe_objects, 0, 1, 0},
    {"kv_context_locate", "objects", CONTEXT, handle_kv_context_locate_objects, 0, 1, 0},
    {"kv_context_statistics", "objects", CONTEXT, handle_kv_context_statistics_objects, 0, 1, 0},
};

static const misused_call pointer_calls[] = {
    {"kv_client_open", "options_json", KINDS, pointer_kv_client_open_options_json, 0, 1, 0},
    {"kv_client_open", "client_out", KINDS, pointer_kv_client_open_client_out, 0, 1, 0},
    {"kv_client_set_key_provider", "name", KINDS, pointer_kv_client_set_key_provider_name, 0, 1, 1},
    {"kv_encrypt", "options_json", KINDS, pointer_kv_encrypt_options_json, 0, 1, 0},
    {"kv_salvage", "options_json", KINDS, pointer_kv_salvage_options_json, 0, 1, 0},
    {"kv_salvage", "directory", KINDS, pointer_kv_salvage_directory, 0, 1, 0},
    {"kv_decrypt_file", "options_json", KINDS, pointer_kv_decrypt_file_options_json, 0, 1, 0},
    {"kv_decrypt_file", "path", KINDS, pointer_kv_decrypt_file_path, 0, 1, 0},
    {"kv_client_event_fd", "fd_out", KINDS, pointer_kv_client_event_fd_fd_out, 0, 1, 0},
    {"kv_request_cursor", "cursor_out", KINDS, pointer_kv_request_cursor_cursor_out, 0, 1, 0},
    {"kv_request_results", "results_out", KINDS, pointer_kv_request_results_results_out, 0, 1, 0},
    {"kv_request_progress", "progress", KINDS, pointer_kv_request_progress_progress, 0, 0, 0},
    {"kv_client_observe_sync", "receive", KINDS, pointer_kv_client_observe_sync_receive, 0, 1, 1},
    {"kv_client_set_sync_expression", "collection", KINDS, pointer_kv_client_set_sync_expression_collection, 0, 1, 0},
    {"kv_client_status", "json_out", KINDS, pointer_kv_client_status_json_out, 0, 1, 0},
    {"kv_client_backup", "directory", KINDS, pointer_kv_client_backup_directory, 0, 1, 0},
    {"kv_client_backup_async", "directory", KINDS, pointer_kv_client_backup_async_directory, 0, 1, 1},
    {"kv_client_observe_status", "receive", KINDS, pointer_kv_client_observe_status_receive, 0, 1, 1},
    {"kv_ping", "json_out", KINDS, pointer_kv_ping_json_out, 0, 1, 0},
    {"kv_user_login", "credentials_json", KINDS, pointer_kv_user_login_credentials_json, 0, 1, 0},
    {"kv_user_login_async", "credentials_json", KINDS, pointer_kv_user_login_async_credentials_json, 0, 1, 1},
    {"kv_user_login_page", "redirect_uri", KINDS, pointer_kv_user_login_page_redirect_uri, 0, 1, 0},
    {"kv_user_login_page", "url_out", KINDS, pointer_kv_user_login_page_url_out, 0, 1, 0},
    {"kv_user_login_with_code", "code", KINDS, pointer_kv_user_login_with_code_code, 0, 1, 0},
    {"kv_user_login_with_code", "redirect_uri", KINDS, pointer_kv_user_login_with_code_redirect_uri, 0, 1, 0},
    {"kv_user_login_with_code_async", "code", KINDS, pointer_kv_user_login_with_code_async_code, 0, 1, 1},
    {"kv_user_login_with_code_async", "redirect_uri", KINDS, pointer_kv_user_login_with_code_async_redirect_uri, 0, 1, 1},
    {"kv_user_active", "json_out", KINDS, pointer_kv_user_active_json_out, 0, 1, 0},
    {"kv_user_me", "json_out", KINDS, pointer_kv_user_me_json_out, 0, 1, 0},
    {"kv_user_update", "user_json", KINDS, pointer_kv_user_update_user_json, 0, 1, 0},
    {"kv_user_update_async", "user_json", KINDS, pointer_kv_user_update_async_user_json, 0, 1, 1},
    {"kv_user_exists", "username", KINDS, pointer_kv_user_exists_username, 0, 1, 0},
    {"kv_user_exists", "exists_out", KINDS, pointer_kv_user_exists_exists_out, 0, 1, 0},
    {"kv_user_exists_async", "username", KINDS, pointer_kv_user_exists_async_username, 0, 1, 1},
    {"kv_user_lookup", "members_json", KINDS, pointer_kv_user_lookup_members_json, 0, 1, 0},
    {"kv_user_lookup", "json_out", KINDS, pointer_kv_user_lookup_json_out, 0, 1, 0},
    {"kv_user_lookup_async", "members_json", KINDS, pointer_kv_user_lookup_async_members_json, 0, 1, 1},
    {"kv_group_create", "group_json", KINDS, pointer_kv_group_create_group_json, 0, 1, 0},
    {"kv_group_create_async", "group_json", KINDS, pointer_kv_group_create_async_group_json, 0, 1, 1},
    {"kv_group_read", "id", KINDS, pointer_kv_group_read_id, 0, 1, 0},
    {"kv_group_read", "json_out", KINDS, pointer_kv_group_read_json_out, 0, 1, 0},
    {"kv_group_read_async", "id", KINDS, pointer_kv_group_read_async_id, 0, 1, 1},
    {"kv_group_list", "json_out", KINDS, pointer_kv_group_list_json_out, 0, 1, 0},
    {"kv_group_update", "id", KINDS, pointer_kv_group_update_id, 0, 1, 0},
    {"kv_group_update", "change_json", KINDS, pointer_kv_group_update_change_json, 0, 1, 0},
    {"kv_group_update_async", "id", KINDS, pointer_kv_group_update_async_id, 0, 1, 1},
    {"kv_group_update_async", "change_json", KINDS, pointer_kv_group_update_async_change_json, 0, 1, 1},
    {"kv_group_delete", "id", KINDS, pointer_kv_group_delete_id, 0, 1, 0},
    {"kv_group_delete_async", "id", KINDS, pointer_kv_group_delete_async_id, 0, 1, 1},
    {"kv_query_create", "query_out", KINDS, pointer_kv_query_create_query_out, 0, 1, 0},
    {"kv_query_from_format", "format", KINDS, pointer_kv_query_from_format_format, 0, 1, 0},
    {"kv_query_from_format", "query_out", KINDS, pointer_kv_query_from_format_query_out, 0, 1, 0},
    {"kv_query_combine", "combination", KINDS, pointer_kv_query_combine_combination, 0, 1, 0},
    {"kv_query_combine", "queries", QUERY, pointer_kv_query_combine_queries, 1, 1, 0},
    {"kv_query_combine", "query_out", KINDS, pointer_kv_query_combine_query_out, 0, 1, 0},
    {"kv_query_format", "json_out", KINDS, pointer_kv_query_format_json_out, 0, 1, 0},
    {"kv_query_json", "json_out", KINDS, pointer_kv_query_json_json_out, 0, 1, 0},
    {"kv_store_open", "collection", KINDS, pointer_kv_store_open_collection, 0, 1, 0},
    {"kv_store_open", "type", KINDS, pointer_kv_store_open_type, 0, 1, 0},
    {"kv_store_open", "store_out", KINDS, pointer_kv_store_open_store_out, 0, 1, 0},
    {"kv_store_find", "cursor_out", KINDS, pointer_kv_store_find_cursor_out, 0, 1, 0},
    {"kv_schema_describe", "schema", KINDS, pointer_kv_schema_describe_schema, 0, 1, 0},
    {"kv_schema_describe", "json_out", KINDS, pointer_kv_schema_describe_json_out, 0, 1, 0},
    {"kv_store_related", "id", KINDS, pointer_kv_store_related_id, 0, 1, 0},
    {"kv_store_related", "relation", KINDS, pointer_kv_store_related_relation, 0, 1, 0},
    {"kv_store_related", "filter_out", KINDS, pointer_kv_store_related_filter_out, 0, 1, 0},
    {"kv_store_find_by_id", "id", KINDS, pointer_kv_store_find_by_id_id, 0, 1, 0},
    {"kv_store_find_by_id", "json_out", KINDS, pointer_kv_store_find_by_id_json_out, 0, 1, 0},
    {"kv_store_find_by_id_async", "id", KINDS, pointer_kv_store_find_by_id_async_id, 0, 1, 1},
    {"kv_store_find_by_ids", "ids_json", KINDS, pointer_kv_store_find_by_ids_ids_json, 0, 1, 0},
    {"kv_store_find_by_ids", "json_out", KINDS, pointer_kv_store_find_by_ids_json_out, 0, 1, 0},
    {"kv_store_find_by_ids_async", "ids_json", KINDS, pointer_kv_store_find_by_ids_async_ids_json, 0, 1, 1},
    {"kv_store_save", "entity_json", KINDS, pointer_kv_store_save_entity_json, 0, 1, 0},
    {"kv_store_save_async", "entity_json", KINDS, pointer_kv_store_save_async_entity_json, 0, 1, 1},
    {"kv_store_save_many", "entities_json", KINDS, pointer_kv_store_save_many_entities_json, 0, 1, 0},
    {"kv_store_save_many_async", "entities_json", KINDS, pointer_kv_store_save_many_async_entities_json, 0, 1, 1},
    {"kv_store_remove_by_id", "id", KINDS, pointer_kv_store_remove_by_id_id, 0, 1, 0},
    {"kv_store_remove_by_id_async", "id", KINDS, pointer_kv_store_remove_by_id_async_id, 0, 1, 1},
    {"kv_store_update", "update_json", KINDS, pointer_kv_store_update_update_json, 0, 1, 0},
    {"kv_store_update_async", "update_json", KINDS, pointer_kv_store_update_async_update_json, 0, 1, 1},
    {"kv_store_share", "id", KINDS, pointer_kv_store_share_id, 0, 1, 0},
    {"kv_store_share", "acl_json", KINDS, pointer_kv_store_share_acl_json, 0, 1, 0},
    {"kv_store_share_async", "id", KINDS, pointer_kv_store_share_async_id, 0, 1, 1},
    {"kv_store_share_async", "acl_json", KINDS, pointer_kv_store_share_async_acl_json, 0, 1, 1},
    {"kv_store_unshare", "id", KINDS, pointer_kv_store_unshare_id, 0, 1, 0},
    {"kv_store_unshare", "acl_json", KINDS, pointer_kv_store_unshare_acl_json, 0, 1, 0},
    {"kv_store_unshare_async", "id", KINDS, pointer_kv_store_unshare_async_id, 0, 1, 1},
    {"kv_store_unshare_async", "acl_json", KINDS, pointer_kv_store_unshare_async_acl_json, 0, 1, 1},
    {"kv_store_version", "id", KINDS, pointer_kv_store_version_id, 0, 1, 0},
    {"kv_store_version", "version_out", KINDS, pointer_kv_store_version_version_out, 0, 1, 0},
    {"kv_store_count", "count_out", KINDS, pointer_kv_store_count_count_out, 0, 1, 0},
    {"kv_store_group", "group_json", KINDS, pointer_kv_store_group_group_json, 0, 1, 0},
    {"kv_store_group", "json_out", KINDS, pointer_kv_store_group_json_out, 0, 1, 0},
    {"kv_store_group_async", "group_json", KINDS, pointer_kv_store_group_async_group_json, 0, 1, 1},
    {"kv_store_reduce", "reduce", KINDS, pointer_kv_store_reduce_reduce, 0, 1, 0},
    {"kv_store_reduce", "json_out", KINDS, pointer_kv_store_reduce_json_out, 0, 1, 0},
    {"kv_store_distinct", "path", KINDS, pointer_kv_store_distinct_path, 0, 1, 0},
    {"kv_store_distinct", "json_out", KINDS, pointer_kv_store_distinct_json_out, 0, 1, 0},
    {"kv_store_distinct_async", "path", KINDS, pointer_kv_store_distinct_async_path, 0, 1, 1},
    {"kv_store_create_index", "index_json", KINDS, pointer_kv_store_create_index_index_json, 0, 1, 0},
    {"kv_store_drop_index", "name", KINDS, pointer_kv_store_drop_index_name, 0, 1, 0},
    {"kv_store_indexes", "json_out", KINDS, pointer_kv_store_indexes_json_out, 0, 1, 0},
    {"kv_store_explain", "json_out", KINDS, pointer_kv_store_explain_json_out, 0, 1, 0},
    {"kv_store_observe", "receive", KINDS, pointer_kv_store_observe_receive, 0, 1, 1},
    {"kv_store_observe_by_id", "id", KINDS, pointer_kv_store_observe_by_id_id, 0, 1, 1},
    {"kv_store_observe_by_id", "receive", KINDS, pointer_kv_store_observe_by_id_receive, 0, 1, 1},
    {"kv_store_sync_count", "count_out", KINDS, pointer_kv_store_sync_count_count_out, 0, 1, 0},
    {"kv_store_pending", "json_out", KINDS, pointer_kv_store_pending_json_out, 0, 1, 0},
    {"kv_store_pending_get", "id", KINDS, pointer_kv_store_pending_get_id, 0, 1, 0},
    {"kv_store_pending_get", "json_out", KINDS, pointer_kv_store_pending_get_json_out, 0, 1, 0},
    {"kv_store_pending_retry", "id", KINDS, pointer_kv_store_pending_retry_id, 0, 1, 0},
    {"kv_store_pending_retry_async", "id", KINDS, pointer_kv_store_pending_retry_async_id, 0, 1, 1},
    {"kv_store_pending_edit", "id", KINDS, pointer_kv_store_pending_edit_id, 0, 1, 0},
    {"kv_store_pending_edit", "entity_json", KINDS, pointer_kv_store_pending_edit_entity_json, 0, 1, 0},
    {"kv_store_pending_revert", "id", KINDS, pointer_kv_store_pending_revert_id, 0, 1, 0},
    {"kv_store_pending_drop", "id", KINDS, pointer_kv_store_pending_drop_id, 0, 1, 0},
    {"kv_stream_acl", "stream", KINDS, pointer_kv_stream_acl_stream, 0, 1, 0},
    {"kv_stream_acl", "json_out", KINDS, pointer_kv_stream_acl_json_out, 0, 1, 0},
    {"kv_stream_acl_async", "stream", KINDS, pointer_kv_stream_acl_async_stream, 0, 1, 1},
    {"kv_stream_set_acl", "stream", KINDS, pointer_kv_stream_set_acl_stream, 0, 1, 0},
    {"kv_stream_set_acl", "acl_json", KINDS, pointer_kv_stream_set_acl_acl_json, 0, 1, 0},
    {"kv_stream_set_acl_async", "stream", KINDS, pointer_kv_stream_set_acl_async_stream, 0, 1, 1},
    {"kv_stream_set_acl_async", "acl_json", KINDS, pointer_kv_stream_set_acl_async_acl_json, 0, 1, 1},
    {"kv_stream_owners", "stream", KINDS, pointer_kv_stream_owners_stream, 0, 1, 0},
    {"kv_stream_owners", "json_out", KINDS, pointer_kv_stream_owners_json_out, 0, 1, 0},
    {"kv_stream_owners_async", "stream", KINDS, pointer_kv_stream_owners_async_stream, 0, 1, 1},
    {"kv_stream_send", "stream", KINDS, pointer_kv_stream_send_stream, 0, 1, 0},
    {"kv_stream_send", "message_json", KINDS, pointer_kv_stream_send_message_json, 0, 1, 0},
    {"kv_stream_send_async", "stream", KINDS, pointer_kv_stream_send_async_stream, 0, 1, 1},
    {"kv_stream_send_async", "message_json", KINDS, pointer_kv_stream_send_async_message_json, 0, 1, 1},
    {"kv_stream_subscribe", "stream", KINDS, pointer_kv_stream_subscribe_stream, 0, 1, 1},
    {"kv_client_transaction", "body", KINDS, pointer_kv_client_transaction_body, 0, 1, 0},
    {"kv_transaction_begin", "transaction_out", KINDS, pointer_kv_transaction_begin_transaction_out, 0, 1, 0},
    {"kv_transaction_find_by_id", "id", KINDS, pointer_kv_transaction_find_by_id_id, 0, 1, 0},
    {"kv_transaction_find_by_id", "json_out", KINDS, pointer_kv_transaction_find_by_id_json_out, 0, 1, 0},
    {"kv_transaction_find", "cursor_out", KINDS, pointer_kv_transaction_find_cursor_out, 0, 1, 0},
    {"kv_transaction_count", "count_out", KINDS, pointer_kv_transaction_count_count_out, 0, 1, 0},
    {"kv_transaction_save", "entity_json", KINDS, pointer_kv_transaction_save_entity_json, 0, 1, 0},
    {"kv_transaction_save_if", "entity_json", KINDS, pointer_kv_transaction_save_if_entity_json, 0, 1, 0},
    {"kv_transaction_remove_by_id", "id", KINDS, pointer_kv_transaction_remove_by_id_id, 0, 1, 0},
    {"kv_transaction_remove_by_id_if", "id", KINDS, pointer_kv_transaction_remove_by_id_if_id, 0, 1, 0},
    {"kv_transaction_update", "update_json", KINDS, pointer_kv_transaction_update_update_json, 0, 1, 0},
    {"kv_cursor_next", "json_out", KINDS, pointer_kv_cursor_next_json_out, 0, 1, 0},
    {"kv_cursor_next_page", "json_out", KINDS, pointer_kv_cursor_next_page_json_out, 0, 1, 0},
    {"kv_store_results", "results_out", KINDS, pointer_kv_store_results_results_out, 0, 1, 0},
    {"kv_results_count", "count_out", KINDS, pointer_kv_results_count_count_out, 0, 1, 0},
    {"kv_results_get", "json_out", KINDS, pointer_kv_results_get_json_out, 0, 1, 0},
    {"kv_results_page", "json_out", KINDS, pointer_kv_results_page_json_out, 0, 1, 0},
    {"kv_results_observe", "receive", KINDS, pointer_kv_results_observe_receive, 0, 1, 1},
    {"kv_results_statistics", "json_out", KINDS, pointer_kv_results_statistics_json_out, 0, 1, 0},
    {"kv_context_open", "context_out", KINDS, pointer_kv_context_open_context_out, 0, 1, 0},
    {"kv_context_insert", "collection", KINDS, pointer_kv_context_insert_collection, 0, 1, 0},
    {"kv_context_insert", "object_json", KINDS, pointer_kv_context_insert_object_json, 0, 1, 0},
    {"kv_context_get", "collection", KINDS, pointer_kv_context_get_collection, 0, 1, 0},
    {"kv_context_get", "id", KINDS, pointer_kv_context_get_id, 0, 1, 0},
    {"kv_context_get", "json_out", KINDS, pointer_kv_context_get_json_out, 0, 1, 0},
    {"kv_context_update", "collection", KINDS, pointer_kv_context_update_collection, 0, 1, 0},
    {"kv_context_update", "id", KINDS, pointer_kv_context_update_id, 0, 1, 0},
    {"kv_context_update", "members_json", KINDS, pointer_kv_context_update_members_json, 0, 1, 0},
    {"kv_context_set", "collection", KINDS, pointer_kv_context_set_collection, 0, 1, 0},
    {"kv_context_set", "id", KINDS, pointer_kv_context_set_id, 0, 1, 0},
    {"kv_context_set", "object_json", KINDS, pointer_kv_context_set_object_json, 0, 1, 0},
    {"kv_context_delete", "collection", KINDS, pointer_kv_context_delete_collection, 0, 1, 0},
    {"kv_context_delete", "id", KINDS, pointer_kv_context_delete_id, 0, 1, 0},
    {"kv_context_status", "collection", KINDS, pointer_kv_context_status_collection, 0, 1, 0},
    {"kv_context_status", "id", KINDS, pointer_kv_context_status_id, 0, 1, 0},
    {"kv_context_status", "json_out", KINDS, pointer_kv_context_status_json_out, 0, 1, 0},
    {"kv_context_changes", "json_out", KINDS, pointer_kv_context_changes_json_out, 0, 1, 0},
    {"kv_context_fetch", "collection", KINDS, pointer_kv_context_fetch_collection, 0, 1, 0},
    {"kv_context_fetch", "results_out", KINDS, pointer_kv_context_fetch_results_out, 0, 1, 0},
    {"kv_context_related", "collection", KINDS, pointer_kv_context_related_collection, 0, 1, 0},
    {"kv_context_related", "id", KINDS, pointer_kv_context_related_id, 0, 1, 0},
    {"kv_context_related", "relationship", KINDS, pointer_kv_context_related_relationship, 0, 1, 0},
    {"kv_context_related", "results_out", KINDS, pointer_kv_context_related_results_out, 0, 1, 0},
    {"kv_context_relationships", "collection", KINDS, pointer_kv_context_relationships_collection, 0, 1, 0},
    {"kv_context_relationships", "json_out", KINDS, pointer_kv_context_relationships_json_out, 0, 1, 0},
    {"kv_context_hold", "ids_json", KINDS, pointer_kv_context_hold_ids_json, 0, 1, 0},
    {"kv_context_release", "ids_json", KINDS, pointer_kv_context_release_ids_json, 0, 1, 0},
    {"kv_context_conflicts", "json_out", KINDS, pointer_kv_context_conflicts_json_out, 0, 1, 0},
    {"kv_context_resolve", "collection", KINDS, pointer_kv_context_resolve_collection, 0, 1, 0},
    {"kv_context_resolve", "id", KINDS, pointer_kv_context_resolve_id, 0, 1, 0},
    {"kv_context_resolve", "resolution_json", KINDS, pointer_kv_context_resolve_resolution_json, 0, 1, 0},
    {"kv_context_save_deciding", "decide", KINDS, pointer_kv_context_save_deciding_decide, 0, 1, 0},
    {"kv_context_describe", "collection", KINDS, pointer_kv_context_describe_collection, 0, 1, 0},
    {"kv_context_describe", "id", KINDS, pointer_kv_context_describe_id, 0, 1, 0},
    {"kv_context_describe", "json_out", KINDS, pointer_kv_context_describe_json_out, 0, 1, 0},
    {"kv_context_locate", "uri", KINDS, pointer_kv_context_locate_uri, 0, 1, 0},
    {"kv_context_locate", "json_out", KINDS, pointer_kv_context_locate_json_out, 0, 1, 0},
    {"kv_context_statistics", "json_out", KINDS, pointer_kv_context_statistics_json_out, 0, 1, 0},
    {"kv_backend_register", "name", KINDS, pointer_kv_backend_register_name, 0, 1, 1},
    {"kv_backend_register", "functions", KINDS, pointer_kv_backend_register_functions, 0, 1, 1},
    {"kv_backend_unregister", "name", KINDS, pointer_kv_backend_unregister_name, 0, 1, 0},
    {"kv_store_type_register", "name", KINDS, pointer_kv_store_type_register_name, 0, 1, 1},
    {"kv_store_type_register", "functions", KINDS, pointer_kv_store_type_register_functions, 0, 1, 1},
    {"kv_store_type_unregister", "name", KINDS, pointer_kv_store_type_unregister_name, 0, 1, 0},
    {"kv_store_type_announce", "name", KINDS, pointer_kv_store_type_announce_name, 0, 1, 0},
    {"kv_migration_register", "name", KINDS, pointer_kv_migration_register_name, 0, 1, 1},
    {"kv_migration_register", "migrate", KINDS, pointer_kv_migration_register_migrate, 0, 1, 1},
    {"kv_migration_unregister", "name", KINDS, pointer_kv_migration_unregister_name, 0, 1, 0},
};

/* Frees what is no handle. */
static void free_nothing(void *handle) {
  kv_error_free(handle);
  kv_request_free(handle);
  kv_query_free(handle);
  kv_transaction_close(handle);
  kv_cursor_close(handle);
  kv_results_close(handle);
  kv_context_close(handle);
}
