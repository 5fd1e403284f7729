/* jansson: reads and writes the small JSON (options, filters, errors). */
#pragma once
#include <jansson.h>
#include <locale.h>

/* Both are macros or inline functions over volatile members, which Swift does not import. */
static inline void kv_json_release(json_t *value) { json_decref(value); }
static inline enum json_error_code kv_json_error_code(const json_error_t *error) {
  return json_error_code(error);
}

/* json_loadb() with a locale of the thread's own. Jansson asks the locale for its decimal point and then calls strtod(): if another
 * thread calls setlocale() in between, an assertion ends the process. The GNU library makes nothing of memory for "C". */
static inline json_t *kv_json_load(
  const char *text, size_t count, size_t flags, json_error_t *error) {
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  locale_t before = uselocale(plain);
  json_t *value = json_loadb(text, count, flags, error);
  uselocale(before);
  if (plain != (locale_t)0) freelocale(plain);
  return value;
}
