/* A backend of functions that keeps its records in memory, for tests: what it is asked, what it answers, and what it does
 * wrong when a test says so. The ids and versions of its records are integers. */
#ifndef SHELF_H
#define SHELF_H

#include "check.h"
#include "fixture.h"

#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

/* What the functions do with a request, besides answering it. */
enum mischief { NONE, NEVER, TWICE, GARBAGE, FROM_THREAD, CALLS_BACK, CLOSES, BLOCKS, DIES };

/* The backend: one collection of records by their ids, each with a version, and what happened to them. */
typedef struct {
  pthread_mutex_t lock;
  json_t *records;
  json_t *log;
  int version;
  _Atomic enum mischief mischief;
  _Atomic uint64_t last_request;
  atomic_int frees, cancels, blocked;
  atomic_bool released;
  kv_client *closes;
  kv_store *store;
  /* A long poll that waits, and the place from which on it does. */
  uint64_t poll;
  size_t polled;
} shelf;

static void complete(uint64_t request, json_t *answer) {
  char *text = json_dumps(answer, JSON_COMPACT);
  STATUS(KV_OK, kv_backend_complete(request, KV_OK, text, KV_NUL_TERMINATED, &error));
  free(text);
  json_decref(answer);
}

/* What is known under an integer. */
static json_t *record_of(shelf *shelf, const json_t *id, char key[24]) {
  CHECK(json_is_integer(id));
  snprintf(key, 24, "%lld", (long long)json_integer_value(id));
  return json_object_get(shelf->records, key);
}

/* Whether a condition holds: absent, null (there must be none), or the version. */
static int holds(const json_t *write, const json_t *there) {
  const json_t *wanted = json_object_get(write, "if");
  if (wanted == NULL) return 1;
  if (json_is_null(wanted)) return there == NULL;
  return there != NULL && json_equal(json_object_get(there, "rev"), wanted);
}

static json_t *carried_out(shelf *shelf, const json_t *write) {
  const char *operation = json_string_value(json_object_get(write, "op"));
  char key[24];
  json_t *id = json_object_get(write, "id"), *there = record_of(shelf, id, key);
  if (!holds(write, there) || (strcmp(operation, "create") == 0 && there != NULL))
    return json_pack("{s:O?}", "conflict", there);
  if (strcmp(operation, "delete") == 0) {
    int was_there = json_object_del(shelf->records, key) == 0;
    if (was_there) json_array_append_new(shelf->log, json_pack("{s:O,s:i}", "delete", id, "version", ++shelf->version));
    return json_pack("{s:b}", "deleted", was_there);
  }
  json_t *record = json_deep_copy(json_object_get(write, "record"));
  json_object_set_new(record, "rev", json_integer(++shelf->version));
  json_object_set(shelf->records, key, record);
  json_array_append_new(shelf->log, json_pack("{s:O}", "upsert", record));
  return json_pack("{s:o}", "stored", record);
}

static json_t *answered(shelf *shelf, const char *operation, const json_t *request) {
  json_t *records = json_array();
  const char *id;
  size_t position;
  json_t *value;
  char token[24];
  snprintf(token, sizeof token, "%zu", json_array_size(shelf->log));
  if (strcmp(operation, "fetch") == 0) {
    json_object_foreach(shelf->records, id, value) json_array_append(records, value);
    return json_pack("{s:o,s:n,s:s}", "records", records, "next", "token", token);
  }
  if (strcmp(operation, "fetch_ids") == 0) {
    json_array_foreach(json_object_get(request, "ids"), position, value) {
      char key[24];
      json_t *record = record_of(shelf, value, key);
      if (record) json_array_append(records, record);
    }
    return json_pack("{s:o}", "records", records);
  }
  if (strcmp(operation, "changes") == 0) {
    size_t since = strtoul(json_string_value(json_object_get(request, "since")), NULL, 10);
    for (; since < json_array_size(shelf->log); since++)
      json_array_append(records, json_array_get(shelf->log, since));
    return json_pack("{s:o,s:s}", "changes", records, "token", token);
  }
  json_array_foreach(json_object_get(request, "writes"), position, value)
    json_array_append_new(records, carried_out(shelf, value));
  return json_pack("{s:o}", "results", records);
}

/* Answers the long poll with what has happened, if there is one and something has. */
static void notify(shelf *shelf) {
  json_t *changes = json_array();
  pthread_mutex_lock(&shelf->lock);
  size_t end = json_array_size(shelf->log);
  for (size_t at = shelf->polled; shelf->poll && at < end; at++) {
    json_t *change = json_deep_copy(json_array_get(shelf->log, at));
    json_object_set_new(change, "collection", json_string("things"));
    json_array_append_new(changes, change);
  }
  uint64_t poll = json_array_size(changes) ? shelf->poll : 0;
  if (poll) shelf->poll = 0;
  pthread_mutex_unlock(&shelf->lock);
  json_t *answer = json_pack("{s:o,s:I}", "changes", changes, "next", (json_int_t)end);
  if (poll) {
    complete(poll, answer);
  } else {
    json_decref(answer);
  }
}

static void live(void *context, uint64_t request, const char *json, size_t length) {
  shelf *shelf = context;
  json_t *parsed = json_loadb(json, length, 0, NULL), *after = json_object_get(parsed, "after");
  pthread_mutex_lock(&shelf->lock);
  size_t end = json_array_size(shelf->log);
  if (json_is_integer(after)) {
    shelf->poll = request;
    shelf->polled = (size_t)json_integer_value(after);
  }
  pthread_mutex_unlock(&shelf->lock);
  if (json_is_integer(after)) {
    notify(shelf);
  } else {
    complete(request, json_pack("{s:[],s:I}", "changes", "next", (json_int_t)end));
  }
  json_decref(parsed);
}

struct later {
  uint64_t request;
  json_t *answer;
};

static void *complete_later(void *context) {
  struct later *later = context;
  complete(later->request, later->answer);
  free(later);
  return NULL;
}

static void complete_from_thread(uint64_t request, json_t *answer) {
  struct later *later = malloc(sizeof *later);
  pthread_t thread;
  *later = (struct later){request, answer};
  pthread_create(&thread, NULL, complete_later, later);
  pthread_detach(thread);
}

static void serve(shelf *shelf, const char *operation, uint64_t request, const char *text) {
  enum mischief mischief = shelf->mischief;
  shelf->last_request = request;
  switch (mischief) {
    case NEVER: return;
    case GARBAGE: STATUS(KV_OK, kv_backend_complete(request, KV_OK, "{\"records\":7", 12, &error)); return;
    case DIES: kill(getpid(), SIGKILL); return;
    case CALLS_BACK: NUMBER(1, counted(shelf->store)); break;
    case CLOSES: OK(kv_client_close(shelf->closes)); return;
    case BLOCKS:
      shelf->blocked++;
      while (!shelf->released) usleep(1000);
      return;
    default: break;
  }
  json_t *parsed = json_loads(text, 0, NULL);
  pthread_mutex_lock(&shelf->lock);
  json_t *answer = answered(shelf, operation, parsed);
  pthread_mutex_unlock(&shelf->lock);
  json_decref(parsed);
  if (mischief == FROM_THREAD) {
    complete_from_thread(request, answer);
    return;
  }
  complete(request, answer);
  notify(shelf);
  if (mischief == TWICE)
    STATUS(KV_NOT_FOUND, kv_backend_complete(request, KV_OK, "{}", 2, &error));
}

static void fetch(void *context, uint64_t request, const char *json, size_t length) {
  NUMBER(strlen(json), length);
  serve(context, "fetch", request, json);
}

static void fetch_ids(void *context, uint64_t request, const char *json, size_t length) {
  (void)length;
  serve(context, "fetch_ids", request, json);
}

static void changes(void *context, uint64_t request, const char *json, size_t length) {
  (void)length;
  serve(context, "changes", request, json);
}

static void write_batch(void *context, uint64_t request, const char *json, size_t length) {
  (void)length;
  serve(context, "write", request, json);
}

static void cancel(void *context, uint64_t request) {
  (void)request;
  ((shelf *)context)->cancels++;
}

static void freed(void *context) { ((shelf *)context)->frees++; }

static kv_backend functions(void) {
  return (kv_backend){.size = sizeof(kv_backend),
                      .fetch = fetch,
                      .fetch_ids = fetch_ids,
                      .changes = changes,
                      .write = write_batch,
                      .live = live,
                      .cancel = cancel};
}

static const char description[] =
    "{\"id\":{\"name\":\"id\",\"kind\":\"integer\"},\"version\":{\"path\":\"rev\",\"kind\":\"integer\"}}";

static void set_up(shelf *shelf) {
  kv_backend table = functions();
  memset(shelf, 0, sizeof *shelf);
  pthread_mutex_init(&shelf->lock, NULL);
  shelf->records = json_object();
  shelf->log = json_array();
  STATUS(KV_OK, kv_backend_register("shelf", description, KV_NUL_TERMINATED, &table, shelf, freed, &error));
}

/* Waits until the context was freed: once, when the last to use it has let go. */
static void tear_down(shelf *shelf) {
  STATUS(KV_OK, kv_backend_unregister("shelf", &error));
  double end = seconds() + 60;
  while (shelf->frees == 0 && seconds() < end) usleep(1000);
  NUMBER(1, shelf->frees);
  json_decref(shelf->records);
  json_decref(shelf->log);
  pthread_mutex_destroy(&shelf->lock);
}

static kv_client *shelf_client(const char *directory, const char *more) {
  char options[600];
  kv_client *client = NULL;
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid\",\"backend\":\"shelf\",\"dataDirectory\":\"%s\",\"retries\":0%s}", directory,
           more);
  STATUS(KV_OK, kv_client_open(options, KV_NUL_TERMINATED, &client, &error));
  return client;
}

#endif
