/* Scans random JSON, whole and damaged, and prints what was found. Built for each kind of processor, it has to print
 * the same: scripts/check-scan. */
#include "../../Sources/Shims/CScan/scan.h"

#include <stdio.h>
#include <stdlib.h>

enum { documents = 40000, largest = 600, many_names = 40, slots = 128 };

static uint64_t state = 1;

static unsigned below(unsigned limit) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (unsigned)((state >> 11) % limit);
}

static unsigned char text[2 * largest + 64];
static size_t length;

static void put(const char *part) {
  size_t count = strlen(part);
  if (length + count < sizeof text) memcpy(text + length, part, count), length += count;
}

static void put_name(void) {
  char name[40];
  const char *head = below(20) ? "m" : "a name longer than m";
  snprintf(name, sizeof name, "\"%s%u\"", head, below(60));
  put(below(60) ? name : "\"with \\\" escape\"");
}

static void put_string(void) {
  static const char *const parts[] = {"a", "\\\"", "\\\\", "{", "]", "0123456789abcdef", "\xC3\xA9", ":", "\\u00e9"};
  put("\"");
  for (unsigned count = below(12); count > 0; count--) put(parts[below(sizeof parts / sizeof *parts)]);
  put("\"");
}

static void put_value(unsigned depth);

static void put_members(unsigned depth, int is_object) {
  put(is_object ? "{" : "[");
  for (unsigned count = below(6); count > 0 && length < largest; count--) {
    if (is_object) put_name(), put(below(3) ? ":" : " : ");
    put_value(depth + 1);
    if (count > 1) put(below(3) ? "," : ",\n  ");
  }
  put(is_object ? "}" : "]");
}

static void put_value(unsigned depth) {
  unsigned kind = below(depth < 5 ? 6 : 4);
  if (kind == 0) put("-12.5e3");
  else if (kind == 1) put(below(2) ? "null" : "true");
  else if (kind < 4) put_string();
  else put_members(depth, kind == 5);
}

static uint64_t seen = 14695981039346656037u;

static void see(uint64_t value) { seen = (seen ^ value) * 1099511628211u; }

static char spelled[many_names][8];
static kv_member_name members[many_names];
static uint32_t table[slots];

static void make_names(void) {
  for (unsigned i = 0; i < many_names; i++) {
    int count = snprintf(spelled[i], sizeof spelled[i], "m%u", i);
    members[i] = (kv_member_name){(const unsigned char *)spelled[i], (size_t)count};
  }
}

static kv_names few = {members, 3, NULL, 0, 0}, many = {members, many_names, table, slots - 1, 7};

static void fill_table(void) {
  for (uint32_t i = 0; i < many_names; i++) {
    size_t at = kv_hash_name(&many, members[i].bytes, members[i].length);
    while (table[at] != 0) at = (at + 1) & many.mask;
    table[at] = i + 1;
  }
}

static unsigned long found_members;

static void scan(const unsigned char *bytes, size_t count, const kv_names *names) {
  kv_span found[many_names];
  see((uint64_t)kv_find_members(bytes, 0, count, names, found));
  for (size_t i = 0; i < names->count; i++) {
    see(found[i].start), see(found[i].end);
    found_members += found[i].end != 0;
  }
}

int main(void) {
  make_names();
  fill_table();
  for (int document = 0; document < documents; document++) {
    length = 0;
    put_members(0, 1);
    /* Of exactly this size, so that a sanitizer sees every byte too far. */
    unsigned char *copy = malloc(length);
    if (copy == NULL) return 1;
    memcpy(copy, text, length);
    if (below(4) == 0) {
      unsigned at = below((unsigned)length);
      copy[at] = (unsigned char)below(256);
    }
    size_t count = below(4) ? length : 1 + below((unsigned)length);
    unsigned char *exact = realloc(copy, count);
    scan(exact ? exact : copy, count, &few);
    scan(exact ? exact : copy, count, &many);
    free(exact ? exact : copy);
  }
  printf("%d documents, %lu members, %016llx\n", documents, found_members, (unsigned long long)seen);
  return found_members < documents;
}
