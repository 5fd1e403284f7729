/* How long a process waits for the library: dlopen() and the first call, in milliseconds.
 *
 *   load LIBRARY...
 *
 * Opens all of them; calls kv_version() in the last if it has it. */
#include "data.h"

#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **libraries) {
  double start = data_now();
  for (int i = 1; i < count; i++) {
    void *library = dlopen(libraries[i], RTLD_NOW | RTLD_GLOBAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    const char *(*version)(void);
    *(void **)&version = dlsym(library, "kv_version");
    if (version && !version()) return 1;
  }
  printf("%.3f\n", (data_now() - start) * 1000);
  return 0;
}
