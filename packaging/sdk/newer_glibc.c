/*
 * What the archives of Debian unstable's Swift use of a glibc newer than Debian 12's 2.36, from what older ones have. The
 * names with isoc23 are those by which a C23 compiler calls the same functions: they only accept binary numbers as well.
 * Nothing of it is exported. Compiled as C11, so that strtol here is strtol.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __isoc23_sscanf(const char *text, const char *format, ...);
long __isoc23_strtol(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
size_t strlcpy(char *target, const char *text, size_t size);

int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = vsscanf(text, format, arguments);
  va_end(arguments);
  return count;
}

long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) { return strtoll(text, end, base); }

size_t strlcpy(char *target, const char *text, size_t size) {
  size_t length = strlen(text);
  if (size > 0) {
    size_t copied = length < size ? length : size - 1;
    memcpy(target, text, copied);
    target[copied] = 0;
  }
  return length;
}
