/* What an expert's program takes for the same statements: libpq alone, no HTTP, no JSON, no rights to check.
 *
 *   cluster ADDRESS SECONDS CONNECTIONS FILE
 *
 * FILE has requests, one after the other. In it `R` begins a request, `S` is a round trip's end, and each other line is a
 * statement as PostgreSQL logs it: its length, the number of its parameters and its text, then a line for each parameter
 * with its length and text; length -1 is NULL. Each connection has a thread and sends the requests in turn, those of a round
 * trip in one pipeline, prepared. Prints requests per second. */
#include "data.h"

#include <postgresql/libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMETERS = 32, MAX_STATEMENTS = 64 };

typedef struct {
  enum { BEGIN_REQUEST, END_TRIP, STATEMENT } kind;
  int prepared;
  int count;
  char *values[MAX_PARAMETERS];
} Step;

static Step *steps;
static int step_count;
static char *texts[MAX_STATEMENTS];
static int text_count;
static const char *address;
static double end_time;
static atomic_long answered;

static void fail(const char *message) {
  fprintf(stderr, "cluster: %s\n", message);
  exit(1);
}

/* Reads so many bytes and the end of their line; the caller owns them. */
static char *read_text(FILE *file, long length) {
  char *text = calloc(1, (size_t)length + 1);
  if (!text || fread(text, 1, (size_t)length, file) != (size_t)length || fgetc(file) != '\n')
    fail("the file ends early");
  return text;
}

/* The number of a statement, which is prepared once by each connection. */
static int number_of(char *text) {
  for (int i = 0; i < text_count; i++) {
    if (strcmp(texts[i], text) == 0) return free(text), i;
  }
  if (text_count == MAX_STATEMENTS) fail("too many statements");
  texts[text_count] = text;
  return text_count++;
}

static void read_statement(FILE *file, const char *line, Step *step) {
  long length;
  if (sscanf(line, "%ld %d", &length, &step->count) != 2 || step->count > MAX_PARAMETERS)
    fail("a line is not a statement");
  step->kind = STATEMENT;
  step->prepared = number_of(read_text(file, length));
  for (int i = 0; i < step->count; i++) {
    char head[32];
    if (!fgets(head, sizeof head, file)) fail("a parameter is missing");
    length = strtol(head, NULL, 10);
    step->values[i] = length < 0 ? NULL : read_text(file, length);
  }
}

static void read_steps(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) fail("there is no such file");
  char line[64];
  while (fgets(line, sizeof line, file)) {
    steps = realloc(steps, sizeof *steps * (size_t)(step_count + 1));
    if (!steps) fail("no memory");
    Step *step = &steps[step_count++];
    *step = (Step){.kind = line[0] == 'R' ? BEGIN_REQUEST : END_TRIP};
    if (line[0] != 'R' && line[0] != 'S') read_statement(file, line, step);
  }
  fclose(file);
}

/* Waits for all results of a round trip. */
static void receive(PGconn *connection) {
  while (true) {
    PGresult *result = PQgetResult(connection);
    if (!result) continue;
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_FATAL_ERROR) fail(PQresultErrorMessage(result));
    PQclear(result);
    if (status == PGRES_PIPELINE_SYNC) return;
  }
}

static void run(PGconn *connection, const Step *step) {
  char name[16];
  snprintf(name, sizeof name, "s%d", step->prepared);
  /* Results in binary, as the server asks for them. */
  if (!PQsendQueryPrepared(connection, name, step->count, (const char *const *)step->values, NULL, NULL, 1))
    fail(PQerrorMessage(connection));
}

static void *work(void *number) {
  PGconn *connection = PQconnectdb(address);
  if (PQstatus(connection) != CONNECTION_OK) fail(PQerrorMessage(connection));
  for (int i = 0; i < text_count; i++) {
    char name[16];
    snprintf(name, sizeof name, "s%d", i);
    PGresult *result = PQprepare(connection, name, texts[i], 0, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(PQresultErrorMessage(result));
    PQclear(result);
  }
  PQenterPipelineMode(connection);
  /* The threads begin at different requests. */
  int next = (int)((long)number * 17) % step_count;
  while (steps[next].kind != BEGIN_REQUEST) next = (next + 1) % step_count;
  while (data_now() < end_time) {
    for (next++; next < step_count && steps[next].kind != BEGIN_REQUEST; next++) {
      if (steps[next].kind == STATEMENT) {
        run(connection, &steps[next]);
      } else {
        PQpipelineSync(connection);
        receive(connection);
      }
    }
    next %= step_count;
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
  read_steps(arguments[4]);
  double begin = data_now();
  end_time = begin + seconds;
  pthread_t threads[64];
  for (long i = 0; i < connections && i < 64; i++) pthread_create(&threads[i], NULL, work, (void *)i);
  for (long i = 0; i < connections && i < 64; i++) pthread_join(threads[i], NULL);
  printf("%.1f\n", (double)atomic_load(&answered) / (data_now() - begin));
  return 0;
}
