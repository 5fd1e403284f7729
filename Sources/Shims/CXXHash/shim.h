/* xxHash: checksums of stored texts.
 *
 * The header alone is compiled in: nothing of it is exported, and nothing is needed at run time. */
#pragma once
#define XXH_INLINE_ALL
#include <xxhash.h>

/* XXH3 with 64 bits, which is the same on all machines. */
static inline uint64_t kv_xxh3(const void *bytes, size_t count) {
  return XXH3_64bits(bytes, count);
}
