#include "scale.h"

#include "data.h"

#include <stdio.h>
#include <string.h>

int scale_entity(char *out, long number) {
  char text[200];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  int length = sprintf(out, "{\"_id\":\"%0*ld\",\"number\":%ld", SCALE_ID, number, number);
  for (int i = 1; i < SCALE_MEMBERS; i++)
    length += sprintf(out + length, ",\"m%d\":%ld", i, scale_pick(number * i, 1000000));
  return length + sprintf(out + length, ",\"text\":\"%s\"}", text);
}

int scale_indexes(long count) { return count > 1000000 ? 2 : SCALE_MEMBERS; }

long scale_pick(long at, long count) {
  unsigned long mixed = (unsigned long)at * 0x9E3779B97F4A7C15u;
  mixed ^= mixed >> 29;
  return (long)((mixed * 0xBF58476D1CE4E5B9u >> 20) % (unsigned long)count);
}

void scale_print(const char *work, double start, long times) {
  printf("%s %.3f\n", work, (data_now() - start) * 1e6 / (double)times);
}
