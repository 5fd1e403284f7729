/* SQLite's C interface, with a typed name for each macro and variadic call that Swift cannot import. */
#pragma once
#include <errno.h>
#include <sqlite3.h>
#include <stdint.h>

/* The bytes stay where they are until the statement is reset: nothing is copied. */
static inline sqlite3_destructor_type kv_sqlite_static(void) { return SQLITE_STATIC; }

/* SQLite makes its own copy of the bytes before the call returns. */
static inline sqlite3_destructor_type kv_sqlite_transient(void) { return SQLITE_TRANSIENT; }

/* Switches one of the SQLITE_DBCONFIG_* options that take a boolean. */
static inline int kv_sqlite_configure(sqlite3 *db, int option, int on) {
  return sqlite3_db_config(db, option, on, (int *)0);
}

/* Has SQLite not count the memory that it uses: the count is one for the whole process, and threads wait for each other over it. For
 * programs that have the process to themselves, before anything else is asked of SQLite. */
static inline int kv_sqlite_leave_memory_uncounted(void) {
  return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* The size of the main file, and its first bytes, read through the connection's own descriptor.
 *
 * A descriptor of our own would be wrong: closing it drops every POSIX lock that the process holds on
 * the file, those of other connections included. Nothing is locked, and nothing written. */
static inline int kv_sqlite_read_header(sqlite3 *db, unsigned char *bytes, int count,
                                        sqlite3_int64 *size) {
  sqlite3_file *file = 0;
  int status = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (status != SQLITE_OK) return status;
  if (!file || !file->pMethods) return SQLITE_CANTOPEN;
  status = file->pMethods->xFileSize(file, size);
  if (status != SQLITE_OK || *size < count) return status;
  return file->pMethods->xRead(file, bytes, count, 0);
}

/* What can be seen of the log without a lock. */
typedef struct kv_sqlite_log_state {
  uint32_t commits; /* counts them */
  uint32_t salt;    /* changes when the log is begun anew */
  uint32_t pages;   /* in the log */
  uint32_t copied;  /* pages of these that are in the file */
} kv_sqlite_log_state;

/* Reads the state of the log from its index, which is memory that all processes share (sqlite.org/walformat.html, section 2). Costs no
 * call to the system. 0: it could not be read, or is just being written. Only for connections that have read in WAL mode. */
static inline int kv_sqlite_read_log_state(sqlite3 *db, kv_sqlite_log_state *state) {
  sqlite3_file *file = 0;
  void volatile *block = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK) return 0;
  if (!file || !file->pMethods || file->pMethods->iVersion < 2) return 0;
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &block) != SQLITE_OK || !block) return 0;
  const volatile uint32_t *words = (const volatile uint32_t *)block;
  enum { commits = 2, pages = 4, salt = 8, header = 12, copied = 24 };
  *state = (kv_sqlite_log_state){words[commits], words[salt], words[pages], words[copied]};
  /* The header is there twice. */
  return state->commits == words[header + commits] && state->salt == words[header + salt] &&
         state->pages == words[header + pages];
}

/* Whether the system has failed to read the database or its log. SQLite reports that as damage where it comes up within
 * a statement (SQLITE_IOERR_CORRUPTFS becomes SQLITE_CORRUPT), and keeps the number with the file only. */
static inline int kv_sqlite_has_failed_to_read(sqlite3 *db) {
  const int files[] = {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER};
  for (int i = 0; i < 2; i++) {
    sqlite3_file *file = 0;
    int number = 0;
    if (sqlite3_file_control(db, "main", files[i], &file) != SQLITE_OK) continue;
    if (!file || !file->pMethods) continue;
    if (file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &number) != SQLITE_OK) continue;
    if (number == EIO || number == ENXIO || number == ERANGE) return 1;
  }
  return 0;
}

/* Says of a virtual table, while it is being connected, that it only computes: a schema may use it. */
static inline int kv_sqlite_vtab_innocuous(sqlite3 *db) {
  return sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
}

/* A cursor of a virtual table: SQLite's part first, then ours. */
typedef struct kv_sqlite_cursor {
  sqlite3_vtab_cursor base;
  void *state;
} kv_sqlite_cursor;

/* A file that we have in front of SQLite's own, which follows it in memory. `state` is an object of ours. */
typedef struct kv_sqlite_file {
  sqlite3_file base;
  void *state;
} kv_sqlite_file;

static inline sqlite3_file *kv_sqlite_real_file(sqlite3_file *file) {
  return (sqlite3_file *)((kv_sqlite_file *)file + 1);
}

/* The operation of sqlite3_file_control() that carries out a `kv_sqlite_header_change`. SQLite leaves numbers above 100 to others. */
#define KV_SQLITE_FCNTL_HEADER 0x6B76
