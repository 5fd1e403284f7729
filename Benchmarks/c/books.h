/* The books that peers_data.py writes, in memory, and what is asked of them. */
#ifndef BOOKS_H
#define BOOKS_H

#include <stddef.h>

enum { BOOK_ID_LENGTH = 24, BOOKS_EACH = 1000 };

/* Lines of a file, without their ends. */
typedef struct lines {
  const char **text;
  size_t *length;
  int count;
} lines;

typedef struct books {
  lines entities, extra, ids, lows, updates;
} books;

/* Where the members of an update's line are: "ID PRICE". */
typedef struct new_price {
  char id[BOOK_ID_LENGTH + 1];
  const char *price;
} new_price;

/* Reads the files of a directory; they stay in memory until the program ends. */
void books_read(books *read, const char *directory);

new_price books_update(const books *from, int index);

/* Writes `json` with another price to `out`, which has room for 64 bytes more; gives the length. */
size_t books_with_price(char *out, const char *json, size_t length, const char *price);

/* Prints "NAME RATE". */
void books_rate(const char *name, double operations, double seconds);

#endif
