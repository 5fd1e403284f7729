/* The entities that the local benchmarks write: JSON of about 400 bytes, the same in every run. */
#ifndef DATA_H
#define DATA_H

#include <stddef.h>

enum { ID_LENGTH = 32, BATCH = 1000 };

typedef struct entity {
  const char *json; /* inside the array text of its batch */
  int length;
  char id[ID_LENGTH + 1];
} entity;

typedef struct data {
  entity *entities;
  int count;
  char **batches; /* JSON arrays of BATCH entities each */
  size_t *batch_lengths;
  int batch_count;
} data;

/* Makes `count` entities, rounded up to whole batches. `seed` chooses their ids and values. */
void data_make(data *made, int count, unsigned seed);
void data_free(data *made);

/* A pseudo-random number; the same sequence for the same state. */
unsigned data_random(unsigned *state);

/* Seconds of a clock that never goes back; with KVSTORE_BENCH_CLOCK=processor in the environment the time that all threads of
 * the process have worked, which other programs change little. */
double data_now(void);

/* The most memory that this process ever had, in KiB: since it was started, while getrusage() would count
 * that of the process that started it as well. */
long data_peak_kib(void);

#endif
