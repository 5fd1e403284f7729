/* Statements that kvstored has sent to PostgreSQL, for programs that send them again.
 *
 * Their file has requests, one after the other. In it `R` begins a request, `S` is a round trip's end, and each other line is a
 * statement as PostgreSQL logs it: its length, the number of its parameters and its text, then a line for each parameter
 * with its length and text; length -1 is NULL. */
#ifndef STATEMENTS_H
#define STATEMENTS_H

#include <postgresql/libpq-fe.h>

enum { MAX_PARAMETERS = 32 };

typedef struct statement {
  enum { BEGIN_REQUEST, END_TRIP, STATEMENT } kind;
  int prepared; /* the number of its text */
  int count;    /* of its parameters */
  char *values[MAX_PARAMETERS];
} statement;

/* The lines of the file that was read. */
extern statement *statements;
extern int statements_count;

/* Ends the program with a message: a benchmark has nobody to report to. */
void statements_fail(const char *message);

/* Reads a file; its memory stays until the end. */
void statements_read(const char *path);

/* A connection in pipeline mode that has prepared all texts; the caller ends it with PQfinish. */
PGconn *statements_connect(const char *address);

/* Adds a statement to what is sent next. Its result comes in binary, as kvstored asks for it. */
void statements_send(PGconn *connection, const statement *sent);

#endif
