/* An expert's pull: libcurl hands over buffers of 512 KiB, a byte scanner finds each entity and its _id, and
 * the slices go straight into SQLite, all within the write callback.
 *
 *   pull_raw URL FILE
 *
 * Prints "COUNT SECONDS PEAK_KIB". The scanner knows strings and nesting and trusts the server otherwise. */
#include "data.h"
#include "raw.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER = 512 * 1024, PER_TRANSACTION = 10000 };

typedef struct pull {
  raw_store store;
  char *rest; /* the entity that the buffer's end cut in two, continued by the next buffer */
  size_t rest_length, rest_room;
  size_t entities;
  /* Where the scanner stands. */
  int depth, in_string, escaped;
  size_t start; /* of the entity, in the bytes at hand */
} pull;

static void keep(pull *state, const char *bytes, size_t length) {
  if (state->rest_length + length > state->rest_room) {
    state->rest_room = (state->rest_length + length) * 2;
    state->rest = realloc(state->rest, state->rest_room);
    if (!state->rest) raw_fail("pull", "out of memory");
  }
  memcpy(state->rest + state->rest_length, bytes, length);
  state->rest_length += length;
}

static void store_entity(pull *state, const char *json, size_t length) {
  static const char key[] = "\"_id\"";
  const char *end = json + length;
  const char *id = memmem(json, length, key, sizeof key - 1);
  if (!id) raw_fail("pull", "an entity without _id");
  id = memchr(id + sizeof key - 1, '"', (size_t)(end - id) - (sizeof key - 1));
  const char *id_end = id ? memchr(id + 1, '"', (size_t)(end - id) - 1) : NULL;
  if (!id_end) raw_fail("pull", "an _id that is no string");
  if (state->entities % PER_TRANSACTION == 0) raw_begin(&state->store);
  raw_store_pulled(&state->store, id + 1, (int)(id_end - id - 1), json, (int)length);
  if (++state->entities % PER_TRANSACTION == 0) raw_commit(&state->store);
}

static void end_entity(pull *state, const char *bytes, size_t end) {
  if (state->rest_length == 0) {
    store_entity(state, bytes + state->start, end - state->start);
    return;
  }
  keep(state, bytes, end);
  store_entity(state, state->rest, state->rest_length);
  state->rest_length = 0;
}

static size_t scan(char *bytes, size_t size, size_t count, void *context) {
  pull *state = context;
  size_t length = size * count, i = 0;
  while (i < length) {
    if (state->in_string) {
      if (state->escaped) {
        state->escaped = 0;
        i++;
        continue;
      }
      while (i < length && bytes[i] != '"' && bytes[i] != '\\') i++;
      if (i == length) break;
      if (bytes[i] == '\\') state->escaped = 1;
      else state->in_string = 0;
      i++;
      continue;
    }
    switch (bytes[i]) {
      case '"': state->in_string = 1; break;
      case '{':
        if (state->depth++ == 0) state->start = i;
        break;
      case '}':
        if (--state->depth == 0) end_entity(state, bytes, i + 1);
        break;
    }
    i++;
  }
  if (state->depth > 0) {
    size_t from = state->rest_length ? 0 : state->start;
    keep(state, bytes + from, length - from);
  }
  state->start = 0;
  return length;
}

int main(int count, char **arguments) {
  if (count != 3) raw_fail(arguments[0], "URL FILE");
  static pull state;
  /* As libkvstore stores what it pulls: a power cut may cost the last pages, which the backend still has. */
  raw_open(&state.store, arguments[2], "NORMAL", CHECKPOINT);
  double start = data_now();
  CURL *curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, arguments[1]);
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)BUFFER);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, scan);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &state);
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) raw_fail(arguments[1], curl_easy_strerror(code));
  if (state.entities % PER_TRANSACTION != 0) raw_commit(&state.store);
  double seconds = data_now() - start;
  curl_easy_cleanup(curl);
  raw_close(&state.store);
  free(state.rest);
  printf("%zu %.6f %ld\n", state.entities, seconds, data_peak_kib());
  return 0;
}
