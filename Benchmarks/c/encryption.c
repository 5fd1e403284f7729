/* The same local work on encrypted data and on data that is not, in turns within one process.
 *
 *   encryption bulk|single-full|find|find-cached|scan DIRECTORY COUNT ROUNDS
 *
 * Prints "ours RATE" (encrypted) and "raw RATE" (not encrypted) in turns, ROUNDS times each: entities (or calls) per second. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define KEY ",\"encryptionKey\":\"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\""

enum { CACHED = 1000, SCANS = 3 };

typedef struct opened {
  kv_client *client;
  kv_store *store;
} opened;

static opened open_data(const char *directory, int is_encrypted) {
  opened data = {0};
  char options[600];
  kv_error *error = NULL;
  snprintf(options, sizeof options, "{\"appKey\":\"kid_bench\",\"host\":null,\"dataDirectory\":\"%s\",\"autoIndex\":false%s}",
           directory, is_encrypted ? KEY : "");
  must(kv_client_open(options, KV_NUL_TERMINATED, &data.client, &error), error);
  must(kv_store_open(data.client, "cities", "sync", NULL, &data.store, &error), error);
  return data;
}

static void close_data(opened data) {
  must(kv_store_close(data.store), NULL);
  must(kv_client_close(data.client), NULL);
}

static double bulk(kv_store *store, const data *work) {
  save_batches(store, work);
  return work->count;
}

static double single(kv_store *store, const data *work) {
  kv_error *error = NULL;
  for (int i = 0; i < work->count; i++) {
    const entity *next = &work->entities[i];
    must(kv_store_save(store, next->json, (size_t)next->length, NULL, NULL, NULL, &error), error);
  }
  return work->count;
}

static void find_one(kv_store *store, const entity *wanted) {
  kv_error *error = NULL;
  char *json;
  size_t length;
  must(kv_store_find_by_id(store, wanted->id, NULL, &json, &length, &error), error);
  if (length < (size_t)wanted->length) raw_fail("find", "wrong entity");
  kv_free(json);
}

/* Among all entities, which the page cache does not hold. */
static double find(kv_store *store, const data *work) {
  unsigned state = 7;
  for (int i = 0; i < work->count; i++) find_one(store, &work->entities[data_random(&state) % (unsigned)work->count]);
  return work->count;
}

/* Among a few entities, whose pages the page cache holds. */
static double find_cached(kv_store *store, const data *work) {
  unsigned state = 7;
  for (int i = 0; i < work->count; i++) find_one(store, &work->entities[data_random(&state) % CACHED]);
  return work->count;
}

/* Looks at all entities: no index serves the filter. */
static double scan(kv_store *store, const data *work) {
  kv_error *error = NULL;
  kv_query *query = NULL;
  must(kv_query_create("{\"name\":{\"$regex\":\"^zzz-nobody\"}}", KV_NUL_TERMINATED, NULL, 0, &query, &error), error);
  for (int i = 0; i < SCANS; i++) {
    int64_t count = -1;
    must(kv_store_count(store, query, NULL, &count, &error), error);
    if (count != 0) raw_fail("scan", "found something");
  }
  kv_query_free(query);
  return (double)work->count * SCANS;
}

typedef double measurement(kv_store *, const data *);

static const struct {
  const char *name;
  measurement *run;
  int needs_data;
} workloads[] = {
    {"bulk", bulk, 0}, {"single-full", single, 0}, {"find", find, 1}, {"find-cached", find_cached, 1}, {"scan", scan, 1},
};

int main(int count, char **arguments) {
  if (count != 5) raw_fail(arguments[0], "WORKLOAD DIRECTORY COUNT ROUNDS");
  size_t kind = 0;
  while (kind < sizeof workloads / sizeof *workloads && strcmp(workloads[kind].name, arguments[1]) != 0) kind++;
  if (kind == sizeof workloads / sizeof *workloads) raw_fail(arguments[1], "no such workload");
  data work;
  data_make(&work, atoi(arguments[3]), 1);
  for (int round = 0; round < atoi(arguments[4]); round++) {
    /* Each begins every other round. */
    for (int turn = 0; turn < 2; turn++) {
      int is_encrypted = turn == round % 2;
      char directory[512];
      int is_new = round == 0 || !workloads[kind].needs_data;
      snprintf(directory, sizeof directory, "%s/%s-%d", arguments[2], is_encrypted ? "encrypted" : "plain", is_new ? round : 0);
      if (is_new && mkdir(directory, 0700) != 0) raw_fail(directory, "can not be made");
      opened data = open_data(directory, is_encrypted);
      if (is_new && workloads[kind].needs_data) {
        save_batches(data.store, &work);
        close_data(data);
        data = open_data(directory, is_encrypted);
      }
      double start = data_now();
      double done = workloads[kind].run(data.store, &work);
      double seconds = data_now() - start;
      close_data(data);
      printf("%s %.1f\n", is_encrypted ? "ours" : "raw", done / seconds);
      fflush(stdout);
    }
  }
  data_free(&work);
  return 0;
}
