/* jansson: reads and writes the small JSON (options, filters, errors). */
#pragma once
#include <jansson.h>

/* Both are macros or inline functions over volatile members, which Swift does not import. */
static inline void kv_json_release(json_t *value) { json_decref(value); }
static inline enum json_error_code kv_json_error_code(const json_error_t *error) {
  return json_error_code(error);
}
