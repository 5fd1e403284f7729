#include "books.h"

#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *contents(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) raw_fail(path, "can not be read");
  *length = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*length + 1);
  if (!bytes || fread(bytes, 1, *length, file) != *length) raw_fail(path, "can not be read");
  bytes[*length] = '\0';
  fclose(file);
  return bytes;
}

static lines read_lines(const char *directory, const char *name) {
  char path[1024];
  size_t size;
  lines read = {0};
  snprintf(path, sizeof path, "%s/%s", directory, name);
  char *next = contents(path, &size), *end = next + size;
  for (char *at = next; (at = memchr(at, '\n', (size_t)(end - at))); at++) read.count++;
  read.text = calloc((size_t)read.count, sizeof *read.text);
  read.length = calloc((size_t)read.count, sizeof *read.length);
  for (int i = 0; i < read.count; i++) {
    char *stop = memchr(next, '\n', (size_t)(end - next));
    *stop = '\0';
    read.text[i] = next;
    read.length[i] = (size_t)(stop - next);
    next = stop + 1;
  }
  return read;
}

void books_read(books *read, const char *directory) {
  *read = (books){
      .entities = read_lines(directory, "entities.jsonl"),
      .extra = read_lines(directory, "extra.jsonl"),
      .ids = read_lines(directory, "find_ids.txt"),
      .lows = read_lines(directory, "price_lows.txt"),
      .updates = read_lines(directory, "update_ids.txt"),
  };
}

new_price books_update(const books *from, int index) {
  new_price update = {.price = from->updates.text[index] + BOOK_ID_LENGTH + 1};
  memcpy(update.id, from->updates.text[index], BOOK_ID_LENGTH);
  return update;
}

size_t books_with_price(char *out, const char *json, size_t length, const char *price) {
  static const char key[] = "\"price\":";
  const char *old = memmem(json, length, key, sizeof key - 1);
  if (!old) raw_fail("update", "a book without a price");
  old += sizeof key - 1;
  const char *rest = old + strcspn(old, ",}");
  char *end = mempcpy(out, json, (size_t)(old - json));
  end = stpcpy(end, price);
  end = mempcpy(end, rest, (size_t)(json + length - rest));
  return (size_t)(end - out);
}

void books_rate(const char *name, double operations, double seconds) {
  printf("%s %.2f\n", name, operations / seconds);
  fflush(stdout);
}
