/* Against a real server: users, the four types of stores, pushing, pulling, offline and back. */
#include "check.h"
#include "fixture.h"

#include <poll.h>
#include <stdatomic.h>

static int port;
static kv_client *client;

/* A client with a new user; each test has collections of its own. */
static void open_client(const char *more) {
  client = server_client(port, NULL, more);
  OK(kv_user_signup(client, NULL, 0, NULL, NULL, NULL, &error));
}

/* Whether a call that gives JSON gives these words. */
#define RETURNS(words, call)                                              \
  do {                                                                  \
    char *json = NULL;                                                  \
    size_t length = 0;                                                  \
    OK(call);                                                           \
    CHECK(json != NULL && strlen(json) == length);                      \
    if (json == NULL || strstr(json, words) == NULL) TEXT(words, json); \
    kv_free(json);                                                      \
  } while (0)

static int64_t queued(kv_store *store) {
  int64_t count = -1;
  OK(kv_store_sync_count(store, &count, &error));
  return count;
}

static void pings(void) {
  client = server_client(port, NULL, "");
  RETURNS("\"version\"", kv_ping(client, NULL, &json, &length, &error));
  OK(kv_client_close(client));
}

static void users_come_and_go(void) {
  const char *directory = fresh_directory();
  int32_t exists = 7;
  char *text = NULL;
  client = server_client(port, directory, "");
  STATUS(KV_NO_USER, kv_user_active(client, &text, NULL, &error));
  OK(kv_user_exists(client, "ada", NULL, &exists, &error));
  NUMBER(0, exists);
  RETURNS("\"username\":\"ada\"",
        kv_user_signup(client, "{\"username\":\"ada\",\"password\":\"engine\",\"born\":1815}",
                       KV_NUL_TERMINATED, NULL, &json, &length, &error));
  OK(kv_user_exists(client, "ada", NULL, &exists, &error));
  NUMBER(1, exists);
  OK(kv_user_active(client, &text, NULL, &error));
  CHECK(text && strstr(text, "ada") && !strstr(text, "authtoken"));
  kv_free(text);
  RETURNS("1815", kv_user_me(client, NULL, &json, &length, &error));
  RETURNS("1852", kv_user_update(client, "{\"died\":1852}", KV_NUL_TERMINATED, NULL, &json, &length,
                               &error));
  OK(kv_client_close(client));

  client = server_client(port, directory, "");
  OK(kv_user_active(client, &text, NULL, &error));
  CHECK(text && strstr(text, "1852"));
  kv_free(text);
  STATUS(KV_CONFLICT, kv_user_signup(client, "{\"username\":\"ada\",\"password\":\"x\"}",
                                     KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  OK(kv_user_logout(client, NULL, &error));
  STATUS(KV_NO_USER, kv_user_logout(client, NULL, &error));
  STATUS(KV_NO_USER, kv_user_me(client, NULL, &text, NULL, &error));
  STATUS(KV_UNAUTHORIZED, kv_user_login(client, "{\"username\":\"ada\",\"password\":\"wrong\"}",
                                        KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  RETURNS("ada", kv_user_login(client, "{\"username\":\"ada\",\"password\":\"engine\"}",
                             KV_NUL_TERMINATED, NULL, &json, &length, &error));
  OK(kv_user_delete(client, "{\"hard\":true}", &error));
  STATUS(KV_NO_USER, kv_user_active(client, &text, NULL, &error));
  OK(kv_user_exists(client, "ada", NULL, &exists, &error));
  NUMBER(0, exists);
  OK(kv_client_close(client));
}

static void users_come_and_go_asynchronously(void) {
  kv_request *request = NULL;
  char *json = NULL;
  client = server_client(port, NULL, "");
#define DONE(wanted, start)                                            \
  do {                                                                 \
    OK(start);                                                         \
    STATUS(wanted, kv_request_wait(request, 20, &json, NULL, &error)); \
    kv_free(json);                                                     \
    kv_request_free(request);                                          \
  } while (0)
#define QUIET NULL, NULL, NULL, &request, &error
  DONE(KV_OK, kv_ping_async(client, NULL, QUIET));
  DONE(KV_OK, kv_user_signup_async(client, "{\"username\":\"bob\",\"password\":\"b\"}", KV_NUL_TERMINATED,
                                   NULL, QUIET));
  DONE(KV_OK, kv_user_me_async(client, NULL, QUIET));
  DONE(KV_OK, kv_user_update_async(client, "{\"x\":1}", KV_NUL_TERMINATED, NULL, QUIET));
  OK(kv_user_exists_async(client, "bob", NULL, QUIET));
  OK(kv_request_wait(request, 20, &json, NULL, &error));
  TEXT("1", json);
  kv_free(json);
  kv_request_free(request);
  DONE(KV_OK, kv_user_logout_async(client, NULL, QUIET));
  DONE(KV_OK, kv_user_login_async(client, "{\"username\":\"bob\",\"password\":\"b\"}", KV_NUL_TERMINATED,
                                  NULL, QUIET));
  DONE(KV_OK, kv_user_delete_async(client, NULL, QUIET));
  DONE(KV_NO_USER, kv_user_delete_async(client, NULL, QUIET));
  OK(kv_client_close(client));
}

#define LOCALLY "{\"readPolicy\":\"forceLocal\"}"

static void a_sync_store_pushes_and_pulls(void) {
  kv_store *store, *network;
  kv_cursor *cursor = NULL;
  const char *text = NULL;
  size_t length = 0;
  kv_request *request = NULL;
  char *json = NULL;
  open_client("");
  store = opened_store(client, "synced", "sync");
  network = opened_store(client, "synced", "network");
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  saved(store, "{\"_id\":\"b\",\"n\":2}");
  saved(store, "{\"n\":3}");
  NUMBER(3, queued(store));
  NUMBER(0, counted(network));
  STATUS(KV_PENDING, kv_store_pull(store, NULL, NULL, NULL, NULL, &error));
  RETURNS("{\"pushed\":3,\"errors\":[],\"quarantined\":0,\"overwritten\":0,\"discarded\":0}",
          kv_store_push(store, NULL, &json, &length, &error));
  NUMBER(0, queued(store));
  NUMBER(3, counted(network));
  saved(network, "{\"_id\":\"c\",\"n\":4}");
  RETURNS("{\"pulled\":4,\"removed\":0}", kv_store_pull(store, NULL, NULL, &json, &length, &error));
  OK(kv_store_find(store, NULL, LOCALLY, &cursor, &error));
  OK(kv_cursor_next_page(cursor, 10, &text, &length, NULL, &error));
  CHECK(strstr(text, "\"n\":1") && strstr(text, "\"n\":4"));
  kv_cursor_close(cursor);
  OK(kv_store_remove_by_id(network, "a", NULL, NULL, &error));
  RETURNS("\"removed\":1", kv_store_sync(store, NULL, NULL, &json, &length, &error));
  NUMBER(3, counted(store));
  saved(network, "{\"_id\":\"c\",\"n\":5}");
  saved(store, "{\"_id\":\"c\",\"n\":6}");
  RETURNS("\"overwritten\":1", kv_store_push(store, NULL, &json, &length, &error));
  saved(store, "{\"_id\":\"d\"}");
  DONE(KV_OK, kv_store_push_async(store, NULL, QUIET));
  DONE(KV_OK, kv_store_pull_async(store, NULL, NULL, QUIET));
  DONE(KV_OK, kv_store_sync_async(store, NULL, NULL, QUIET));
  saved(store, "{\"_id\":\"e\"}");
  DONE(KV_OK, kv_store_pending_retry_async(store, "e", NULL, QUIET));
  saved(store, "{\"_id\":\"f\"}");
  OK(kv_store_pending_retry(store, "f", NULL, &error));
  STATUS(KV_NOT_FOUND, kv_store_pending_retry(store, "f", NULL, &error));
  NUMBER(6, counted(network));
  STATUS(KV_UNSUPPORTED, kv_store_pull(network, NULL, NULL, NULL, NULL, &error));
  STATUS(KV_UNSUPPORTED, kv_store_push(network, NULL, NULL, NULL, &error));
  NUMBER(0, queued(network));
  OK(kv_client_close(client));
}

static void a_network_store_keeps_nothing(void) {
  kv_store *store;
  kv_cursor *cursor = NULL;
  const char *entity = NULL;
  char *json = NULL;
  open_client("");
  store = opened_store(client, "remote", "network");
  OK(kv_store_save_many(store, "[{\"_id\":\"a\"},{\"_id\":\"b\"},{}]", KV_NUL_TERMINATED, NULL, &json,
                        NULL, &error));
  CHECK(json && strstr(json, "\"errors\":[]"));
  kv_free(json);
  OK(kv_store_find(store, NULL, NULL, &cursor, &error));
  OK(kv_cursor_next(cursor, &entity, NULL, &error));
  kv_cursor_close(cursor);
  RETURNS("\"_kmd\"", kv_store_find_by_id(store, "a", NULL, &json, &length, &error));
  STATUS(KV_NOT_FOUND, kv_store_find_by_id(store, "x", NULL, &json, NULL, &error));
  NUMBER(3, counted(store));
  int64_t count = 0;
  OK(kv_store_remove(store, NULL, NULL, &count, &error));
  NUMBER(3, count);
  OK(kv_client_close(client));
}

/* What the callback of a Cache store saw, in order. */
typedef struct {
  atomic_int answers, frees;
  int local[4], final[4], entities[4], status[4];
} seen;

static void on_answer(void *context, const kv_answer *answer) {
  seen *what = context;
  const char *json = NULL;
  int index = what->answers;
  if (index < 4) {
    what->local[index] = answer->is_local;
    what->final[index] = answer->is_final;
    what->status[index] = answer->status;
    while (answer->cursor && kv_cursor_next(answer->cursor, &json, NULL, NULL) == KV_OK)
      what->entities[index]++;
  }
  what->answers++;
}

static void on_free(void *context) { ((seen *)context)->frees++; }

static void settle(seen *what) {
  for (double end = seconds() + 60; what->frees == 0 && seconds() < end;) poll(NULL, 0, 1);
  NUMBER(1, what->frees);
}

static void a_cache_store_answers_twice(void) {
  seen find = {0}, save = {0}, offline = {0}, count = {0};
  kv_store *store, *network;
  open_client("");
  network = opened_store(client, "cached", "network");
  store = opened_store(client, "cached", "cache");
  saved(network, "{\"_id\":\"a\"}");
  OK(kv_store_find_async(store, NULL, NULL, on_answer, &find, on_free, NULL, &error));
  settle(&find);
  NUMBER(2, find.answers);
  NUMBER(1, find.local[0]);
  NUMBER(0, find.final[0]);
  NUMBER(0, find.entities[0]);
  NUMBER(0, find.local[1]);
  NUMBER(1, find.final[1]);
  NUMBER(1, find.entities[1]);
  OK(kv_store_save_async(store, "{\"_id\":\"b\"}", KV_NUL_TERMINATED, NULL, on_answer, &save, on_free, NULL,
                         &error));
  settle(&save);
  NUMBER(2, save.answers);
  OK(kv_store_count_async(store, NULL, NULL, on_answer, &count, on_free, NULL, &error));
  settle(&count);
  NUMBER(2, count.answers);
  NUMBER(2, counted(network));
  stop_server();
  OK(kv_store_save_async(store, "{\"_id\":\"c\"}", KV_NUL_TERMINATED, NULL, on_answer, &offline, on_free,
                         NULL, &error));
  settle(&offline);
  NUMBER(2, offline.answers);
  NUMBER(KV_OK, offline.status[0]);
  NUMBER(KV_NETWORK, offline.status[1]);
  NUMBER(1, queued(store));
  OK(kv_client_close(client));
  port = start_server();
}

static void an_auto_store_works_offline(void) {
  kv_store *store;
  kv_cursor *cursor = NULL;
  open_client("");
  store = opened_store(client, "automatic", "auto");
  saved(store, "{\"_id\":\"a\"}");
  NUMBER(0, queued(store));
  stop_server();
  saved(store, "{\"_id\":\"b\"}");
  NUMBER(1, queued(store));
  NUMBER(2, counted(store));
  OK(kv_store_find(store, NULL, NULL, &cursor, &error));
  kv_cursor_close(cursor);
  STATUS(KV_NETWORK, kv_store_count(store, NULL, "{\"readPolicy\":\"forceNetwork\"}", &(int64_t){0},
                                    &error));
  STATUS(KV_NETWORK, kv_store_push(store, NULL, NULL, NULL, &error));
  NUMBER(1, queued(store));
  OK(kv_client_close(client));
  port = start_server();
}

static void logging_out_protects_unsent_work(void) {
  kv_store *store;
  open_client("");
  store = opened_store(client, "unsent", "sync");
  saved(store, "{\"_id\":\"a\"}");
  STATUS(KV_PENDING, kv_user_logout(client, NULL, &error));
  NUMBER(1, queued(store));
  OK(kv_user_logout(client, "{\"keepData\":true}", &error));
  NUMBER(1, queued(store));
  STATUS(KV_NO_USER, kv_store_push(store, NULL, NULL, NULL, &error));
  /* It is not the next user's: neither to send nor to read. */
  FAILS(KV_PENDING, "another user", kv_user_signup(client, NULL, 0, NULL, NULL, NULL, &error));
  NUMBER(1, queued(store));
  OK(kv_store_purge(store, NULL, NULL, &error));
  OK(kv_user_signup(client, NULL, 0, NULL, NULL, NULL, &error));
  NUMBER(0, queued(store));
  NUMBER(0, counted(store));
  saved(store, "{\"_id\":\"b\"}");
  OK(kv_user_logout(client, "{\"discardPending\":true}", &error));
  NUMBER(0, queued(store));
  NUMBER(0, counted(store));
  OK(kv_client_close(client));
}

#define KNOWN "{\"knownMembers\":{\"_id\":true,\"n\":true,\"at\":{\"x\":true}}}"

/* What the network store has of the entity "a" is what was saved, and what only a newer program knows. */
static void is_whole(kv_store *network, const char *saved_part) {
  RETURNS(saved_part, kv_store_find_by_id(network, "a", NULL, &json, &length, &error));
  RETURNS("\"added\":[1]", kv_store_find_by_id(network, "a", NULL, &json, &length, &error));
  RETURNS("\"y\":2}", kv_store_find_by_id(network, "a", NULL, &json, &length, &error));
}

static void saves_keep_what_is_not_known(void) {
  kv_store *older = NULL, *local = NULL;
  open_client("");
  kv_store *network = opened_store(client, "known", "network");
  saved(network, "{\"_id\":\"a\",\"n\":1,\"added\":[1],\"at\":{\"x\":1,\"y\":2}}");
  OK(kv_store_open(client, "known", "network", KNOWN, &older, &error));
  saved(older, "{\"_id\":\"a\",\"n\":2,\"at\":{\"x\":5}}");
  is_whole(network, "\"n\":2,\"at\":{\"x\":5,\"y\":2}");
  OK(kv_store_open(client, "known", "sync", NULL, &local, &error));
  OK(kv_store_pull(local, NULL, NULL, NULL, NULL, &error));
  RETURNS("\"added\":[1]",
        kv_store_save_many(local, "[{\"_id\":\"a\",\"n\":3,\"at\":{}}]", KV_NUL_TERMINATED, KNOWN,
                           &json, &length, &error));
  OK(kv_store_push(local, NULL, NULL, NULL, &error));
  is_whole(network, "\"n\":3,\"at\":{\"y\":2}");
  FAILS(KV_INVALID, "knownMembers",
        kv_store_open(client, "known", "sync", "{\"knownMembers\":[\"n\"]}", &older, &error));
  OK(kv_client_close(client));
}

static void log_line(void *context, int32_t level, const char *text) {
  (void)level;
  atomic_int *lines = context;
  CHECK(strstr(text, "hunter2") == NULL && strstr(text, "secret") == NULL);
  (*lines)++;
}

static void the_log_names_no_secret(void) {
  atomic_int lines = 0;
  client = server_client(port, NULL, "");
  OK(kv_client_set_log(client, 4, log_line, &lines, NULL, &error));
  OK(kv_user_signup(client, "{\"password\":\"hunter2\"}", KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  STATUS(KV_UNAUTHORIZED, kv_user_login(client, "{\"username\":\"x\",\"password\":\"hunter2\"}",
                                        KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  OK(kv_client_close(client));
  CHECK(lines >= 2);
}

/* A network store has nowhere to keep a list: its ids come at once, the records of a batch when one is touched. */
static void lists_of_the_backend(void) {
  const char *json = NULL;
  int64_t count = 0;
  int32_t state = -1, states[3] = {-1, -1, -1};
  kv_results *results = NULL;
  kv_query *query = NULL;
  open_client("");
  kv_store *store = opened_store(client, "listed", "network");
  for (int i = 0; i < 10; i++) {
    char text[60];
    snprintf(text, sizeof text, "{\"_id\":\"l%d\",\"n\":%d}", i, i);
    saved(store, text);
  }
  OK(kv_query_create(NULL, 0, "{\"sort\":{\"n\":-1}}", KV_NUL_TERMINATED, &query, &error));
  STATUS(KV_INVALID, kv_store_results(store, "{\"returnsObjectsAsFaults\":1}", KV_NUL_TERMINATED, query, NULL,
                                      &results, &error));
  OK(kv_store_results(store, "{\"fetchBatchSize\":4}", KV_NUL_TERMINATED, query, NULL, &results, &error));
  OK(kv_results_count(results, &count, &error));
  NUMBER(10, count);
  OK(kv_results_get(results, 3, &json, NULL, &state, &error));
  CHECK(strstr(json, "\"l6\"") != NULL);
  NUMBER(KV_RECORD_UNCHANGED, state);
  saved(store, "{\"_id\":\"l5\",\"n\":50}");
  OK(kv_store_remove_by_id(store, "l4", NULL, NULL, &error));
  OK(kv_results_page(results, 3, 3, &json, NULL, states, &error));
  CHECK(strstr(json, ",null]") != NULL && strstr(json, "50") != NULL);
  NUMBER(KV_RECORD_UNCHANGED, states[0]);
  NUMBER(KV_RECORD_CHANGED, states[1]);
  NUMBER(KV_RECORD_DELETED, states[2]);
  STATUS(KV_NOT_FOUND, kv_results_get(results, 5, &json, NULL, &state, &error));
  stop_server();
  OK(kv_results_get(results, 0, &json, NULL, &state, &error));
  STATUS(KV_NETWORK, kv_results_get(results, 9, &json, NULL, &state, &error));
  kv_results_close(results);
  kv_query_free(query);
  OK(kv_client_close(client));
}

int main(void) {
  port = start_server();
  RUN("a ping brings the server's version", pings);
  RUN("users sign up, are remembered, log in and out, and are deleted", users_come_and_go);
  RUN("the same asynchronously", users_come_and_go_asynchronously);
  RUN("a sync store works locally until it is pushed, pulled or synced", a_sync_store_pushes_and_pulls);
  RUN("a network store keeps nothing", a_network_store_keeps_nothing);
  RUN("a cache store answers twice, offline too", a_cache_store_answers_twice);
  RUN("an auto store works offline", an_auto_store_works_offline);
  RUN("logging out protects unsent work", logging_out_protects_unsent_work);
  RUN("saves keep what the program does not know", saves_keep_what_is_not_known);
  RUN("the log names no secret", the_log_names_no_secret);
  RUN("a list of a network store asks for each batch, and ends nothing when the server is gone", lists_of_the_backend);
  return finish();
}
