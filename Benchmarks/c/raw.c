#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* The columns are those of libkvstore's own tables, so that both sides write the same rows. */
static const char schema[] =
    "CREATE TABLE IF NOT EXISTS entity ("
    "  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL, at INTEGER NOT NULL,"
    "  body TEXT NOT NULL);"
    "CREATE TABLE IF NOT EXISTS pending ("
    "  n INTEGER PRIMARY KEY, collection INTEGER NOT NULL, id TEXT NOT NULL,"
    "  operation INTEGER NOT NULL, revision INTEGER NOT NULL, created INTEGER NOT NULL,"
    "  changed INTEGER NOT NULL, sent INTEGER NOT NULL DEFAULT 0,"
    "  attempts INTEGER NOT NULL DEFAULT 0, error TEXT, base TEXT, UNIQUE (collection, id));";

void raw_fail(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(1);
}

static void check(raw_store *store, int code, const char *what) {
  if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
    raw_fail(what, sqlite3_errmsg(store->db));
}

static sqlite3_stmt *prepare(raw_store *store, const char *sql) {
  sqlite3_stmt *statement = NULL;
  check(store, sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL),
        sql);
  return statement;
}

static void run(raw_store *store, sqlite3_stmt *statement, const char *what) {
  check(store, sqlite3_step(statement), what);
  check(store, sqlite3_reset(statement), what);
}

static sqlite3_int64 now_in_milliseconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (sqlite3_int64)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

const char *raw_key;

void raw_open(raw_store *store, const char *file, const char *synchronous, int checkpoint) {
  char pragmas[256];
  if (sqlite3_open_v2(file, &store->db,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
    raw_fail(file, sqlite3_errmsg(store->db));
  if (raw_key) {
    snprintf(pragmas, sizeof pragmas, "PRAGMA key = \"%s\"", raw_key);
    check(store, sqlite3_exec(store->db, pragmas, NULL, NULL, NULL), "key");
  }
  snprintf(pragmas, sizeof pragmas,
           "PRAGMA journal_mode=WAL; PRAGMA synchronous=%s; PRAGMA cache_size=-4096;"
           "PRAGMA secure_delete=FAST; PRAGMA journal_size_limit=16777216;"
           "PRAGMA wal_autocheckpoint=%d;",
           synchronous, checkpoint);
  check(store, sqlite3_exec(store->db, pragmas, NULL, NULL, NULL), pragmas);
  check(store, sqlite3_exec(store->db, schema, NULL, NULL, NULL), "schema");
  store->begin = prepare(store, "BEGIN IMMEDIATE");
  store->commit = prepare(store, "COMMIT");
  store->put_entity =
      prepare(store, "INSERT INTO entity (id, gen, at, body) VALUES (?1,1,?2,?3) ON CONFLICT (id)"
                     " DO UPDATE SET gen = excluded.gen, at = excluded.at, body = excluded.body");
  store->put_pulled =
      prepare(store, "INSERT INTO entity (id, gen, at, body) SELECT ?1,1,?2,?3 WHERE NOT EXISTS"
                     " (SELECT 1 FROM pending WHERE collection = 1 AND id = ?1) ON CONFLICT (id)"
                     " DO UPDATE SET gen = excluded.gen, at = excluded.at, body = excluded.body");
  store->put_pending = prepare(
      store, "INSERT INTO pending (collection, id, operation, revision, created, changed)"
             " VALUES (1,?1,2,1,?2,?2) ON CONFLICT (collection, id) DO UPDATE SET"
             " revision = revision + 1, changed = excluded.changed");
  store->get = prepare(store, "SELECT body FROM entity WHERE id = ?1");
}

void raw_close(raw_store *store) {
  sqlite3_finalize(store->begin);
  sqlite3_finalize(store->commit);
  sqlite3_finalize(store->put_entity);
  sqlite3_finalize(store->put_pulled);
  sqlite3_finalize(store->put_pending);
  sqlite3_finalize(store->get);
  check(store, sqlite3_close(store->db), "close");
}

void raw_execute(raw_store *store, const char *sql) {
  check(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL), sql);
}

void raw_begin(raw_store *store) { run(store, store->begin, "begin"); }
void raw_commit(raw_store *store) { run(store, store->commit, "commit"); }

static void put_entity(raw_store *store, sqlite3_stmt *put, const char *id, int id_length,
                       const char *body, int length) {
  sqlite3_bind_text(put, 1, id, id_length, SQLITE_STATIC);
  sqlite3_bind_int64(put, 2, now_in_milliseconds());
  sqlite3_bind_text(put, 3, body, length, SQLITE_STATIC);
  run(store, put, "entity");
}

void raw_save(raw_store *store, const char *id, int id_length, const char *body, int length) {
  put_entity(store, store->put_entity, id, id_length, body, length);
  sqlite3_bind_text(store->put_pending, 1, id, id_length, SQLITE_STATIC);
  sqlite3_bind_int64(store->put_pending, 2, now_in_milliseconds());
  run(store, store->put_pending, "pending");
}

void raw_store_pulled(raw_store *store, const char *id, int id_length, const char *body,
                      int length) {
  put_entity(store, store->put_pulled, id, id_length, body, length);
}

const char *raw_find(raw_store *store, const char *id, int id_length, int *length) {
  sqlite3_reset(store->get);
  sqlite3_bind_text(store->get, 1, id, id_length, SQLITE_STATIC);
  if (sqlite3_step(store->get) != SQLITE_ROW) return NULL;
  *length = sqlite3_column_bytes(store->get, 0);
  return (const char *)sqlite3_column_text(store->get, 0);
}
