/* Synchronises a collection through libkvstore's C ABI.
 *
 *   sync HOST DIRECTORY pull STORE_OPTIONS   fetches "cities"
 *   sync HOST DIRECTORY KIND COUNT           writes so many entities offline, then sends them
 *
 * KIND: "create" makes entities without an id, "put" under ids of their own, "update" changes what was sent before.
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

/* Gives one member of each entity another name of the same length. */
static void rename_members(data *made, const char *from, const char *to) {
  for (int batch = 0; batch < made->batch_count; batch++)
    for (char *at = made->batches[batch]; (at = strstr(at, from)); at += strlen(to))
      memcpy(at, to, strlen(to));
}

static void push(kv_store *store) {
  kv_error *error = NULL;
  char *result;
  must(kv_store_push(store, NULL, &result, NULL, &error), error);
  kv_free(result);
}

/* Queues what `kind` says. */
static void write_offline(kv_store *store, const char *kind, int count) {
  data made;
  data_make(&made, count, 7);
  if (!strcmp(kind, "create")) rename_members(&made, "\"_id\":", "\"key\":");
  save_batches(store, &made);
  if (!strcmp(kind, "update")) {
    push(store);
    rename_members(&made, "\"name\":", "\"mane\":");
    save_batches(store, &made);
  }
  data_free(&made);
}

int main(int count, char **arguments) {
  if (count != 5) raw_fail(arguments[0], "HOST DIRECTORY pull|create|put|update STORE_OPTIONS|COUNT");
  char options[512];
  kv_client *client;
  kv_store *store;
  kv_request *request;
  kv_error *error = NULL;
  char *result;
  const int is_push = strcmp(arguments[3], "pull") != 0;
  snprintf(options, sizeof options,
           "{\"appKey\":\"kid_bench\",\"appSecret\":\"secret\",\"host\":\"%s\",\"dataDirectory\":"
           "\"%s\",\"timeout\":3600}",
           arguments[1], arguments[2]);
  must(kv_client_open(options, KV_NUL_TERMINATED, &client, &error), error);
  must(kv_user_login(client, "{\"username\":\"bench\",\"password\":\"bench\"}", KV_NUL_TERMINATED,
                     NULL, NULL, NULL, &error),
       error);
  must(kv_store_open(client, is_push ? "pushed" : "cities", "sync", is_push ? NULL : arguments[4],
                     &store, &error),
       error);
  if (is_push) write_offline(store, arguments[3], atoi(arguments[4]));

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
