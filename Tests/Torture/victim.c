/* A program that is going to be killed: it saves, changes and removes entities, and tells about each on standard
 * output once it is acknowledged; a second thread pushes all the while.
 *
 *   victim OPTIONS FIRST push|save
 *
 * `FIRST` numbers its entities, so that no two runs make the same one. Lines: "saved NUMBER ID",
 * "changed ID VERSION", "removing ID" before and "removed ID" after a removal. */
#include <kvstore.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ID = 64, EACH_BATCH = 20 };

static void fail(const char *what, kv_error *error) {
  fprintf(stderr, "%s: %s\n", what, kv_error_json(error));
  exit(1);
}

/* One write(), so that a line is there as a whole or not at all. */
static void report(const char *line) {
  size_t length = strlen(line);
  if (write(STDOUT_FILENO, line, length) != (ssize_t)length) exit(1);
}

/* The _id of an entity that the library gave out. */
static void read_id(const char *json, char id[ID]) {
  const char *found = strstr(json, "\"_id\":\"");
  if (!found || sscanf(found, "\"_id\":\"%63[^\"]", id) != 1) exit(1);
}

static void save_new(kv_store *store, long number, char id[ID]) {
  char entity[200], line[200], *saved = NULL;
  kv_error *error = NULL;
  snprintf(entity, sizeof entity, "{\"number\":%ld,\"version\":1,\"text\":\"as it was\"}", number);
  if (kv_store_save(store, entity, KV_NUL_TERMINATED, NULL, &saved, NULL, &error) != KV_OK)
    fail("save", error);
  read_id(saved, id);
  kv_free(saved);
  snprintf(line, sizeof line, "saved %ld %s\n", number, id);
  report(line);
}

static void change(kv_store *store, long number, const char *id) {
  char entity[200], line[200];
  kv_error *error = NULL;
  snprintf(entity, sizeof entity, "{\"_id\":\"%s\",\"number\":%ld,\"version\":2}", id, number);
  if (kv_store_save(store, entity, KV_NUL_TERMINATED, NULL, NULL, NULL, &error) != KV_OK)
    fail("change", error);
  snprintf(line, sizeof line, "changed %s 2\n", id);
  report(line);
}

static void remove_one(kv_store *store, const char *id) {
  char line[200];
  kv_error *error = NULL;
  snprintf(line, sizeof line, "removing %s\n", id);
  report(line);
  if (kv_store_remove_by_id(store, id, NULL, NULL, &error) != KV_OK) fail("remove", error);
  snprintf(line, sizeof line, "removed %s\n", id);
  report(line);
}

static void save_batch(kv_store *store, long number) {
  char entities[EACH_BATCH * 64 + 2], line[200], *saved = NULL, id[ID];
  size_t length = 0;
  kv_error *error = NULL;
  for (int i = 0; i < EACH_BATCH; i++)
    length += (size_t)sprintf(entities + length, "%s{\"number\":%ld,\"version\":1}", i ? "," : "[",
                              number + i);
  entities[length++] = ']';
  if (kv_store_save_many(store, entities, length, NULL, &saved, NULL, &error) != KV_OK)
    fail("save many", error);
  const char *next = saved;
  for (int i = 0; i < EACH_BATCH && (next = strstr(next, "\"_id\":\"")) != NULL; i++) {
    read_id(next, id);
    next++;
    /* The batch is one transaction, so its entities may be told of one by one. */
    snprintf(line, sizeof line, "saved %ld %s\n", number + i, id);
    report(line);
  }
  kv_free(saved);
}

static void *push_forever(void *context) {
  for (;;) {
    kv_error *error = NULL;
    kv_status status = kv_store_push(context, NULL, NULL, NULL, &error);
    if (status != KV_OK && status != KV_PARTIAL) fail("push", error);
  }
  return NULL;
}

int main(int count, char **arguments) {
  kv_client *client = NULL;
  kv_store *store = NULL;
  kv_error *error = NULL;
  pthread_t pusher;
  char id[ID];
  if (count != 4) return 2;
  if (kv_client_open(arguments[1], KV_NUL_TERMINATED, &client, &error) != KV_OK ||
      kv_store_open(client, "things", "sync", NULL, &store, &error) != KV_OK)
    fail("open", error);
  if (strcmp(arguments[3], "push") == 0 && pthread_create(&pusher, NULL, push_forever, store) != 0)
    return 1;
  for (long number = atol(arguments[2]);; number += EACH_BATCH + 3) {
    save_new(store, number, id);
    change(store, number, id);
    save_new(store, number + 1, id);
    remove_one(store, id);
    save_new(store, number + 2, id);
    save_batch(store, number + 3);
  }
}
