#include "statements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TEXTS = 64 };

statement *statements;
int statements_count;
static char *texts[MAX_TEXTS];
static int text_count;

void statements_fail(const char *message) {
  fprintf(stderr, "statements: %s\n", message);
  exit(1);
}

/* Reads so many bytes and the end of their line; the caller owns them. */
static char *read_text(FILE *file, long length) {
  char *text = calloc(1, (size_t)length + 1);
  if (!text || fread(text, 1, (size_t)length, file) != (size_t)length || fgetc(file) != '\n')
    statements_fail("the file ends early");
  return text;
}

/* The number of a text, which is prepared once by each connection. */
static int number_of(char *text) {
  for (int i = 0; i < text_count; i++) {
    if (strcmp(texts[i], text) == 0) return free(text), i;
  }
  if (text_count == MAX_TEXTS) statements_fail("too many statements");
  texts[text_count] = text;
  return text_count++;
}

static void read_statement(FILE *file, const char *line, statement *read) {
  long length;
  if (sscanf(line, "%ld %d", &length, &read->count) != 2 || read->count > MAX_PARAMETERS)
    statements_fail("a line is not a statement");
  read->kind = STATEMENT;
  read->prepared = number_of(read_text(file, length));
  for (int i = 0; i < read->count; i++) {
    char head[32];
    if (!fgets(head, sizeof head, file)) statements_fail("a parameter is missing");
    length = strtol(head, NULL, 10);
    read->values[i] = length < 0 ? NULL : read_text(file, length);
  }
}

void statements_read(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file) statements_fail("there is no such file");
  char line[64];
  while (fgets(line, sizeof line, file)) {
    statements = realloc(statements, sizeof *statements * (size_t)(statements_count + 1));
    if (!statements) statements_fail("no memory");
    statement *read = &statements[statements_count++];
    *read = (statement){.kind = line[0] == 'R' ? BEGIN_REQUEST : END_TRIP};
    if (line[0] != 'R' && line[0] != 'S') read_statement(file, line, read);
  }
  fclose(file);
}

PGconn *statements_connect(const char *address) {
  PGconn *connection = PQconnectdb(address);
  if (PQstatus(connection) != CONNECTION_OK) statements_fail(PQerrorMessage(connection));
  for (int i = 0; i < text_count; i++) {
    char name[16];
    snprintf(name, sizeof name, "s%d", i);
    PGresult *result = PQprepare(connection, name, texts[i], 0, NULL);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) statements_fail(PQresultErrorMessage(result));
    PQclear(result);
  }
  PQenterPipelineMode(connection);
  return connection;
}

void statements_send(PGconn *connection, const statement *sent) {
  char name[16];
  snprintf(name, sizeof name, "s%d", sent->prepared);
  if (!PQsendQueryPrepared(connection, name, sent->count, (const char *const *)sent->values, NULL, NULL, 1))
    statements_fail(PQerrorMessage(connection));
}
