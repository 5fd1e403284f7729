/* Queries over one collection, ours and raw, in turns within one process.
 *
 *   query DIRECTORY COUNT ROUNDS
 *
 * Prints "WORKLOAD ours RATE" and "WORKLOAD raw RATE" in turns: queries per second. The raw side has the same
 * table, prepared statements and json_extract(); where there are indexes, it has those that an expert would make for the
 * query: over virtual columns, so that they cover it. Totals stand in a table of their own, which triggers would keep. Both
 * sides have to come to the same sums. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 20, COUNTRIES = 100, POPULATION = 1000000, VARIANTS = 1000 };

typedef struct sides {
  kv_client *client;
  kv_store *store, *empty;
  raw_store raw;
  unsigned state; /* of the random numbers; both sides get the same */
  /* Made once and used many times, as the raw side's statements are. */
  kv_query *equality[VARIANTS], *first[VARIANTS], *counting[VARIANTS];
} sides;

/* ---- ours ---- */

static kv_query *query_of(const char *filter, const char *modifiers) {
  kv_query *query = NULL;
  kv_error *error = NULL;
  must(kv_query_create(filter, KV_NUL_TERMINATED, modifiers, KV_NUL_TERMINATED, &query, &error),
       error);
  return query;
}

/* Reads all that is found; gives how many bytes. */
static size_t ours_find(kv_store *store, kv_query *query) {
  kv_cursor *cursor = NULL;
  kv_error *error = NULL;
  size_t bytes = 0;
  must(kv_store_find(store, query, NULL, &cursor, &error), error);
  const char *json;
  size_t length;
  kv_status status;
  while ((status = kv_cursor_next(cursor, &json, &length, &error)) == KV_OK) bytes += length;
  if (status != KV_DONE) raw_fail("cursor", kv_error_message(error));
  kv_cursor_close(cursor);
  return bytes;
}

static size_t ours_count(kv_store *store, kv_query *query) {
  kv_error *error = NULL;
  int64_t count = 0;
  must(kv_store_count(store, query, NULL, &count, &error), error);
  return (size_t)count;
}

/* ---- raw ---- */

static sqlite3_stmt *prepare(raw_store *raw, const char *sql) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v3(raw->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL))
    raw_fail(sql, sqlite3_errmsg(raw->db));
  return statement;
}

static size_t raw_bodies(sqlite3_stmt *statement) {
  size_t bytes = 0;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    bytes += (size_t)sqlite3_column_bytes(statement, 0);
    if (!sqlite3_column_text(statement, 0)) raw_fail("find", "no body");
  }
  sqlite3_reset(statement);
  return bytes;
}

static size_t raw_integer(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_ROW) raw_fail("count", "no row");
  size_t value = (size_t)sqlite3_column_int64(statement, 0);
  sqlite3_reset(statement);
  return value;
}

/* ---- workloads: one query each, with values of its own; they give what they found ---- */

typedef size_t workload(sides *both, sqlite3_stmt *statement);

static const char *text(const char *format, unsigned value) {
  static char buffer[256];
  snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/* The values that queries are asked with; `variant` is below VARIANTS. */
static unsigned country_of(unsigned variant) { return variant * 7 % COUNTRIES; }
static unsigned first_of(unsigned variant) { return variant * 7901 % (POPULATION / 10 * 9); }
static unsigned least_of(unsigned variant) { return POPULATION / 10 * 9 - variant; }

static void make_queries(sides *both) {
  for (unsigned i = 0; i < VARIANTS; i++) {
    both->equality[i] = query_of(text("{\"country\":\"C%02u\"}", country_of(i)), NULL);
    both->first[i] = query_of(text("{\"population\":{\"$gte\":%u}}", first_of(i)),
                              "{\"sort\":{\"population\":1},\"limit\":20}");
    both->counting[i] = query_of(text("{\"population\":{\"$gte\":%u}}", least_of(i)), NULL);
  }
}

static unsigned variant(sides *both) { return data_random(&both->state) % VARIANTS; }

static size_t ours_equality(sides *both, sqlite3_stmt *none) {
  (void)none;
  return ours_find(both->store, both->equality[variant(both)]);
}

static size_t raw_equality(sides *both, sqlite3_stmt *statement) {
  sqlite3_bind_text(statement, 1, text("C%02u", country_of(variant(both))), -1, SQLITE_TRANSIENT);
  return raw_bodies(statement);
}

static size_t ours_first(sides *both, sqlite3_stmt *none) {
  (void)none;
  return ours_find(both->store, both->first[variant(both)]);
}

static size_t raw_first(sides *both, sqlite3_stmt *statement) {
  sqlite3_bind_int64(statement, 1, first_of(variant(both)));
  sqlite3_bind_int64(statement, 2, LIMIT);
  return raw_bodies(statement);
}

static size_t ours_counting(sides *both, sqlite3_stmt *none) {
  (void)none;
  return ours_count(both->store, both->counting[variant(both)]);
}

static size_t raw_counting(sides *both, sqlite3_stmt *statement) {
  sqlite3_bind_int64(statement, 1, least_of(variant(both)));
  return raw_integer(statement);
}

static size_t ours_groups(sides *both, const char *member) {
  char request[128], *json = NULL;
  snprintf(request, sizeof request,
           "{\"keys\":[\"country\"],\"aggregates\":{\"mean\":{\"avg\":\"%s\"}}}", member);
  (void)variant(both);
  kv_error *error = NULL;
  must(kv_store_group(both->store, request, KV_NUL_TERMINATED, NULL, NULL, &json, NULL, &error),
       error);
  size_t groups = 0;
  for (const char *at = json; (at = strstr(at, "\"mean\"")); at++) groups++;
  kv_free(json);
  return groups;
}

/* Averages of integers. */
static size_t ours_grouping(sides *both, sqlite3_stmt *none) {
  (void)none;
  return ours_groups(both, "population");
}

/* Averages of numbers with a fraction. */
static size_t ours_averaging(sides *both, sqlite3_stmt *none) {
  (void)none;
  return ours_groups(both, "latitude");
}

static size_t raw_grouping(sides *both, sqlite3_stmt *statement) {
  (void)variant(both);
  size_t groups = 0;
  double sum = 0;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    groups += sqlite3_column_text(statement, 0) != NULL;
    sum += fabs(sqlite3_column_double(statement, 1));
  }
  sqlite3_reset(statement);
  return sum > 0 ? groups : 0;
}

/* A query made, planned, compiled and run where there is nothing to find. */
static size_t ours_parsing(sides *both, sqlite3_stmt *none) {
  (void)none;
  unsigned from = data_random(&both->state) % POPULATION;
  kv_query *query = query_of(text("{\"country\":\"C42\",\"population\":{\"$gte\":%u}}", from),
                             "{\"sort\":{\"population\":1},\"limit\":20}");
  size_t bytes = ours_find(both->empty, query);
  kv_query_free(query);
  return bytes;
}

/* A statement of as many terms, prepared. */
static size_t raw_parsing(sides *both, sqlite3_stmt *none) {
  (void)none;
  (void)data_random(&both->state);
  sqlite3_finalize(prepare(&both->raw,
                           "SELECT body FROM entity WHERE json_extract(body,'$.country')='C42' AND "
                           "json_extract(body,'$.population')>=?1 "
                           "ORDER BY json_extract(body,'$.population'),id LIMIT 20"));
  return 0;
}

#define COUNTRY "json_extract(body,'$.country')"
#define PEOPLE "json_extract(body,'$.population')"
#define LATITUDE "json_extract(body,'$.latitude')"

static const struct {
  const char *name, *sql;
  workload *ours, *raw;
  int queries, indexed;
} workloads[] = {
    {"filter", "SELECT body FROM entity WHERE " COUNTRY "=?1", ours_equality, raw_equality, 3, 0},
    {"count", "SELECT count(*) FROM entity WHERE " PEOPLE ">=?1", ours_counting, raw_counting, 3, 0},
    {"group", "SELECT " COUNTRY ",avg(" PEOPLE ") FROM entity GROUP BY 1 ORDER BY 1", ours_grouping,
     raw_grouping, 2, 0},
    {"average", "SELECT " COUNTRY ",avg(" LATITUDE ") FROM entity GROUP BY 1 ORDER BY 1",
     ours_averaging, raw_grouping, 2, 0},
    {"parse", NULL, ours_parsing, raw_parsing, 20000, 0},
    /* With the virtual columns and indexes of make_indexes(), of which SQLite takes the last one unless it is told. */
    {"covering-count", "SELECT count(*) FROM entity WHERE people>=?1", ours_counting, raw_counting,
     300, 1},
    {"covering-group", "SELECT country,avg(people) FROM entity INDEXED BY people_of GROUP BY 1", ours_grouping,
     raw_grouping, 50, 1},
    {"covering-average", "SELECT country,avg(latitude) FROM entity INDEXED BY latitude_of GROUP BY 1",
     ours_averaging, raw_grouping, 50, 1},
    {"equality", "SELECT body FROM entity WHERE country=?1", ours_equality, raw_equality, 200, 1},
    {"range", "SELECT body FROM entity WHERE people>=?1 ORDER BY people,id LIMIT ?2", ours_first,
     raw_first, 5000, 1},
    /* With the totals of make_totals(). */
    {"totals-group", "SELECT country,people/entities FROM total ORDER BY 1", ours_grouping,
     raw_grouping, 2000, 2},
    {"totals-average", "SELECT country,latitude/entities FROM total ORDER BY 1", ours_averaging,
     raw_grouping, 2000, 2},
};

enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static void measure(sides *both, int kind, int round) {
  sqlite3_stmt *statement = workloads[kind].sql ? prepare(&both->raw, workloads[kind].sql) : NULL;
  size_t found[2] = {0, 0};
  /* Each begins every other round. */
  for (int turn = 0; turn < 2; turn++) {
    int side = turn != round % 2;
    workload *run = side ? workloads[kind].raw : workloads[kind].ours;
    both->state = 7 + (unsigned)round;
    double start = data_now();
    for (int i = 0; i < workloads[kind].queries; i++) found[side] += run(both, statement);
    double seconds = data_now() - start;
    printf("%s %s %.2f\n", workloads[kind].name, side ? "raw" : "ours",
           workloads[kind].queries / seconds);
    fflush(stdout);
  }
  if (found[0] != found[1]) raw_fail(workloads[kind].name, "different answers");
  sqlite3_finalize(statement);
}

static void fill(sides *both, const char *directory, int count) {
  char options[512], file[512];
  kv_error *error = NULL;
  data work;
  data_make(&work, count, 1);
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"host\":null,\"dataDirectory\":\"%s\",\"durability\":\"normal\",\"autoIndex\":false}",
           directory);
  must(kv_client_open(options, KV_NUL_TERMINATED, &both->client, &error), error);
  must(kv_store_open(both->client, "cities", "sync", NULL, &both->store, &error), error);
  must(kv_store_open(both->client, "none", "sync", NULL, &both->empty, &error), error);
  must(kv_store_save(both->empty, "{\"_id\":\"a\"}", KV_NUL_TERMINATED, NULL, NULL, NULL, &error),
       error);
  snprintf(file, sizeof file, "%s/raw.sqlite", directory);
  raw_open(&both->raw, file, "NORMAL", CHECKPOINT);
  for (int batch = 0; batch < work.batch_count; batch++) {
    must(kv_store_save_many(both->store, work.batches[batch], work.batch_lengths[batch], NULL, NULL,
                            NULL, &error),
         error);
    raw_begin(&both->raw);
    for (int i = batch * BATCH; i < (batch + 1) * BATCH; i++)
      raw_save(&both->raw, work.entities[i].id, ID_LENGTH, work.entities[i].json,
               work.entities[i].length);
    raw_commit(&both->raw);
  }
  data_free(&work);
  make_queries(both);
}

static void make_totals(sides *both) {
  kv_error *error = NULL;
  const char *specs[] = {
      "{\"name\":\"people\",\"keys\":{\"country\":1,\"population\":1},\"totals\":true}",
      "{\"name\":\"middle\",\"keys\":{\"country\":1,\"latitude\":1},\"totals\":true}"};
  for (int i = 0; i < 2; i++)
    must(kv_store_create_index(both->store, specs[i], KV_NUL_TERMINATED, &error), error);
  raw_execute(&both->raw,
              "CREATE TABLE total (country TEXT PRIMARY KEY, entities INTEGER, people REAL, latitude REAL)"
              " WITHOUT ROWID;"
              "INSERT INTO total SELECT country, count(*), sum(people), sum(latitude) FROM entity"
              " GROUP BY 1");
}

static void make_indexes(sides *both) {
  kv_error *error = NULL;
  const char *specs[] = {"{\"keys\":{\"country\":1}}", "{\"keys\":{\"population\":1}}",
                         "{\"keys\":{\"country\":1,\"population\":1}}",
                         "{\"keys\":{\"country\":1,\"latitude\":1}}"};
  for (int i = 0; i < 4; i++)
    must(kv_store_create_index(both->store, specs[i], KV_NUL_TERMINATED, &error), error);
  raw_execute(&both->raw,
              "ALTER TABLE entity ADD COLUMN country TEXT AS (" COUNTRY ") VIRTUAL;"
              "ALTER TABLE entity ADD COLUMN people INTEGER AS (" PEOPLE ") VIRTUAL;"
              "ALTER TABLE entity ADD COLUMN latitude REAL AS (" LATITUDE ") VIRTUAL;"
              "CREATE INDEX by_people ON entity (people, id);"
              "CREATE INDEX people_of ON entity (country, people);"
              "CREATE INDEX latitude_of ON entity (country, latitude)");
}

int main(int count, char **arguments) {
  if (count != 4) raw_fail(arguments[0], "DIRECTORY COUNT ROUNDS");
  sides both = {0};
  fill(&both, arguments[1], atoi(arguments[2]));
  for (int indexed = 0; indexed < 3; indexed++) {
    if (indexed == 1) make_indexes(&both);
    if (indexed == 2) make_totals(&both);
    for (int kind = 0; kind < WORKLOADS; kind++) {
      if (workloads[kind].indexed != indexed) continue;
      for (int round = 0; round < atoi(arguments[3]); round++) measure(&both, kind, round);
    }
  }
  raw_close(&both.raw);
  for (int i = 0; i < VARIANTS; i++) {
    kv_query_free(both.equality[i]);
    kv_query_free(both.first[i]);
    kv_query_free(both.counting[i]);
  }
  must(kv_store_close(both.empty), NULL);
  must(kv_store_close(both.store), NULL);
  must(kv_client_close(both.client), NULL);
  return 0;
}
