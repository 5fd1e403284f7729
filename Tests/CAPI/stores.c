/* A store of functions, in place of the local database. */
#define _GNU_SOURCE
#include "check.h"
#include "fixture.h"

#include <string.h>
#include <unistd.h>

/* What the store does with a request. */
enum mood { WELL, SILENT, GARBAGE, FEW, FAILS, CALLS_BACK };

/* One record, {"_id":"a","n":1}, which a save replaces or removes. */
typedef struct {
  _Atomic enum mood mood;
  _Atomic int is_there, frees, cancels, loads, saves;
  kv_store *store;
} cell;

static const char RECORD[] = "{\"_id\":\"a\",\"n\":1}";

static void complete(uint64_t request, const char *json) {
  STATUS(KV_OK, kv_backend_complete(request, KV_OK, json, KV_NUL_TERMINATED, &error));
}

/* True: the request is done with. */
static int misbehaves(cell *cell, uint64_t request) {
  int64_t count;
  switch (cell->mood) {
    case WELL: return 0;
    case SILENT: return 1;
    case GARBAGE: return complete(request, "]"), 1;
    case FEW: return complete(request, "{\"records\":[],\"saved\":[]}"), 1;
    case FAILS:
      STATUS(KV_OK, kv_backend_complete(request, KV_FORBIDDEN, NULL, 0, &error));
      return 1;
    case CALLS_BACK:
      cell->mood = WELL;
      OK(kv_store_count(cell->store, NULL, NULL, &count, &error));
      return 0;
  }
  return 0;
}

static void on_load(void *context, uint64_t request, const char *json, size_t length) {
  cell *cell = context;
  CHECK(strlen(json) == length && strstr(json, "\"dataDirectory\":\"/"));
  cell->loads++;
  if (!misbehaves(cell, request)) complete(request, "{\"type\":\"cell\",\"uuid\":\"cell-1\"}");
}

static void on_read(void *context, uint64_t request, const char *json, size_t length) {
  char answer[80];
  cell *cell = context;
  (void)json, (void)length;
  if (misbehaves(cell, request)) return;
  snprintf(answer, sizeof answer, "{\"records\":[%s]}", cell->is_there ? RECORD : "");
  complete(request, answer);
}

static void on_save(void *context, uint64_t request, const char *json, size_t length) {
  char answer[80];
  cell *cell = context;
  (void)length;
  cell->saves++;
  if (misbehaves(cell, request)) return;
  snprintf(answer, sizeof answer, "{\"deleted\":[%s]}", cell->is_there ? "true" : "false");
  int is_deletion = strstr(json, "\"deleted\":[]") == NULL;
  cell->is_there = !is_deletion;
  complete(request, is_deletion ? answer : "{}");
}

static void on_cancel(void *context, uint64_t request) {
  (void)request;
  ((cell *)context)->cancels++;
}

static void on_free(void *context) { ((cell *)context)->frees++; }

/* Waits for a count: a function may return a moment after its request was completed. */
static void becomes(int wanted, const _Atomic int *count) {
  for (int i = 0; i < 60000 && *count != wanted; i++) usleep(1000);
  NUMBER(wanted, *count);
}

static const kv_store_type functions = {.size = sizeof functions,
                                        .load = on_load,
                                        .fetch = on_read,
                                        .values = on_read,
                                        .save = on_save,
                                        .cancel = on_cancel};

static kv_status opened(double timeout, kv_client **client, kv_error **error_out) {
  char options[512];
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid\",\"store\":\"cell\",\"retries\":0,\"timeout\":%g,\"dataDirectory\":\"%s\"}",
           timeout, fresh_directory());
  return kv_client_open(options, KV_NUL_TERMINATED, client, error_out);
}

static void keeps_the_records(void) {
  cell cell = {0};
  kv_client *client = NULL;
  kv_store *store = NULL;
  char *json = NULL;
  int64_t count;
  OK(kv_store_type_register("cell", NULL, 0, &functions, &cell, on_free, &error));
  OK(opened(30, &client, &error));
  NUMBER(1, cell.loads);
  OK(kv_store_open(client, "things", "sync", NULL, &store, &error));
  OK(kv_store_save(store, RECORD, KV_NUL_TERMINATED, NULL, &json, NULL, &error));
  CHECK(json && strstr(json, "\"n\":1"));
  kv_free(json);
  OK(kv_store_count(store, NULL, NULL, &count, &error));
  NUMBER(1, count);
  cell.mood = CALLS_BACK;
  cell.store = store;
  OK(kv_store_count(store, NULL, NULL, &count, &error));
  OK(kv_store_remove_by_id(store, "a", NULL, &count, &error));
  NUMBER(1, count);
  OK(kv_store_remove_by_id(store, "a", NULL, &count, &error));
  NUMBER(0, count);
  STATUS(KV_UNSUPPORTED, kv_store_push(store, NULL, NULL, NULL, &error));
  OK(kv_store_type_unregister("cell", &error));
  NUMBER(0, cell.frees);
  OK(kv_store_close(store));
  OK(kv_client_close(client));
  becomes(1, &cell.frees);
}

static void has_contexts(void) {
  cell cell = {0};
  kv_client *client = NULL;
  kv_context *objects = NULL;
  char *json = NULL;
  OK(kv_store_type_register("cell", NULL, 0, &functions, &cell, on_free, &error));
  OK(opened(30, &client, &error));
  OK(kv_store_type_unregister("cell", &error));
  OK(kv_context_open(client, NULL, &objects, &error));
  NUMBER(2, cell.loads);
  OK(kv_context_insert(objects, "things", RECORD, KV_NUL_TERMINATED, &json, NULL, &error));
  kv_free(json);
  OK(kv_context_save(objects, NULL, NULL, &error));
  NUMBER(1, cell.saves);
  kv_context_close(objects);
  OK(kv_context_open(client, "{\"store\":\"cell\"}", &objects, &error));
  OK(kv_context_get(objects, "things", "a", &json, NULL, &error));
  TEXT(RECORD, json);
  kv_free(json);
  OK(kv_context_delete(objects, "things", "a", &error));
  OK(kv_context_save(objects, NULL, NULL, &error));
  NUMBER(0, cell.is_there);
  kv_context_close(objects);
  STATUS(KV_INVALID, kv_context_open(client, "{\"store\":\"local\"}", &objects, &error));
  OK(kv_client_close(client));
  becomes(1, &cell.frees);
}

static void is_not_trusted(void) {
  cell cell = {0};
  kv_client *client = NULL;
  kv_store *store = NULL;
  OK(kv_store_type_register("cell", NULL, 0, &functions, &cell, on_free, &error));
  OK(opened(30, &client, &error));
  OK(kv_store_open(client, "things", "sync", NULL, &store, &error));
  cell.mood = GARBAGE;
  STATUS(KV_PROTOCOL, kv_store_save(store, RECORD, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  cell.mood = FEW;
  STATUS(KV_PROTOCOL, kv_store_save(store, RECORD, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  cell.mood = FAILS;
  STATUS(KV_FORBIDDEN, kv_store_save(store, RECORD, KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
  cell.mood = SILENT;
  STATUS(KV_TIMEOUT, kv_store_save(store, RECORD, KV_NUL_TERMINATED, "{\"timeout\":0.05}", NULL,
                                   NULL, &error));
  OK(kv_client_close(client));
  NUMBER(0, cell.frees);
  STATUS(KV_TIMEOUT, opened(0.05, &client, &error));
  cell.mood = GARBAGE;
  STATUS(KV_PROTOCOL, opened(30, &client, &error));
  OK(kv_store_type_unregister("cell", &error));
  becomes(1, &cell.frees);
  NUMBER(2, cell.cancels);
}

static void registers_what_is_whole(void) {
  cell cell = {0};
  kv_store_type less = functions;
  STATUS(KV_MISUSE, kv_store_type_register("cell", NULL, 0, NULL, &cell, on_free, &error));
  less.save = NULL;
  STATUS(KV_INVALID, kv_store_type_register("cell", NULL, 0, &less, &cell, on_free, &error));
  less = functions;
  less.size = 8;
  STATUS(KV_INVALID, kv_store_type_register("cell", NULL, 0, &less, &cell, on_free, &error));
  STATUS(KV_CONFLICT, kv_store_type_register("local", NULL, 0, &functions, &cell, on_free, &error));
  STATUS(KV_NOT_FOUND, kv_store_type_unregister("cell", &error));
  becomes(4, &cell.frees);
}

/* The same for the same place. */
static void on_load_at(void *context, uint64_t request, const char *json, size_t length) {
  char answer[80];
  unsigned long place = 5381;
  (void)context, (void)length;
  for (const char *at = strstr(json, "\"dataDirectory\":\"") + 17; *at != '"'; at++) place = place * 33 + (unsigned char)*at;
  snprintf(answer, sizeof answer, "{\"type\":\"cell\",\"uuid\":\"at-%lx\"}", place);
  complete(request, answer);
}

static void on_values(void *context, uint64_t request, const char *json, size_t length) {
  if (strstr(json, "\"owners\"")) {
    complete(request, "{\"records\":[{\"_id\":\"owner\"}]}");
  } else {
    on_read(context, request, json, length);
  }
}

static void on_relationship(void *context, uint64_t request, const char *json, size_t length) {
  (void)length;
  CHECK(strstr(json, "\"relationship\":\"things\"") && strstr(json, "\"ids\":[\"owner\"]"));
  ((cell *)context)->saves++;
  complete(request, "{\"related\":[[\"a\"]]}");
}

static void on_obtain_ids(void *context, uint64_t request, const char *json, size_t length) {
  (void)context, (void)length;
  CHECK(strstr(json, "{\"objects\":[{\"collection\":\"things\"") == json);
  complete(request, "{\"ids\":[\"a\"]}");
}

static kv_status opened_at(const char *directory, kv_client **client, kv_error **error_out) {
  char options[512];
  snprintf(options, sizeof options, "{\"appKey\":\"kid\",\"store\":\"cell\",\"dataDirectory\":\"%s\"}", directory);
  return kv_client_open(options, KV_NUL_TERMINATED, client, error_out);
}

/* A context of a client whose store has these functions. */
static kv_client *client;
static kv_context *objects;

static void open_context(cell *cell, const kv_store_type *own, const char *description, const char *options) {
  OK(kv_store_type_register("cell", description, KV_NUL_TERMINATED, own, cell, on_free, &error));
  OK(opened(30, &client, &error));
  OK(kv_context_open(client, options, &objects, &error));
}

static void close_context(cell *cell) {
  kv_context_close(objects);
  OK(kv_store_type_unregister("cell", &error));
  OK(kv_client_close(client));
  becomes(1, &cell->frees);
}

static void finds_what_belongs_together(void) {
  const char *options =
      "{\"relationships\":{\"owners\":{\"things\":{\"to\":\"things\",\"inverseKey\":\"owner\"}}}}";
  cell cell = {.is_there = 1};
  kv_store_type own = functions;
  kv_results *related = NULL;
  const char *record = NULL;
  own.values = on_values;
  own.relationship = on_relationship;
  open_context(&cell, &own, NULL, options);
  OK(kv_context_related(objects, "owners", "owner", "things", NULL, 0, &related, &error));
  NUMBER(1, cell.saves);
  OK(kv_results_get(related, 0, &record, NULL, NULL, &error));
  TEXT(RECORD, record);
  kv_results_close(related);
  close_context(&cell);
}

static void chooses_ids(void) {
  cell cell = {0};
  kv_store_type own = functions;
  char *temporary = NULL, *json = NULL;
  own.obtain_ids = on_obtain_ids;
  open_context(&cell, &own, NULL, NULL);
  OK(kv_context_insert(objects, "things", "{\"n\":1}", KV_NUL_TERMINATED, &temporary, NULL, &error));
  OK(kv_context_status(objects, "things", temporary, &json, NULL, &error));
  CHECK(strstr(json, "\"isTemporary\":true") != NULL);
  kv_free(json);
  OK(kv_context_obtain_ids(objects, &json, NULL, &error));
  CHECK(strstr(json, temporary) && strstr(json, "\"id\":\"a\""));
  kv_free(json);
  OK(kv_context_save(objects, NULL, NULL, &error));
  OK(kv_context_get(objects, "things", temporary, &json, NULL, &error));
  TEXT("{\"n\":1,\"_id\":\"a\"}", json);
  kv_free(json);
  kv_free(temporary);
  close_context(&cell);
}

static void names_objects_by_its_place(void) {
  cell cell = {.is_there = 1};
  kv_store_type own = functions;
  char places[2][300], *described = NULL, *json = NULL, *uri = NULL;
  own.load = on_load_at;
  OK(kv_store_type_register("cell", NULL, 0, &own, &cell, on_free, &error));
  for (int i = 0; i < 2; i++) snprintf(places[i], sizeof places[i], "%s", fresh_directory());
  /* The first place twice, then the other. */
  for (int launch = 0; launch < 3; launch++) {
    kv_client *client = NULL;
    kv_context *objects = NULL;
    OK(opened_at(places[launch / 2], &client, &error));
    OK(kv_context_open(client, NULL, &objects, &error));
    if (launch == 0) {
      OK(kv_context_describe(objects, "things", "a", &described, NULL, &error));
      uri = uri_of(described);
    } else if (launch == 1) {
      OK(kv_context_locate(objects, uri, &json, NULL, &error));
      TEXT(described, json);
      kv_free(json);
    } else {
      FAILS(KV_NOT_FOUND, "", kv_context_locate(objects, uri, &json, NULL, &error));
    }
    kv_context_close(objects);
    OK(kv_client_close(client));
  }
  kv_free(described);
  free(uri);
  OK(kv_store_type_unregister("cell", &error));
  becomes(1, &cell.frees);
}

static void has_integers_for_ids(void) {
  cell cell = {0};
  char *json = NULL;
  const char *description = "{\"id\":{\"name\":\"_id\",\"kind\":\"integer\"}}";
  open_context(&cell, &functions, description, NULL);
  OK(kv_context_insert(objects, "things", "{\"_id\":7}", KV_NUL_TERMINATED, &json, NULL, &error));
  TEXT("7", json);
  kv_free(json);
  OK(kv_context_save(objects, NULL, NULL, &error));
  OK(kv_context_describe(objects, "things", "7", &json, NULL, &error));
  CHECK(strstr(json, "\"id\":\"7\",\"reference\":7,") != NULL);
  kv_free(json);
  close_context(&cell);
}

int main(void) {
  RUN("a store of functions keeps the records, and the library none", keeps_the_records);
  RUN("contexts of a client have its store, whatever becomes of its name", has_contexts);
  RUN("a store finds by itself what a relationship leads to", finds_what_belongs_together);
  RUN("a store chooses the ids of new objects", chooses_ids);
  RUN("an object with an integer id has an integer reference", has_integers_for_ids);
  RUN("a URI names an object of the same place, and of no other", names_objects_by_its_place);
  RUN("what a store does wrong is an error", is_not_trusted);
  RUN("registering checks what it is given, and frees the context once", registers_what_is_whole);
  return finish();
}
