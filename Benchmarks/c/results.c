/* Results over the cities, ours and raw, in turns within one process.
 *
 *   results fill DIRECTORY FILE     stores the entities of FILE, one a line with `_id` and `population`, on both sides
 *   results run DIRECTORY ROUNDS    prints "WORKLOAD ours RATE" and "WORKLOAD raw RATE" in turns
 *   results save DIRECTORY ROUNDS   prints "save ours RATE" of contexts' saves and "save raw RATE" of kv_store_save_many
 *   results memory DIRECTORY        scrolls through everything; prints how many KiB more that took at its peak
 *
 * The raw side has the same table, prepared statements and an index that covers order and ties; orders by language are those of ICU,
 * by its sort keys. Both sides have to come to the same sums. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unicode/ucol.h>
#include <unicode/ustring.h>

enum { PAGE = 100, FIRST_ROWS = 500, LANGUAGE_PAGES = 500, ENDS = 10, GETS = 20000, CHANGES = 1000 };

typedef struct sides {
  kv_client *client;
  kv_store *store;
  kv_query *ordered, *end;
  kv_query *swedish, *german; /* all cities by name, without an index; a page, with one */
  kv_results *single; /* of batches of one */
  raw_store raw;
  size_t count;
  int64_t *rows; /* what a list by hand would keep */
  unsigned state; /* of the random numbers; both sides get the same */
} sides;

/* ---- ours ---- */

static kv_query *filter_of(const char *filter, const char *modifiers) {
  kv_query *query = NULL;
  kv_error *error = NULL;
  size_t length = filter ? KV_NUL_TERMINATED : 0;
  must(kv_query_create(filter, length, modifiers, KV_NUL_TERMINATED, &query, &error), error);
  return query;
}

static kv_query *query_of(const char *modifiers) { return filter_of(NULL, modifiers); }

static size_t ours_find(sides *both, kv_query *query, size_t wanted) {
  kv_cursor *cursor = NULL;
  kv_error *error = NULL;
  const char *json;
  size_t length, bytes = 0;
  must(kv_store_find(both->store, query, NULL, &cursor, &error), error);
  for (; wanted > 0; wanted--) {
    must(kv_cursor_next(cursor, &json, &length, &error), error);
    bytes += length;
  }
  kv_cursor_close(cursor);
  return bytes;
}

static kv_results *ours_results(sides *both, const char *request) {
  kv_results *results = NULL;
  kv_error *error = NULL;
  must(kv_store_results(both->store, request, KV_NUL_TERMINATED, both->ordered, NULL, &results, &error),
       error);
  return results;
}

static size_t ours_first(sides *both) { return ours_find(both, both->ordered, 1); }

static size_t ours_list(sides *both) {
  kv_results *results = ours_results(both, "{}");
  kv_error *error = NULL;
  const char *json;
  size_t length;
  must(kv_results_get(results, 0, &json, &length, NULL, &error), error);
  kv_results_close(results);
  return length;
}

/* A list that shows a page after the other. */
static size_t ours_scroll(sides *both) {
  kv_results *results = ours_results(both, "{\"fetchBatchSize\":100}");
  kv_error *error = NULL;
  const char *json;
  size_t length, bytes = 0;
  for (size_t position = 0; position < both->count; position++) {
    must(kv_results_get(results, position, &json, &length, NULL, &error), error);
    bytes += length;
  }
  kv_results_close(results);
  return bytes;
}

static size_t ours_swedish(sides *both) { return ours_find(both, both->swedish, both->count); }

static size_t ours_german(sides *both) { return ours_find(both, both->german, PAGE); }

static size_t ours_end(sides *both) { return ours_find(both, both->end, PAGE); }

static size_t ours_position(sides *both) {
  kv_error *error = NULL;
  const char *json;
  size_t length;
  must(kv_results_get(both->single, data_random(&both->state) % both->count, &json, &length, NULL,
                      &error),
       error);
  return length;
}

/* ---- raw ---- */

static sqlite3_stmt *prepare(sides *both, const char *sql) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v3(both->raw.db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL))
    raw_fail(sql, sqlite3_errmsg(both->raw.db));
  return statement;
}

static size_t raw_bodies(sqlite3_stmt *statement) {
  size_t bytes = 0;
  while (sqlite3_step(statement) == SQLITE_ROW) {
    if (!sqlite3_column_text(statement, 0)) raw_fail("find", "no body");
    bytes += (size_t)sqlite3_column_bytes(statement, 0);
  }
  sqlite3_reset(statement);
  return bytes;
}

static size_t raw_first(sides *both, sqlite3_stmt *statement) {
  (void)both;
  if (sqlite3_step(statement) != SQLITE_ROW || !sqlite3_column_text(statement, 0))
    raw_fail("first", "no body");
  size_t bytes = (size_t)sqlite3_column_bytes(statement, 0);
  sqlite3_reset(statement);
  return bytes;
}

static size_t raw_read(sides *both, sqlite3_stmt *statement) {
  (void)both;
  return raw_bodies(statement);
}

static size_t raw_body(sqlite3_stmt *body, int64_t row) {
  sqlite3_bind_int64(body, 1, row);
  return raw_bodies(body);
}

/* The row numbers in an array, and the first body. */
static size_t raw_list(sides *both, sqlite3_stmt *statement) {
  sqlite3_stmt *body = prepare(both, "SELECT body FROM entity WHERE n=?1");
  size_t count = 0;
  while (sqlite3_step(statement) == SQLITE_ROW)
    both->rows[count++] = sqlite3_column_int64(statement, 0);
  sqlite3_reset(statement);
  size_t bytes = count == both->count ? raw_body(body, both->rows[0]) : 0;
  sqlite3_finalize(body);
  return bytes;
}

static void raw_run(sides *both, const char *sql) {
  if (sqlite3_exec(both->raw.db, sql, NULL, NULL, NULL)) raw_fail(sql, sqlite3_errmsg(both->raw.db));
}

/* The row numbers in an array, and the bodies by row number, so that no snapshot is held: 100 to a transaction. */
static size_t raw_pages(sides *both, sqlite3_stmt *statement) {
  sqlite3_stmt *body = prepare(both, "SELECT body FROM entity WHERE n=?1");
  size_t count = 0, bytes = 0;
  while (sqlite3_step(statement) == SQLITE_ROW)
    both->rows[count++] = sqlite3_column_int64(statement, 0);
  sqlite3_reset(statement);
  for (size_t i = 0; i < count; i++) {
    if (i % PAGE == 0) raw_run(both, "BEGIN");
    bytes += raw_body(body, both->rows[i]);
    if (i % PAGE == PAGE - 1 || i == count - 1) raw_run(both, "COMMIT");
  }
  sqlite3_finalize(body);
  return bytes;
}

/* The SQL functions sv_key(text) and de_key(text), which have a collator as data: ICU's sort key. */
static void sort_key(sqlite3_context *context, int count, sqlite3_value **values) {
  enum { LONGEST = 1024 };
  UErrorCode status = U_ZERO_ERROR;
  UChar text[LONGEST];
  uint8_t key[8 * LONGEST];
  int32_t length = 0;
  (void)count;
  u_strFromUTF8(text, LONGEST, &length, (const char *)sqlite3_value_text(values[0]),
                sqlite3_value_bytes(values[0]), &status);
  if (U_FAILURE(status)) raw_fail("a name", u_errorName(status));
  const UCollator *collator = sqlite3_user_data(context);
  int32_t bytes = ucol_getSortKey(collator, text, length, key, sizeof key);
  sqlite3_result_blob(context, key, bytes, SQLITE_TRANSIENT);
}

static UCollator *collators[2];

static int add_languages(sqlite3 *db, char **error, const struct sqlite3_api_routines *routines) {
  const char *const names[2][2] = {{"sv", "sv_key"}, {"de", "de_key"}};
  (void)error, (void)routines;
  for (int i = 0; i < 2; i++) {
    UErrorCode status = U_ZERO_ERROR;
    collators[i] = ucol_open(names[i][0], &status);
    ucol_setAttribute(collators[i], UCOL_NORMALIZATION_MODE, UCOL_ON, &status);
    if (U_FAILURE(status)) raw_fail(names[i][0], u_errorName(status));
    if (sqlite3_create_function(db, names[i][1], 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, collators[i],
                                sort_key, NULL, NULL))
      raw_fail(names[i][1], sqlite3_errmsg(db));
  }
  return SQLITE_OK;
}

static size_t raw_position(sides *both, sqlite3_stmt *statement) {
  return raw_body(statement, both->rows[data_random(&both->state) % both->count]);
}

/* Without INDEXED BY, SQLite would sort everything before it gives the first row. */
#define ORDERED "entity INDEXED BY by_people ORDER BY people DESC, id"

static const struct {
  const char *name, *sql;
  size_t (*ours)(sides *both);
  size_t (*raw)(sides *both, sqlite3_stmt *statement);
  int times;
} workloads[] = {
    {"first", "SELECT body FROM " ORDERED, ours_first, raw_first, FIRST_ROWS},
    {"list", "SELECT n FROM " ORDERED, ours_list, raw_list, 1},
    {"scroll", "SELECT body FROM " ORDERED, ours_scroll, raw_read, 1},
    {"pages", "SELECT n FROM " ORDERED, ours_scroll, raw_pages, 1},
    {"end",
     "SELECT body FROM (SELECT n FROM " ORDERED " LIMIT 100 OFFSET 234800) JOIN entity USING (n)",
     ours_end, raw_read, ENDS},
    {"swedish", "SELECT body FROM entity ORDER BY sv_key(json_extract(body,'$.name')),id", ours_swedish,
     raw_read, 1},
    {"german",
     "SELECT body FROM entity INDEXED BY by_name WHERE german >= de_key('Ö') ORDER BY german,id LIMIT 100",
     ours_german, raw_read, LANGUAGE_PAGES},
    {"position", "SELECT body FROM entity WHERE n=?1", ours_position, raw_position, GETS},
};

enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static void measure(sides *both, int kind, int round) {
  sqlite3_stmt *statement = prepare(both, workloads[kind].sql);
  size_t found[2] = {0, 0};
  /* Each begins every other round. */
  for (int turn = 0; turn < 2; turn++) {
    int side = turn != round % 2;
    both->state = 7 + (unsigned)round;
    double start = data_now();
    for (int i = 0; i < workloads[kind].times; i++)
      found[side] += side ? workloads[kind].raw(both, statement) : workloads[kind].ours(both);
    printf("%s %s %.3f\n", workloads[kind].name, side ? "raw" : "ours",
           workloads[kind].times / (data_now() - start));
    fflush(stdout);
  }
  if (found[0] != found[1]) raw_fail(workloads[kind].name, "different answers");
  sqlite3_finalize(statement);
}

/* ---- contexts ---- */

/* The entities of one side as an array; side 0 has the objects of the contexts. */
static char *changed(int side, int round, size_t *length) {
  char *text = NULL;
  FILE *out = open_memstream(&text, length);
  for (int i = 0; i < CHANGES; i++)
    fprintf(out, "%c{\"_id\":\"%c%d\",\"round\":%d,\"text\":\"%0300d\"}", i ? ',' : '[', 'a' + side, i, round,
            i);
  fputc(']', out);
  fclose(out);
  return text;
}

static void save_many(kv_store *store, int side, int round) {
  kv_error *error = NULL;
  size_t length = 0;
  char *text = changed(side, round, &length);
  double start = data_now();
  must(kv_store_save_many(store, text, length, NULL, NULL, NULL, &error), error);
  if (round > 0) printf("save raw %.3f\n", 1 / (data_now() - start));
  free(text);
}

/* A context reads its objects and changes each of them; only the save is measured. */
static void save_context(kv_client *client, int round) {
  kv_context *context = NULL;
  kv_error *error = NULL;
  char id[32], members[32];
  must(kv_context_open(client, "{\"cacheBytes\":8388608}", &context, &error), error);
  snprintf(members, sizeof members, "{\"round\":%d}", round);
  for (int i = 0; i < CHANGES; i++) {
    snprintf(id, sizeof id, "a%d", i);
    must(kv_context_update(context, "saved", id, members, KV_NUL_TERMINATED, &error), error);
  }
  double start = data_now();
  must(kv_context_save(context, NULL, NULL, &error), error);
  printf("save ours %.3f\n", 1 / (data_now() - start));
  kv_context_close(context);
}

static void save(sides *both, int rounds) {
  kv_store *store = NULL;
  kv_error *error = NULL;
  must(kv_store_open(both->client, "saved", "sync", NULL, &store, &error), error);
  for (int side = 0; side < 2; side++) save_many(store, side, 0);
  for (int round = 1; round <= rounds; round++) {
    if (round % 2) save_context(both->client, round);
    save_many(store, 1, round);
    if (!(round % 2)) save_context(both->client, round);
  }
  must(kv_store_close(store), NULL);
}

/* ---- the four programs ---- */

static void open_ours(sides *both, const char *directory) {
  char options[512];
  kv_error *error = NULL;
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"host\":null,\"dataDirectory\":\"%s\",\"durability\":\"normal\",\"autoIndex\":false}",
           directory);
  must(kv_client_open(options, KV_NUL_TERMINATED, &both->client, &error), error);
  must(kv_store_open(both->client, "cities", "sync", NULL, &both->store, &error), error);
  both->ordered = query_of("{\"sort\":{\"population\":-1}}");
  both->swedish = query_of("{\"sort\":{\"name\":1},\"collation\":\"sv\"}");
  both->german = filter_of("{\"name\":{\"$gte\":\"Ö\"}}",
                           "{\"sort\":{\"name\":1},\"limit\":100,\"collation\":\"de\"}");
  both->end = query_of("{\"sort\":{\"population\":-1},\"skip\":234800,\"limit\":100}");
  int64_t count = 0;
  must(kv_store_count(both->store, NULL, NULL, &count, &error), error);
  both->count = (size_t)count;
}

static void open_raw(sides *both, const char *directory) {
  char file[512];
  snprintf(file, sizeof file, "%s/raw.sqlite", directory);
  /* The statements that it prepares need the functions: a column is made with one of them. */
  sqlite3_auto_extension((void (*)(void))add_languages);
  raw_open(&both->raw, file, "NORMAL", CHECKPOINT);
  sqlite3_cancel_auto_extension((void (*)(void))add_languages);
}

/* The `_id`, which is the first member of a line. */
static const char *id_of(const char *line, int *length) {
  const char *start = strstr(line, "\"_id\": \"");
  if (!start) raw_fail(line, "no _id");
  start += strlen("\"_id\": \"");
  *length = (int)(strchr(start, '"') - start);
  return start;
}

static void fill(sides *both, const char *file) {
  FILE *lines = fopen(file, "r");
  if (!lines) raw_fail(file, "cannot be read");
  kv_error *error = NULL;
  char *line = NULL, *batch = NULL;
  size_t capacity = 0, size = 0;
  FILE *out = open_memstream(&batch, &size);
  ssize_t length;
  int in_batch = 0, is_left = 1;
  raw_begin(&both->raw);
  while (is_left) {
    is_left = (length = getline(&line, &capacity, lines)) > 0;
    if (is_left) {
      int id_length;
      const char *id = id_of(line, &id_length);
      raw_save(&both->raw, id, id_length, line, (int)length - 1);
      fprintf(out, "%c%.*s", in_batch++ ? ',' : '[', (int)length - 1, line);
    }
    if (in_batch < BATCH && is_left) continue;
    if (in_batch == 0) break;
    fputc(']', out);
    fclose(out);
    must(kv_store_save_many(both->store, batch, size, NULL, NULL, NULL, &error), error);
    free(batch);
    out = open_memstream(&batch, &size);
    in_batch = 0;
  }
  raw_commit(&both->raw);
  fclose(out);
  fclose(lines);
  free(batch);
  free(line);
  must(kv_store_create_index(both->store, "{\"keys\":{\"population\":1}}", KV_NUL_TERMINATED, &error),
       error);
  must(kv_store_create_index(both->store, "{\"keys\":{\"name\":1},\"collation\":\"de\"}",
                             KV_NUL_TERMINATED, &error),
       error);
  raw_execute(&both->raw,
              "ALTER TABLE entity ADD COLUMN german BLOB AS (de_key(json_extract(body,'$.name'))) VIRTUAL;"
              "CREATE INDEX by_name ON entity (german, id)");
  raw_execute(&both->raw,
              "ALTER TABLE entity ADD COLUMN people INTEGER AS (json_extract(body,'$.population')) VIRTUAL;"
              "CREATE INDEX by_people ON entity (people DESC, id)");
}

static void run(sides *both, int rounds) {
  both->rows = malloc(both->count * sizeof *both->rows);
  both->single = ours_results(both, "{\"fetchBatchSize\":1}");
  for (int kind = 0; kind < WORKLOADS; kind++)
    for (int round = 0; round < rounds; round++) measure(both, kind, round);
  kv_results_close(both->single);
  free(both->rows);
}

static void memory(sides *both) {
  long before = data_peak_kib();
  (void)ours_scroll(both);
  printf("%ld\n", data_peak_kib() - before);
}

int main(int count, char **arguments) {
  if (count < 3) raw_fail(arguments[0], "fill|run|save|memory DIRECTORY [FILE|ROUNDS]");
  sides both = {0};
  int is_memory = strcmp(arguments[1], "memory") == 0;
  open_ours(&both, arguments[2]);
  if (!is_memory) open_raw(&both, arguments[2]);
  if (is_memory) memory(&both);
  else if (strcmp(arguments[1], "save") == 0) save(&both, atoi(arguments[3]));
  else if (strcmp(arguments[1], "fill") == 0) fill(&both, arguments[3]);
  else run(&both, atoi(arguments[3]));
  if (!is_memory) raw_close(&both.raw);
  for (int i = 0; i < 2; i++) ucol_close(collators[i]);
  kv_query_free(both.swedish);
  kv_query_free(both.german);
  kv_query_free(both.ordered);
  kv_query_free(both.end);
  must(kv_store_close(both.store), NULL);
  must(kv_client_close(both.client), NULL);
  return 0;
}
