/* Results: lists that load little by little. */
#include "check.h"
#include "fixture.h"

static kv_client *client;
static kv_store *store;
static kv_results *results;

static void open_things(int count) {
  client = local_client(NULL, "");
  store = opened_store(client, "things", "sync");
  for (int i = 0; i < count; i++) {
    char json[100];
    snprintf(json, sizeof json, "{\"_id\":\"id%d\",\"n\":%d,\"even\":%s}", i, i, i % 2 ? "false" : "true");
    saved(store, json);
  }
}

static void close_things(void) {
  kv_results_close(results);
  results = NULL;
  OK(kv_client_close(client));
}

static void fetch(const char *request, const char *modifiers) {
  kv_query *query = NULL;
  OK(kv_query_create(NULL, 0, modifiers, KV_NUL_TERMINATED, &query, &error));
  OK(kv_store_results(store, request, KV_NUL_TERMINATED, query, NULL, &results, &error));
  kv_query_free(query);
}

static void record_is(uint64_t position, const char *expected, int32_t expected_state) {
  const char *json = NULL;
  size_t length = 0;
  int32_t state = -1;
  OK(kv_results_get(results, position, &json, &length, &state, &error));
  TEXT(expected, json);
  NUMBER(strlen(expected), length);
  NUMBER(expected_state, state);
}

static void reads_are(int expected) {
  char *json = NULL, start[40];
  snprintf(start, sizeof start, "{\"reads\":%d,", expected);
  OK(kv_results_statistics(results, &json, NULL, &error));
  CHECK(strncmp(json, start, strlen(start)) == 0);
  kv_free(json);
}

static void positions(void) {
  const char *json = "";
  int64_t count = 0;
  open_things(20);
  fetch("{\"fetchBatchSize\":5}", "{\"sort\":{\"n\":-1}}");
  OK(kv_results_count(results, &count, &error));
  NUMBER(20, count);
  reads_are(0);
  record_is(19, "{\"_id\":\"id0\",\"n\":0,\"even\":true}", KV_RECORD_UNCHANGED);
  record_is(15, "{\"_id\":\"id4\",\"n\":4,\"even\":true}", KV_RECORD_UNCHANGED);
  record_is(0, "{\"_id\":\"id19\",\"n\":19,\"even\":false}", KV_RECORD_UNCHANGED);
  reads_are(2);
  STATUS(KV_DONE, kv_results_get(results, 20, &json, NULL, NULL, &error));
  CHECK(json == NULL);
  STATUS(KV_DONE, kv_results_get(results, UINT64_MAX, &json, NULL, NULL, &error));
  close_things();
}

static void pages(void) {
  const char *json = NULL;
  size_t length = 0;
  int32_t states[5] = {-1, -1, -1, -1, -1};
  open_things(4);
  fetch("{\"fetchBatchSize\":3}", "{\"sort\":{\"n\":1},\"fields\":[\"n\"]}");
  OK(kv_store_remove_by_id(store, "id1", NULL, NULL, &error));
  saved(store, "{\"_id\":\"id2\",\"n\":7}");
  OK(kv_results_page(results, 1, 5, &json, &length, states, &error));
  TEXT("[null,{\"_id\":\"id2\",\"n\":7},{\"_id\":\"id3\",\"n\":3}]", json);
  NUMBER(strlen(json), length);
  NUMBER(KV_RECORD_DELETED, states[0]);
  NUMBER(KV_RECORD_CHANGED, states[1]);
  NUMBER(KV_RECORD_UNCHANGED, states[2]);
  NUMBER(-1, states[3]);
  OK(kv_results_page(results, 0, 0, &json, NULL, NULL, &error));
  TEXT("[]", json);
  STATUS(KV_DONE, kv_results_page(results, 4, UINT32_MAX, &json, NULL, NULL, &error));
  TEXT("[]", json);
  close_things();
}

static void deleted(void) {
  const char *json = "";
  int32_t state = -1;
  open_things(1);
  fetch("{}", "{}");
  OK(kv_store_clear(store, NULL, NULL, &error));
  STATUS(KV_NOT_FOUND, kv_results_get(results, 0, &json, NULL, &state, &error));
  CHECK(json == NULL);
  NUMBER(KV_RECORD_DELETED, state);
  close_things();
}

static void refreshes(void) {
  open_things(2);
  fetch("{}", "{\"sort\":{\"n\":1}}");
  record_is(0, "{\"_id\":\"id0\",\"n\":0,\"even\":true}", KV_RECORD_UNCHANGED);
  saved(store, "{\"_id\":\"id0\"}");
  record_is(0, "{\"_id\":\"id0\",\"n\":0,\"even\":true}", KV_RECORD_UNCHANGED);
  OK(kv_results_refresh(results, &error));
  record_is(0, "{\"_id\":\"id0\"}", KV_RECORD_CHANGED);
  close_things();
}

static void rows(void) {
  open_things(5);
  fetch("{\"resultType\":\"dictionary\",\"groupBy\":[\"even\"],\"aggregates\":{\"n\":\"count\"},"
        "\"having\":{\"n\":{\"$gt\":2}}}",
        "{}");
  record_is(0, "{\"even\":true,\"n\":3}", KV_RECORD_UNCHANGED);
  close_things();
}

static void asynchronous(void) {
  kv_request *request = NULL;
  open_things(1);
  OK(kv_store_results_async(store, NULL, 0, NULL, NULL, NULL, NULL, NULL, &request, &error));
  OK(kv_request_wait(request, -1, NULL, NULL, &error));
  STATUS(KV_MISUSE, kv_request_cursor(request, &(kv_cursor *){NULL}, &error));
  OK(kv_request_results(request, &results, &error));
  STATUS(KV_MISUSE, kv_request_results(request, &(kv_results *){NULL}, &error));
  kv_request_free(request);
  record_is(0, "{\"_id\":\"id0\",\"n\":0,\"even\":true}", KV_RECORD_UNCHANGED);
  close_things();
}

static char told[200];

/* The list is what the event says already, and nothing forbids to read it. */
static void on_change(void *context, const kv_event *event) {
  int64_t count = 0;
  snprintf(told, sizeof told, "%s", event->json ? event->json : "error");
  OK(kv_results_count(results, &count, &error));
  *(int64_t *)context = count;
}

static void follows(void) {
  kv_subscription *subscription = NULL;
  int64_t count = 0;
  client = local_client(NULL, ",\"callbacks\":\"pump\"");
  store = opened_store(client, "things", "sync");
  for (const char *id = "abc"; *id; id++) {
    char json[40];
    snprintf(json, sizeof json, "{\"_id\":\"%c\",\"n\":%d}", *id, *id);
    saved(store, json);
  }
  fetch("{}", "{\"sort\":{\"n\":1}}");
  OK(kv_store_remove_by_id(store, "a", NULL, &count, &error));
  OK(kv_results_observe(results, on_change, &count, NULL, &subscription, &error));
  STATUS(KV_MISUSE, kv_results_observe(results, on_change, &count, NULL, NULL, &error));
  dispatch_until_written(client, told);
  TEXT("{\"count\":2,\"deletions\":[0],\"moves\":[],\"insertions\":[],\"modifications\":[]}", told);
  NUMBER(2, count);
  saved(store, "{\"_id\":\"b\",\"n\":200}");
  saved(store, "{\"_id\":\"d\",\"n\":1}");
  dispatch_until_written(client, told);
  TEXT("{\"count\":3,\"deletions\":[],\"moves\":[{\"from\":0,\"to\":2}],\"insertions\":[0],\"modifications\":[2]}", told);
  record_is(2, "{\"_id\":\"b\",\"n\":200}", KV_RECORD_UNCHANGED);
  OK(kv_subscription_close(subscription));
  saved(store, "{\"_id\":\"e\",\"n\":2}");
  OK(kv_results_count(results, &count, &error));
  NUMBER(3, count);
  close_things();
}

static void requests(void) {
  open_things(0);
  STATUS(KV_INVALID, kv_store_results(store, "{\"size\":1}", KV_NUL_TERMINATED, NULL, NULL, &results, &error));
  STATUS(KV_INVALID, kv_store_results(store, "[]", 2, NULL, NULL, &results, &error));
  STATUS(KV_INVALID, kv_store_results(store, "", 0, NULL, NULL, &results, &error));
  CHECK(results == NULL);
  close_things();
}

int main(void) {
  RUN("a record is read by its position, with its batch", positions);
  RUN("a page has the records and what became of them", pages);
  RUN("a record that was deleted is not found", deleted);
  RUN("what was read stays until it is forgotten", refreshes);
  RUN("groups that meet a condition are rows", rows);
  RUN("the asynchronous form hands its results over, once", asynchronous);
  RUN("a list that follows its query is what its events say", follows);
  RUN("a request that makes no sense is refused", requests);
  return finish();
}
