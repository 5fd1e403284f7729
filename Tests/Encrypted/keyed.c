/* The library with a key: every client that is opened, and every file that is salvaged, has the key of KVSTORE_TEST_KEY unless its options
 * name one. So the suites of all languages run on encrypted data.
 *
 * As KVSTORE_LIBRARY it is what Python loads, since it needs the library itself; C and Go programs have it preloaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The options with the key. Memory of malloc(); NULL: they are to be given as they are. */
static char *keyed(const char *options, size_t length, size_t *length_out) {
  const char *key = getenv("KVSTORE_TEST_KEY");
  if (!key || !options) return NULL;
  if (length == KV_NUL_TERMINATED) length = strlen(options);
  if (length > (1u << 20) || memmem(options, length, "\"encryptionKey\"", 15)) return NULL;
  size_t begin = 0;
  while (begin < length && strchr(" \t\r\n", options[begin])) begin++;
  if (begin == length || options[begin] != '{') return NULL;
  const char *rest = options + begin + 1;
  size_t left = length - begin - 1, skipped = 0;
  while (skipped < left && strchr(" \t\r\n", rest[skipped])) skipped++;
  int is_empty = skipped < left && rest[skipped] == '}';
  char *text = malloc(left + strlen(key) + 32);
  if (!text) return NULL;
  int written = sprintf(text, "{\"encryptionKey\":\"%s\"%s", key, is_empty ? "" : ",");
  memcpy(text + written, rest, left);
  *length_out = (size_t)written + left;
  return text;
}

/* The library's own function behind one of ours. */
static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) {
    fprintf(stderr, "%s is not in the library\n", name);
    abort();
  }
  return found;
}

kv_status kv_client_open(const char *options, size_t length, kv_client **client_out, kv_error **error_out) {
  kv_status (*real)(const char *, size_t, kv_client **, kv_error **);
  *(void **)&real = next("kv_client_open");
  char *text = keyed(options, length, &length);
  kv_status status = real(text ? text : options, length, client_out, error_out);
  free(text);
  return status;
}

kv_status kv_salvage(const char *options, size_t length, const char *directory, char **json_out, size_t *length_out,
                     kv_error **error_out) {
  kv_status (*real)(const char *, size_t, const char *, char **, size_t *, kv_error **);
  *(void **)&real = next("kv_salvage");
  char *text = keyed(options, length, &length);
  kv_status status = real(text ? text : options, length, directory, json_out, length_out, error_out);
  free(text);
  return status;
}
