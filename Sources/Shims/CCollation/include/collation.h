/// The weights that text is ordered by. scripts/generate_collation.py makes table.c.
///
/// The value of a character C is values[stage[C / 64] * 64 + C % 64]; blocks past the last stage are like the last.
/// Characters from 0x30000 have none ("computed"), and those from 0xE0000 stand where 0x30000 would.
/// It has 32 bits, from the highest: 16 P, 10 S, 6 T.
///
///     S > 0            one element: its primary, secondary and tertiary weight
///     S = 0, T = 1     no element of its own: computed from the number of the character
///     S = 0, 1 < T<32  T elements, at weights[P]
///     S = 0, T > 32    decomposes into T - 32 characters, at weights[P]
///     S = 0, T = 0     P > 0: texts of several characters begin with it; at weights[P] the value of the character
///                      alone, the number of texts, and for each, the longest first: the number of further
///                      characters, these, and a value as above
///                      P = 0: ignored
///
/// A tailoring is a part of `tailored`: pairs of a character and its value, in the order of the characters.
#ifndef KV_COLLATION_H
#define KV_COLLATION_H

#include <stdint.h>

struct kvcollation_tailoring {
  const char *name;
  uint32_t start, count;
};

/// Greater after every change of the table: what was stored by another one is in another order.
extern const uint32_t kvcollation_version;

extern const uint32_t kvcollation_stage_count, kvcollation_class_stage_count;
extern const uint16_t kvcollation_stage[];
extern const uint32_t kvcollation_values[];
extern const uint32_t kvcollation_weights[];

/// The canonical combining class of a character, in two stages as above.
extern const uint8_t kvcollation_class_stage[];
extern const uint8_t kvcollation_classes[];

extern const uint32_t kvcollation_tailoring_count;
extern const struct kvcollation_tailoring kvcollation_tailorings[];
extern const uint32_t kvcollation_tailored[];

/// Where a character stands in the first stage, which has `count` places; the last for those past it.
static inline uint32_t kvcollation_block(uint32_t character, uint32_t count) {
  uint32_t block = (character < 0x30000 ? character : character - 0xB0000) / 64;
  return block < count ? block : count - 1;
}

/// The value of a character in the order of the root.
static inline uint32_t kvcollation_value(uint32_t character) {
  if (character >= 0x30000 && character < 0xE0000) return 1;
  uint32_t block = kvcollation_block(character, kvcollation_stage_count);
  return kvcollation_values[kvcollation_stage[block] * 64 + character % 64];
}

/// The combining class of a character; 0 if it is no combining mark.
static inline uint8_t kvcollation_class(uint32_t character) {
  if (character >= 0x30000) return 0;
  uint32_t block = kvcollation_block(character, kvcollation_class_stage_count);
  return kvcollation_classes[kvcollation_class_stage[block] * 64 + character % 64];
}

static inline uint32_t kvcollation_weight(uint32_t index) { return kvcollation_weights[index]; }

/// The value of a character in a tailoring; that of the root if the tailoring says nothing of it.
static inline uint32_t kvcollation_value_in(uint32_t start, uint32_t count, uint32_t character) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = (low + high) / 2, found = kvcollation_tailored[2 * (start + middle)];
    if (found == character) return kvcollation_tailored[2 * (start + middle) + 1];
    if (found < character) low = middle + 1; else high = middle;
  }
  return kvcollation_value(character);
}

static inline struct kvcollation_tailoring kvcollation_tailoring_at(uint32_t index) {
  return kvcollation_tailorings[index];
}

#endif
