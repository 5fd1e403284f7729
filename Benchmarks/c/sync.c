/* Synchronises a collection through libkvstore's C ABI.
 *
 *   sync HOST DIRECTORY pull STORE_OPTIONS   fetches "cities"
 *   sync HOST DIRECTORY push COUNT           makes so many entities offline, then sends them
 *
 * Prints "COUNT SECONDS BYTES CPU_SECONDS PEAK_KIB": of the synchronising the first four, of the whole process
 * the last. */
#include "data.h"
#include "ours.h"
#include "raw.h"

#include <kvstore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double processor_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static long member(const char *json, const char *name) {
  const char *found = strstr(json, name);
  return found ? strtol(found + strlen(name), NULL, 10) : 0;
}

static void save_many(kv_store *store, int count) {
  data made;
  data_make(&made, count, 7);
  save_batches(store, &made);
  data_free(&made);
}

int main(int count, char **arguments) {
  if (count != 5) raw_fail(arguments[0], "HOST DIRECTORY pull|push STORE_OPTIONS|COUNT");
  char options[512];
  kv_client *client;
  kv_store *store;
  kv_request *request;
  kv_error *error = NULL;
  char *result;
  const int is_push = !strcmp(arguments[3], "push");
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"appSecret\":\"secret\",\"host\":\"%s\",\"dataDirectory\":"
           "\"%s\",\"timeout\":600}",
           arguments[1], arguments[2]);
  must(kv_client_open(options, KV_NUL_TERMINATED, &client, &error), error);
  must(kv_user_login(client, "{\"username\":\"bench\",\"password\":\"bench\"}", KV_NUL_TERMINATED,
                     NULL, NULL, NULL, &error),
       error);
  must(kv_store_open(client, is_push ? "pushed" : "cities", "sync", is_push ? NULL : arguments[4],
                     &store, &error),
       error);
  if (is_push) save_many(store, atoi(arguments[4]));

  double start = data_now(), used = processor_time();
  if (is_push)
    must(kv_store_push_async(store, NULL, NULL, NULL, NULL, &request, &error), error);
  else
    must(kv_store_pull_async(store, NULL, NULL, NULL, NULL, NULL, &request, &error), error);
  must(kv_request_wait(request, -1, &result, NULL, &error), error);
  double seconds = data_now() - start;
  used = processor_time() - used;

  kv_progress progress = {.size = sizeof progress};
  must(kv_request_progress(request, &progress), NULL);
  printf("%ld %.6f %llu %.3f %ld\n", member(result, is_push ? "\"pushed\":" : "\"pulled\":"), seconds,
         (unsigned long long)progress.bytes_done, used, data_peak_kib());
  kv_free(result);
  kv_request_free(request);
  must(kv_store_close(store), NULL);
  must(kv_client_close(client), NULL);
  return 0;
}
