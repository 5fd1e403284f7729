/* The same pull through libkvstore's C ABI.
 *
 *   pull_ours HOST DIRECTORY
 *
 * Prints "COUNT SECONDS PEAK_KIB" of the whole process. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int count, char **arguments) {
  if (count != 3) raw_fail(arguments[0], "HOST DIRECTORY");
  char options[512];
  kv_client *client;
  kv_store *store;
  kv_error *error = NULL;
  char *result;
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"appSecret\":\"secret\",\"host\":\"%s\",\"dataDirectory\":"
           "\"%s\"}",
           arguments[1], arguments[2]);
  must(kv_client_open(options, KV_NUL_TERMINATED, &client, &error), error);
  must(kv_user_login(client, "{\"username\":\"bench\",\"password\":\"bench\"}", KV_NUL_TERMINATED,
                     NULL, NULL, NULL, &error),
       error);
  must(kv_store_open(client, "cities", "sync", NULL, &store, &error), error);

  double start = data_now();
  must(kv_store_pull(store, NULL, NULL, &result, NULL, &error), error);
  double seconds = data_now() - start;

  const char *pulled = strstr(result, "\"pulled\":");
  long entities = pulled ? strtol(pulled + strlen("\"pulled\":"), NULL, 10) : -1;
  kv_free(result);
  printf("%ld %.6f %ld\n", entities, seconds, data_peak_kib());
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
  return 0;
}
