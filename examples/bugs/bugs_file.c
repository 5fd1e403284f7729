#include "bugs_file.h"

#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// {"<collection>":{"<id>":record}}, read once and written by each save.
typedef struct bugs_file {
  pthread_mutex_t lock;
  char path[PATH_MAX];
  json_t *collections;
} bugs_file;

static json_t *stored(const bugs_file *file, const json_t *change) {
  const char *collection = json_string_value(json_object_get(change, "collection"));
  return json_object_get(json_object_get(file->collections, collection),
                         json_string_value(json_object_get(change, "id")));
}

// MARK: Requests

// Answers {"appKey":…,"dataDirectory":…,"tag":…,"options":{…}} with what identifies the store: a hash (FNV-1a) of the path is
// the same for each program that opens the same file.
static json_t *load(bugs_file *file, const json_t *request) {
  char directory[PATH_MAX], uuid[17];
  const char *given = json_string_value(json_object_get(request, "dataDirectory"));
  mkdir(given, 0700);
  if (!realpath(given, directory)) return NULL;
  int length = snprintf(file->path, sizeof file->path, "%s/bugs.json", directory);
  if (length < 0 || (size_t)length >= sizeof file->path) return NULL;
  json_t *found = json_load_file(file->path, 0, NULL);
  if (!found && access(file->path, F_OK) == 0) return NULL;
  json_decref(file->collections);
  file->collections = found ? found : json_object();
  unsigned long long hash = 0xcbf29ce484222325;
  for (const char *byte = file->path; *byte; byte++) hash = (hash ^ (unsigned char)*byte) * 0x100000001b3;
  snprintf(uuid, sizeof uuid, "%016llx", hash);
  return json_pack("{s:s,s:s}", "type", "bugs-file", "uuid", uuid);
}

// Answers {"collection":…,"after":null} with all records on one page.
static json_t *fetch(bugs_file *file, const json_t *request) {
  const char *id, *collection = json_string_value(json_object_get(request, "collection"));
  json_t *record, *records = json_array();
  json_object_foreach(json_object_get(file->collections, collection), id, record)
    json_array_append(records, record);
  return json_pack("{s:o}", "records", records);
}

// Answers {"collection":…,"ids":[…]} with these records.
static json_t *values(bugs_file *file, const json_t *request) {
  const char *collection = json_string_value(json_object_get(request, "collection"));
  size_t index;
  json_t *id, *records = json_array();
  json_array_foreach(json_object_get(request, "ids"), index, id) {
    json_t *record =
        json_object_get(json_object_get(file->collections, collection), json_string_value(id));
    if (record) json_array_append(records, record);
  }
  return json_pack("{s:o}", "records", records);
}

// Adds the changes whose condition "if" does not hold: it is absent, null (no record) or the revision of the record.
static void find_conflicts(const bugs_file *file, const json_t *changes, json_t *conflicts) {
  size_t index;
  json_t *change;
  json_array_foreach(changes, index, change) {
    json_t *there = stored(file, change), *wanted = json_object_get(change, "if");
    if (!wanted) continue;
    if (json_is_null(wanted) ? !there : json_equal(json_object_get(there, "revision"), wanted)) continue;
    json_array_append_new(conflicts, json_pack("{s:O,s:O,s:O?}", "collection", json_object_get(change, "collection"),
                                               "id", json_object_get(change, "id"), "record", there));
  }
}

// Puts records into a copy of the collections, each with the next revision.
static void put(const bugs_file *file, json_t *collections, const json_t *changes, json_t *saved) {
  size_t index;
  json_t *change;
  json_array_foreach(changes, index, change) {
    const char *collection = json_string_value(json_object_get(change, "collection"));
    json_int_t revision = json_integer_value(json_object_get(stored(file, change), "revision"));
    json_t *record = json_copy(json_object_get(change, "record"));
    json_object_set_new(record, "revision", json_integer(revision + 1));
    if (!json_object_get(collections, collection)) json_object_set_new(collections, collection, json_object());
    json_object_set(json_object_get(collections, collection), json_string_value(json_object_get(change, "id")), record);
    json_array_append_new(saved, record);
  }
}

// Replaces the file as a whole.
static int write_file(const bugs_file *file, const json_t *collections) {
  char draft[PATH_MAX + 8];
  snprintf(draft, sizeof draft, "%s.new", file->path);
  int descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (descriptor < 0) return 0;
  int is_written = json_dumpfd(collections, descriptor, JSON_COMPACT) == 0 && fsync(descriptor) == 0;
  return close(descriptor) == 0 && is_written && rename(draft, file->path) == 0;
}

// Answers {"inserted":[…],"updated":[…],"deleted":[…]}: makes the changes in a copy, which then replaces the file.
static json_t *save(bugs_file *file, const json_t *request) {
  json_t *inserted = json_object_get(request, "inserted"), *updated = json_object_get(request, "updated");
  json_t *change, *removed = json_object_get(request, "deleted"), *conflicts = json_array();
  size_t index;
  find_conflicts(file, inserted, conflicts);
  find_conflicts(file, updated, conflicts);
  find_conflicts(file, removed, conflicts);
  if (json_array_size(conflicts) > 0) return json_pack("{s:o}", "conflicts", conflicts);
  json_decref(conflicts);
  json_t *collections = json_deep_copy(file->collections), *saved = json_array(), *deleted = json_array();
  put(file, collections, inserted, saved);
  put(file, collections, updated, saved);
  json_array_foreach(removed, index, change) {
    json_array_append_new(deleted, json_boolean(stored(file, change) != NULL));
    json_object_del(json_object_get(collections, json_string_value(json_object_get(change, "collection"))),
                    json_string_value(json_object_get(change, "id")));
  }
  json_t *answer = json_pack("{s:o,s:o}", "saved", saved, "deleted", deleted);
  if (!write_file(file, collections)) {
    json_decref(collections);
    json_decref(answer);
    return NULL;
  }
  json_decref(file->collections);
  file->collections = collections;
  return answer;
}

// MARK: The functions of the store

static void answer(bugs_file *file, uint64_t number, const char *json,
                   json_t *(*work)(bugs_file *, const json_t *)) {
  json_t *request = json_loads(json, 0, NULL);
  pthread_mutex_lock(&file->lock);
  json_t *answered = work(file, request);
  char *text = json_dumps(answered, JSON_COMPACT);
  pthread_mutex_unlock(&file->lock);
  if (text) {
    kv_backend_complete(number, KV_OK, text, KV_NUL_TERMINATED, NULL);
  } else {
    kv_backend_complete(number, KV_SERVER, "{\"message\":\"The file cannot be used.\"}", KV_NUL_TERMINATED, NULL);
  }
  free(text);
  json_decref(answered);
  json_decref(request);
}

static void on_load(void *file, uint64_t number, const char *json, size_t length) {
  (void)length;
  answer(file, number, json, load);
}

static void on_fetch(void *file, uint64_t number, const char *json, size_t length) {
  (void)length;
  answer(file, number, json, fetch);
}

static void on_values(void *file, uint64_t number, const char *json, size_t length) {
  (void)length;
  answer(file, number, json, values);
}

static void on_save(void *file, uint64_t number, const char *json, size_t length) {
  (void)length;
  answer(file, number, json, save);
}

static void on_free(void *context) {
  bugs_file *file = context;
  pthread_mutex_destroy(&file->lock);
  json_decref(file->collections);
  free(file);
}

kv_status bugs_file_register(kv_error **error_out) {
  static const kv_store_type functions = {.size = sizeof functions,
                                          .load = on_load,
                                          .fetch = on_fetch,
                                          .values = on_values,
                                          .save = on_save};
  bugs_file *file = calloc(1, sizeof *file);
  if (!file) return KV_STORAGE;
  pthread_mutex_init(&file->lock, NULL);
  file->collections = json_object();
  return kv_store_type_register("bugs-file", "{\"version\":{\"path\":\"revision\",\"kind\":\"integer\"}}",
                                KV_NUL_TERMINATED, &functions, file, on_free, error_out);
}
