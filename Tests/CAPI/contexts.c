/* Contexts: objects with unsaved changes, saved in one step. */
#include "check.h"
#include "fixture.h"

static kv_client *client;
static kv_store *store;
static kv_context *objects;
static char *json;

static void open_context(const char *options) {
  client = local_client(NULL, "");
  store = opened_store(client, "things", "sync");
  OK(kv_context_open(client, options, &objects, &error));
}

static void close_context(void) {
  kv_context_close(objects);
  OK(kv_client_close(client));
}

static void object_is(const char *id, const char *expected) {
  size_t length = 0;
  OK(kv_context_get(objects, "things", id, &json, &length, &error));
  TEXT(expected, json);
  NUMBER(strlen(expected), length);
  kv_free(json);
}

static void inserts_updates_deletes(void) {
  open_context(NULL);
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  saved(store, "{\"_id\":\"b\",\"n\":2}");
  char *id = NULL;
  OK(kv_context_insert(objects, "others", "{\"n\":3}", KV_NUL_TERMINATED, &id, NULL, &error));
  NUMBER(32, strlen(id));
  OK(kv_context_update(objects, "things", "a", "{\"n\":4,\"m\":5}", KV_NUL_TERMINATED, &error));
  object_is("a", "{\"_id\":\"a\",\"n\":4,\"m\":5}");
  OK(kv_context_set(objects, "things", "a", "{\"k\":6}", KV_NUL_TERMINATED, &error));
  OK(kv_context_delete(objects, "things", "b", &error));
  FAILS(KV_NOT_FOUND, "no object", kv_context_get(objects, "things", "b", &json, NULL, &error));
  NUMBER(2, counted(store));
  OK(kv_context_save(objects, NULL, NULL, &error));
  NUMBER(1, counted(store));
  object_is("a", "{\"_id\":\"a\",\"k\":6}");
  OK(kv_context_undo(objects, &error));
  object_is("b", "{\"_id\":\"b\",\"n\":2}");
  OK(kv_context_rollback(objects, &error));
  STATUS(KV_DONE, kv_context_undo(objects, &error));
  kv_free(id);
  close_context();
}

static int conflicts_seen;

static void take_both(void *context, kv_context *of, const char *conflict) {
  conflicts_seen++;
  CHECK(context == &conflicts_seen);
  CHECK(strstr(conflict, "\"stored\":{\"_id\":\"a\",\"n\":2}") != NULL);
  OK(kv_context_resolve(of, "things", "a", "{\"use\":\"merged\",\"object\":{\"_id\":\"a\",\"n\":12}}",
                        KV_NUL_TERMINATED, &error));
}

static void leave_open(void *context, kv_context *of, const char *conflict) {
  (void)context, (void)of, (void)conflict;
}

static void a_function_decides(void) {
  open_context("{\"mergePolicy\":\"error\"}");
  saved(store, "{\"_id\":\"a\",\"n\":0}");
  OK(kv_context_update(objects, "things", "a", "{\"n\":1}", KV_NUL_TERMINATED, &error));
  saved(store, "{\"_id\":\"a\",\"n\":2}");
  FAILS(KV_CONFLICT, "changed", kv_context_save(objects, NULL, NULL, &error));
  FAILS(KV_CONFLICT, "changed", kv_context_save_deciding(objects, leave_open, NULL, NULL, NULL, &error));
  OK(kv_context_save_deciding(objects, take_both, &conflicts_seen, &json, NULL, &error));
  NUMBER(1, conflicts_seen);
  CHECK(strstr(json, "\"updated\":[{\"collection\":\"things\",\"id\":\"a\"}]") != NULL);
  kv_free(json);
  object_is("a", "{\"_id\":\"a\",\"n\":12}");
  close_context();
}

static void lists_read_in_batches(void) {
  open_context("{\"fetchBatchSize\":10}");
  for (int i = 0; i < 100; i++) {
    char text[60];
    snprintf(text, sizeof text, "{\"_id\":\"id%d\",\"n\":%d}", i, i);
    saved(store, text);
  }
  kv_results *results = NULL;
  OK(kv_context_fetch(objects, "things", NULL, 0, NULL, &results, &error));
  const char *record = NULL;
  for (uint64_t i = 0; i < 100; i++) OK(kv_results_get(results, i, &record, NULL, NULL, &error));
  OK(kv_context_statistics(objects, &json, NULL, &error));
  CHECK(strstr(json, "\"reads\":10,") != NULL);
  kv_free(json);
  kv_context_close(objects);
  FAILS(KV_MISUSE, "closed", kv_results_get(results, 0, &record, NULL, NULL, &error));
  kv_results_close(results);
  OK(kv_client_close(client));
}

static char told[200];

static void on_change(void *context, const kv_event *event) {
  (void)context;
  snprintf(told, sizeof told, "%s", event->json ? event->json : "error");
}

static void expect_change(const char *expected) {
  dispatch_until_written(client, told);
  TEXT(expected, told);
}

static void lists_follow(void) {
  client = local_client(NULL, ",\"callbacks\":\"pump\"");
  store = opened_store(client, "things", "sync");
  OK(kv_context_open(client, NULL, &objects, &error));
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  saved(store, "{\"_id\":\"b\",\"n\":2}");
  kv_query *by_n = NULL;
  OK(kv_query_create(NULL, 0, "{\"sort\":{\"n\":1}}", KV_NUL_TERMINATED, &by_n, &error));
  kv_results *results = NULL;
  OK(kv_context_fetch(objects, "things", NULL, 0, by_n, &results, &error));
  kv_query_free(by_n);
  kv_subscription *subscription = NULL;
  OK(kv_results_observe(results, on_change, NULL, NULL, &subscription, &error));
  OK(kv_context_update(objects, "things", "a", "{\"n\":3}", KV_NUL_TERMINATED, &error));
  expect_change("{\"count\":2,\"deletions\":[],\"moves\":[{\"from\":0,\"to\":1}],\"insertions\":[],\"modifications\":[1]}");
  saved(store, "{\"_id\":\"c\",\"n\":0}");
  expect_change("{\"count\":3,\"deletions\":[],\"moves\":[],\"insertions\":[0],\"modifications\":[]}");
  const char *record = NULL;
  OK(kv_results_get(results, 2, &record, NULL, NULL, &error));
  TEXT("{\"_id\":\"a\",\"n\":3}", record);
  OK(kv_context_rollback(objects, &error));
  expect_change("{\"count\":3,\"deletions\":[],\"moves\":[{\"from\":1,\"to\":2}],\"insertions\":[],\"modifications\":[1]}");
  kv_context_close(objects);
  OK(kv_subscription_close(subscription));
  kv_results_close(results);
  OK(kv_client_close(client));
}

int main(void) {
  RUN("a save writes what was inserted, updated and deleted", inserts_updates_deletes);
  RUN("a function decides conflicts", a_function_decides);
  RUN("faults are read in batches", lists_read_in_batches);
  RUN("a list follows the edits of its context and what others save", lists_follow);
  return finish();
}
