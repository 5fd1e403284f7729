/* What an expert writes by hand: one collection in SQLite, prepared statements, WAL. It writes the rows that
 * libkvstore writes – the entity and its pending write, in one transaction – with the same durability. */
#ifndef RAW_H
#define RAW_H

#include <sqlite3.h>
#include <stddef.h>

typedef struct raw_store {
  sqlite3 *db;
  sqlite3_stmt *begin, *commit, *put_entity, *put_pending, *put_pulled, *get;
} raw_store;

/* Ends the program with a message: a benchmark has nobody to report to. */
void raw_fail(const char *what, const char *why);

/* How long the log becomes before it is written back, in pages: what libkvstore uses for small commits that wait for the disk,
 * and for everything else. */
enum { CHECKPOINT_SMALL = 1000, CHECKPOINT = 4000 };

/* The key of SQLCipher, where that takes the place of SQLite; NULL: none. */
extern const char *raw_key;

/* Opens FILE, making its tables if need be; `synchronous` is "FULL" or "NORMAL". Every setting is libkvstore's. */
void raw_open(raw_store *store, const char *file, const char *synchronous, int checkpoint);
void raw_close(raw_store *store);

/* Runs SQL that gives no rows. */
void raw_execute(raw_store *store, const char *sql);

void raw_begin(raw_store *store);
void raw_commit(raw_store *store);

/* Writes an entity and its pending write. */
void raw_save(raw_store *store, const char *id, int id_length, const char *body, int length);

/* Writes an entity as a pull does: no pending write. */
void raw_store_pulled(raw_store *store, const char *id, int id_length, const char *body,
                      int length);

/* The body of an entity, borrowed until the next call; NULL if there is none. */
const char *raw_find(raw_store *store, const char *id, int id_length, int *length);

#endif
