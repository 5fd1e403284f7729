/* What an expert's program takes for the same statements: libpq alone, no HTTP, no JSON, no rights to check.
 *
 *   cluster ADDRESS SECONDS CONNECTIONS FILE
 *
 * FILE has requests: statements.h. Each connection has a thread and sends the requests in turn, those of a round trip in one
 * pipeline, prepared. Prints requests per second. */
#include "data.h"
#include "statements.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char *address;
static double end_time;
static atomic_long answered;

/* Waits for all results of a round trip. */
static void receive(PGconn *connection) {
  while (true) {
    PGresult *result = PQgetResult(connection);
    if (!result) continue;
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_FATAL_ERROR) statements_fail(PQresultErrorMessage(result));
    PQclear(result);
    if (status == PGRES_PIPELINE_SYNC) return;
  }
}

static void *work(void *number) {
  PGconn *connection = statements_connect(address);
  /* The threads begin at different requests. */
  int next = (int)((long)number * 17) % statements_count;
  while (statements[next].kind != BEGIN_REQUEST) next = (next + 1) % statements_count;
  while (data_now() < end_time) {
    for (next++; next < statements_count && statements[next].kind != BEGIN_REQUEST; next++) {
      if (statements[next].kind == STATEMENT) {
        statements_send(connection, &statements[next]);
      } else {
        PQpipelineSync(connection);
        receive(connection);
      }
    }
    next %= statements_count;
    atomic_fetch_add(&answered, 1);
  }
  PQfinish(connection);
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 5) return fprintf(stderr, "cluster ADDRESS SECONDS CONNECTIONS FILE\n"), 2;
  address = arguments[1];
  double seconds = strtod(arguments[2], NULL);
  long connections = strtol(arguments[3], NULL, 10);
  statements_read(arguments[4]);
  double begin = data_now();
  end_time = begin + seconds;
  pthread_t threads[64];
  for (long i = 0; i < connections && i < 64; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (long i = 0; i < connections && i < 64; i++) pthread_join(threads[i], NULL);
  printf("%.1f\n", (double)atomic_load(&answered) / (data_now() - begin));
  return 0;
}
