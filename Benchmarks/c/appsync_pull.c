/* A first pull, by the options of a client. Both backends' collections have an index of boardId.
 *
 *   appsync_pull OPTIONS_JSON COLLECTION
 *
 * Prints "COUNT SECONDS CPU_SECONDS PEAK_KIB" of the pull; the memory is that of the whole process. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double cpu_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int count, char **arguments) {
  if (count != 3) raw_fail(arguments[0], "OPTIONS_JSON COLLECTION");
  kv_client *client;
  kv_store *store;
  kv_error *error = NULL;
  char *result;
  must(kv_client_open(arguments[1], KV_NUL_TERMINATED, &client, &error), error);
  bool is_kinvey = strstr(arguments[1], "\"appSecret\"") != NULL;
  if (is_kinvey)
    must(kv_user_login(client, "{\"username\":\"bench\",\"password\":\"bench\"}", KV_NUL_TERMINATED, NULL,
                       NULL, NULL, &error),
         error);
  must(kv_store_open(client, arguments[2], "sync", NULL, &store, &error), error);
  if (is_kinvey)
    must(kv_store_create_index(store, "{\"keys\":{\"boardId\":1}}", KV_NUL_TERMINATED, &error), error);

  double start = data_now(), cpu = cpu_now();
  must(kv_store_pull(store, NULL, NULL, &result, NULL, &error), error);
  double seconds = data_now() - start;
  cpu = cpu_now() - cpu;

  const char *pulled = strstr(result, "\"pulled\":");
  long records = pulled ? strtol(pulled + strlen("\"pulled\":"), NULL, 10) : -1;
  kv_free(result);
  printf("%ld %.6f %.6f %ld\n", records, seconds, cpu, data_peak_kib());
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
  return 0;
}
