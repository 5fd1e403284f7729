/* The innermost loop of every scan: finding members of JSON objects that were validated when they were stored.
 *
 * In C for its 16 bytes at a time, which Swift's vectors cannot search without giving up what is gained. No byte
 * at or after `end` is read; bytes that are no JSON give nonsense, and nothing worse. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 16 bytes at a time: which of them are wanted is a kv_found, in which each byte has `kv_found_bits` bits, all set or none.
 * Neon has no instruction that makes a bit of each byte; the narrowing shift makes four of each. */
#if defined(__SSE2__)
#include <emmintrin.h>
#define KV_BLOCKS 1
typedef __m128i kv_block;
typedef uint32_t kv_found;
enum { kv_found_bits = 1 };

static inline kv_block kv_block_at(const unsigned char *bytes) {
  return _mm_loadu_si128((const __m128i *)bytes);
}
static inline kv_block kv_block_of(unsigned char byte) { return _mm_set1_epi8((char)byte); }
static inline kv_block kv_either(kv_block a, kv_block b) { return _mm_or_si128(a, b); }
static inline kv_block kv_both(kv_block a, kv_block b) { return _mm_and_si128(a, b); }
static inline kv_block kv_equal(kv_block a, kv_block b) { return _mm_cmpeq_epi8(a, b); }
static inline kv_found kv_found_in(kv_block equal) { return (kv_found)_mm_movemask_epi8(equal); }
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__ARM_BIG_ENDIAN)
#include <arm_neon.h>
#define KV_BLOCKS 1
typedef uint8x16_t kv_block;
typedef uint64_t kv_found;
enum { kv_found_bits = 4 };

static inline kv_block kv_block_at(const unsigned char *bytes) { return vld1q_u8(bytes); }
static inline kv_block kv_block_of(unsigned char byte) { return vdupq_n_u8(byte); }
static inline kv_block kv_either(kv_block a, kv_block b) { return vorrq_u8(a, b); }
static inline kv_block kv_both(kv_block a, kv_block b) { return vandq_u8(a, b); }
static inline kv_block kv_equal(kv_block a, kv_block b) { return vceqq_u8(a, b); }
static inline kv_found kv_found_in(kv_block equal) {
  return vget_lane_u64(vreinterpret_u64_u8(vshrn_n_u16(vreinterpretq_u16_u8(equal), 4)), 0);
}
#endif

#if defined(KV_BLOCKS)
/* The number of the first byte that was found; there must be one. */
static inline size_t kv_first(kv_found found) {
  return (size_t)__builtin_ctzll(found) / kv_found_bits;
}

/* The bytes that were found but the first. */
static inline kv_found kv_rest(kv_found found) {
  return found & ~((((kv_found)1 << kv_found_bits) - 1) << (kv_first(found) * kv_found_bits));
}
#endif

/* Where a value is; `end` 0: nowhere. */
typedef struct kv_span {
  size_t start, end;
} kv_span;

typedef struct kv_member_name {
  const unsigned char *bytes;
  size_t length;
} kv_member_name;

/* Names that are looked up. With `slots`, a table of 1 + the number of a name, 0 where there is none: its size is
 * `mask` + 1, a power of two and at least twice `count`. Without, for a few names, they are compared one by one. */
typedef struct kv_names {
  const kv_member_name *names;
  size_t count;
  const uint32_t *slots;
  size_t mask;
  uint64_t seed;
} kv_names;

/* Without the seed, names that collide cannot be chosen. */
static inline size_t kv_hash_name(const kv_names *names, const unsigned char *bytes, size_t length) {
  uint64_t hash = names->seed ^ length, word;
  for (; length >= 8; bytes += 8, length -= 8) {
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0x9FB21C651E98DF25u;
    hash ^= hash >> 32;
  }
  word = 0;
  memcpy(&word, bytes, length);
  hash = (hash ^ word) * 0x9FB21C651E98DF25u;
  return (size_t)(hash ^ hash >> 32) & names->mask;
}

/* The number of a name; `count` if it is not among them. */
static inline size_t kv_find_name(const kv_names *names, const unsigned char *bytes, size_t length) {
  if (names->slots == NULL) {
    for (size_t i = 0; i < names->count; i++)
      if (names->names[i].length == length && !memcmp(names->names[i].bytes, bytes, length)) return i;
    return names->count;
  }
  for (size_t at = kv_hash_name(names, bytes, length); names->slots[at] != 0;
       at = (at + 1) & names->mask) {
    const kv_member_name *name = &names->names[names->slots[at] - 1];
    if (name->length == length && !memcmp(name->bytes, bytes, length)) return names->slots[at] - 1;
  }
  return names->count;
}

/* The position after the string whose opening quote is at `at`. `escapes` is set if it has a backslash. */
static inline size_t kv_pass_string(const unsigned char *base, size_t at, size_t end, int *escapes) {
  at++;
#if defined(KV_BLOCKS)
  const kv_block quote = kv_block_of('"'), slash = kv_block_of('\\');
  while (at + 16 <= end) {
    kv_block bytes = kv_block_at(base + at);
    kv_found found = kv_found_in(kv_either(kv_equal(bytes, quote), kv_equal(bytes, slash)));
    if (!found) {
      at += 16;
      continue;
    }
    at += kv_first(found);
    if (base[at] == '"') return at + 1;
    *escapes = 1;
    at += 2;
  }
#endif
  while (at < end) {
    if (base[at] == '"') return at + 1;
    if (base[at] == '\\') *escapes = 1, at++;
    at++;
  }
  return end;
}

/* The position after the object or array that starts at `at`. */
static inline size_t kv_pass_container(const unsigned char *base, size_t at, size_t end) {
  size_t depth = 0;
  int escapes = 0;
  while (at < end) {
#if defined(KV_BLOCKS)
    if (at + 16 <= end) {
      /* With this bit set, [ and { are the same byte, and so are ] and }; a quote stays what it is. */
      kv_block bytes = kv_either(kv_block_at(base + at), kv_block_of(0x20));
      kv_block open = kv_equal(bytes, kv_block_of('{'));
      kv_block close = kv_equal(bytes, kv_block_of('}'));
      kv_block quote = kv_equal(bytes, kv_block_of('"'));
      kv_found found = kv_found_in(kv_either(kv_either(open, close), quote));
      if (!found) {
        at += 16;
        continue;
      }
      at += kv_first(found);
    }
#endif
    switch (base[at]) {
      case '"': at = kv_pass_string(base, at, end, &escapes); continue;
      case '{':
      case '[': depth++; break;
      case '}':
      case ']':
        if (depth <= 1) return at + 1;
        depth--;
        break;
      default: break;
    }
    at++;
  }
  return end;
}

/* The position after the value that starts at `at`. */
static inline size_t kv_pass_value(const unsigned char *base, size_t at, size_t end) {
  int escapes = 0;
  if (base[at] == '"') return kv_pass_string(base, at, end, &escapes);
  if (base[at] == '{' || base[at] == '[') return kv_pass_container(base, at, end);
  /* A number or a word ends before white space, a comma or a bracket. */
  for (at++; at < end; at++) {
    unsigned char byte = base[at];
    if (byte <= ' ' || byte == ',' || (byte | 0x20) == '}') break;
  }
  return at;
}

/* Finds members of the object that starts at `at`; of repeated ones the first. Stops when all are found.
 * Gives 0, or 1 if a name with a backslash was met: then the caller has to look for itself. */
static inline int kv_find_members(const unsigned char *base, size_t at, size_t end,
                                  const kv_names *names, kv_span *found) {
  size_t missing = names->count;
  for (size_t i = 0; i < names->count; i++) found[i].start = found[i].end = 0;
  at++;
  while (missing > 0) {
    int escapes = 0;
    while (at < end && (base[at] <= ' ' || base[at] == ',')) at++;
    if (at >= end || base[at] != '"') return 0;
    size_t name = at + 1;
    at = kv_pass_string(base, at, end, &escapes);
    if (escapes) return 1;
    size_t length = at - 1 - name;
    while (at < end && (base[at] <= ' ' || base[at] == ':')) at++;
    if (at >= end) return 0;
    size_t value = at;
    at = kv_pass_value(base, at, end);
    size_t i = kv_find_name(names, base + name, length);
    if (i == names->count || found[i].end) continue;
    found[i].start = value;
    found[i].end = at;
    missing--;
  }
  return 0;
}

/* Follows names from the value at `value` into objects; `value` becomes where they lead to, nowhere if there is no such
 * member. Gives 0, or 1 if that takes more: an array was met, or a name with a backslash. */
static inline int kv_follow(const unsigned char *base, const kv_member_name *names, size_t count,
                            kv_span *value) {
  for (size_t i = 0; i < count && value->end; i++) {
    if (base[value->start] == '[') return 1;
    kv_span member = {0, 0};
    const kv_names name = {.names = names + i, .count = 1};
    if (base[value->start] == '{' &&
        kv_find_members(base, value->start, value->end, &name, &member))
      return 1;
    *value = member;
  }
  return 0;
}

/* 0 only if no string in a JSON text can contain `needle`: its bytes are nowhere, and nothing is escaped. `count` is at
 * least 1. */
static inline int kv_may_contain(const unsigned char *text, size_t length,
                                 const unsigned char *needle, size_t count) {
#if defined(KV_BLOCKS)
  const kv_block first = kv_block_of(needle[0]), last = kv_block_of(needle[count - 1]),
                 slash = kv_block_of('\\');
  size_t at = 0;
  for (; at + count + 15 <= length; at += 16) {
    const kv_block begin = kv_block_at(text + at), end = kv_block_at(text + at + count - 1);
    const kv_block both = kv_both(kv_equal(begin, first), kv_equal(end, last));
    const kv_block escape = kv_equal(begin, slash);
    if (!kv_found_in(kv_either(both, escape))) continue;
    if (kv_found_in(escape)) return 1;
    for (kv_found found = kv_found_in(both); found; found = kv_rest(found))
      if (!memcmp(text + at + kv_first(found), needle, count)) return 1;
  }
  for (; at < length; at++) {
    if (text[at] == '\\') return 1;
    if (length - at >= count && !memcmp(text + at, needle, count)) return 1;
  }
  return 0;
#else
  (void)text, (void)length, (void)needle, (void)count;
  return 1;
#endif
}
