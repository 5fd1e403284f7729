// A custom backend: a directory of JSON files, which several programs share. Each program has local data, works while
// the directory is missing, and sends its changes when the directory is available.
//   cc backend_files.c $(pkg-config --cflags --libs kvstore jansson) -o notes
//   ./notes shared mine "buy milk" && ./notes shared yours
#include <dirent.h>
#include <fcntl.h>
#include <jansson.h>
#include <kvstore.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

// MARK: Files

// Returns the path of a record's file. An id may have any bytes, so all except letters and digits are written in hex.
static void path_of(char *path, const char *directory, const char *collection, const char *id) {
  int length = snprintf(path, PATH_MAX, "%s/%s/", directory, collection);
  for (const unsigned char *byte = (const unsigned char *)id; *byte && length < PATH_MAX - 16; byte++) {
    int plain = (*byte >= 'a' && *byte <= 'z') || (*byte >= '0' && *byte <= '9');
    length += snprintf(path + length, 4, plain ? "%c" : "=%02X", *byte);
  }
  strcpy(path + length, ".json");
}

// Locks the directory for one program at a time. Closing the descriptor releases the lock.
static int lock(const char *directory, const char *collection) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s", directory, collection);
  mkdir(path, 0777);
  int descriptor = open(path, O_RDONLY | O_DIRECTORY);
  if (descriptor >= 0) flock(descriptor, LOCK_EX);
  return descriptor;
}

// Replaces a file atomically.
static int write_file(const char *path, json_t *record) {
  char draft[PATH_MAX + 8];
  snprintf(draft, sizeof draft, "%s.new", path);
  return json_dump_file(record, draft, JSON_COMPACT) == 0 && rename(draft, path) == 0;
}

// MARK: Requests

// Answers {"collection":…,"after":null} with all records on one page.
static json_t *fetch(const char *directory, const char *collection, const json_t *request) {
  (void)request;
  char path[PATH_MAX];
  json_t *records = json_array();
  snprintf(path, sizeof path, "%s/%s", directory, collection);
  DIR *files = opendir(path);
  for (struct dirent *file; files && (file = readdir(files));) {
    size_t length = strlen(file->d_name);
    if (length < 5 || strcmp(file->d_name + length - 5, ".json") != 0) continue;
    snprintf(path, sizeof path, "%s/%s/%s", directory, collection, file->d_name);
    json_array_append_new(records, json_load_file(path, 0, NULL));
  }
  if (files) closedir(files);
  return json_pack("{s:o}", "records", records);
}

// Answers {"collection":…,"ids":[…]} with these records.
static json_t *fetch_ids(const char *directory, const char *collection, const json_t *request) {
  char path[PATH_MAX];
  size_t index;
  json_t *id, *records = json_array();
  json_array_foreach(json_object_get(request, "ids"), index, id) {
    path_of(path, directory, collection, json_string_value(id));
    json_t *record = json_load_file(path, 0, NULL);
    if (record) json_array_append_new(records, record);
  }
  return json_pack("{s:o}", "records", records);
}

// Returns whether the condition "if" allows a write: it is absent, null (no record) or the version of the record.
static int may(const json_t *write, const json_t *there) {
  const json_t *wanted = json_object_get(write, "if");
  if (strcmp(json_string_value(json_object_get(write, "op")), "create") == 0) return there == NULL;
  if (wanted == NULL) return 1;
  return json_is_null(wanted) ? there == NULL : json_equal(json_object_get(there, "rev"), wanted);
}

// Carries out {"op":"create"|"update"|"delete","id":…,"record":{…},"if":…}. Each write increments the version.
static json_t *carry_out(const char *directory, const char *collection, const json_t *write) {
  char path[PATH_MAX];
  const char *operation = json_string_value(json_object_get(write, "op"));
  path_of(path, directory, collection, json_string_value(json_object_get(write, "id")));
  json_t *there = json_load_file(path, 0, NULL);
  if (!may(write, there)) return json_pack("{s:o?}", "conflict", there);
  json_int_t version = json_integer_value(json_object_get(there, "rev")) + 1;
  json_decref(there);
  if (strcmp(operation, "delete") == 0) return json_pack("{s:b}", "deleted", unlink(path) == 0);
  json_t *record = json_object_get(write, "record");
  json_object_set_new(record, "rev", json_integer(version));
  if (write_file(path, record)) return json_pack("{s:O}", "stored", record);
  return json_pack("{s:{s:s}}", "later", "message", "The file cannot be written.");
}

// Answers {"collection":…,"writes":[…]} with a result for each write, in order.
static json_t *write_all(const char *directory, const char *collection, const json_t *request) {
  size_t index;
  json_t *write, *results = json_array();
  json_array_foreach(json_object_get(request, "writes"), index, write)
    json_array_append_new(results, carry_out(directory, collection, write));
  return json_pack("{s:o}", "results", results);
}

// Answers a request. Any thread may do this later; here the calling thread does it at once.
static void answer(const char *directory, uint64_t number, const char *json,
                   json_t *(*work)(const char *, const char *, const json_t *)) {
  json_t *request = json_loads(json, 0, NULL);
  const char *collection = json_string_value(json_object_get(request, "collection"));
  int locked = lock(directory, collection);
  if (locked < 0) {
    kv_backend_complete(number, KV_NETWORK, "{\"message\":\"The directory is missing.\"}", KV_NUL_TERMINATED, NULL);
  } else {
    json_t *answered = work(directory, collection, request);
    char *text = json_dumps(answered, JSON_COMPACT);
    kv_backend_complete(number, KV_OK, text, KV_NUL_TERMINATED, NULL);
    free(text);
    json_decref(answered);
    close(locked);
  }
  json_decref(request);
}

static void on_fetch(void *directory, uint64_t number, const char *json, size_t length) {
  (void)length;
  answer(directory, number, json, fetch);
}

static void on_fetch_ids(void *directory, uint64_t number, const char *json, size_t length) {
  (void)length;
  answer(directory, number, json, fetch_ids);
}

static void on_write(void *directory, uint64_t number, const char *json, size_t length) {
  (void)length;
  answer(directory, number, json, write_all);
}

// MARK: The program

static kv_error *error;

static void check(kv_status status) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", kv_status_name(status), kv_error_message(error));
  exit(1);
}

int main(int count, char **arguments) {
  if (count < 3) return fprintf(stderr, "usage: notes SHARED-DIRECTORY DATA-DIRECTORY [TEXT]\n"), 2;
  kv_backend functions = {
      .size = sizeof functions, .fetch = on_fetch, .fetch_ids = on_fetch_ids, .write = on_write};
  const char *description = "{\"version\":{\"path\":\"rev\",\"kind\":\"integer\"}}";
  check(kv_backend_register("files", description, KV_NUL_TERMINATED, &functions, arguments[1], NULL, &error));

  kv_client *client;
  kv_store *notes;
  kv_cursor *cursor;
  char *options, *text, *result;
  const char *found;
  json_t *object = json_pack("{s:s,s:s,s:s}", "appKey", "notes", "backend", "files", "dataDirectory", arguments[2]);
  check(kv_client_open(options = json_dumps(object, 0), KV_NUL_TERMINATED, &client, &error));
  check(kv_store_open(client, "notes", "sync", NULL, &notes, &error));
  if (count > 3) {
    json_t *note = json_pack("{s:s}", "text", arguments[3]);
    check(kv_store_save(notes, text = json_dumps(note, 0), KV_NUL_TERMINATED, NULL, NULL, NULL, &error));
    json_decref(note);
    free(text);
  }
  // Without the directory this fails with KV_NETWORK, and the saved note stays pending.
  kv_status status = kv_store_sync(notes, NULL, NULL, &result, NULL, &error);
  printf("%s %s\n", kv_status_name(status), result ? result : kv_error_message(error));
  kv_error_free(error);
  kv_free(result);
  check(kv_store_find(notes, NULL, NULL, &cursor, &error));
  while (kv_cursor_next(cursor, &found, NULL, &error) == KV_OK) printf("%s\n", found);
  kv_client_close(client);
  kv_backend_unregister("files", NULL);
  json_decref(object);
  free(options);
  return 0;
}
