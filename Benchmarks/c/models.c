/* Records of models and their relations, against the same by hand.
 *
 *   models save DIRECTORY COUNT ROUNDS      related records against records of a plain collection with the same index
 *   models query DIRECTORY COUNT ROUNDS     what belongs to a record, against a join by hand
 *   models cascade DIRECTORY COUNT ROUNDS   a record is removed with all that belongs to it, against SQLite by hand
 *
 * COUNT comments belong to posts. Prints "ours RATE" and "raw RATE" for each round: records each second of processor time. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { COMMENTS_OF_A_POST = 100 };

static const char schema[] =
    "type Post @model { id: ID! title: String! comments: [Comment] @hasMany(indexName: \\\"byPost\\\", fields: [\\\"id\\\"]) }"
    " type Comment @model { id: ID! postID: ID! @index(name: \\\"byPost\\\") content: String rating: Int author: String }";

static double cpu_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

static void print(const char *side, int records, double seconds) {
  printf("%s %.2f\n", side, records / seconds);
}

/* ---- records ---- */

static int comment(char *text, size_t size, int number, const char *id, int per_post) {
  return snprintf(text, size,
                  "{\"%s\":\"c%07d\",\"postID\":\"p%05d\",\"content\":\"This is what somebody has said about the post, in "
                  "a sentence or two, as people do.\",\"rating\":%d,\"author\":\"author %d\"}",
                  id, number, number / per_post, number % 5, number % 97);
}

/* An array of BATCH comments, the first of which has this number. */
static char *batch(int first, int count, const char *id, int per_post) {
  char *text = malloc(300 * (size_t)count + 3), *end = text;
  if (!text) raw_fail("malloc", "no memory");
  *end++ = '[';
  for (int i = 0; i < count; i++) {
    if (i) *end++ = ',';
    end += comment(end, 300, first + i, id, per_post);
  }
  *end++ = ']';
  *end = 0;
  return text;
}

/* ---- ours ---- */

static kv_client *opened(const char *directory, int is_model) {
  char options[1024];
  kv_client *client;
  kv_error *error = NULL;
  mkdir(directory, 0700);
  snprintf(options, sizeof options, "{\"appKey\":\"bench\",\"durability\":\"normal\",\"dataDirectory\":\"%s\",%s%s%s}",
           directory, is_model ? "\"schema\":\"" : "\"host\":null", is_model ? schema : "", is_model ? "\"" : "");
  must(kv_client_open(options, KV_NUL_TERMINATED, &client, &error), error);
  return client;
}

static kv_store *store_of(kv_client *client, const char *name) {
  kv_store *store;
  kv_error *error = NULL;
  must(kv_store_open(client, name, "sync", NULL, &store, &error), error);
  return store;
}

/* Gives the seconds of processor time. */
static double save_comments(kv_store *store, int count, const char *id, int per_post) {
  kv_error *error = NULL;
  double seconds = 0;
  for (int first = 0; first < count; first += BATCH) {
    int size = count - first < BATCH ? count - first : BATCH;
    char *text = batch(first, size, id, per_post);
    double start = cpu_now();
    must(kv_store_save_many(store, text, KV_NUL_TERMINATED, NULL, NULL, NULL, &error), error);
    seconds += cpu_now() - start;
    free(text);
  }
  return seconds;
}

static void save_posts(kv_store *store, int count) {
  kv_error *error = NULL;
  char text[128];
  for (int i = 0; i < count; i++) {
    snprintf(text, sizeof text, "{\"id\":\"p%05d\",\"title\":\"A post\"}", i);
    must(kv_store_save(store, text, KV_NUL_TERMINATED, NULL, NULL, NULL, &error), error);
  }
}

/* ---- by hand ---- */

static void index_by_hand(raw_store *raw) {
  raw_execute(raw, "CREATE TABLE IF NOT EXISTS by_post (post TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (post, n))"
                   " WITHOUT ROWID");
}

static void save_by_hand(raw_store *raw, int count, int per_post) {
  char text[300], id[16];
  index_by_hand(raw);
  raw_begin(raw);
  for (int i = 0; i < count; i++) {
    int length = comment(text, sizeof text, i, "id", per_post);
    int id_length = snprintf(id, sizeof id, "c%07d", i);
    raw_save(raw, id, id_length, text, length);
  }
  raw_execute(raw, "INSERT INTO by_post SELECT json_extract(body, '$.postID'), n FROM entity");
  raw_commit(raw);
}

static double delete_by_hand(raw_store *raw) {
  double start = cpu_now();
  raw_begin(raw);
  raw_execute(raw,
              "UPDATE pending SET operation = 3, changed = 1, revision = random(), base = (SELECT body FROM entity WHERE "
              "entity.id = pending.id) WHERE id IN (SELECT e.id FROM by_post AS x JOIN entity AS e ON e.n = x.n WHERE "
              "x.post = 'p00000')");
  raw_execute(raw, "DELETE FROM entity WHERE n IN (SELECT n FROM by_post WHERE post = 'p00000')");
  raw_execute(raw, "DELETE FROM by_post WHERE post = 'p00000'");
  raw_commit(raw);
  return cpu_now() - start;
}

static long query_by_hand(raw_store *raw, int posts) {
  sqlite3_stmt *find;
  long bytes = 0;
  char post[16];
  if (sqlite3_prepare_v2(raw->db,
                         "SELECT e.body FROM by_post AS x JOIN entity AS e ON e.n = x.n WHERE x.post = ?1", -1, &find,
                         NULL))
    raw_fail("prepare", sqlite3_errmsg(raw->db));
  for (int i = 0; i < posts; i++) {
    snprintf(post, sizeof post, "p%05d", i);
    sqlite3_bind_text(find, 1, post, -1, SQLITE_TRANSIENT);
    while (sqlite3_step(find) == SQLITE_ROW) bytes += sqlite3_column_bytes(find, 0) + *sqlite3_column_text(find, 0) % 2;
    sqlite3_reset(find);
  }
  sqlite3_finalize(find);
  return bytes;
}

/* ---- workloads ---- */

static void measure_save(const char *directory, int count, int round) {
  char path[512];
  kv_error *error = NULL;
  for (int turn = 0; turn < 2; turn++) {
    int is_model = turn == round % 2;
    snprintf(path, sizeof path, "%s/save-%d-%d", directory, round, is_model);
    kv_client *client = opened(path, is_model);
    kv_store *store = store_of(client, is_model ? "Comment" : "comments");
    if (!is_model) must(kv_store_create_index(store, "{\"name\":\"byPost\",\"keys\":{\"postID\":1}}", KV_NUL_TERMINATED, &error), error);
    double seconds = save_comments(store, count, is_model ? "id" : "_id", COMMENTS_OF_A_POST);
    print(is_model ? "ours" : "raw", count, seconds);
    must(kv_store_close(store), NULL);
    must(kv_client_close(client), NULL);
  }
}

static long query_related(kv_store *posts, kv_store *comments, int count) {
  kv_error *error = NULL;
  long bytes = 0;
  char post[16];
  for (int i = 0; i < count; i++) {
    char *filter;
    kv_query *query;
    kv_cursor *cursor;
    const char *text;
    size_t length;
    snprintf(post, sizeof post, "p%05d", i);
    must(kv_store_related(posts, post, "comments", &filter, NULL, &error), error);
    must(kv_query_create(filter, KV_NUL_TERMINATED, NULL, 0, &query, &error), error);
    must(kv_store_find(comments, query, NULL, &cursor, &error), error);
    while (kv_cursor_next(cursor, &text, &length, &error) == KV_OK && text) bytes += (long)length + *text % 2;
    kv_cursor_close(cursor);
    kv_query_free(query);
    kv_free(filter);
  }
  return bytes;
}

static void measure_query(const char *directory, int count, int rounds) {
  char path[512];
  int posts = count / COMMENTS_OF_A_POST;
  raw_store raw;
  snprintf(path, sizeof path, "%s/query", directory);
  kv_client *client = opened(path, 1);
  kv_store *post = store_of(client, "Post"), *comments = store_of(client, "Comment");
  save_posts(post, posts);
  save_comments(comments, count, "id", COMMENTS_OF_A_POST);
  snprintf(path, sizeof path, "%s/query.sqlite", directory);
  raw_open(&raw, path, "NORMAL", CHECKPOINT);
  save_by_hand(&raw, count, COMMENTS_OF_A_POST);
  for (int round = 0; round < rounds; round++)
    for (int turn = 0; turn < 2; turn++) {
      double start = cpu_now();
      int is_ours = turn == round % 2;
      long bytes = is_ours ? query_related(post, comments, posts) : query_by_hand(&raw, posts);
      if (bytes < count * 100L) raw_fail("query", "records are missing");
      print(is_ours ? "ours" : "raw", count, cpu_now() - start);
    }
  raw_close(&raw);
  must(kv_store_close(post), NULL);
  must(kv_store_close(comments), NULL);
  must(kv_client_close(client), NULL);
}

/* All comments belong to the first post; the backend has them all, so that each deletion is queued. */
static void measure_cascade(const char *directory, int count, int round) {
  char path[512];
  kv_error *error = NULL;
  raw_store raw;
  snprintf(path, sizeof path, "%s/cascade-%d", directory, round);
  kv_client *client = opened(path, 1);
  kv_store *posts = store_of(client, "Post"), *comments = store_of(client, "Comment");
  save_posts(posts, 1);
  save_comments(comments, count, "id", count);
  double start = cpu_now();
  must(kv_store_remove_by_id(posts, "p00000", NULL, NULL, &error), error);
  print("ours", count, cpu_now() - start);
  int64_t left = -1;
  must(kv_store_count(comments, NULL, NULL, &left, &error), error);
  if (left) raw_fail("cascade", "records are left");
  must(kv_store_close(posts), NULL);
  must(kv_store_close(comments), NULL);
  must(kv_client_close(client), NULL);
  snprintf(path, sizeof path, "%s/cascade-%d.sqlite", directory, round);
  raw_open(&raw, path, "NORMAL", CHECKPOINT);
  save_by_hand(&raw, count, count);
  print("raw", count, delete_by_hand(&raw));
  raw_close(&raw);
}

int main(int count, char **arguments) {
  if (count != 5) raw_fail(arguments[0], "WORKLOAD DIRECTORY COUNT ROUNDS");
  int records = atoi(arguments[3]), rounds = atoi(arguments[4]);
  if (strcmp(arguments[1], "query") == 0) {
    measure_query(arguments[2], records, rounds);
    return 0;
  }
  for (int round = 0; round < rounds; round++) {
    if (strcmp(arguments[1], "save") == 0)
      measure_save(arguments[2], records, round);
    else
      measure_cascade(arguments[2], records, round);
  }
  return 0;
}
