/* The work that stores of this kind are compared by, as an expert writes it by hand: one table of text in SQLite, with
 * prepared statements, and no queue of writes for a backend. Works named "safe" copy each body to where it outlives the statement,
 * and compute its checksum. With a third argument, the writes alone, each with the row of a queue.
 *
 *   peers_raw BOOKS FILE [queue]
 *
 * Prints "WORK RATE" for each: operations a second. peers_ours.c does the same with libkvstore. */
#include "books.h"
#include "data.h"
#include "raw.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define NAME "json_extract(body,'$.author.name')"
#define COUNTRY "json_extract(body,'$.author.country')"
#define PAGES "json_extract(body,'$.pages')"
#define PRICE "json_extract(body,'$.price')"

static sqlite3 *db;

static sqlite3_stmt *prepare(const char *sql) {
  sqlite3_stmt *statement = NULL;
  if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL))
    raw_fail(sql, sqlite3_errmsg(db));
  return statement;
}

static void execute(const char *sql) {
  if (sqlite3_exec(db, sql, NULL, NULL, NULL)) raw_fail(sql, sqlite3_errmsg(db));
}

static void run(sqlite3_stmt *statement) {
  if (sqlite3_step(statement) != SQLITE_DONE) raw_fail("step", sqlite3_errmsg(db));
  sqlite3_reset(statement);
}

/* What a caller of a store gets: bodies that are its own, and known to be intact. */
static struct {
  char *bytes;
  size_t count, room;
  XXH64_hash_t sums;
} safe;
static int is_safe;

static void take(sqlite3_stmt *statement) {
  const void *body = sqlite3_column_text(statement, 0);
  size_t length = (size_t)sqlite3_column_bytes(statement, 0);
  if (!body) raw_fail("step", "no body");
  safe.sums ^= XXH3_64bits(body, length);
  if (safe.count + length + 1 > safe.room) {
    safe.room = 2 * safe.room + length + 1;
    if (!(safe.bytes = realloc(safe.bytes, safe.room))) raw_fail("take", "no memory");
  }
  memcpy(safe.bytes + safe.count, body, length);
  safe.count += length + 1;
}

/* Reads the first column of all rows; gives how many. */
static long read_all(sqlite3_stmt *statement) {
  long rows = 0;
  int code;
  safe.count = 0;
  while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
    rows += sqlite3_column_text(statement, 0) != NULL;
    if (is_safe) take(statement);
  }
  if (code != SQLITE_DONE) raw_fail("step", sqlite3_errmsg(db));
  sqlite3_reset(statement);
  return rows;
}

static void read_times(const char *work, const char *sql, int times, long expected) {
  sqlite3_stmt *statement = prepare(sql);
  double start = data_now();
  for (int i = 0; i < times; i++)
    if (read_all(statement) < expected) raw_fail(work, "too few rows");
  books_rate(work, times, data_now() - start);
  sqlite3_finalize(statement);
}

static sqlite3 *open_connection(const char *file) {
  sqlite3 *opened;
  if (sqlite3_open_v2(file, &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL))
    raw_fail(file, sqlite3_errmsg(opened));
  return opened;
}

/* Half of the bodies, which a thread reads on a connection of its own. */
typedef struct half {
  sqlite3 *connection;
  int first, end;
} half;

static void *read_half(void *argument) {
  const half *mine = argument;
  sqlite3_stmt *bodies;
  if (sqlite3_prepare_v2(mine->connection, "SELECT body FROM e WHERE rowid >= ?1 AND rowid < ?2", -1,
                         &bodies, NULL))
    raw_fail("half", sqlite3_errmsg(mine->connection));
  sqlite3_bind_int(bodies, 1, mine->first);
  sqlite3_bind_int(bodies, 2, mine->end);
  int rows = 0;
  for (; sqlite3_step(bodies) == SQLITE_ROW; rows++)
    if (!sqlite3_column_text(bodies, 0)) raw_fail("half", "no body");
  if (rows != mine->end - mine->first) raw_fail("half", "too few rows");
  if (sqlite3_finalize(bodies)) raw_fail("half", sqlite3_errmsg(mine->connection));
  return NULL;
}

/* The least that a scan takes that two processors divide. */
static void read_halves(const char *file, int count, int times) {
  half halves[2] = {{open_connection(file), 1, count / 2}, {open_connection(file), count / 2, count + 1}};
  for (int i = 0; i < 2; i++)
    if (sqlite3_exec(halves[i].connection, "PRAGMA cache_size=-4096", NULL, NULL, NULL))
      raw_fail("half", sqlite3_errmsg(halves[i].connection));
  double start = data_now();
  for (int i = 0; i < times; i++) {
    pthread_t other;
    if (pthread_create(&other, NULL, read_half, &halves[0])) raw_fail("half", "no thread");
    read_half(&halves[1]);
    pthread_join(other, NULL);
  }
  books_rate("bodies halves", times, data_now() - start);
  for (int i = 0; i < 2; i++) sqlite3_close(halves[i].connection);
}

static void open_file(const char *file) {
  db = open_connection(file);
  execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-4096;"
          "PRAGMA secure_delete=FAST; PRAGMA wal_autocheckpoint=4000;"
          "CREATE TABLE e (_id TEXT PRIMARY KEY NOT NULL, body TEXT NOT NULL)");
}

static void insert(const lines *from, int each, const char *work) {
  static const size_t before_id = sizeof "{\"_id\":\"" - 1;
  sqlite3_stmt *put = prepare("INSERT INTO e VALUES (?1,?2)");
  double start = data_now();
  for (int i = 0; i < from->count; i++) {
    if (i % each == 0) execute("BEGIN IMMEDIATE");
    sqlite3_bind_text(put, 1, from->text[i] + before_id, BOOK_ID_LENGTH, SQLITE_STATIC);
    sqlite3_bind_text(put, 2, from->text[i], (int)from->length[i], SQLITE_STATIC);
    run(put);
    if ((i + 1) % each == 0 || i + 1 == from->count) execute("COMMIT");
  }
  books_rate(work, from->count, data_now() - start);
  sqlite3_finalize(put);
}

/* `each`: so many share a transaction. */
static void find(const books *all, int each, const char *work) {
  sqlite3_stmt *get = prepare("SELECT body FROM e WHERE _id=?1");
  double start = data_now();
  for (int i = 0; i < all->ids.count; i++) {
    if (each > 1 && i % each == 0) execute("BEGIN");
    sqlite3_bind_text(get, 1, all->ids.text[i], BOOK_ID_LENGTH, SQLITE_STATIC);
    if (read_all(get) != 1) raw_fail(work, "missing");
    if (each > 1 && ((i + 1) % each == 0 || i + 1 == all->ids.count)) execute("COMMIT");
  }
  books_rate(work, all->ids.count, data_now() - start);
  sqlite3_finalize(get);
}

static void read_ranges(const books *all, const char *work) {
  sqlite3_stmt *find = prepare("SELECT body FROM e WHERE " PRICE ">=?1 AND " PRICE "<?2"
                               " ORDER BY " PRICE " LIMIT 20");
  double start = data_now();
  for (int i = 0; i < all->lows.count; i++) {
    double low = strtod(all->lows.text[i], NULL);
    sqlite3_bind_double(find, 1, low);
    sqlite3_bind_double(find, 2, low + 10);
    read_all(find);
  }
  books_rate(work, all->lows.count, data_now() - start);
  sqlite3_finalize(find);
}

static void read_first(void) {
  sqlite3_stmt *all = prepare("SELECT body FROM e ORDER BY " PRICE);
  double start = data_now();
  for (int i = 0; i < 100; i++) {
    if (sqlite3_step(all) != SQLITE_ROW) raw_fail("first", sqlite3_errmsg(db));
    sqlite3_reset(all);
  }
  books_rate("first", 100, data_now() - start);
  sqlite3_finalize(all);
}

static void change_prices(const books *all) {
  char body[8192];
  sqlite3_stmt *get = prepare("SELECT body FROM e WHERE _id=?1"),
               *put = prepare("UPDATE e SET body=?2 WHERE _id=?1");
  double start = data_now();
  for (int i = 0; i < all->updates.count; i++) {
    new_price update = books_update(all, i);
    if (i % BOOKS_EACH == 0) execute("BEGIN IMMEDIATE");
    sqlite3_bind_text(get, 1, update.id, BOOK_ID_LENGTH, SQLITE_STATIC);
    if (sqlite3_step(get) != SQLITE_ROW) raw_fail("W9", "missing");
    size_t length = (size_t)sqlite3_column_bytes(get, 0);
    if (length + 64 > sizeof body) raw_fail("W9", "too long");
    length = books_with_price(body, (const char *)sqlite3_column_text(get, 0), length, update.price);
    sqlite3_reset(get);
    sqlite3_bind_text(put, 1, update.id, BOOK_ID_LENGTH, SQLITE_STATIC);
    sqlite3_bind_text(put, 2, body, (int)length, SQLITE_STATIC);
    run(put);
    if ((i + 1) % BOOKS_EACH == 0 || i + 1 == all->updates.count) execute("COMMIT");
  }
  books_rate("W9", all->updates.count, data_now() - start);
  sqlite3_finalize(get);
  sqlite3_finalize(put);
}

static void remove_some(void) {
  double start = data_now();
  execute("DELETE FROM e WHERE " COUNTRY "='FR'");
  books_rate("W10", sqlite3_changes(db), data_now() - start);
}

static void save_queued(raw_store *store, const lines *from, int each, const char *work) {
  static const size_t before_id = sizeof "{\"_id\":\"" - 1;
  double start = data_now();
  for (int i = 0; i < from->count; i++) {
    if (i % each == 0) raw_begin(store);
    raw_save(store, from->text[i] + before_id, BOOK_ID_LENGTH, from->text[i], (int)from->length[i]);
    if ((i + 1) % each == 0 || i + 1 == from->count) raw_commit(store);
  }
  books_rate(work, from->count, data_now() - start);
}

static void change_queued(raw_store *store, const books *all) {
  char body[8192];
  double start = data_now();
  for (int i = 0; i < all->updates.count; i++) {
    new_price update = books_update(all, i);
    int length;
    if (i % BOOKS_EACH == 0) raw_begin(store);
    const char *old = raw_find(store, update.id, BOOK_ID_LENGTH, &length);
    if (!old || (size_t)length + 64 > sizeof body) raw_fail("W9", "missing or too long");
    size_t changed = books_with_price(body, old, (size_t)length, update.price);
    raw_save(store, update.id, BOOK_ID_LENGTH, body, (int)changed);
    if ((i + 1) % BOOKS_EACH == 0 || i + 1 == all->updates.count) raw_commit(store);
  }
  books_rate("W9 queued", all->updates.count, data_now() - start);
}

/* What was never sent leaves the queue. */
static void remove_queued(raw_store *store) {
  double start = data_now();
  raw_execute(store, "BEGIN IMMEDIATE; DELETE FROM pending WHERE collection = 1 AND id IN"
                     " (SELECT id FROM entity WHERE " COUNTRY "='FR');"
                     "DELETE FROM entity WHERE " COUNTRY "='FR'; COMMIT");
  books_rate("W10 queued", sqlite3_changes(store->db), data_now() - start);
}

/* The writes in the tables of raw.c, which have a queue. */
static void write_queued(const books *all, const char *file) {
  raw_store store;
  raw_open(&store, file, "NORMAL", 4000);
  save_queued(&store, &all->entities, BOOKS_EACH, "W1 queued");
  save_queued(&store, &all->extra, 1, "W2 queued");
  raw_execute(&store, "CREATE INDEX e_name ON entity (" NAME ");"
                      "CREATE INDEX e_price ON entity (" PRICE ")");
  change_queued(&store, all);
  remove_queued(&store);
  raw_close(&store);
}

int main(int count, char **arguments) {
  if (count < 3) raw_fail(arguments[0], "BOOKS FILE [queue]");
  books all;
  books_read(&all, arguments[1]);
  if (count > 3) {
    write_queued(&all, arguments[2]);
    return 0;
  }
  long before = data_peak_kib();
  open_file(arguments[2]);
  insert(&all.entities, BOOKS_EACH, "W1");
  insert(&all.extra, 1, "W2");
  find(&all, 1, "W3");
  find(&all, BOOKS_EACH, "W3 together");
  read_times("W4", "SELECT body FROM e WHERE " NAME "='Author 043 Novak'", 3, 1);
  read_times("bodies", "SELECT body FROM e", 3, 1);
  read_halves(arguments[2], all.entities.count + all.extra.count, 3);
  read_times("W7", "SELECT count(*) FROM e WHERE " PAGES ">500 AND " COUNTRY "='US'", 3, 1);
  read_times("W8", "SELECT " COUNTRY " c, avg(" PRICE ") FROM e GROUP BY c", 3, 10);
  execute("CREATE INDEX e_name ON e (" NAME "); CREATE INDEX e_price ON e (" PRICE ")");
  for (is_safe = 0; is_safe < 2; is_safe++) {
    read_times(is_safe ? "W5 safe" : "W5", "SELECT body FROM e WHERE " NAME "='Author 043 Novak'", 50, 1);
    read_ranges(&all, is_safe ? "W6 safe" : "W6");
    read_times(is_safe ? "page safe" : "page", "SELECT body FROM e ORDER BY " PRICE " LIMIT 100", 100, 100);
  }
  is_safe = 0;
  read_times("deep page", "SELECT body FROM e ORDER BY " PRICE " LIMIT 100 OFFSET 199900", 3, 100);
  read_first();
  change_prices(&all);
  remove_some();
  printf("peak %ld\n", data_peak_kib() - before);
  sqlite3_close(db);
  return 0;
}
