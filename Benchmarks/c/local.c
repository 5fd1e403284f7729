/* Local work, ours and raw, in turns within one process.
 *
 *   local bulk|single-full|single-normal|threads|find DIRECTORY COUNT ROUNDS
 *
 * Prints "ours RATE" and "raw RATE" in turns, ROUNDS times each: entities (or calls) per second. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { THREADS = 8 };

/* What one measurement works on: a fresh directory, entities, and which durability. */
typedef struct job {
  const char *directory;
  const char *durability; /* "full" or "normal" */
  int checkpoint;         /* of the raw side; ours chooses by itself */
  const data *work;
} job;

/* ---- ours ---- */

typedef struct ours {
  kv_client *client;
  kv_store *store;
} ours;

static void ours_open(ours *opened, const job *job) {
  char options[512];
  kv_error *error = NULL;
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"host\":null,\"dataDirectory\":\"%s\",\"durability\":\"%s\",\"autoIndex\":false}",
           job->directory, job->durability);
  must(kv_client_open(options, KV_NUL_TERMINATED, &opened->client, &error), error);
  must(kv_store_open(opened->client, "cities", "sync", NULL, &opened->store, &error), error);
}

static void ours_close(ours *opened) {
  must(kv_store_close(opened->store), NULL);
  must(kv_client_close(opened->client), NULL);
}

static void ours_save(kv_store *store, const entity *entity) {
  kv_error *error = NULL;
  must(kv_store_save(store, entity->json, (size_t)entity->length, NULL, NULL, NULL, &error), error);
}

static double ours_bulk(const job *job) {
  ours opened;
  ours_open(&opened, job);
  double start = data_now();
  save_batches(opened.store, job->work);
  double seconds = data_now() - start;
  ours_close(&opened);
  return job->work->count / seconds;
}

static double ours_single(const job *job) {
  ours opened;
  ours_open(&opened, job);
  double start = data_now();
  for (int i = 0; i < job->work->count; i++) ours_save(opened.store, &job->work->entities[i]);
  double seconds = data_now() - start;
  ours_close(&opened);
  return job->work->count / seconds;
}

typedef struct share {
  pthread_t thread;
  kv_store *store;
  const entity *first;
  int count;
} share;

static void *save_share(void *context) {
  const share *mine = context;
  for (int i = 0; i < mine->count; i++) ours_save(mine->store, &mine->first[i]);
  return NULL;
}

static double ours_threads(const job *job) {
  ours opened;
  share shares[THREADS];
  int each = job->work->count / THREADS;
  ours_open(&opened, job);
  double start = data_now();
  for (int i = 0; i < THREADS; i++) {
    shares[i] = (share){0, opened.store, job->work->entities + i * each, each};
    pthread_create(&shares[i].thread, NULL, save_share, &shares[i]);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(shares[i].thread, NULL);
  double seconds = data_now() - start;
  ours_close(&opened);
  return each * THREADS / seconds;
}

static double ours_find(const job *job) {
  ours opened;
  kv_error *error = NULL;
  unsigned state = 7;
  size_t bytes = 0;
  ours_open(&opened, job);
  double start = data_now();
  for (int i = 0; i < job->work->count; i++) {
    const entity *wanted = &job->work->entities[data_random(&state) % (unsigned)job->work->count];
    char *json;
    size_t length;
    must(kv_store_find_by_id(opened.store, wanted->id, NULL, &json, &length, &error), error);
    if (length < (size_t)wanted->length) raw_fail("find", "wrong entity");
    bytes += length;
    kv_free(json);
  }
  double seconds = data_now() - start;
  ours_close(&opened);
  return bytes ? job->work->count / seconds : 0;
}

/* ---- raw ---- */

static void open_raw(raw_store *store, const job *job) {
  char file[512];
  snprintf(file, sizeof file, "%s/raw.sqlite", job->directory);
  raw_open(store, file, strcmp(job->durability, "full") == 0 ? "FULL" : "NORMAL", job->checkpoint);
}

static double raw_writes(const job *job, int batch) {
  raw_store store;
  open_raw(&store, job);
  double start = data_now();
  for (int i = 0; i < job->work->count; i++) {
    const entity *next = &job->work->entities[i];
    if (i % batch == 0) raw_begin(&store);
    raw_save(&store, next->id, ID_LENGTH, next->json, next->length);
    if ((i + 1) % batch == 0) raw_commit(&store);
  }
  double seconds = data_now() - start;
  raw_close(&store);
  return job->work->count / seconds;
}

static double raw_bulk(const job *job) { return raw_writes(job, BATCH); }
static double raw_single(const job *job) { return raw_writes(job, 1); }

static double raw_finds(const job *job) {
  raw_store store;
  unsigned state = 7;
  size_t bytes = 0;
  open_raw(&store, job);
  double start = data_now();
  for (int i = 0; i < job->work->count; i++) {
    const entity *wanted = &job->work->entities[data_random(&state) % (unsigned)job->work->count];
    int length = 0;
    if (!raw_find(&store, wanted->id, ID_LENGTH, &length)) raw_fail("find", "missing");
    if (length != wanted->length) raw_fail("find", "wrong entity");
    bytes += (size_t)length;
  }
  double seconds = data_now() - start;
  raw_close(&store);
  return bytes ? job->work->count / seconds : 0;
}

/* ---- the rounds ---- */

typedef double measurement(const job *);

static const struct {
  const char *name, *durability;
  int checkpoint;
  measurement *ours, *raw;
} workloads[] = {
    {"bulk", "full", CHECKPOINT, ours_bulk, raw_bulk},
    {"single-full", "full", CHECKPOINT_SMALL, ours_single, raw_single},
    {"single-normal", "normal", CHECKPOINT, ours_single, raw_single},
    {"threads", "full", CHECKPOINT_SMALL, ours_threads, raw_single},
    {"find", "full", CHECKPOINT, ours_find, raw_finds},
};

/* A fresh directory for each measurement; the caller removes them all. */
static const char *fresh(const char *parent, const char *who, int round) {
  static char path[512];
  snprintf(path, sizeof path, "%s/%s-%d", parent, who, round);
  if (mkdir(path, 0700) != 0) raw_fail(path, "can not be made");
  return path;
}

int main(int count, char **arguments) {
  if (count != 5) raw_fail(arguments[0], "WORKLOAD DIRECTORY COUNT ROUNDS");
  size_t kind = 0;
  while (kind < sizeof workloads / sizeof *workloads && strcmp(workloads[kind].name, arguments[1]))
    kind++;
  if (kind == sizeof workloads / sizeof *workloads) raw_fail(arguments[1], "no such workload");

  data work;
  data_make(&work, atoi(arguments[3]), 1);
  int finds = workloads[kind].ours == ours_find;
  job mine = {0}, theirs = {0};
  for (int round = 0; round < atoi(arguments[4]); round++) {
    if (round == 0 || !finds) {
      char *directory = strdup(fresh(arguments[2], "ours", round));
      mine = (job){directory, workloads[kind].durability, 0, &work};
      theirs = (job){strdup(fresh(arguments[2], "raw", round)), workloads[kind].durability,
                     workloads[kind].checkpoint, &work};
      if (finds) ours_bulk(&mine), raw_bulk(&theirs);
    }
    /* Each begins every other round. */
    for (int turn = 0; turn < 2; turn++) {
      int is_ours = turn == round % 2;
      double rate = is_ours ? workloads[kind].ours(&mine) : workloads[kind].raw(&theirs);
      printf("%s %.1f\n", is_ours ? "ours" : "raw", rate);
      fflush(stdout);
    }
  }
  data_free(&work);
  return 0;
}
