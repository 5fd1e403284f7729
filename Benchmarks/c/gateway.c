/* The least that HTTP in front of PostgreSQL takes: libmicrohttpd and libpq with the threads that kvstored has for gets, and
 * nothing of what it does between them – no paths, sessions, rights or JSON.
 *
 *   gateway ADDRESS PORT FILE COLUMN
 *
 * Each request of HTTP, whatever it asks for, has the next request of FILE (statements.h) sent, which has to be one statement, and
 * is answered with a column of its first row and as many headers as kvstored has. The connection is suspended meanwhile. The
 * statements of requests that come while others are under way go together in one round trip. Runs until it is killed. */
#include "statements.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { EVENT_THREADS = 2, MAX_TOGETHER = 32 };

typedef struct exchange {
  struct MHD_Connection *connection;
  bool is_sent;
  PGresult *result; /* NULL until it has come */
  struct exchange *next;
} exchange;

static const char *address;
static int column;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_come = PTHREAD_COND_INITIALIZER;
static exchange *first, **end = &first; /* those that wait to be sent */

/* Waits for requests and takes some. */
static int take(exchange *taken[]) {
  int count = 0;
  pthread_mutex_lock(&lock);
  while (!first) pthread_cond_wait(&has_come, &lock);
  while (first && count < MAX_TOGETHER) {
    taken[count++] = first;
    first = first->next;
  }
  if (!first) end = &first;
  pthread_mutex_unlock(&lock);
  return count;
}

/* The next statement of the file. */
static const statement *next_statement(void) {
  static int next;
  do next = (next + 1) % statements_count;
  while (statements[next].kind != STATEMENT);
  return &statements[next];
}

/* The next result, without the NULL that ends each statement's. */
static PGresult *receive(PGconn *connection) {
  PGresult *result;
  do result = PQgetResult(connection);
  while (!result);
  if (PQresultStatus(result) == PGRES_FATAL_ERROR) statements_fail(PQresultErrorMessage(result));
  return result;
}

static void *read_for_all(void *unused) {
  (void)unused;
  PGconn *connection = statements_connect(address);
  exchange *taken[MAX_TOGETHER];
  PGresult *results[MAX_TOGETHER];
  while (true) {
    int count = take(taken);
    for (int i = 0; i < count; i++) statements_send(connection, next_statement());
    PQpipelineSync(connection);
    for (int i = 0; i < count; i++) results[i] = receive(connection);
    PQclear(receive(connection));
    for (int i = 0; i < count; i++) {
      pthread_mutex_lock(&lock);
      taken[i]->result = results[i];
      pthread_mutex_unlock(&lock);
      MHD_resume_connection(taken[i]->connection);
    }
  }
  return NULL;
}

static void clear(void *result) { PQclear(result); }

static enum MHD_Result answer(struct MHD_Connection *connection, PGresult *result) {
  static const char *const headers[][2] = {
    {"Content-Type", "application/json; charset=utf-8"},
    {"X-Kinvey-Request-Start", "2026-01-01T00:00:00.000Z"},
    {"X-Kvstored-Data-Epoch", "0123456789abcdef"},
    {"ETag", "\"2026-01-01T00:00:00.000Z\""},
    {"X-Kinvey-Request-Id", "0123456789abcdef0123456789abcdef"},
  };
  struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
    (size_t)PQgetlength(result, 0, column), PQgetvalue(result, 0, column), clear, result);
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
    MHD_add_response_header(response, headers[i][0], headers[i][1]);
  enum MHD_Result is_queued = MHD_queue_response(connection, 200, response);
  MHD_destroy_response(response);
  return is_queued;
}

static enum MHD_Result handle(void *unused, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *piece,
                              size_t *size, void **own) {
  (void)unused, (void)url, (void)method, (void)version, (void)piece;
  exchange *its = *own;
  if (!its) {
    *own = its = calloc(1, sizeof *its);
    if (!its) statements_fail("no memory");
    its->connection = connection;
    return MHD_YES;
  }
  *size = 0;
  pthread_mutex_lock(&lock);
  PGresult *result = its->result;
  if (!its->is_sent) {
    its->is_sent = true;
    MHD_suspend_connection(connection);
    *end = its;
    end = &its->next;
    pthread_cond_signal(&has_come);
  }
  pthread_mutex_unlock(&lock);
  return result ? answer(connection, result) : MHD_YES;
}

static void completed(void *unused, struct MHD_Connection *connection, void **own,
                      enum MHD_RequestTerminationCode why) {
  (void)unused, (void)connection, (void)why;
  free(*own);
  *own = NULL;
}

int main(int count, char **arguments) {
  if (count != 5) return fprintf(stderr, "gateway ADDRESS PORT FILE COLUMN\n"), 2;
  address = arguments[1];
  statements_read(arguments[3]);
  column = (int)strtol(arguments[4], NULL, 10);
  pthread_t reader;
  pthread_create(&reader, NULL, read_for_all, NULL);
  unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO;
  struct MHD_Daemon *daemon = MHD_start_daemon(
    flags, (uint16_t)strtol(arguments[2], NULL, 10), NULL, NULL, handle, NULL,
    MHD_OPTION_THREAD_POOL_SIZE, (unsigned int)EVENT_THREADS, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
    MHD_OPTION_END);
  if (!daemon) statements_fail("it cannot listen");
  pause();
  return 0;
}
