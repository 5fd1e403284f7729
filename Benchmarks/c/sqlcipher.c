/* The work of encryption.c by hand on SQLCipher: a library that a process loads that has SQLCipher instead of SQLite.
 *
 *   sqlcipher_measure(bulk|single-full|find|find-cached|scan, DIRECTORY, COUNT)
 *
 * Prints "raw RATE": entities (or calls) per second. */
#include "data.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHED = 1000, SCANS = 3 };

static void save_batches(raw_store *store, const data *work) {
  for (int i = 0; i < work->count; i++) {
    const entity *next = &work->entities[i];
    if (i % BATCH == 0) raw_begin(store);
    raw_save(store, next->id, (int)strlen(next->id), next->json, next->length);
    if (i % BATCH == BATCH - 1 || i == work->count - 1) raw_commit(store);
  }
}

static double bulk(raw_store *store, const data *work) {
  save_batches(store, work);
  return work->count;
}

static double single(raw_store *store, const data *work) {
  for (int i = 0; i < work->count; i++) {
    const entity *next = &work->entities[i];
    raw_begin(store);
    raw_save(store, next->id, (int)strlen(next->id), next->json, next->length);
    raw_commit(store);
  }
  return work->count;
}

static void find_one(raw_store *store, const entity *wanted) {
  int length = 0;
  const char *body = raw_find(store, wanted->id, (int)strlen(wanted->id), &length);
  if (!body || length < wanted->length) raw_fail("find", "wrong entity");
  /* The caller has its own copy, as ours does. */
  char *copy = malloc((size_t)length + 1);
  memcpy(copy, body, (size_t)length);
  free(copy);
}

static double find(raw_store *store, const data *work) {
  unsigned state = 7;
  for (int i = 0; i < work->count; i++) find_one(store, &work->entities[data_random(&state) % (unsigned)work->count]);
  return work->count;
}

static double find_cached(raw_store *store, const data *work) {
  unsigned state = 7;
  for (int i = 0; i < work->count; i++) find_one(store, &work->entities[data_random(&state) % CACHED]);
  return work->count;
}

static double scan(raw_store *store, const data *work) {
  sqlite3_stmt *statement = NULL;
  const char *sql = "SELECT count(*) FROM entity WHERE json_extract(body, '$.name') GLOB 'zzz-nobody*'";
  if (sqlite3_prepare_v2(store->db, sql, -1, &statement, NULL)) raw_fail("scan", sqlite3_errmsg(store->db));
  for (int i = 0; i < SCANS; i++) {
    if (sqlite3_step(statement) != SQLITE_ROW || sqlite3_column_int(statement, 0) != 0) raw_fail("scan", "found something");
    sqlite3_reset(statement);
  }
  sqlite3_finalize(statement);
  return (double)work->count * SCANS;
}

typedef double measurement(raw_store *, const data *);

static const struct {
  const char *name;
  measurement *run;
  const char *synchronous;
  int checkpoint;
  int needs_data;
} workloads[] = {
    {"bulk", bulk, "FULL", CHECKPOINT, 0},        {"single-full", single, "FULL", CHECKPOINT_SMALL, 0},
    {"find", find, "FULL", CHECKPOINT, 1},        {"find-cached", find_cached, "FULL", CHECKPOINT, 1},
    {"scan", scan, "FULL", CHECKPOINT, 1},
};

int sqlcipher_measure(const char *workload, const char *directory, int count) {
  size_t kind = 0;
  while (kind < sizeof workloads / sizeof *workloads && strcmp(workloads[kind].name, workload) != 0) kind++;
  if (kind == sizeof workloads / sizeof *workloads) raw_fail(workload, "no such workload");
  data work;
  data_make(&work, count, 1);
  char file[512];
  snprintf(file, sizeof file, "%s/sqlcipher.db", directory);
  raw_store store;
  raw_key = "x'0101010101010101010101010101010101010101010101010101010101010101'";
  raw_open(&store, file, workloads[kind].synchronous, workloads[kind].checkpoint);
  if (workloads[kind].needs_data) {
    save_batches(&store, &work);
    raw_close(&store);
    raw_open(&store, file, workloads[kind].synchronous, workloads[kind].checkpoint);
  }
  double start = data_now();
  double done = workloads[kind].run(&store, &work);
  double seconds = data_now() - start;
  raw_close(&store);
  data_free(&work);
  FILE *made = fopen(file, "rb");
  char beginning[16] = {0};
  if (!made || fread(beginning, 1, 15, made) != 15 || strcmp(beginning, "SQLite format 3") == 0)
    raw_fail(file, "is not encrypted");
  fclose(made);
  printf("raw %.1f\n", done / seconds);
  fflush(stdout);
  return 0;
}
