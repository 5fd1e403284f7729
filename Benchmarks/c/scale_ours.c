/* A local collection of any size with libkvstore; scale_raw.c does the same by hand.
 *
 *   scale_ours DIRECTORY fill COUNT    saves, then makes the indexes
 *   scale_ours DIRECTORY open COUNT    opens, finds one entity
 *   scale_ours DIRECTORY work COUNT    finds, queries, reads pages
 *   scale_ours DIRECTORY rows COUNT    saves, and makes no index
 *   scale_ours DIRECTORY scan COUNT    counts and finds what no index knows, each once
 *
 * Prints "WORK MICROSECONDS" of one operation for each, and the "peak" memory of the process in KiB. */
#include "data.h"
#include "ours.h"
#include "raw.h"
#include "scale.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static kv_client *client;
static kv_store *store;
static kv_error *error;

static void open_store(const char *directory) {
  char options[1024];
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"host\":null,\"dataDirectory\":\"%s\",\"durability\":\"normal\"}",
           directory);
  must(kv_client_open(options, KV_NUL_TERMINATED, &client, &error), error);
  must(kv_store_open(client, "numbers", "sync", NULL, &store, &error), error);
}

static void save(long count) {
  char *batch = malloc((size_t)SCALE_BATCH * SCALE_ROOM);
  if (!batch) raw_fail("save", "no memory");
  double start = data_now();
  for (long first = 0; first < count; first += SCALE_BATCH) {
    char *end = batch;
    for (long i = first; i < first + SCALE_BATCH && i < count; i++) {
      *end++ = i == first ? '[' : ',';
      end += scale_entity(end, i);
    }
    *end++ = ']';
    must(kv_store_save_many(store, batch, (size_t)(end - batch), NULL, NULL, NULL, &error), error);
  }
  scale_print("save", start, count);
  free(batch);
}

static void make_indexes(long count) {
  char index[64];
  double start = data_now();
  must(kv_store_create_index(store, "{\"keys\":{\"number\":1}}", KV_NUL_TERMINATED, &error), error);
  for (int i = 1; i < scale_indexes(count); i++) {
    snprintf(index, sizeof index, "{\"keys\":{\"m%d\":1}}", i);
    must(kv_store_create_index(store, index, KV_NUL_TERMINATED, &error), error);
  }
  scale_print("index", start, count * scale_indexes(count));
}

static void find(long number) {
  char id[SCALE_ID + 1], *json;
  size_t length;
  snprintf(id, sizeof id, "%0*ld", SCALE_ID, number);
  must(kv_store_find_by_id(store, id, NULL, &json, &length, &error), error);
  kv_free(json);
}

static void read_query(const char *filter, const char *modifiers, long expected) {
  kv_query *query;
  kv_cursor *cursor;
  const char *json;
  size_t length;
  long rows = 0;
  must(kv_query_create(filter, KV_NUL_TERMINATED, modifiers, KV_NUL_TERMINATED, &query, &error), error);
  must(kv_store_find(store, query, NULL, &cursor, &error), error);
  while (kv_cursor_next(cursor, &json, &length, &error) == KV_OK) rows++;
  if (rows != expected) raw_fail(filter, "another number of rows");
  kv_cursor_close(cursor);
  kv_query_free(query);
}

static void work(long count) {
  char filter[128];
  double start = data_now();
  for (long i = 0; i < SCALE_FINDS; i++) find(scale_pick(i, count));
  scale_print("find", start, SCALE_FINDS);
  start = data_now();
  for (long i = 0; i < SCALE_QUERIES; i++) {
    long low = scale_pick(i, count - 20);
    snprintf(filter, sizeof filter, "{\"number\":{\"$gte\":%ld,\"$lt\":%ld}}", low, low + 1000);
    read_query(filter, "{\"sort\":{\"number\":1},\"limit\":20}", 20);
  }
  scale_print("query", start, SCALE_QUERIES);
  snprintf(filter, sizeof filter, "{\"sort\":{\"number\":1},\"skip\":%ld,\"limit\":100}", count / 2);
  start = data_now();
  for (int i = 0; i < SCALE_PAGES; i++) read_query("{}", filter, 100);
  scale_print("page", start, SCALE_PAGES);
}

/* A thousandth of the entities, from both halves. */
static void scan(long count) {
  const char *filter = "{\"number\":{\"$mod\":[1000,7]}}";
  kv_query *query;
  int64_t found;
  must(kv_query_create(filter, KV_NUL_TERMINATED, NULL, 0, &query, &error), error);
  double start = data_now();
  must(kv_store_count(store, query, NULL, &found, &error), error);
  if (found != count / 1000) raw_fail(filter, "another number of rows");
  scale_print("count", start, count);
  kv_query_free(query);
  start = data_now();
  read_query(filter, NULL, count / 1000);
  scale_print("scan", start, count);
}

int main(int argument_count, char **arguments) {
  if (argument_count != 4) raw_fail(arguments[0], "DIRECTORY fill|open|work|rows|scan COUNT");
  const char *stage = arguments[2];
  long count = strtol(arguments[3], NULL, 10);
  double start = data_now();
  open_store(arguments[1]);
  if (!strcmp(stage, "open")) {
    if (count) find(count / 2);
    scale_print("open", start, 1);
  }
  if (!strcmp(stage, "fill") || !strcmp(stage, "rows")) save(count);
  if (!strcmp(stage, "fill")) make_indexes(count);
  if (!strcmp(stage, "scan")) scan(count);
  if (!strcmp(stage, "work")) work(count);
  printf("peak %ld\n", data_peak_kib());
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
  return 0;
}
