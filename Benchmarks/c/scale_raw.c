/* The work of scale_ours.c as an expert writes it by hand, in SQLite with the rows that libkvstore writes. The program is linked
 * with the libraries that ours needs as well: opening and memory are compared with them.
 *
 *   scale_raw DIRECTORY fill|open|work COUNT */
#include "data.h"
#include "raw.h"
#include "scale.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static raw_store store;

static void fill(long count) {
  char entity[SCALE_ROOM], index[128];
  double start = data_now();
  for (long i = 0; i < count; i++) {
    if (i % SCALE_BATCH == 0) raw_begin(&store);
    int length = scale_entity(entity, i);
    raw_save(&store, entity + sizeof "{\"_id\":\"" - 1, SCALE_ID, entity, length);
    if ((i + 1) % SCALE_BATCH == 0 || i + 1 == count) raw_commit(&store);
  }
  scale_print("save", start, count);
  start = data_now();
  raw_execute(&store, "CREATE INDEX by_number ON entity (json_extract(body,'$.number'))");
  for (int i = 1; i < scale_indexes(count); i++) {
    snprintf(index, sizeof index, "CREATE INDEX m%d ON entity (json_extract(body,'$.m%d'))", i, i);
    raw_execute(&store, index);
  }
  scale_print("index", start, count * scale_indexes(count));
}

static void find(long number) {
  char id[SCALE_ID + 1];
  int length;
  snprintf(id, sizeof id, "%0*ld", SCALE_ID, number);
  if (!raw_find(&store, id, SCALE_ID, &length)) raw_fail(id, "missing");
}

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v3(store.db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL))
    raw_fail(sql, sqlite3_errmsg(store.db));
  return statement;
}

static void read_rows(sqlite3_stmt *statement, long expected) {
  long rows = 0;
  while (sqlite3_step(statement) == SQLITE_ROW) rows += sqlite3_column_text(statement, 0) != NULL;
  if (rows != expected) raw_fail("query", "another number of rows");
  sqlite3_reset(statement);
}

static void work(long count) {
  double start = data_now();
  for (long i = 0; i < SCALE_FINDS; i++) find(scale_pick(i, count));
  scale_print("find", start, SCALE_FINDS);
  sqlite3_stmt *range = prepare(
      "SELECT body FROM entity WHERE json_extract(body,'$.number')>=?1 AND json_extract(body,'$.number')<?2"
      " ORDER BY json_extract(body,'$.number') LIMIT 20");
  start = data_now();
  for (long i = 0; i < SCALE_QUERIES; i++) {
    long low = scale_pick(i, count - 20);
    sqlite3_bind_int64(range, 1, low);
    sqlite3_bind_int64(range, 2, low + 1000);
    read_rows(range, 20);
  }
  scale_print("query", start, SCALE_QUERIES);
  sqlite3_stmt *page = prepare(
      "SELECT body FROM entity WHERE rowid IN (SELECT rowid FROM entity ORDER BY json_extract(body,'$.number')"
      " LIMIT 100 OFFSET ?1) ORDER BY json_extract(body,'$.number')");
  sqlite3_bind_int64(page, 1, count / 2);
  start = data_now();
  for (int i = 0; i < SCALE_PAGES; i++) read_rows(page, 100);
  scale_print("page", start, SCALE_PAGES);
  sqlite3_finalize(range);
  sqlite3_finalize(page);
}

int main(int argument_count, char **arguments) {
  if (argument_count != 4) raw_fail(arguments[0], "DIRECTORY fill|open|work COUNT");
  /* The loader leaves libraries out of which nothing is used. */
  if (!curl_version() || !jansson_version_str()) return 1;
  const char *stage = arguments[2];
  char file[1024];
  long count = strtol(arguments[3], NULL, 10);
  snprintf(file, sizeof file, "%s/raw.db", arguments[1]);
  double start = data_now();
  raw_open(&store, file, "NORMAL", CHECKPOINT);
  if (!strcmp(stage, "open")) {
    if (count) find(count / 2);
    scale_print("open", start, 1);
  }
  if (!strcmp(stage, "fill")) fill(count);
  if (!strcmp(stage, "work")) work(count);
  printf("peak %ld\n", data_peak_kib());
  raw_close(&store);
  return 0;
}
