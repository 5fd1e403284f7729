/* What of libc is a GNU or Linux extension, and therefore not in Swift's Glibc module. */
#pragma once
#include <linux/stat.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/random.h>

/* Declared here because the headers hide it without _GNU_SOURCE. */
extern int pthread_setname_np(pthread_t thread, const char *name);

/* Where bytes are found first in others, in linear time; NULL if nowhere. */
extern void *memmem(const void *bytes, size_t count, const void *wanted, size_t length);

/* Declared here because the headers hide it without _GNU_SOURCE. */
extern int statx(
  int directory, const char *path, int flags, unsigned int mask, struct statx *result);

/* Whether so many bytes can be allocated now. Without `volatile` the compiler leaves out a pair of malloc() and free(), and
 * says yes. */
static inline int kv_memory_is_available(size_t count) {
  void *volatile memory = malloc(count);
  if (memory == NULL) return 0;
  free(memory);
  return 1;
}
