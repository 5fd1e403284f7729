#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const words[] = {"river", "mountain", "harbour", "bridge", "market", "garden",
                                    "station", "castle", "island", "valley", "forest", "square"};
enum { WORDS = sizeof words / sizeof *words, ROOM = 512, TEXT_WORDS = 28 };

unsigned data_random(unsigned *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return *state;
}

double data_now(void) {
  struct timespec time;
  const char *clock = getenv("KVSTORE_BENCH_CLOCK");
  int is_processor = clock && !strcmp(clock, "processor");
  clock_gettime(is_processor ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

long data_peak_kib(void) {
  char line[128];
  long peak = 0;
  FILE *status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmHWM: %ld", &peak);
  if (status) fclose(status);
  return peak;
}

/* Writes one entity; ids are ordered by time with a random tail, as those that libkvstore makes. */
static int write_entity(char *out, char *id, int number, unsigned *state) {
  snprintf(id, ID_LENGTH + 1, "%012x7000%08x%08x", 0x18000000 + number, data_random(state),
           data_random(state));
  int length = sprintf(out,
                       "{\"_id\":\"%s\",\"name\":\"%s %d\",\"country\":\"C%02u\",\"population\":%u,"
                       "\"latitude\":%.5f,\"longitude\":%.5f,\"capital\":%s,\"text\":\"",
                       id, words[data_random(state) % WORDS], number, data_random(state) % 100,
                       data_random(state) % 1000000, data_random(state) % 18000000 / 1e5 - 90,
                       data_random(state) % 36000000 / 1e5 - 180,
                       data_random(state) % 100 ? "false" : "true");
  for (int i = 0; i < TEXT_WORDS; i++)
    length += sprintf(out + length, i ? " %s" : "%s", words[data_random(state) % WORDS]);
  return length + sprintf(out + length, "\"}");
}

void data_make(data *made, int count, unsigned seed) {
  unsigned state = seed * 2654435761u + 1;
  made->batch_count = (count + BATCH - 1) / BATCH;
  made->count = made->batch_count * BATCH;
  made->entities = calloc((size_t)made->count, sizeof *made->entities);
  made->batches = calloc((size_t)made->batch_count, sizeof *made->batches);
  made->batch_lengths = calloc((size_t)made->batch_count, sizeof *made->batch_lengths);
  for (int batch = 0; batch < made->batch_count; batch++) {
    char *text = malloc((size_t)BATCH * ROOM + 2), *end = text;
    for (int i = 0; i < BATCH; i++) {
      entity *next = &made->entities[batch * BATCH + i];
      *end++ = i ? ',' : '[';
      next->json = end;
      next->length = write_entity(end, next->id, batch * BATCH + i, &state);
      end += next->length;
    }
    *end++ = ']';
    made->batches[batch] = text;
    made->batch_lengths[batch] = (size_t)(end - text);
  }
}

void data_free(data *made) {
  for (int i = 0; i < made->batch_count; i++) free(made->batches[i]);
  free(made->batches);
  free(made->batch_lengths);
  free(made->entities);
}
