/* The numbered entities of the scale part, made one batch at a time, and how its two programs print what they measure. */
#ifndef SCALE_H
#define SCALE_H

#include <stddef.h>

enum {
  SCALE_ID = 12,
  /* Entities of one transaction. */
  SCALE_BATCH = 1000,
  /* An entity takes less. */
  SCALE_ROOM = 512,
  /* Members that may have an index: "number", and "m1" to "m9". */
  SCALE_MEMBERS = 10,
  SCALE_FINDS = 20000,
  SCALE_QUERIES = 2000,
  SCALE_PAGES = 20,
};

/* Writes entity `number` at `out`; gives its length. Its id is the decimal number of SCALE_ID digits. */
int scale_entity(char *out, long number);

/* How many of the members have an index in a collection of this size: all up to a million entities, then two. */
int scale_indexes(long count);

/* The number of the `at`-th entity that is looked for, of `count`. */
long scale_pick(long at, long count);

/* Prints the microseconds of one of `times` operations that began at `start`. */
void scale_print(const char *work, double start, long times);

#endif
