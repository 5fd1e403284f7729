/* A library to preload: the wall clock is CLOCK_OFFSET seconds from what it should be. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
  static int (*real)(clockid_t, struct timespec *);
  static long offset;
  if (!real) {
    const char *text = getenv("CLOCK_OFFSET");
    offset = text ? atol(text) : 0;
    real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
  }
  int result = real(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) now->tv_sec += offset;
  return result;
}
