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

/* A call that gives `json`. */
#define GIVES(expected, call) \
  do { \
    OK(call); \
    TEXT(expected, json); \
    kv_free(json); \
  } while (0)

static void tells_what_it_knows(void) {
  open_context(NULL);
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  saved(store, "{\"_id\":\"b\",\"n\":1}");
  GIVES("{\"id\":\"a\",\"state\":\"unchanged\",\"isFault\":true,\"isTemporary\":false,\"version\":null}",
        kv_context_status(objects, "things", "a", &json, NULL, &error));
  OK(kv_context_update(objects, "things", "a", "{\"n\":2}", KV_NUL_TERMINATED, &error));
  OK(kv_context_insert(objects, "things", "{\"_id\":\"c\"}", KV_NUL_TERMINATED, NULL, NULL, &error));
  OK(kv_context_delete(objects, "things", "b", &error));
  OK(kv_context_status(objects, "things", "a", &json, NULL, &error));
  CHECK(strstr(json, "\"state\":\"updated\",\"isFault\":false") != NULL);
  CHECK(strstr(json, "\"version\":null") == NULL);
  kv_free(json);
  GIVES("{\"inserted\":[{\"collection\":\"things\",\"id\":\"c\"}],\"updated\":[{\"collection\":\"things\",\"id\":\"a\"}],"
          "\"deleted\":[{\"collection\":\"things\",\"id\":\"b\"}]}",
        kv_context_changes(objects, &json, NULL, &error));
  OK(kv_context_rollback(objects, &error));
  GIVES("{\"inserted\":[],\"updated\":[],\"deleted\":[]}",
        kv_context_changes(objects, &json, NULL, &error));
  close_context();
}

static void groups_are_undone_and_redone(void) {
  open_context(NULL);
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  OK(kv_context_undo_begin(objects, &error));
  OK(kv_context_update(objects, "things", "a", "{\"n\":2}", KV_NUL_TERMINATED, &error));
  OK(kv_context_update(objects, "things", "a", "{\"m\":3}", KV_NUL_TERMINATED, &error));
  OK(kv_context_undo_end(objects, &error));
  FAILS(KV_MISUSE, "group", kv_context_undo_end(objects, &error));
  OK(kv_context_undo(objects, &error));
  object_is("a", "{\"_id\":\"a\",\"n\":1}");
  OK(kv_context_redo(objects, &error));
  object_is("a", "{\"_id\":\"a\",\"n\":2,\"m\":3}");
  STATUS(KV_DONE, kv_context_redo(objects, &error));
  OK(kv_context_save(objects, NULL, NULL, &error));
  OK(kv_context_undo(objects, &error));
  object_is("a", "{\"_id\":\"a\",\"n\":1}");
  close_context();
}

static void held_objects_are_checked(void) {
  const char *held = "[{\"collection\":\"things\",\"id\":\"a\"}]";
  open_context(NULL);
  saved(store, "{\"_id\":\"a\",\"n\":1}");
  object_is("a", "{\"_id\":\"a\",\"n\":1}");
  OK(kv_context_hold(objects, held, KV_NUL_TERMINATED, &error));
  OK(kv_context_statistics(objects, &json, NULL, &error));
  CHECK(strstr(json, "\"held\":1") != NULL);
  kv_free(json);
  OK(kv_context_update(objects, "things", "a", "{\"m\":5}", KV_NUL_TERMINATED, &error));
  saved(store, "{\"_id\":\"a\",\"n\":2}");
  object_is("a", "{\"_id\":\"a\",\"n\":1,\"m\":5}");
  FAILS(KV_CONFLICT, "changed", kv_context_save(objects, NULL, NULL, &error));
  OK(kv_context_conflicts(objects, &json, NULL, &error));
  CHECK(strstr(json, "\"read\":{\"_id\":\"a\",\"n\":1},\"object\":{\"_id\":\"a\",\"n\":1,\"m\":5},\"stored\":{\"_id\":\"a\",\"n\":2}") !=
        NULL);
  kv_free(json);
  OK(kv_context_refresh(objects, held, KV_NUL_TERMINATED, 1, &error));
  object_is("a", "{\"_id\":\"a\",\"n\":2,\"m\":5}");
  OK(kv_context_refresh(objects, NULL, 0, 0, &error));
  object_is("a", "{\"_id\":\"a\",\"n\":2}");
  OK(kv_context_release(objects, held, KV_NUL_TERMINATED, &error));
  FAILS(KV_INVALID, "", kv_context_hold(objects, "[{\"collection\":1}]", KV_NUL_TERMINATED, &error));
  close_context();
}

static void relationships_are_followed(void) {
  open_context("{\"relationships\":{\"comments\":{\"thing\":{\"to\":\"things\",\"key\":\"thingId\"}},"
               "\"things\":{\"comments\":{\"to\":\"comments\",\"inverseKey\":\"thingId\"}}}}");
  kv_store *comments = opened_store(client, "comments", "sync");
  for (int i = 0; i < 20; i++) {
    char text[80];
    snprintf(text, sizeof text, "{\"_id\":\"t%d\"}", i);
    saved(store, text);
    snprintf(text, sizeof text, "{\"_id\":\"c%d\",\"thingId\":\"t%d\"}", i, i);
    saved(comments, text);
  }
  GIVES("[{\"name\":\"thing\",\"to\":\"things\",\"toMany\":false}]",
        kv_context_relationships(objects, "comments", &json, NULL, &error));
  kv_results *found = NULL;
  const char *prefetching = "{\"relationshipKeyPathsForPrefetching\":[\"thing\"]}";
  OK(kv_context_fetch(objects, "comments", prefetching, KV_NUL_TERMINATED, NULL, &found, &error));
  const char *record = NULL;
  for (uint64_t i = 0; i < 20; i++) {
    char id[10], expected[20];
    kv_results *related = NULL;
    snprintf(id, sizeof id, "c%d", (int)i);
    snprintf(expected, sizeof expected, "{\"_id\":\"t%d\"}", (int)i);
    OK(kv_context_related(objects, "comments", id, "thing", NULL, 0, &related, &error));
    OK(kv_results_get(related, 0, &record, NULL, NULL, &error));
    TEXT(expected, record);
    kv_results_close(related);
  }
  kv_results_close(found);
  OK(kv_context_statistics(objects, &json, NULL, &error));
  CHECK(strstr(json, "\"relationshipReads\":1,") != NULL);
  kv_free(json);
  kv_results *none = NULL;
  FAILS(KV_INVALID, "", kv_context_related(objects, "comments", "c1", "nothing", NULL, 0, &none, &error));
  kv_store_close(comments);
  close_context();
}

static void uris_name_objects(void) {
  open_context(NULL);
  saved(store, "{\"_id\":\"a/b\"}");
  OK(kv_context_describe(objects, "things", "a/b", &json, NULL, &error));
  CHECK(strstr(json, "{\"collection\":\"things\",\"id\":\"a/b\",\"reference\":\"a/b\",\"uri\":\"") == json);
  char *described = json, *uri = uri_of(described);
  GIVES(described, kv_context_locate(objects, uri, &json, NULL, &error));
  free(uri);
  kv_free(described);
  FAILS(KV_INVALID, "", kv_context_locate(objects, "file:///etc/passwd", &json, NULL, &error));
  close_context();
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

static void refuses_what_cannot_be(void) {
  const char *impossible[][2] = {{"things", ""}, {"", "a"}, {"a/b", "a"}, {"_things", "a"}, {"..", "a"}};
  open_context(NULL);
  for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
    STATUS(KV_INVALID, kv_context_status(objects, impossible[i][0], impossible[i][1], &json, NULL, &error));
    STATUS(KV_INVALID, kv_context_describe(objects, impossible[i][0], impossible[i][1], &json, NULL, &error));
  }
  close_context();
}

int main(void) {
  RUN("a save writes what was inserted, updated and deleted", inserts_updates_deletes);
  RUN("a function decides conflicts", a_function_decides);
  RUN("faults are read in batches", lists_read_in_batches);
  RUN("a context tells what it knows of an object, and what it has changed", tells_what_it_knows);
  RUN("a group of edits is undone and made again, also once it was saved", groups_are_undone_and_redone);
  RUN("objects that are held are saved only as they were read; refreshing takes them as they are", held_objects_are_checked);
  RUN("relationships are followed for all objects of a batch at once", relationships_are_followed);
  RUN("a URI names an object", uris_name_objects);
  RUN("an id or a collection that cannot exist is refused", refuses_what_cannot_be);
  RUN("a list follows the edits of its context and what others save", lists_follow);
  return finish();
}
